"""scan(), held against `filterblock scan --all --json` and LevelDB's lists."""

import gc
import os
import shutil
import weakref

import pytest
from conftest import DATABASES, TABLES, TESTDATA, listing, unhex, value_of

import filterblock

LEVELS = TESTDATA / "databases/levels"


def described(entry):
    """The fields of an entry that the program's JSON has."""
    return {
        "key_hex": entry.key.hex(),
        "value": None if entry.value is None else entry.value.hex(),
        "path": entry.file,
        "offset": entry.offset,
        "sequence": entry.sequence,
        "type": entry.type,
        "state": entry.state,
    }


def printed(lines):
    for line in lines:
        if line["object"] == "entry":
            value = line["value_hex"] if line["value"] is None else line["value"].encode().hex()
            yield {name: line[name] for name in ("key_hex", "path", "offset", "sequence", "type", "state")} | {
                "value": value
            }


def collect(path, **options):
    """All entries, and all errors."""
    errors = []
    return list(filterblock.scan(path, on_error=errors.append, **options)), errors


@pytest.mark.parametrize("path", TABLES + DATABASES, ids=lambda path: str(path.relative_to(TESTDATA)))
def test_scan_is_what_the_program_prints(program, path):
    lines, _ = program("scan", "--all", "--json", path)
    entries, errors = collect(path)
    assert [described(entry) for entry in entries] == list(printed(lines))
    faults = [(line["path"], line["error"]) for line in lines if line["object"] == "fault"]
    assert [(error.file, str(error)) for error in errors] == [(path, f"{path}: {text}") for path, text in faults]
    assert all(entry.deleted == (entry.type == "deletion") == (entry.value is None) for entry in entries)
    newest, _ = collect(path, newest=True)
    lines, _ = program("scan", "--json", path)
    assert [described(entry) for entry in newest] == list(printed(lines))


def test_an_incomplete_table_that_is_not_used_is_a_note(tmp_path):
    copy = shutil.copytree(LEVELS, tmp_path / "db")
    whole = (copy / "000005.ldb").read_bytes()
    expected = [described(entry) for entry in filterblock.scan(copy)]
    # What an interrupted compaction left, and what is being written.
    for name, contents in [("000003.ldb", whole[:-20]), ("000136.ldb", whole[:100]), ("000137.ldb", b"")]:
        (copy / name).write_bytes(contents)
    scan = filterblock.scan(copy)
    assert [described(entry) for entry in scan] == expected
    [note] = scan.notes
    assert note.endswith("000003.ldb, 000136.ldb, 000137.ldb are incomplete and unused")
    # In use, an incomplete table is damage.
    (copy / "000005.ldb").write_bytes(whole[:-20])
    with pytest.raises(filterblock.CorruptionError):
        list(filterblock.scan(copy))


@pytest.mark.parametrize("name", ["levels", "unfiltered"])
def test_tables_hold_what_leveldb_lists(name):
    expected = {
        (table, unhex(key), int(sequence), kind, int(length))
        for table, key, sequence, kind, length in listing(f"databases/{name}.entries")
    }
    entries, errors = collect(TESTDATA / "databases" / name)
    stored = [entry for entry in entries if entry.state == "live"]
    found = {
        (os.path.basename(entry.file), entry.key, entry.sequence, entry.type, len(entry.value or b""))
        for entry in stored
    }
    assert found == expected and len(stored) == len(expected) and errors == []
    assert any(entry.deleted for entry in stored)
    assert all(entry.value == value_of(entry.key, len(entry.value)) for entry in entries if not entry.deleted)
    logged = {"log"} if name == "levels" else set()
    assert {entry.state for entry in entries} == {"live"} | logged


def test_options():
    everything, _ = collect(LEVELS)
    some, _ = collect(LEVELS, start=b"item/0002", stop=bytearray(b"item/0004"))
    assert [e.key for e in some] == [e.key for e in everything if b"item/0002" <= e.key < b"item/0004"] != []
    some, _ = collect(LEVELS, prefix=memoryview(b"item/0003"))
    assert [e.key for e in some] == [e.key for e in everything if e.key.startswith(b"item/0003")] != []
    for empty in [{"prefix": b""}, {"start": b""}]:
        assert len(collect(LEVELS, **empty)[0]) == len(everything)
    assert collect(LEVELS, stop=b"") == ([], [])
    assert [e.sequence for e in collect(LEVELS, limit=3)[0]] == [e.sequence for e in everything[:3]]
    table = TESTDATA / "tables/versions-512-bloom10.ldb"
    assert collect(table, internal_keys=False)[0][0].sequence is None
    assert collect(table, internal_keys=True)[0][0].sequence is not None
    _, [error] = collect(TESTDATA / "tables/words-256-bloom10.ldb", max_output=100)
    assert isinstance(error, filterblock.UnsupportedError)
    found, [error] = collect(TESTDATA / "tables/words-4096-unfiltered.ldb", max_output=5000)
    assert found and isinstance(error, filterblock.UnsupportedError)
    assert (error.expected, error.found) == ("at most 5000 bytes of blocks and keys to decode (--max-output)", "more")
    log, _ = collect(LEVELS / "000010.log")
    assert [(e.key, e.sequence) for e in log] == [
        (e.key, e.sequence) for e in sorted((e for e in everything if e.state == "log"), key=lambda e: e.sequence)
    ]


