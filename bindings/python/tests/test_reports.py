"""inspect(), verify() and report(), held against the program."""

import copy
import itertools
import json
import os
import pickle
import shutil
import subprocess
import sys

import pytest
from conftest import DATABASES, TABLES, TESTDATA

import filterblock


def test_all_of_testdata_is_there():
    assert len(TABLES) > 50 and len(DATABASES) == 5


@pytest.mark.parametrize("path", TABLES + DATABASES, ids=lambda path: str(path.relative_to(TESTDATA)))
def test_reports_are_what_the_program_prints(program, path):
    assert filterblock.inspect(path) == program("inspect", "--json", path)[0]
    assert filterblock.verify(path) == program("verify", "--json", path)[0]


def test_the_package_has_all_public_names_of_its_modules_and_no_others():
    from filterblock import _errors, _filterblock, _reports

    errors = [name for name in vars(_errors) if not name.startswith("_")]
    assert all(getattr(filterblock, name).__module__ == "filterblock" for name in errors) and len(errors) == 9
    assert filterblock.__all__ == sorted([*errors, *_filterblock.__all__, *_reports.__all__])
    assert all(getattr(filterblock, name) is getattr(_reports, name) for name in _reports.__all__)
    public = [name for name in vars(filterblock) if not name.startswith("_") or name == "__version__"]
    assert sorted(public) == filterblock.__all__
    assert not hasattr(filterblock, "_entry")


def test_fields_come_in_the_order_of_the_program(program):
    database = TESTDATA / "databases/levels"
    for command in ["inspect", "verify"]:
        expected = program(command, "--json", database)[0]
        assert json.dumps(getattr(filterblock, command)(database)) == json.dumps(expected)


def test_functions_can_be_sent_to_other_processes():
    for function in [filterblock.inspect, filterblock.scan, filterblock.verify]:
        assert pickle.loads(pickle.dumps(function)) is function


def test_options_are_those_of_the_program(program):
    table = TABLES[0]
    assert filterblock.inspect(table, filters=True) == program("inspect", "--json", "--filters", table)[0]
    assert filterblock.inspect(table, filters=True) != filterblock.inspect(table)
    below = TESTDATA / "databases"
    assert filterblock.inspect(below, recursive=True) == program("inspect", "--json", "-r", below)[0]
    assert len(filterblock.verify(below, recursive=True)) > 3
    assert filterblock.inspect(table, max_output=10)[0]["error_kind"] == "unsupported"
    table = TESTDATA / "tables/large-65536-bloom10.ldb"
    assert filterblock.verify(table, jobs=2) == program("verify", "--json", table)[0]
    reversed = TESTDATA / "databases/reversed/000005.ldb"
    alone = ("verify", "--json", "--comparator", "bytewise")
    assert filterblock.verify(reversed, comparator="bytewise", jobs=1) == program(*alone, reversed)[0]


def test_what_cannot_be_looked_at_is_in_the_report(program, tmp_path):
    for path in [tmp_path / "missing", tmp_path, "--help", "-"]:
        for command in ["inspect", "verify"]:
            [report] = getattr(filterblock, command)(path)
            assert [report] == program(command, "--json", "--", path)[0]
            assert report["error_kind"] is not None and report["path"] == str(path)


