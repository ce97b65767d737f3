"""Iterators with plyvel's options, and entries as values, compared with plyvel, pandas and pickle."""

import collections.abc
import copy
import gc
import itertools
import os
import pickle
import random
import shutil
import time
import weakref

import plyvel
import pytest
from conftest import TESTDATA

import filterblock

LEVELS = TESTDATA / "databases/levels"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A database of several levels with overwritten and deleted keys, open in plyvel and here, and its keys."""
    path, source = str(tmp_path_factory.mktemp("both") / "db ä"), random.Random(5)
    theirs = plyvel.DB(path, create_if_missing=True, write_buffer_size=32 << 10, bloom_filter_bits=10)
    keys = [bytes(source.choices(b"\x00a\xfe\xff", k=source.randrange(7))) for _ in range(400)]
    keys += [b"%04d" % number for number in range(2000)]
    for round in range(3):
        for key in source.sample(keys, 1500):
            if source.random() < 0.2:
                theirs.delete(key)
            else:
                theirs.put(key, source.randbytes(40))
        if round == 0:
            theirs.compact_range()
    with filterblock.Database(path) as ours:
        yield theirs, ours, keys
    theirs.close()


def ranges(source, keys):
    """Options for iterators."""
    yield {}
    for prefix in [b"", b"a", b"\xff", b"\xff\xff", b"a\xff", b"12", b"none"]:
        yield {"prefix": prefix}
    for _ in range(25):
        start, stop = source.choice(keys), source.choice([*keys, b"zzz", b""])
        yield {"start": start}
        yield {"stop": stop}
        yield {"start": start, "stop": stop}


def test_ranges_in_both_directions_as_leveldb_has_them(both):
    theirs, ours, keys = both
    for range in ranges(random.Random(7), keys):
        flags = [{}]
        if "prefix" not in range:
            flags = [
                {"include_start": start, "include_stop": stop}
                for start, stop in itertools.product([True, False], repeat=2)
            ]
        for flag, reverse in itertools.product(flags, [False, True]):
            options = range | flag | {"reverse": reverse}
            assert list(ours.iterator(**options)) == list(theirs.iterator(**options)), options


def test_parts_of_entries_as_leveldb_has_them(both):
    theirs, ours, _ = both
    for key, value, reverse in itertools.product([True, False], repeat=3):
        options = {"include_key": key, "include_value": value, "reverse": reverse}
        assert list(ours.iterator(**options)) == list(theirs.iterator(**options)), options


def test_a_prefix_with_start_and_stop(both):
    _, ours, _ = both
    everything = list(ours)
    for start, stop, reverse in itertools.product([b"", b"11", b"125", b"13"], [b"12", b"127", b"2"], [False, True]):
        expected = [(k, v) for k, v in everything if k.startswith(b"12") and start <= k < stop]
        found = list(ours.iterator(prefix=b"12", start=start, stop=stop, reverse=reverse))
        assert found == (expected[::-1] if reverse else expected)


def test_get_as_leveldb_has_it(both):
    theirs, ours, keys = both
    default = object()
    for key in [*keys, b"absent", b"\xff" * 20]:
        assert ours.get(key) == theirs.get(key)
        assert ours.get(key, default) == theirs.get(key, default)
        assert ours.get(bytearray(key), default=b"") == theirs.get(key, b"")
    table = filterblock.Table(LEVELS / "000005.ldb")
    assert table.get(b"absent", 7) == 7 and table.get(b"absent") is None


def test_what_is_written_meanwhile_is_seen(tmp_path):
    """The database is kept, and what changes is read anew: with each call what LevelDB has."""
    path, source, model = str(tmp_path / "db"), random.Random(3), {}
    with plyvel.DB(path, create_if_missing=True, write_buffer_size=16 << 10) as theirs:
        ours = filterblock.Database(path)
        for number in range(1500):
            key = b"%03d" % source.randrange(200)
            if source.random() < 0.3:
                theirs.delete(key)
                model.pop(key, None)
            else:
                model[key] = source.randbytes(60)
                theirs.put(key, model[key])
            # LevelDB hands each write to the system at once.
            assert ours.get(key) == model.get(key), number
            if number % 100 == 0:
                other = b"%03d" % source.randrange(200)
                assert ours.get_many([other, key]) == [model.get(other), model.get(key)]
                assert list(ours.iterator(reverse=True)) == sorted(model.items(), reverse=True)
            if number % 400 == 0:
                # After this, the folder has not changed for long enough that what is kept is used.
                time.sleep(0.2)
                assert ours.get(key) == ours.get(key) == model.get(key)
            if number == 800:
                theirs.compact_range()
    # Another database takes its place, with files of the same names.
    shutil.rmtree(path)
    with plyvel.DB(path, create_if_missing=True) as theirs:
        theirs.put(b"000", b"new")
        assert ours.get(b"000") == b"new" and dict(ours) == {b"000": b"new"}
        time.sleep(0.2)
        for number in range(50):
            assert ours.get(b"%03d" % number) == theirs.get(b"%03d" % number)
            theirs.put(b"%03d" % (number + 1), b"newer")
        assert ours.get_many([b"050", b"051"]) == [b"newer", None] and dict(ours) == dict(theirs)


def test_a_reader_goes_on_behind_compactions_in_both_directions(tmp_path):
    path = str(tmp_path / "db")
    with plyvel.DB(path, create_if_missing=True, write_buffer_size=64 << 10) as theirs:
        for number in range(20_000):
            theirs.put(b"%06d" % number, b"value %d" % number)
        theirs.compact_range()
        expected = list(theirs)
        for reverse in [False, True]:
            # There are more iterators than files are kept open, so that some files are closed, and gone later.
            iterators = [filterblock.Database(path).iterator(reverse=reverse) for _ in range(8)]
            found = [[next(iterator) for _ in range(100 * at)] for at, iterator in enumerate(iterators)]
            for number in range(20_000):
                theirs.put(b"%06d" % number, b"value %d" % number)
            theirs.compact_range()
            for iterator, before in zip(iterators, found, strict=True):
                assert [*before, *iterator] == (expected[::-1] if reverse else expected)


def test_a_database_in_another_order_backwards():
    reversed = filterblock.Database(TESTDATA / "databases/reversed")
    with pytest.raises(filterblock.Error):
        list(reversed.iterator(reverse=True))


def test_a_database_without_a_manifest_backwards(tmp_path):
    folder = shutil.copytree(LEVELS, tmp_path / "db")
    (folder / "MANIFEST-000008").unlink()
    with pytest.raises(filterblock.MissingError):
        filterblock.Database(folder).iterator(reverse=True)
    with pytest.raises(filterblock.MissingError):
        filterblock.Database(folder).get(b"item/0001")
    told = filterblock.Database(folder, comparator="bytewise")
    assert [key for key, _ in told.iterator(reverse=True)][::-1] == sorted(
        {entry.key for entry in filterblock.scan(folder, newest=True, comparator="bytewise", on_error=print)}
    )


def test_damage_is_raised_once_backwards(tmp_path):
    folder = shutil.copytree(LEVELS, tmp_path / "db")
    table = folder / "000005.ldb"
    whole = bytearray(table.read_bytes())
    offset, _ = filterblock.Table(bytes(whole)).data_blocks()[1]
    whole[offset + 9] ^= 0xFF
    table.write_bytes(whole)

    def all_of(iterator):
        found, errors = [], []
        while True:
            try:
                found.append(next(iterator))
            except StopIteration:
                return found, errors
            except filterblock.CorruptionError as error:
                errors.append((error.file, error.offset))

    there, errors = all_of(iter(filterblock.Database(folder)))
    back, back_errors = all_of(filterblock.Database(folder).iterator(reverse=True))
    assert there == back[::-1] and errors == back_errors and len(errors) == 1
    there, errors = all_of(filterblock.Table(table).scan())
    back, back_errors = all_of(filterblock.Table(table).scan(reverse=True))
    assert there == back[::-1] and errors == back_errors and len(errors) == 1


def test_what_is_closed_says_so_as_plyvel_does(tmp_path):
    path = str(tmp_path / "db")
    with plyvel.DB(path, create_if_missing=True) as theirs:
        for number in range(100):
            theirs.put(b"%03d" % number, b"value")
    theirs, ours = plyvel.DB(path), filterblock.Database(path)
    for database in [theirs, ours]:
        with database.iterator() as iterator:
            assert next(iterator) == (b"000", b"value")
        with pytest.raises(RuntimeError):
            next(iterator)
        other = database.iterator()
        next(other)
        database.close()
        database.close()
        assert database.closed
        for call in [lambda: next(other), lambda: database.get(b"000"), lambda: database.iterator()]:
            with pytest.raises(RuntimeError):
                call()
    assert iterator.closed and other.closed and len(ours.tables() + ours.logs()) > 0

    with filterblock.Table(LEVELS / "000005.ldb") as table:
        entries = iter(table)
        next(entries)
    assert table.closed and entries.closed and table.file_size > 0 and table.path
    for call in [lambda: next(entries), lambda: iter(table), lambda: table.get(b""), table.data_blocks, table.scan]:
        with pytest.raises(RuntimeError, match="closed"):
            call()
    with filterblock.scan(LEVELS) as scan:
        next(scan)
    assert scan.closed
    with pytest.raises(RuntimeError, match="closed"):
        next(scan)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_files_are_closed_on_time(tmp_path):
    folder = shutil.copytree(LEVELS, tmp_path / "db")

    def open_here():
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        return [link for link in links if os.path.realpath(link).startswith(str(folder))]

    database = filterblock.Database(folder)
    database.get(next(iter(database))[0])
    half_read = [database.iterator(), filterblock.scan(folder), iter(filterblock.Table(folder / "000005.ldb"))]
    for iterator in half_read:
        next(iterator)
    assert open_here()
    database.close()
    for iterator in half_read[1:]:
        iterator.close()
    assert open_here() == []
    table = filterblock.Table(folder / "000005.ldb")
    entries = iter(table)
    assert open_here()
    del table, entries
    assert open_here() == []


def test_iterators_are_freed_without_the_collector():
    gc.disable()
    try:
        for make in [lambda: filterblock.scan(LEVELS), lambda: filterblock.Database(LEVELS).iterator()]:
            iterator = make()
            next(iterator)
            # Iterators cannot be weakly referenced; their error handlers can.
            del iterator
        handler = lambda error: None
        scan, watch = filterblock.scan(LEVELS, on_error=handler), weakref.ref(handler)
        del handler, scan
        assert watch() is None
    finally:
        gc.enable()


def test_an_entry_is_a_value():
    entries, again = list(filterblock.scan(LEVELS)), list(filterblock.scan(LEVELS))
    assert entries == again and entries[0] is not again[0] and entries[0] != entries[1]
    assert len({*entries, *again}) == len(set(entries)) == len(entries)
    key, value = entries[0]
    assert (key, value) == (entries[0].key, entries[0].value) == tuple(entries[0])
    assert dict(filterblock.scan(LEVELS, newest=True)) == dict(filterblock.Database(LEVELS))
    assert (len(entries[0]), entries[0][0], entries[0][-1]) == (2, key, value)
    assert entries[0] != (key, value) and isinstance(entries[0], collections.abc.Sequence)
    with pytest.raises(IndexError):
        entries[0][2]
    for entry in entries[:50]:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            copied = pickle.loads(pickle.dumps(entry, protocol))
            assert copied == entry and hash(copied) == hash(entry) and copied._asdict() == entry._asdict()
        assert copy.deepcopy(entry) == entry
    assert list(entries[0]._asdict()) == ["key", "value", "sequence", "type", "deleted", "state", "file", "offset"]


def test_fields_that_are_asked_for():
    fields = ["sequence", "key", "file", "offset", "type", "deleted", "state", "value"]
    for entry, plain in zip(filterblock.scan(LEVELS, fields=fields), filterblock.scan(LEVELS), strict=True):
        assert list(entry) == [getattr(plain, name) for name in fields] and entry == plain
        assert pickle.loads(pickle.dumps(entry))._fields == tuple(fields)
    with pytest.raises(ValueError, match="fields: expected names among .*, found 'size'"):
        filterblock.scan(LEVELS, fields=["key", "size"])


def test_frames_of_pandas():
    pandas = pytest.importorskip("pandas")
    table = filterblock.Table(LEVELS / "000005.ldb")
    expected = list(table.scan())
    frame = pandas.DataFrame(table.scan())
    assert list(frame.columns) == ["key", "value"] and len(frame) == len(expected) > 100
    assert list(frame["key"]) == [entry.key for entry in expected]
    assert list(frame["value"]) == [entry.value for entry in expected]
    frame = pandas.DataFrame(filterblock.scan(LEVELS, fields=["key", "sequence", "file"]))
    assert list(frame.columns) == ["key", "sequence", "file"]
    assert list(frame["sequence"]) == [entry.sequence for entry in filterblock.scan(LEVELS)]
    assert list(pandas.DataFrame(filterblock.Database(LEVELS).scan()).columns) == ["key", "value"]


@pytest.mark.parametrize("name", ["000005.ldb", "000007.ldb", "000009.ldb"])
def test_a_table_has_the_entries_that_scan_has(name):
    path = LEVELS / name
    expected = list(filterblock.scan(path))
    table, memory = filterblock.Table(path), filterblock.Table(path.read_bytes())
    parts = lambda entry: (entry.key, entry.value, entry.sequence, entry.type, entry.offset)
    assert list(map(parts, table.scan())) == list(map(parts, expected)) == list(map(parts, memory.scan()))
    assert {entry.file for entry in table.scan()} == {str(path)} and {entry.file for entry in memory.scan()} == {""}
    assert list(table.scan(reverse=True)) == list(table.scan())[::-1]
    some = [entry for entry in table.scan() if entry.key.startswith(b"item/000")]
    assert list(table.scan(prefix=b"item/000")) == some != [] and list(table.scan(limit=3)) == list(table.scan())[:3]
    low, high = expected[10].key, expected[-10].key
    for start, stop in itertools.product([True, False], repeat=2):
        inside = lambda key: (low < key or start and low == key) and (key < high or stop and key == high)
        found = table.scan(start=low, stop=high, include_start=start, include_stop=stop)
        assert [entry.key for entry in found] == [entry.key for entry in expected if inside(entry.key)]
