"""Lists what a Chromium profile's Local Storage holds and has held, with the place of each entry.

    python local_storage.py PROFILE/Local\\ Storage/leveldb [--json]

Every version of each key is shown, deleted ones too, for as long as their bytes are in a table or log: the newest
first. The folder may be in use: nothing is written or locked.

The keys, as Chromium documents them (components/services/storage/dom_storage/local_storage_database.md):

    _ <storage key> 0x00 <encoding> <key>    value: <encoding> <text>
    META: <storage key>                      field 1: time of the last change, field 2: size in bytes
    METAACCESS: <storage key>                field 1: time of the last use
    VERSION

<encoding> is 0x00 for UTF-16, little-endian, and 0x01 for Latin-1. Times are microseconds since 1601.
"""

import argparse
import datetime
import json
import sys
from collections.abc import Iterator

import filterblock


def text(encoded: bytes) -> str:
    """The text of a key or value."""
    encoding, rest = encoded[:1], encoded[1:]
    if encoding == b"\x01":
        return rest.decode("latin-1")
    if encoding == b"\x00":
        return rest.decode("utf-16-le", "replace")
    return encoded.decode("utf-8", "backslashreplace")


def fields(message: bytes) -> dict[int, int]:
    """The integers of a Protocol Buffers message."""
    found, position = {}, 0

    def varint() -> int:
        nonlocal position
        value = shift = 0
        while position < len(message):
            byte = message[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        return value

    while position < len(message):
        tag = varint()
        if tag & 7:  # Only integers are expected.
            break
        found[tag >> 3] = varint()
    return found


def time_of(microseconds: int) -> str:
    """A time as text."""
    try:
        start = datetime.datetime(1601, 1, 1, tzinfo=datetime.UTC)
        return (start + datetime.timedelta(microseconds=microseconds)).isoformat()
    except OverflowError:
        return f"{microseconds} microseconds"


def describe(entry: filterblock.Entry) -> dict[str, object]:
    """What an entry means."""
    kind, storage_key, key, value = "other", None, None, None
    if entry.key.startswith(b"_") and b"\0" in entry.key:
        kind = "item"
        storage, _, name = entry.key[1:].partition(b"\0")
        storage_key, key = storage.decode("utf-8", "backslashreplace"), text(name)
        value = None if entry.value is None else text(entry.value)
    elif entry.key.startswith((b"META:", b"METAACCESS:")):
        prefix, _, storage = entry.key.partition(b":")
        kind, storage_key = prefix.decode().lower(), storage.decode("utf-8", "backslashreplace")
        if entry.value is not None:
            found = fields(entry.value)
            value = time_of(found.get(1, 0)) + (f", {found[2]} bytes" if 2 in found else "")
    else:
        key = entry.key.decode("utf-8", "backslashreplace")
        value = None if entry.value is None else entry.value.decode("utf-8", "backslashreplace")
    return {"kind": kind, "storage_key": storage_key, "key": key, "value": value}


def history(folder: str) -> Iterator[dict[str, object]]:
    """All entries: of each key the newest first, which is present or deleted, and then the older ones."""
    last = None
    for entry in filterblock.scan(folder, on_error=lambda error: print(error, file=sys.stderr)):
        fate = "older" if entry.key == last else "deleted" if entry.deleted else "present"
        last = entry.key
        place = {"sequence": entry.sequence, "file": entry.file, "offset": entry.offset, "state": entry.state}
        yield {"fate": fate, "deletion": entry.deleted} | describe(entry) | place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    for found in history(arguments.folder):
        if arguments.json:
            print(json.dumps(found))
            continue
        name = found["key"] if found["kind"] in ("item", "other") else found["kind"]
        value = "deleted" if found["deletion"] else ascii(found["value"])
        value = value if len(value) <= 100 else f"{value[:97]}..."
        where = f"{found['file']}:{found['offset']}"
        print(found["fate"], found["sequence"], found["storage_key"], ascii(name), value, where, sep="\t")


if __name__ == "__main__":
    main()
