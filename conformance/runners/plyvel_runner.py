"""Answers the cases of the conformance suite with plyvel, LevelDB for Python.

A line with a case comes in, {"case": NAME, "kind": KIND, "given": {…}}, and a line goes out: {"case": NAME, "answer":
{…}}, without "answer" where plyvel has no interface for it.
"""

import json
import pathlib
import sys
import tempfile

import plyvel


def answer(kind, given):
    if kind not in ("database_get", "database_scan"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        for name, contents in given["files"].items():
            pathlib.Path(folder, name).write_bytes(bytes.fromhex(contents))
        try:
            database = plyvel.DB(folder, create_if_missing=False, paranoid_checks=True, bloom_filter_bits=10)
        except plyvel.Error:
            return {"error": True}
        try:
            if kind == "database_scan":
                entries = database.iterator(verify_checksums=True)
                return {"entries": [[key.hex(), value.hex()] for key, value in entries]}
            value = database.get(bytes.fromhex(given["key"]), verify_checksums=True)
            return {"absent": True} if value is None else {"value": value.hex()}
        except plyvel.Error:
            return {"error": True}
        finally:
            database.close()


for line in sys.stdin:
    case = json.loads(line)
    reply = {"case": case["case"]}
    found = answer(case["kind"], case["given"])
    if found is not None:
        reply["answer"] = found
    print(json.dumps(reply), flush=True)