def test_damage_is_raised_once_and_the_next_step_goes_on(tmp_path):
    table = tmp_path / "t.ldb"
    whole = (TESTDATA / "tables/words-256-bloom10.ldb").read_bytes()
    blocks = filterblock.Table(whole).data_blocks()
    offset, size = blocks[3]
    table.write_bytes(whole[: offset + 5] + b"\xff" + whole[offset + 6 :])
    expected = [e.key for e in filterblock.scan(TESTDATA / "tables/words-256-bloom10.ldb") if e.offset != offset]
    scan, keys, errors = filterblock.scan(table), [], []
    while True:
        try:
            keys.append(next(scan).key)
        except StopIteration:
            break
        except filterblock.Error as error:
            errors.append(error)
            before = len(keys)
    assert keys == expected
    # The error comes after the entries before the damage.
    assert before == sum(e.offset < offset for e in filterblock.scan(TESTDATA / "tables/words-256-bloom10.ldb"))
    [error] = errors
    assert type(error) is filterblock.CorruptionError and error.file == str(table)
    # The checksum lies behind the block's compression type.
    assert error.offset == offset + size + 1
    assert error.expected in str(error) and error.found in str(error) and f"at offset {offset}," in str(error)
    with pytest.raises(StopIteration):
        next(scan)
    assert collect(table)[1][0].args == error.args


def test_carve_finds_blocks_without_index_and_footer(tmp_path):
    table = tmp_path / "t.ldb"
    source = LEVELS / "000005.ldb"
    whole = [e for e in filterblock.scan(source)]
    table.write_bytes(source.read_bytes()[:-100])
    with pytest.raises(filterblock.CorruptionError, match="expected"):
        list(filterblock.scan(table))
    errors = []
    scan = filterblock.scan(table, carve=True, on_error=errors.append)
    assert [(e.key, e.value, e.sequence, e.offset) for e in scan] == [
        (e.key, e.value, e.sequence, e.offset) for e in whole
    ]
    assert any("data blocks found by their checksums: " in note and str(table) in note for note in scan.notes)
    assert all(isinstance(error, filterblock.CorruptionError) for error in errors)


def test_a_database_without_a_manifest(tmp_path):
    folder = shutil.copytree(LEVELS, tmp_path / "db")
    (folder / "MANIFEST-000008").unlink()
    whole = collect(LEVELS)[0]
    apart, [error] = collect(folder)
    assert "shown by itself" in str(error) and isinstance(error, filterblock.MissingError)
    key_of = lambda entry: (entry.key, entry.sequence)
    assert sorted(map(key_of, apart)) == sorted(map(key_of, whole))
    assert {entry.state for entry in apart} == {"unknown", "log"}
    entries, [error] = collect(folder, comparator="bytewise")
    assert len(entries) == len(whole) and isinstance(error, filterblock.MissingError)
    assert {entry.state for entry in entries} == {"unknown", "log"}
    database = filterblock.Database(folder)
    assert isinstance(database.manifest_error, filterblock.MissingError)
    with pytest.raises(filterblock.Error):
        list(database)


def test_an_error_in_the_callback_is_raised(tmp_path):
    def refuse(error):
        raise KeyError(error.file)

    with pytest.raises(KeyError, match="missing"):
        list(filterblock.scan(tmp_path / "missing", on_error=refuse))


def test_wrong_arguments(tmp_path):
    for wrong in [{"prefix": "text"}, {"start": 7}, {"stop": [1]}]:
        with pytest.raises(TypeError, match="expected a bytes-like object, found (str|int|list)"):
            filterblock.scan(LEVELS, **wrong)
    with pytest.raises(ValueError, match="comparator: expected"):
        filterblock.scan(LEVELS, comparator="reverse")
    with pytest.raises(OverflowError):
        filterblock.scan(LEVELS, limit=-1)
    with pytest.raises(TypeError):
        filterblock.scan(7)
    with pytest.raises(filterblock.MissingError) as caught:
        list(filterblock.scan(tmp_path / "missing"))
    assert isinstance(caught.value, FileNotFoundError) and caught.value.file == str(tmp_path / "missing")
    # A path that begins with a dash is no option.
    with pytest.raises(filterblock.MissingError, match="--keys"):
        list(filterblock.scan("--keys"))


def test_an_entry_outlives_its_scan():
    scan = filterblock.scan(LEVELS)
    entry = next(scan)
    key, value = entry.key, entry.value
    del scan
    gc.collect()
    assert (entry.key, entry.value) == (key, value)
    assert repr(key) in repr(entry) and str(entry.offset) in repr(entry)


def test_a_callback_that_knows_its_scan_is_collected():
    class Callback:
        def __call__(self, error):
            pass

    callback = Callback()
    callback.scan = filterblock.scan(LEVELS, on_error=callback)
    watch = weakref.ref(callback)
    del callback
    gc.collect()
    assert watch() is None


def test_names_that_are_not_utf8(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff.ldb")
    shutil.copy(TESTDATA / "tables/words-256-bloom10.ldb", path)
    [file] = {entry.file for entry in filterblock.scan(os.fsdecode(path))}
    assert os.fsencode(file) == path
