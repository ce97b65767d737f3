"""Damaged and hostile files: a clear exception or the right answer, nothing else."""

import json
import os
import pickle
import random
import shutil
import subprocess

import pytest
from conftest import REPOSITORY, TABLES, TESTDATA

import filterblock

WORDS = TESTDATA / "tables/words-256-bloom10.ldb"
CLASSES = {
    "damaged": filterblock.CorruptionError,
    "unsupported": filterblock.UnsupportedError,
    "missing": filterblock.MissingError,
    "unreadable": filterblock.ReadError,
}


def everything(path):
    """Does all that can be done with a table. Returns the exceptions."""
    errors = []
    list(filterblock.scan(path, on_error=errors.append, max_output=1 << 24))
    list(filterblock.scan(path, carve=True, on_error=errors.append, max_output=1 << 24))
    filterblock.verify(path, jobs=1, max_output=1 << 24)
    filterblock.inspect(path, jobs=1, max_output=1 << 24)
    for options in [{}, {"internal_keys": True}, {"internal_keys": False}, {"verify_checksums": False}]:
        try:
            table = filterblock.Table(path, **options, max_output=1 << 24)
            for call in [
                lambda: table.get(b"key"),
                lambda: table.may_contain(b"key"),
                table.data_blocks,
                lambda: table.filter and table.filter.check(),
            ]:
                try:
                    call()
                except filterblock.Error as error:
                    errors.append(error)
            if table.filter_error is not None:
                errors.append(table.filter_error)
            entries = iter(table)
            while True:
                try:
                    next(entries)
                except StopIteration:
                    break
                except filterblock.Error as error:
                    errors.append(error)
        except filterblock.Error as error:
            errors.append(error)
    return errors


def test_random_damage_is_an_exception_that_says_where(tmp_path):
    source, seen = random.Random(3), set()
    for number in range(120):
        whole = bytearray(source.choice(TABLES).read_bytes()[: 64 << 10])
        for _ in range(source.choice([1, 1, 4, 50])):
            whole[source.randrange(len(whole))] = source.randrange(256)
        del whole[len(whole) - source.choice([0, 0, 0, 1, 40, 500]) % len(whole) :]
        path = tmp_path / f"{number}.ldb"
        path.write_bytes(whole)
        for error in everything(path):
            seen.add(type(error))
            assert isinstance(error, filterblock.Error)
            assert error.file is None or error.file == str(path)
            for part in [error.file, error.expected, error.found]:
                assert part is None or part in str(error)
            if isinstance(error, filterblock.CorruptionError):
                assert error.offset is not None and error.expected and error.found, error
    assert seen >= {filterblock.CorruptionError, filterblock.UnsupportedError}


def table_cases():
    with open(REPOSITORY / "crates/conformance/cases/damaged-table.jsonl") as cases:
        return [json.loads(line) for line in cases]


def answer(kind, given):
    """The answer to a case of the conformance suite."""
    table = filterblock.Table(bytes.fromhex(given["table"]), internal_keys=given["internal_keys"])
    if kind == "table_scan":
        return {"entries": [[key.hex(), value.hex()] for key, value in table]}
    key = bytes.fromhex(given["key"])
    value = table.get(key[:-8] if given["internal_keys"] else key)
    return {"absent": True} if value is None else {"value": value.hex()}


def test_damaged_tables_as_leveldb_answers():
    """The tables are LevelDB's with damage, and so are the answers."""
    cases, errors = table_cases(), 0
    for case in cases:
        if case["kind"] not in ("table_get", "table_scan") or case["given"]["internal_keys"]:
            continue
        try:
            found = answer(case["kind"], case["given"])
        except filterblock.Error as error:
            found = {"error": str(error)}
            errors += 1
        allowed = [case["must"], *case.get("may", [])]
        if "error" in found:
            assert any("error" in other for other in allowed), (case["case"], found)
        else:
            assert found in allowed, (case["case"], found)
            assert found not in case.get("must_not", [])
    assert len(cases) > 100 and errors > 50


