"""Threads of Python run while blocks are read."""

import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import TESTDATA

import filterblock

LEVELS = TESTDATA / "databases/levels"


@pytest.fixture
def no_switching():
    """The interpreter takes the lock from no thread that does not give it up by itself."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A database of 100,000 entries."""
    import plyvel

    path = str(tmp_path_factory.mktemp("large") / "db")
    with plyvel.DB(path, create_if_missing=True, bloom_filter_bits=10) as database:
        with database.write_batch() as batch:
            for number in range(100_000):
                batch.put(b"%012d" % number, b"value %d" % number)
        database.compact_range()
    return path


def turns(ways):
    """Runs the functions, each on a thread. Returns the order of their turns: each gives a step for each turn."""
    order, errors, barrier = [], [], threading.Barrier(len(ways))

    def work(number, way):
        try:
            barrier.wait()
            for _ in way():
                if not order or order[-1] != number:
                    order.append(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number, way)) for number, way in enumerate(ways)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors and not any(thread.is_alive() for thread in threads)
    return order


def test_iterators_on_two_threads_take_turns(large, no_switching):
    counts = {}

    def iterate(name, entries):
        def way():
            counts[name] = 0
            for _ in entries():
                counts[name] += 1
                yield

        return way

    table = filterblock.Table(max(filterblock.Database(large).tables(), key=lambda table: table.size).path)
    for name, entries in {
        "database": lambda: filterblock.Database(large),
        "scan": lambda: filterblock.scan(large),
        # A walk through one table is so short that one thread may take all its turns by chance.
        "table": lambda: itertools.chain.from_iterable(itertools.repeat(table, 50)),
    }.items():
        order = turns([iterate(f"{name} {number}", entries) for number in range(2)])
        # With fewer turns, one thread would run to its end before the other begins.
        assert len(order) > 4, name
    assert counts["database 0"] == counts["database 1"] == counts["scan 0"] == 100_000
    assert counts["table 0"] == counts["table 1"] > 50_000


def test_others_count_while_one_call_works(large, no_switching):
    """The counter gives the lock up at each step, and gets it back only if the other thread gives it up too."""
    policy = filterblock.BloomFilterPolicy()
    keys = [b"%012d" % number for number in range(300_000)]
    filter = policy.create_filter(keys)
    for name, call in {
        "verify": lambda: filterblock.verify(large, jobs=1),
        "inspect": lambda: filterblock.inspect(large, jobs=1),
        "create_filter": lambda: policy.create_filter(keys),
        "keys_may_match": lambda: policy.keys_may_match(keys, filter),
    }.items():
        steps, started, ended = 0, threading.Event(), threading.Event()

        def work(call=call, started=started, ended=ended):
            started.set()
            call()
            ended.set()

        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        while not ended.is_set():
            steps += 1
            time.sleep(0)
        thread.join()
        # One step before the call begins and one after its end are possible in any case.
        assert steps > 2, name


def test_one_iterator_for_many_threads(large):
    entries, found = iter(filterblock.Database(large)), []

    def take():
        found.extend(key for key, _ in entries)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == [b"%012d" % number for number in range(100_000)]


def threads():
    return len(os.listdir("/proc/self/task"))


def descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
def test_iterators_that_are_not_read_take_no_threads_and_share_files(large):
    before = threads(), descriptors()
    table = filterblock.Table(max(filterblock.Database(large).tables(), key=lambda table: table.size).path)
    database = filterblock.Database(large)
    kinds = [
        lambda: iter(filterblock.Database(large)),
        lambda: database.iterator(reverse=True),
        lambda: filterblock.scan(large),
        lambda: iter(table),
    ]
    iterators = [kinds[number % len(kinds)]() for number in range(300)]
    for read in [1, 5000]:
        for iterator in iterators:
            for _ in range(read):
                next(iterator)
        assert threads() <= before[0] + 16 and descriptors() <= before[1] + 48
    del iterators, iterator
    table.close()
    database.close()
    gc.collect()
    assert descriptors() <= before[1]
    deadline = time.monotonic() + 20
    while threads() > before[0] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threads() <= before[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("read", [1, 5000])
def test_an_iterator_goes_on_in_a_forked_process_or_is_an_exception(large, read):
    entries = iter(filterblock.Database(large))
    for _ in range(read):
        next(entries)
    child = os.fork()
    if child == 0:
        # Ends the child if it waits for a thread that it does not have.
        signal.alarm(20)
        try:
            if sum(1 for _ in entries) == 100_000 - read:
                os._exit(7)
        except RuntimeError:
            # A thread of the parent was reading ahead.
            os._exit(7 if read > 1 else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert sum(1 for _ in entries) == 100_000 - read


def test_an_open_iterator_does_not_keep_the_process():
    code = f"import filterblock; it = iter(filterblock.scan({str(LEVELS)!r})); next(it)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("call", ["filterblock.verify(folder, jobs=1)", "list(filterblock.scan(folder, prefix=b'-'))"])
def test_a_signal_ends_a_long_call(tmp_path, large, call):
    """Compared with the processor time that the same call takes if it is not interrupted."""
    table = max(filterblock.Database(large).tables(), key=lambda table: table.size).path
    for number in range(60):
        os.link(table, tmp_path / f"{number:06}.ldb")
    code = f"""if True:
        import os, signal, sys, threading, time, filterblock
        # A shell that starts the tests in the background has the signal ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        folder = sys.argv[1]
        start = time.process_time()
        {call}
        whole = time.process_time() - start
        start = time.process_time()
        def interrupt():
            while time.process_time() - start < whole / 10:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            {call}
        except KeyboardInterrupt:
            os._exit(7 if time.process_time() - start < whole * 0.7 else 8)
    """
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=300).returncode == 7
