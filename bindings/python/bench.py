"""Times this package beside plyvel, in turns, and prints ratios of the medians of all rounds.

    python bench.py [--entries 1000000] [--rounds 7] [--json]

Needs plyvel. Only ratios say something, and where other programs run, only those of processor time, of all threads
together: who has two threads gets more of a busy machine.
"""

import argparse
import collections
import functools
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any

import filterblock
import plyvel  # type: ignore[import-untyped]


def write(path: str, entries: int) -> None:
    """Writes keys of 16 bytes and values of 100, half of which compress, and compacts them."""
    source = random.Random(7)
    with plyvel.DB(path, create_if_missing=True, bloom_filter_bits=10) as database:
        for first in range(0, entries, 10_000):
            with database.write_batch() as batch:
                for number in range(first, min(first + 10_000, entries)):
                    batch.put(b"%016d" % (number * 7), source.randbytes(50) + bytes(50))
        database.compact_range()


def consume(entries: Iterable[object]) -> None:
    """Takes all entries and keeps none."""
    collections.deque(entries, maxlen=0)


def consume_prefixes(database: Any, prefixes: list[bytes]) -> None:
    """Iterates over the keys with each prefix."""
    for prefix in prefixes:
        consume(database.iterator(prefix=prefix))


def get_each(database: Any, keys: list[bytes]) -> list[bytes | None]:
    """Looks the keys up one by one."""
    return [database.get(key) for key in keys]


class Comparison:
    """The same work done by plyvel and here, and how often each is done."""

    def __init__(self, name: str, count: int, theirs: Callable[[], object], ours: Callable[[], object]) -> None:
        self.name, self.count = name, count
        self.ways = (theirs, ours)
        self.times: tuple[list[float], list[float]] = ([], [])
        self.processor: tuple[list[float], list[float]] = ([], [])

    def run(self) -> None:
        """One round of both, the first of which is another one each time."""
        both = list(zip(self.ways, self.times, self.processor, strict=True))
        for way, times, processor in both if len(self.times[0]) % 2 == 0 else reversed(both):
            start, started = time.perf_counter(), time.process_time()
            way()
            times.append(time.perf_counter() - start)
            processor.append(time.process_time() - started)

    def result(self) -> dict[str, str | float]:
        """Nanoseconds for each entry or call, and the speedup over plyvel (its time divided by ours): medians."""
        each = [round(statistics.median(times) / self.count * 1e9) for times in self.times]
        ratios = [
            round(statistics.median(a / b for a, b in zip(*times, strict=True)), 2)
            for times in (self.times, self.processor)
        ]
        names = ["plyvel_ns", "filterblock_ns", "ratio", "processor_ratio"]
        return {"name": self.name} | dict(zip(names, [*each, *ratios], strict=True))


def comparisons(entries: int, path: str, theirs: plyvel.DB, ours: filterblock.Database) -> Iterable[Comparison]:
    """What both can do."""
    source = random.Random(11)

    def key() -> bytes:
        return b"%016d" % (source.randrange(entries) * 7)

    yield Comparison("iterating", entries, lambda: consume(theirs), lambda: consume(ours))
    yield Comparison(
        "`scan`, entries with their places",
        entries,
        lambda: consume(theirs),
        lambda: consume(filterblock.scan(path)),
    )
    yield Comparison(
        "iterating backwards",
        entries,
        lambda: consume(theirs.iterator(reverse=True)),
        lambda: consume(ours.iterator(reverse=True)),
    )
    yield Comparison(
        "keys alone",
        entries,
        lambda: consume(theirs.iterator(include_value=False)),
        lambda: consume(ours.iterator(include_value=False)),
    )
    for length, calls in [(15, 2000), (14, 2000), (13, 1000)]:
        prefixes = [key()[:length] for _ in range(calls)]
        found = sum(1 for _ in theirs.iterator(prefix=prefixes[0]))
        yield Comparison(
            f"iterating over a prefix of about {found} keys",
            calls,
            functools.partial(consume_prefixes, theirs, prefixes),
            functools.partial(consume_prefixes, ours, prefixes),
        )
    present = [key() for _ in range(10_000)]
    absent = [key()[:-1] + b"x" for _ in range(10_000)]
    for name, keys in [("there", present), ("not there", absent)]:
        yield Comparison(
            f"`get` of keys that are {name}",
            len(keys),
            functools.partial(get_each, theirs, keys),
            functools.partial(get_each, ours, keys),
        )
    yield Comparison(
        "`get_many`, beside plyvel's `get` for each",
        len(present),
        functools.partial(get_each, theirs, present),
        lambda: ours.get_many(present),
    )


def filters(rounds: int) -> Comparison:
    """One filter asked for many keys: a call for each, which stands in plyvel's place, and one call."""
    policy = filterblock.BloomFilterPolicy(10)
    stored = [b"%016d" % (number * 7) for number in range(100_000)]
    filter = policy.create_filter(stored)
    asked = [b"%016d" % number for number in range(200_000)]
    may_match = policy.key_may_match
    assert policy.keys_may_match(asked, filter) == [may_match(key, filter) for key in asked]
    comparison = Comparison(
        "`keys_may_match`, beside a call of `key_may_match` for each key",
        len(asked),
        lambda: [may_match(key, filter) for key in asked],
        lambda: policy.keys_may_match(asked, filter),
    )
    for _ in range(rounds):
        comparison.run()
    return comparison


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "db")
        write(path, arguments.entries)
        theirs = plyvel.DB(path, create_if_missing=False, bloom_filter_bits=10)
        ours = filterblock.Database(path)
        assert all(a == b for a, b in zip(theirs, ours, strict=True))
        done = list(comparisons(arguments.entries, path, theirs, ours))
        for _ in range(arguments.rounds):
            for comparison in done:
                comparison.run()
        theirs.close()
        ours.close()
    done.append(filters(arguments.rounds))

    if arguments.json:
        for comparison in done:
            print(json.dumps(comparison.result()))
        return
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"filterblock {filterblock.__version__}, plyvel {plyvel.__version__}, {processors} processors")
    print("\n| | plyvel, nanoseconds each | here | speedup over plyvel | of processors |\n|---|---|---|---|---|")
    for comparison in done:
        result = comparison.result()
        each = f"{result['plyvel_ns']} | {result['filterblock_ns']}"
        print(f"| {result['name']} | {each} | {result['ratio']:.2f} | {result['processor_ratio']:.2f} |")


if __name__ == "__main__":
    main()
