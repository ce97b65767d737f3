"""Times this package beside plyvel, in turns, and prints the fastest round of each.

    python bench.py [--entries 1000000] [--rounds 7]

Needs plyvel. One processor for both: taskset -c 0 python bench.py.
"""

import argparse
import collections
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterable

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


def compare(rounds: int, ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Runs each way in turns. Returns the fastest time of each, in seconds."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    return {name: min(taken) for name, taken in times.items()}


def show(title: str, count: int, times: dict[str, float], reference: str) -> None:
    """Prints a table in Markdown."""
    print(f"\n| {title} | seconds | nanoseconds each | {reference}'s time by it |\n|---|---|---|---|")
    for name, taken in times.items():
        print(f"| {name} | {taken:.3f} | {taken / count * 1e9:.0f} | {times[reference] / taken:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "db")
        write(path, arguments.entries)
        theirs = plyvel.DB(path, create_if_missing=False)
        ours = filterblock.Database(path)
        assert all(a == b for a, b in zip(theirs, ours, strict=True))

        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        print(f"filterblock {filterblock.__version__}, plyvel {plyvel.__version__}, {processors} processors")
        times = compare(
            arguments.rounds,
            {
                "plyvel": lambda: consume(theirs),
                "plyvel, checksums verified": lambda: consume(theirs.iterator(verify_checksums=True)),
                "filterblock": lambda: consume(ours),
                "filterblock.scan, entries with their places": lambda: consume(filterblock.scan(path)),
            },
        )
        show(f"iterating over {arguments.entries:,} entries", arguments.entries, times, "plyvel")
        theirs.close()

    policy = filterblock.BloomFilterPolicy(10)
    stored = [b"%016d" % (number * 7) for number in range(100_000)]
    filter = policy.create_filter(stored)
    asked = [b"%016d" % number for number in range(200_000)]
    may_match = policy.key_may_match
    assert policy.keys_may_match(asked, filter) == [may_match(key, filter) for key in asked]
    times = compare(
        arguments.rounds,
        {
            "a call for each": lambda: [may_match(key, filter) for key in asked],
            "one call": lambda: policy.keys_may_match(asked, filter),
        },
    )
    show(f"{len(asked):,} keys, one filter of {len(stored):,}", len(asked), times, "a call for each")


if __name__ == "__main__":
    main()
