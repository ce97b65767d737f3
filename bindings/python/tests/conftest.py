"""Where things are, and what tests share."""

import json
import pathlib
import subprocess

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
TESTDATA = REPOSITORY / "testdata"
TABLES = sorted(path for path in TESTDATA.rglob("*") if path.suffix in (".ldb", ".sst"))
DATABASES = sorted(path.parent for path in TESTDATA.rglob("CURRENT"))


def listing(path):
    """The fields of each line of a list in testdata. Keys are in hexadecimal, `-` is the empty one."""
    lines = (TESTDATA / path).read_text().splitlines()
    return [line.split(" ") for line in lines if not line.startswith("#")]


def unhex(text):
    return b"" if text == "-" else bytes.fromhex(text)


def value_of(key, length):
    """The value that a user key has in testdata."""
    unit = key.hex().encode() + b";"
    return (unit * (length // len(unit) + 1))[:length]


@pytest.fixture(scope="session")
def program_path():
    """Where the program `filterblock` is."""
    import os

    path = os.environ.get("FILTERBLOCK_PROGRAM")
    if path is None:
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
        path = target / "debug" / "filterblock"
        assert path.exists(), "build it: cargo build -p filterblock-cli"
    return path


@pytest.fixture(scope="session")
def program(program_path):
    """Runs the program `filterblock`, and returns its JSON and its exit status."""

    def run(*arguments):
        run = subprocess.run([program_path, *map(str, arguments)], capture_output=True, timeout=60)
        return [json.loads(line) for line in run.stdout.splitlines()], run.returncode

    return run
