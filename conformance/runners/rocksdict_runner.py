"""Answers the cases of the conformance suite with RocksDB, by rocksdict: it opens LevelDB's databases."""

import json
import pathlib
import sys
import tempfile
from itertools import chain, repeat, takewhile

from rocksdict import AccessType, DBRecoveryMode, Options, Rdict


def options():
    options = Options(raw_mode=True)
    options.create_if_missing(False)
    # Of the modes, the one that is LevelDB's: a last record that was cut off was never written.
    options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
    return options


def walk(cursor, steps):
    for step in steps:
        if isinstance(step, dict):
            cursor.seek(bytes.fromhex(step["seek"]))
        elif step in ("first", "last"):
            cursor.seek_to_first() if step == "first" else cursor.seek_to_last()
        elif cursor.valid():
            cursor.next() if step == "next" else cursor.prev()
        yield [cursor.key().hex(), cursor.value().hex()] if cursor.valid() else None


def answer(kind, given):
    with tempfile.TemporaryDirectory() as folder:
        for name, contents in given["files"].items():
            pathlib.Path(folder, name).write_bytes(bytes.fromhex(contents))
        database = Rdict(folder, options(), access_type=AccessType.read_only())
        if kind == "database_get":
            value = database.get(bytes.fromhex(given["key"]))
            return {"absent": True} if value is None else {"value": value.hex()}
        cursor = database.iter()
        found = walk(cursor, given["steps"] if kind == "database_walk" else chain(["first"], repeat("next")))
        # A scan ends behind the last entry.
        entries = list(found if kind == "database_walk" else takewhile(bool, found))
        cursor.status()
        return {"entries": entries}


for line in sys.stdin:
    case = json.loads(line)
    reply = {"case": case["case"]}
    if case["kind"].startswith("database_"):
        try:
            reply["answer"] = answer(case["kind"], case["given"])
        except Exception:
            reply["answer"] = {"error": True}
    print(json.dumps(reply), flush=True)
