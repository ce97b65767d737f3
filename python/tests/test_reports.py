"""inspect(), verify() and report(), held against the program."""

import json
import os
import pickle
import shutil
import subprocess

import pytest
from conftest import DATABASES, TABLES, TESTDATA

import filterblock


def test_all_of_testdata_is_there():
    assert len(TABLES) > 50 and len(DATABASES) == 5


@pytest.mark.parametrize("path", TABLES + DATABASES, ids=lambda path: str(path.relative_to(TESTDATA)))
def test_reports_are_what_the_program_prints(program, path):
    assert filterblock.inspect(path) == program("inspect", "--json", path)[0]
    assert filterblock.verify(path) == program("verify", "--json", path)[0]


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
    assert filterblock.verify(table, seed=5) == program("verify", "--json", "--seed", 5, table)[0]
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
        assert bytes.fromhex(report["path_bytes"]) == path and report["status"] == "ok"


def test_wrong_arguments():
    for arguments in [{"jobs": 0}, {"jobs": 257}, {"max_output": -1}, {"max_output": 1 << 64}]:
        [name] = arguments
        with pytest.raises(ValueError, match=f"{name}: expected .* found"):
            filterblock.inspect(TABLES[0], **arguments)
    with pytest.raises(ValueError, match="comparator: expected"):
        filterblock.verify(TABLES[0], comparator="reverse")
    with pytest.raises(ValueError, match="seed: expected"):
        filterblock.verify(TABLES[0], seed=-1)
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
    assert len(filterblock.report(DATABASES[0], verify=False, tune=False)) < len(filterblock.report(DATABASES[0]))
    with pytest.raises(filterblock.MissingError, match="does not exist"):
        filterblock.report(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(filterblock.ReadError):
        filterblock.report(tmp_path / "empty")