def test_each_kind_of_error(tmp_path):
    def raised(call):
        with pytest.raises(filterblock.Error) as caught:
            call()
        return caught.value

    error = raised(lambda: filterblock.Table(tmp_path / "missing"))
    assert type(error) is filterblock.MissingError and isinstance(error, FileNotFoundError)
    assert error.file == str(tmp_path / "missing") and error.file in str(error)
    error = raised(lambda: filterblock.Table(tmp_path))
    assert type(error) is filterblock.ReadError and isinstance(error, OSError)
    error = raised(lambda: filterblock.Table(REPOSITORY / "README.md"))
    assert type(error) is filterblock.CorruptionError and isinstance(error, ValueError)
    assert error.offset > 0 and error.expected and error.found
    error = raised(lambda: list(filterblock.scan(REPOSITORY / "README.md")))
    assert type(error) is filterblock.CorruptionError and "text" in str(error)
    error = raised(lambda: filterblock.Table(b""))
    assert type(error) is filterblock.CorruptionError and error.file is None
    error = raised(lambda: filterblock.Database(tmp_path))
    assert type(error) is filterblock.MissingError and error.found
    error = raised(lambda: filterblock.Database(WORDS))
    assert isinstance(error, filterblock.ReadError)
    error = raised(lambda: list(filterblock.Database(TESTDATA / "databases/reversed")))
    assert type(error) is filterblock.UnsupportedError and "Reversed" in error.found
    for name, value in [("source", 7), ("source", None)]:
        with pytest.raises(TypeError, match=f"{name}: expected a path or a bytes-like object, found"):
            filterblock.Table(value)
    with pytest.raises(TypeError):
        filterblock.Table()
    with pytest.raises(TypeError, match="expected a bytes-like object, found str"):
        filterblock.Table(WORDS).get("text")
    with pytest.raises(TypeError, match="expected a bytes-like object, found str"):
        filterblock.Database(TESTDATA / "databases/levels").get("text")
    with pytest.raises(ValueError, match="comparator"):
        filterblock.Database(TESTDATA / "databases/levels", comparator="other")


