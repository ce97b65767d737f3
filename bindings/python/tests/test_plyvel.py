"""The same databases, read by plyvel (LevelDB) and here."""

import os
import random
import shutil

import plyvel
import pytest
from conftest import TESTDATA, listing, unhex, value_of

import filterblock


def write(path, seed, *, operations=4000, **options):
    """Writes random keys, overwrites and deletes some, and compacts in between. Returns what has to be there, and
    all that was ever written: (key, value or None), oldest first."""
    source = random.Random(seed)
    model, history = {}, []
    with plyvel.DB(str(path), create_if_missing=True, write_buffer_size=64 << 10, **options) as database:
        for number in range(operations):
            key = source.choice([b"user/", b"item/", b"", b"\xff\x00"]) + b"%03d" % source.randrange(700)
            if source.random() < 0.25:
                database.delete(key)
                model.pop(key, None)
                history.append((key, None))
            else:
                value = source.randbytes(source.randrange(80))
                database.put(key, value)
                model[key] = value
                history.append((key, value))
            if number == operations // 2:
                database.compact_range()
    return model, history


@pytest.mark.parametrize("options", [{}, {"bloom_filter_bits": 10}, {"compression": None, "block_size": 256}])
@pytest.mark.parametrize("seed", range(4))
def test_a_database_as_leveldb_has_it(tmp_path, seed, options):
    path = tmp_path / "db"
    model, history = write(path, seed, **options)
    ours = filterblock.Database(path)
    scanned = list(filterblock.scan(path))
    # This comes before LevelDB opens the database and makes a table of the log's writes.
    pairs = list(ours)
    assert pairs == sorted(model.items())
    keys = random.Random(seed).sample(sorted({key for key, _ in history}), 40) + [b"absent", b""]
    for key in keys:
        assert ours.get(key) == model.get(key)
    assert ours.get_many(keys) == [model.get(key) for key in keys]
    assert ours.get_many(keys[:3]) == [model.get(key) for key in keys[:3]] and ours.get_many([]) == []
    for file in ours.tables():
        table = filterblock.Table(file.path)
        assert table.get_many(keys) == [table.get(key) for key in keys]
        assert table.get_many(keys, sequence=900) == [table.get(key, sequence=900) for key in keys]

    # Every entry is one that was written, under the sequence number of that write, and none that counts is missing.
    assert all(history[entry.sequence - 1] == (entry.key, entry.value) for entry in scanned)
    newest = {}
    for entry in scanned:
        newest.setdefault(entry.key, entry)
    last = {key: number for number, (key, _) in enumerate(history, 1)}
    for key, entry in newest.items():
        assert entry.sequence <= last[key] and (entry.sequence == last[key] or key not in model)
    assert model.keys() <= newest.keys()
    deleted = [entry for entry in scanned if entry.deleted]
    assert deleted and all(entry.value is None for entry in deleted)
    order = [(entry.key, -entry.sequence) for entry in scanned]
    assert order == sorted(order)

    with plyvel.DB(str(path)) as theirs:
        assert pairs == list(theirs)
        for options in [
            {"prefix": b"user/"},
            {"prefix": b""},
            {"prefix": b"\xff"},
            {"start": b"item/3", "stop": b"user/2"},
            {"start": b"user/"},
            {"stop": b"item/5"},
            {"start": b"z", "stop": b"a"},
        ]:
            assert list(ours.iterator(**options)) == list(theirs.iterator(**options)), options
        # LevelDB has the database open, has made a table of the log, and writes more.
        theirs.put(b"later", b"1")
        assert ours.get(b"later") == b"1"
        assert dict(ours) == dict(theirs)
        theirs.compact_range()
        assert dict(ours) == dict(theirs)


def test_an_iterator_shows_the_database_as_it_was(tmp_path):
    path = str(tmp_path / "db")
    with plyvel.DB(path, create_if_missing=True, write_buffer_size=64 << 10) as theirs:
        for number in range(500):
            theirs.put(b"%03d" % number, b"old")
        ours, their_snapshot = filterblock.Database(path), theirs.snapshot()
        expected = list(their_snapshot)
        iterator = iter(ours)
        first = next(iterator)
        for number in range(500):
            theirs.put(b"%03d" % number, b"new")
        assert [first, *iterator] == expected
        assert list(ours) == list(theirs) != expected
        their_snapshot.close()


@pytest.mark.parametrize("name", ["levels", "unfiltered"])
def test_testdata_as_leveldb_has_it(tmp_path, name):
    folder = shutil.copytree(TESTDATA / "databases" / name, tmp_path / "db")
    ours = list(filterblock.Database(TESTDATA / "databases" / name))
    expected = [(unhex(key), int(length)) for key, length in listing(f"databases/{name}.live")]
    assert ours == [(key, value_of(key, length)) for key, length in expected]
    with plyvel.DB(str(folder)) as theirs:
        assert ours == list(theirs)


