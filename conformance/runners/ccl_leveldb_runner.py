"""Answers the cases of the conformance suite with readers that have the interface of ccl_leveldb.

The argument is the module: rleveldb, chromium_reader.leveldb, ccl_chromium_reader.storage_formats.ccl_leveldb. They have
no lookup: all writes are replayed in the order of their sequence numbers. Their tables are those of databases.
"""

import importlib
import json
import pathlib
import sys
import tempfile

reader = importlib.import_module(sys.argv[1])


def records(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, contents in files.items():
            pathlib.Path(folder, name).write_bytes(bytes.fromhex(contents))
        with reader.RawLevelDb(folder) as database:
            return list(database.iterate_records_raw())


def answer(kind, given):
    if kind == "table_scan" and given["internal_keys"]:
        found = records({"000005.ldb": given["table"]})
        return {"entries": [[record.key.hex(), record.value.hex()] for record in found]}
    if kind not in ("database_get", "database_scan"):
        return None
    newest = {}
    for record in sorted(records(given["files"]), key=lambda record: record.seq):
        newest[record.user_key] = record
    live = {key: newest[key].value for key in sorted(newest) if str(newest[key].state).lower() == "keystate.live"}
    if kind == "database_scan":
        return {"entries": [[key.hex(), value.hex()] for key, value in live.items()]}
    value = live.get(bytes.fromhex(given["key"]))
    return {"absent": True} if value is None else {"value": value.hex()}


for line in sys.stdin:
    case = json.loads(line)
    try:
        found = answer(case["kind"], case["given"])
    except Exception:  # A panic in Rust is none, and ends this program.
        found = {"error": True}
    print(json.dumps({"case": case["case"]} | ({"answer": found} if found else {})), flush=True)