def test_what_is_encrypted_or_of_another_format_is_not_damaged(tmp_path):
    world, rocks = tmp_path / "world", tmp_path / "rocks"
    for folder in [world, rocks]:
        shutil.copytree(TESTDATA / "databases/levels", folder)
    for file in [world / "CURRENT", *world.glob("MANIFEST-*"), *world.glob("*.ldb")]:
        file.write_bytes(b"\x80\x1d\x30\x01" + bytes(byte ^ 0x5A for byte in file.read_bytes()))
    for name in ["OPTIONS-000007", "IDENTITY"]:
        (rocks / name).touch()
    for folder, code, text in [
        (world, "encrypted", "encrypted by Minecraft of NetEase (China)"),
        (rocks, "other-format", "a RocksDB database"),
    ]:
        for read in [filterblock.Database, lambda path: list(filterblock.scan(path)), filterblock.report]:
            with pytest.raises(filterblock.UnsupportedError) as caught:
                read(folder)
            assert text in str(caught.value)
        assert [problem.code for report in filterblock.verify(folder) for problem in report.problems] == [code]
        [found], [tuned] = filterblock.inspect(folder), filterblock.tune(folder)
        assert text in found.error and text in tuned.error
        for write in [filterblock.repair, lambda path, to: filterblock.rebuild(path, to=to)]:
            with pytest.raises(filterblock.RefusedError, match="nothing was changed"):
                write(folder, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read(tmp_path):
    path = tmp_path / "t.ldb"
    shutil.copy(WORDS, path)
    path.chmod(0)
    with pytest.raises(filterblock.DeniedError) as caught:
        filterblock.Table(path)
    assert isinstance(caught.value, PermissionError)


def test_a_table_goes_on_behind_damage():
    damaged = bytearray(WORDS.read_bytes())
    offset, _ = filterblock.Table(WORDS).data_blocks()[3]
    damaged[offset + 5] ^= 0xFF
    found, errors, entries = [], [], iter(filterblock.Table(damaged))
    while True:
        try:
            found.append(next(entries))
        except StopIteration:
            break
        except filterblock.CorruptionError as error:
            errors.append((len(found), error.file, error.offset > offset))
            assert str(error).startswith("block checksum at offset")
    expected = [(entry.key, entry.value) for entry in filterblock.scan(WORDS) if entry.offset != offset]
    assert found == expected
    assert errors == [(sum(entry.offset < offset for entry in filterblock.scan(WORDS)), None, True)]


def test_options_of_a_table():
    words = WORDS.read_bytes()
    with pytest.raises(filterblock.UnsupportedError, match="at most 500 bytes"):
        list(filterblock.Table(WORDS, max_output=500))
    with pytest.raises(filterblock.UnsupportedError, match="at most 500 bytes"):
        list(filterblock.Table(words, max_output=500))
    # The checksum of the first block.
    offset, size = filterblock.Table(words).data_blocks()[0]
    damaged = bytearray(words)
    damaged[offset + size + 1] ^= 1
    with pytest.raises(filterblock.CorruptionError, match="checksum"):
        list(filterblock.Table(damaged))
    assert list(filterblock.Table(damaged, verify_checksums=False)) == list(filterblock.Table(words))


def test_a_table_tells_what_its_keys_are():
    for path in TABLES:
        entry = next(filterblock.scan(path), None)
        if entry is not None:
            assert filterblock.Table(path).internal_keys == (entry.sequence is not None), path
    for internal in (False, True):
        assert filterblock.Table(WORDS, internal_keys=internal).internal_keys is internal


def test_exceptions_can_be_sent_to_other_processes():
    for cls in [filterblock.CorruptionError, filterblock.MissingError, filterblock.UnsupportedError]:
        error = cls("t.ldb: message", file="t.ldb", offset=7, expected="this", found="that")
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is cls and str(copy) == "t.ldb: message" and copy.args == error.args
        assert (copy.file, copy.offset, copy.expected, copy.found) == ("t.ldb", 7, "this", "that")
        assert cls.__module__ == "filterblock"


def test_filters_that_cannot_be_used_have_a_reason():
    table = filterblock.Table(TESTDATA / "constructed/rocksdb-full-filter.ldb")
    assert table.filter is None and isinstance(table.filter_error, filterblock.Error)
    assert filterblock.Table(WORDS).filter_error is None
    bare = filterblock.Table(TESTDATA / "tables/words-4096-unfiltered.ldb")
    assert (bare.filter, bare.filter_name, bare.filter_error) == (None, None, None)


def test_damage_to_a_databases_tables_and_logs(tmp_path):
    folder = shutil.copytree(TESTDATA / "databases/levels", tmp_path / "db")
    whole = list(filterblock.Database(folder))
    (folder / "000007.ldb").unlink()
    log = bytearray((folder / "000010.log").read_bytes())
    log[20] ^= 1
    (folder / "000010.log").write_bytes(log)
    errors, pairs, iterator = [], [], iter(filterblock.Database(folder))
    while True:
        try:
            pairs.append(next(iterator))
        except StopIteration:
            break
        except filterblock.Error as error:
            errors.append(error)
    assert {os.path.basename(error.file) for error in errors} == {"000007.ldb", "000010.log"}
    assert {type(error) for error in errors} == {filterblock.MissingError, filterblock.CorruptionError}
    assert 0 < len(pairs) and pairs != whole
    [missing] = [table for table in filterblock.Database(folder).tables() if table.path is None]
    assert (missing.number, missing.state, missing.size) == (7, "live", None)
    with pytest.raises(filterblock.Error):
        filterblock.Database(folder).get(whole[0][0])


def test_a_lookup_raises_the_damage_that_it_comes_to_and_no_other(tmp_path, program_path):
    """Sizes that contradict the MANIFEST count as missing tables do, and as in `filterblock get`."""
    whole = filterblock.Database(TESTDATA / "databases/levels")
    entries = list(filterblock.scan(TESTDATA / "databases/levels", newest=True))
    in_log = [entry.key for entry in entries if entry.file.endswith(".log")]
    assert in_log
    keys = in_log[:2] + [entry.key for entry in entries[::23]] + [b"", b"item/0003/", b"zzz"]

    def longer(path):
        path.write_bytes(path.read_bytes() + b"\0")

    def cut(path):
        path.write_bytes(path.read_bytes()[:-1])

    for name in ["000005.ldb", "000007.ldb", "000009.ldb"]:
        raised = {}
        for damage in [longer, cut, os.unlink]:
            folder = shutil.copytree(TESTDATA / "databases/levels", tmp_path / f"{name}-{damage.__name__}")
            damage(folder / name)
            with filterblock.Database(folder) as database:
                for key in keys:
                    run = subprocess.run(
                        [program_path, "get", "--hex", folder, key.hex()], capture_output=True, timeout=60
                    )
                    try:
                        found = database.get(key)
                    except filterblock.Error as error:
                        assert name in str(error) and run.returncode == 2, (key, run)
                        if damage is not os.unlink:
                            assert "and should have" in str(error)
                        raised.setdefault(damage, []).append(key)
                        with pytest.raises(type(error)):
                            database.get_many([key])
                    else:
                        assert found == whole.get(key) and database.get_many([key]) == [found]
                        assert run.returncode == (1 if found is None else 0), (key, run)
                        assert run.stdout == (found or b"")
                for key in in_log + [b"zzz"]:
                    assert database.get(key) == whole.get(key)
        assert raised[longer] == raised[cut] == raised[os.unlink] != []


def test_a_table_that_does_not_tell_the_form_of_its_keys_lacks_none_for_certain(tmp_path):
    path = tmp_path / "riak.ldb"
    source = bytearray((TESTDATA / "basho/versions-bloom.ldb").read_bytes())
    sound = filterblock.Table(bytes(source))
    expected = [(entry.key, entry.value, entry.type) for entry in sound.scan()]
    source[-48] ^= 0x10
    path.write_bytes(source)
    key = b"account:017763:mail"
    for given, text in [(None, "the form of the keys is not certain: internal_keys gives it"), (True, "Riak's")]:
        table = filterblock.Table(path, internal_keys=given)
        assert table.get(key) == sound.get(key) is not None and table.may_contain(b"absent")
        for call in [lambda: table.get(b"absent"), lambda: table.get_many([key, b"absent"])]:
            with pytest.raises(filterblock.CorruptionError, match=text) as caught:
                call()
            assert caught.value.file == str(path)
        errors = []
        found = table.scan(on_error=errors.append)
        assert [(entry.key, entry.value, entry.type) for entry in found] == expected
        assert [text in str(error) for error in errors] == [True]
    whole = filterblock.Table(path, internal_keys=False)
    assert whole.get(b"absent") is None


def test_riaks_keys_are_told_in_a_database_though_a_metaindex_is_damaged(tmp_path, program_path):
    """Keys of type 2 and 3 are split by what the metaindex tells; all others are found without it."""
    source = bytearray((TESTDATA / "basho/versions-bloom.ldb").read_bytes())
    entries, newest = list(filterblock.Table(bytes(source)).scan()), {}
    for entry in entries:
        newest.setdefault(entry.key, entry)
    source[-48] ^= 0x10
    (tmp_path / "000005.ldb").write_bytes(source)
    tag = (7 << 8 | 1).to_bytes(8, "little")
    edit = b"\x01\x1aleveldb.BytewiseComparator\x02\x00\x03\x09\x04" + b"\xff" * 7 + b"\x7f"
    edit += b"\x07\x01\x05" + bytes([len(source) & 127 | 128, len(source) >> 7]) + b"\x08" + tag + b"\x0bzzz" + tag
    (tmp_path / "MANIFEST-000002").write_bytes(record(edit))
    (tmp_path / "CURRENT").write_text("MANIFEST-000002\n")
    database, raised = filterblock.Database(tmp_path), 0
    assert database.manifest_error is None
    for key, entry in newest.items():
        if entry.type in ("value", "deletion"):
            assert database.get(key) == entry.value
            continue
        raised += 1
        for call in [database.get, lambda key: database.get_many([key])]:
            with pytest.raises(filterblock.CorruptionError, match="whether the keys are Riak's is not certain"):
                call(key)
    assert raised > 40
    for iterator in [database.iterator(), database.iterator(reverse=True)]:
        pairs, errors = [], []
        while True:
            try:
                pairs.append(next(iterator))
            except StopIteration:
                break
            except filterblock.Error as error:
                errors.append(error)
        live = [(key, entry.value) for key, entry in newest.items() if entry.type != "deletion"]
        assert sorted(pairs) == live and [os.path.basename(error.file) for error in errors] == ["000005.ldb"]


def record(contents):
    """A log of one record: masked CRC-32C, length, type and contents."""
    crc = 0xFFFFFFFF
    for byte in b"\x01" + contents:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return masked.to_bytes(4, "little") + len(contents).to_bytes(2, "little") + b"\x01" + contents
