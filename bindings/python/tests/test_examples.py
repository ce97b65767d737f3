"""The example, on a Local Storage that Chromium wrote."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import plyvel
import pytest
from conftest import REPOSITORY

import filterblock

STORAGE = pathlib.Path(__file__).parent / "local_storage"
EXAMPLE = REPOSITORY / "bindings/python/examples/local_storage.py"
ORIGIN = "http://127.0.0.1:8765"


@pytest.fixture(scope="module")
def listed():
    run = subprocess.run([sys.executable, EXAMPLE, STORAGE, "--json"], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_what_the_pages_did(listed):
    """make.py says what they did."""
    items = [found for found in listed if found["kind"] == "item"]
    assert all(found["storage_key"] == ORIGIN for found in items)
    assert all(found["deletion"] == (found["value"] is None) for found in items)
    versions = {}
    for found in items:
        versions.setdefault(found["key"], []).append((found["fate"], found["value"]))
    removed = range(0, 20, 4)
    expected = {f"item {n}": [("present", f"first {n}")] for n in range(20) if n not in removed}
    expected |= {f"item {n}": [("deleted", None), ("older", f"first {n}")] for n in removed}
    expected["item 1"] = [("present", "second 1"), ("older", "first 1")]
    expected["café"] = [("present", "naïve")]
    expected["ключ"] = [("deleted", None), ("older", "значение")]
    expected["filler"] = [("deleted", None), ("older", "x" * 600_000)]
    expected["last"] = [("present", "3")]
    assert versions == expected


def test_times_and_sizes(listed):
    metas = [found["value"] for found in listed if found["kind"] == "meta"]
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\dT\S+\+00:00, \d+ bytes", meta) for meta in metas), metas
    assert len(metas) == 3 and int(metas[-1].split()[1]) > 600_000 > int(metas[0].split()[1])
    assert metas == sorted(metas, reverse=True)
    assert sum(found["kind"] == "metaaccess" for found in listed) == 3
    assert [found["value"] for found in listed if found["key"] == "VERSION"] == ["1"]


def test_what_is_present_is_what_leveldb_has(listed, tmp_path):
    folder = shutil.copytree(STORAGE, tmp_path / "db")
    with plyvel.DB(str(folder)) as database:
        assert len(list(database)) == sum(found["fate"] == "present" for found in listed)


def test_places(listed):
    files = {pathlib.Path(found["file"]).name for found in listed}
    assert files == {"000003.ldb", "000004.log"}
    for found in listed:
        assert pathlib.Path(found["file"]).parent == STORAGE
        if found["kind"] == "item" and found["file"].endswith(".log") and not found["deletion"]:
            # A log is not compressed: key and value are in the record.
            record = pathlib.Path(found["file"]).read_bytes()[found["offset"] :]
            key, value = found["key"].encode("latin-1"), found["value"].encode("latin-1")
            assert key in record and value in record


def test_lines_for_people_and_damage(tmp_path):
    folder = shutil.copytree(STORAGE, tmp_path / "db")
    table = bytearray((folder / "000003.ldb").read_bytes())
    table[28_400] ^= 1
    (folder / "000003.ldb").write_bytes(table)
    run = subprocess.run([sys.executable, EXAMPLE, folder], capture_output=True, text=True, check=True)
    lines = [line.split("\t") for line in run.stdout.splitlines()]
    assert all(len(line) == 6 and len(line[4]) <= 100 for line in lines)
    assert ["present", "27", ORIGIN, "'item 1'", "'second 1'", f"{folder}/000004.log:0"] in lines
    assert ["deleted", "29", ORIGIN, "'item 0'", "deleted", f"{folder}/000004.log:0"] in lines
    assert not any("'first 1'" in line for line in lines)
    assert "000003.ldb" in run.stderr and "damaged block" in run.stderr


def readme_examples():
    return re.findall(r"```python\n(.*?)```", (REPOSITORY / "bindings/python/README.md").read_text(), re.DOTALL)


def test_the_first_example_of_the_readme(tmp_path, monkeypatch, capsys):
    shutil.copytree(STORAGE, tmp_path / "Local Storage/leveldb")
    monkeypatch.chdir(tmp_path)
    exec(compile(readme_examples()[0], "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert sum(" True 37 " in line for line in printed) == 1 and "b'1'" in printed[-3] and printed[-1].count("[]") == 3


def test_the_second_example_of_the_readme():
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    path = str(REPOSITORY / "testdata/databases/levels")
    database = filterblock.Database(path)
    names = {"numpy": numpy, "pandas": pandas, "filterblock": filterblock, "path": path, "database": database}
    [_, example] = readme_examples()
    exec(compile(example.replace('prefix=b"a"', 'prefix=b"item/000"'), "README.md", "exec"), names)
    assert len(names["offsets"]) > 3 and names["offsets"][-1] == len(names["data"])
