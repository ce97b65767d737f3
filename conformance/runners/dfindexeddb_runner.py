"""Answers the cases of the conformance suite with dfindexeddb, which reads databases in forensics.

It has no lookup: all records are read, with the MANIFEST, and those count that it does not call recovered. Its tables are
those of databases: a key comes without its last eight bytes, type and sequence number.
"""

import json
import pathlib
import sys
import tempfile

from dfindexeddb.leveldb import definitions, ldb, record

VALUE = definitions.InternalRecordType.VALUE


def scan_table(folder, table):
    path = pathlib.Path(folder, "000005.ldb")
    path.write_bytes(bytes.fromhex(table))
    for found in ldb.FileReader(str(path)).GetKeyValueRecords():
        tag = bytes([found.record_type.value]) + found.sequence_number.to_bytes(7, "little")
        yield [(found.key + tag).hex(), found.value.hex()]


def live(folder, files):
    for name, contents in files.items():
        pathlib.Path(folder, name).write_bytes(bytes.fromhex(contents))
    found = record.FolderReader(pathlib.Path(folder)).GetRecords(use_manifest=True)
    newest = {}
    for entry in sorted((one.record for one in found if not one.recovered), key=lambda entry: entry.sequence_number):
        newest[entry.key] = entry
    return {key: newest[key].value for key in sorted(newest) if newest[key].record_type == VALUE}


def answer(kind, given):
    with tempfile.TemporaryDirectory() as folder:
        if kind == "table_scan" and given["internal_keys"]:
            return {"entries": list(scan_table(folder, given["table"]))}
        if kind not in ("database_get", "database_scan"):
            return None
        entries = live(folder, given["files"])
    if kind == "database_scan":
        return {"entries": [[key.hex(), value.hex()] for key, value in entries.items()]}
    value = entries.get(bytes.fromhex(given["key"]))
    return {"absent": True} if value is None else {"value": value.hex()}


for line in sys.stdin:
    case = json.loads(line)
    try:
        found = answer(case["kind"], case["given"])
    except Exception:
        found = {"error": True}
    print(json.dumps({"case": case["case"]} | ({"answer": found} if found else {})), flush=True)