def test_paths_of_any_kind(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff.ldb")
    shutil.copy(TABLES[0], path)
    for given in [os.fsdecode(path), path]:
        [report] = filterblock.inspect(given)
        assert bytes.fromhex(report["path_bytes"]) == path and report["verdict"] == "fine"


def test_wrong_arguments():
    for arguments in [{"jobs": 0}, {"jobs": 257}, {"max_output": -1}, {"max_output": 1 << 64}]:
        [name] = arguments
        with pytest.raises(ValueError, match=f"{name}: expected .* found"):
            filterblock.inspect(TABLES[0], **arguments)
    with pytest.raises(ValueError, match="comparator: expected"):
        filterblock.verify(TABLES[0], comparator="reverse")
    for wrong in [None, 7, object()]:
        with pytest.raises(TypeError):
            filterblock.inspect(wrong)
    with pytest.raises(TypeError):
        filterblock.inspect(TABLES[0], jobs="many")
    assert filterblock.inspect("a\0b")[0]["error_kind"] == "unreadable"


def test_pages_are_what_the_program_writes(program_path, tmp_path):
    for path in DATABASES + TABLES[:2]:
        page = tmp_path / "page.html"
        subprocess.run([program_path, "report", path, "-o", page], stdout=subprocess.DEVNULL)
        assert filterblock.report(path) == page.read_text(encoding="utf-8")
    options = ["--no-verify", "--no-tune"]
    subprocess.run([program_path, "report", *options, DATABASES[0], "-o", page], stdout=subprocess.DEVNULL)
    assert filterblock.report(DATABASES[0], verify=False, tune=False) == page.read_text(encoding="utf-8")
    with pytest.raises(filterblock.MissingError, match="no such file or folder"):
        filterblock.report(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(filterblock.ReadError):
        filterblock.report(tmp_path / "empty")


def parts(report):
    """All reports in a report, itself included."""
    yield report
    for value in report.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                yield from parts(item)


def test_fields_are_attributes():
    reports = [
        *filterblock.inspect(DATABASES, filters=True),
        *filterblock.verify(DATABASES[:2] + TABLES[:5]),
        *filterblock.tune(DATABASES[0]),
    ]
    for part in itertools.chain.from_iterable(map(parts, reports)):
        assert type(part) is filterblock.Report and set(part) <= set(dir(part))
        assert all(getattr(part, f"{field}_") is value for field, value in part.items())
        assert pickle.loads(pickle.dumps(part)) == part and copy.deepcopy(part) == part
    assert reports[0].schema_version == reports[0]["schema_version"]
    with pytest.raises(AttributeError, match="a report of 'folder' has no field 'levels'"):
        _ = next(report for report in reports if report.object == "folder").levels


def test_many_paths_are_as_one_after_the_other(program):
    paths = [TABLES[0], os.fsencode(DATABASES[0]), str(TABLES[1])]
    plain = [os.fsdecode(path) for path in paths]
    assert filterblock.inspect(paths) == program("inspect", "--json", *plain)[0]
    assert filterblock.verify(iter(paths)) == program("verify", "--json", *plain)[0]
    assert filterblock.report(plain[:2]) == [filterblock.report(path) for path in plain[:2]]
    assert filterblock.inspect([]) == []


@pytest.mark.parametrize("path", DATABASES[::4], ids=lambda path: path.name)
def test_tuning_is_what_the_program_prints(program, path):
    assert filterblock.tune(path) == program("tune", "--json", path)[0]
    assert filterblock.tune(path, policy="new", budget=5000) == program(
        "tune", "--json", "--policy", "new", "--budget", 5000, path
    )[0]
    with pytest.raises(ValueError, match="policy: expected one of leveldb.BuiltinBloomFilter2, "):
        filterblock.tune(path, policy="none")


def test_progress_and_its_end(tmp_path):
    for number in range(20):
        shutil.copy(TABLES[0], tmp_path / f"{number:06}.ldb")
    told = []
    whole = filterblock.verify(tmp_path, progress=lambda done, expected: told.append((done, expected)), jobs=1)
    size = 20 * os.path.getsize(TABLES[0])
    assert told[-1] == (size, size) and [done for done, _ in told] == sorted(done for done, _ in told)

    def refuse(done, expected):
        raise KeyError(done)

    for call in [filterblock.verify, filterblock.inspect, filterblock.tune, filterblock.report]:
        with pytest.raises(KeyError):
            call(tmp_path, progress=refuse)
    assert len(whole) >= 20


def test_a_rebuild_is_as_the_program_says(program, tmp_path):
    import plyvel

    def fresh(name):
        path = str(tmp_path / name)
        with plyvel.DB(path, create_if_missing=True, bloom_filter_bits=3) as database:
            for number in range(3000):
                database.put(b"%05d" % number, b"value")
            database.compact_range()
        return path

    path = fresh("db ä")
    planned = filterblock.rebuild(path, in_place=True, dry_run=True, bits_per_key=7)
    assert planned == program("rebuild", "--in-place", "--dry-run", "--json", "--bits-per-key", 7, path)[0]
    *tables, database = filterblock.rebuild(path, to=tmp_path / "new", bits_per_key=12)
    assert database.object == "database" and database.status == "rebuilt"
    assert [table.new_filter.bits_per_key for table in tables] == [12] * len(tables) != []
    with pytest.raises(filterblock.RefusedError, match="new") as caught:
        filterblock.rebuild(path, to=tmp_path / "new")
    assert caught.value.file == path
    with plyvel.DB(str(tmp_path / "new")) as theirs, plyvel.DB(path) as old:
        assert list(theirs) == list(old)
    # A process does not notice its own locks.
    code = "import plyvel, sys; it = plyvel.DB(sys.argv[1]); print(flush=True); sys.stdin.read()"
    other = [sys.executable, "-c", code, path]
    with subprocess.Popen(other, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with pytest.raises(filterblock.InUseError):
            filterblock.rebuild(path, in_place=True)
        process.stdin.close()
    before = filterblock.inspect(path)[-1]
    assert filterblock.rebuild(path, in_place=True, bits_per_key=20)[-1].status == "rebuilt"
    assert filterblock.inspect(path)[-1] != before
    assert filterblock.rebuild(path, undo=True)[-1].status == "undone"
    others = [fresh("one"), fresh("two")]
    results = filterblock.rebuild(others, in_place=True, drop=True, keep_undo=False)
    assert [result.path for result in results if result.object == "database"] == others
    for wrong in [{}, {"to": "a", "in_place": True}, {"in_place": True, "drop": True, "bits_per_key": 5}]:
        with pytest.raises(TypeError):
            filterblock.rebuild(path, **wrong)
    for bits in [0, 101]:
        with pytest.raises(ValueError, match="bits_per_key"):
            filterblock.rebuild(path, in_place=True, bits_per_key=bits)


def test_a_repair_is_as_the_program_says(program, tmp_path):
    folder = shutil.copytree(TESTDATA / "databases/levels", tmp_path / "db")
    (folder / "CURRENT").unlink()
    (folder / "000007.ldb").unlink()
    planned = filterblock.repair(folder, dry_run=True, jobs=1)
    with pytest.raises(TypeError, match="to, or dry_run"):
        filterblock.repair(folder)
    assert planned == program("repair", "--json", "--dry-run", folder, "--to", tmp_path / "new")[0]
    *parts, database = filterblock.repair(folder, tmp_path / "new")
    assert database.object == "database" and database.status == "repaired"
    assert {part.object for part in parts} >= {"file", "loss"}
    assert len(list(filterblock.Database(tmp_path / "new"))) == database["keys"] == database.keys_ > 0
    with pytest.raises(filterblock.RefusedError):
        filterblock.repair(folder, tmp_path / "new")