@pytest.mark.parametrize("bits", [1, 5, 10, 16, 30])
def test_filters_have_the_bits_that_were_asked_for(tmp_path, bits):
    path = str(tmp_path / "db")
    with plyvel.DB(path, create_if_missing=True, bloom_filter_bits=bits, block_size=1024) as theirs:
        for number in range(2000):
            theirs.put(b"key %05d" % number, b"value")
        theirs.compact_range()
    policy, made = filterblock.BloomFilterPolicy(bits), 0
    for file in filterblock.Database(path).tables():
        table, keys = filterblock.Table(file.path), {}
        for entry in filterblock.scan(file.path):
            keys.setdefault(entry.offset >> table.filter.base_lg, []).append(entry.key)
        for index in range(len(table.filter)):
            assert table.filter.filter(index) == (policy.create_filter(keys[index]) if index in keys else b"")
            made += index in keys
    assert made > 5


def test_tables_and_logs_of_a_database(tmp_path):
    path = tmp_path / "db"
    write(path, 1)
    database = filterblock.Database(path)
    names = sorted(name for name in os.listdir(path) if name.endswith((".ldb", ".log")))
    files = database.tables() + database.logs()
    assert sorted(os.path.basename(file.path) for file in files) == names
    assert all(file.size == os.path.getsize(file.path) for file in files)
    assert database.comparator == "leveldb.BytewiseComparator" and database.manifest_error is None
    assert database.path == str(path)
    log = database.logs()[-1]
    assert log.live and log.path.endswith(f"{log.number:06}.log")
    live = [table for table in database.tables() if table.state == "live"]
    assert live and all(
        (table.level, table.recorded_size, table.smallest, table.largest) == (None,) * 4
        for table in database.tables()
        if table.state != "live"
    )
    for table in live:
        assert table.level in range(7) and table.recorded_size == table.size
        keys = [entry.key for entry in filterblock.scan(table.path)]
        assert (table.smallest, table.largest) == (keys[0], keys[-1])


def test_a_table_gives_what_was_put(tmp_path):
    path = tmp_path / "db"
    model, _ = write(path, 2, bloom_filter_bits=10)
    with plyvel.DB(str(path), bloom_filter_bits=10) as theirs:
        theirs.compact_range()
    found = {}
    for file in filterblock.Database(path).tables():
        table = filterblock.Table(file.path)
        stored = list(table)
        assert table.internal_keys
        assert [(key[:-8], value) for key, value in stored] == [
            (entry.key, entry.value or b"") for entry in filterblock.scan(file.path)
        ]
        for key, value in stored:
            sequence, is_value = divmod(int.from_bytes(key[-8:], "little"), 256)
            assert table.get(key[:-8], sequence=sequence) == (value if is_value else None)
            assert table.may_contain(key[:-8])
            older = table.get(key[:-8], sequence=sequence - 1)
            assert older is None or older in [v for k, v in stored if k[:-8] == key[:-8]]
            if sequence >= found.get(key[:-8], (0, None))[0]:
                found[key[:-8]] = (sequence, value if is_value else None)
        assert table.get(b"absent") is None
        absent = [b"absent %d" % number for number in range(1000)]
        assert sum(map(table.may_contain, absent)) < 50
        exact = filterblock.Table(file.path, internal_keys=False)
        assert list(exact) == stored and not exact.internal_keys
        with pytest.raises(filterblock.ArgumentError, match="internal_keys"):
            exact.get(b"key", sequence=1)
        memory = filterblock.Table((path / os.path.basename(file.path)).read_bytes())
        assert list(memory) == stored and memory.path is None and memory.file_size == file.size
    assert {key: value for key, (_, value) in found.items() if value is not None} == model


def test_a_table_of_another_size_than_the_manifest_has_may_hide_newer_values(tmp_path):
    folder = tmp_path / "db"
    shutil.copytree(TESTDATA / "databases/levels", folder)
    for name in ["000005.ldb", "000007.ldb", "000009.ldb"]:
        (folder / name).write_bytes((folder / name).read_bytes() + b"x")
    text = "has .* bytes and should have .* bytes; a newer value may be lost"
    with filterblock.Database(folder) as database:
        for read in [
            lambda: database.get(b"item/0005/595"),
            lambda: database.get_many([b"item/0005/595"]),
            lambda: next(iter(database)),
            lambda: next(database.scan()),
        ]:
            with pytest.raises(filterblock.CorruptionError, match=text):
                read()
        # No table has such keys, as the MANIFEST has it.
        assert database.get(b"zzz") is None
