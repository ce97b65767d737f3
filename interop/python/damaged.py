"""Repairs each of many damaged databases, and counts what comes of it.

    damaged.py CASES BASES SEED PROGRAM

CASES is a folder with `damages.py`, `own.py` and `score.py`; BASES has a database in each folder, with what was written
to it, as the `gen.py` there makes them. Each is damaged in every way with this seed, and repaired by PROGRAM, with
`--prefer newest` and with `sound`, and by LevelDB's RepairDB with paranoid checks, whose result is read by an iterator.
What does not hold is printed at the end. Needs plyvel, crc32c and cramjam.
"""

import collections
import json
import os
import pickle
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import plyvel

sys.path.insert(0, sys.argv[1])
import damages  # noqa: E402
import own  # noqa: E402
import score  # noqa: E402

BY_LEVELDB = """
import pickle, plyvel, sys
plyvel.repair_db(sys.argv[1], paranoid_checks=True)
database = plyvel.DB(sys.argv[1])
pickle.dump(dict(database.iterator()), sys.stdout.buffer)
"""


def entries(folder, keys):
    """All entries by an iterator, and whether lookups agree."""
    if not os.path.exists(folder):
        return {}, True
    database = plyvel.DB(folder, paranoid_checks=True)
    found = dict(database.iterator())
    agree = all(database.get(key) == found.get(key) for key in keys)
    database.close()
    return found, agree


def by_leveldb(folder):
    """All entries after LevelDB's own repair, which may abort."""
    result = subprocess.run([sys.executable, "-c", BY_LEVELDB, folder], capture_output=True)
    return pickle.loads(result.stdout) if result.returncode == 0 else {}


def places(folder):
    """For each key, the file of its newest version and the bytes of its block or record there."""
    manifest, newest = own.manifest(folder), {}

    def add(key, sequence, place):
        if newest.get(key, (-1,))[0] < sequence:
            newest[key] = (sequence, place)

    for _, number in manifest["tables"]:
        name = f"{number:06}.ldb"
        table = open(f"{folder}/{name}", "rb").read()
        for offset, size in damages.handles(f"{folder}/{name}")[0]:
            for key, _ in own.entries(own.block(table, offset, size)):
                add(key[:-8], struct.unpack("<Q", key[-8:])[0] >> 8, (name, offset, offset + size + 5))
    for name in os.listdir(folder):
        if name.endswith(".log"):
            for sequence, key, start, end in operations(open(f"{folder}/{name}", "rb").read()):
                add(key, sequence, (name, start, end))
    return {key: place for key, (_, place) in newest.items()}


def operations(log):
    """The operations of a log, with the bytes of their records."""
    at, start, data = 0, 0, b""
    while at + 7 <= len(log):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        size, kind = struct.unpack_from("<HB", log, at + 4)
        if kind in (1, 2):
            start, data = at, b""
        data += log[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):
            (sequence, count), place = struct.unpack_from("<QI", data), 12
            for number in range(count):
                is_value = data[place]
                key, place = own.sl(data, place + 1)
                if is_value:
                    place = own.sl(data, place)[1]
                yield sequence + number, key, start, at


def left(damaged, original, place):
    """What is left of the bytes of a version."""
    name, start, end = place
    if not os.path.exists(f"{damaged}/{name}"):
        return "gone"
    now = open(f"{damaged}/{name}", "rb").read()[start:end]
    was = open(f"{original}/{name}", "rb").read()[start:end]
    if not now.strip(b"\0"):
        return "gone"
    return "all" if now == was else "part"


def is_in_ledger(key, losses):
    ends = ((loss["first_key"], loss["last_key"]) for loss in losses if loss["kind"] == "table")
    return any(
        (first is None or bytes.fromhex(first) <= key) and (last is None or key <= bytes.fromhex(last))
        for first, last in ends
    )


def check(case, prefer, status, lines, counts, wrong):
    """What has to hold of each repair."""
    last = lines[-1] if lines else {}
    losses = [line for line in lines if line["object"] == "loss"]
    if status not in (0, 5):
        yield f"{case}: status {status}"
    if counts["invented"]:
        yield f"{case}, {prefer}: {counts['invented']} invented"
    if status == 0 and wrong:
        yield f"{case}, {prefer}: not complete, as it says"
    if not last.get("unknown") and prefer == "newest":
        outside = [key for key in wrong if not is_in_ledger(key, losses)]
        if outside:
            yield f"{case}: {len(outside)} keys are in no range of the ledger"
    if case[1].startswith(("1 bit", "MANIFEST 1 bit", "magic", "length field")) and wrong and prefer == "newest":
        yield f"{case}: {len(wrong)} keys wrong for one bit"
    is_certain = last.get("manifest") and not any(loss["kind"] == "log" for loss in losses)
    if prefer == "sound" and is_certain and (counts["stale"] or counts["brought_back"]):
        yield f"{case}: {counts['stale']} stale and {counts['brought_back']} brought back"


def main():
    bases, seed, program = sys.argv[2], int(sys.argv[3]), sys.argv[4]
    sums = collections.defaultdict(collections.Counter)
    parts, faults, cases = collections.Counter(), [], 0
    work = tempfile.mkdtemp()
    damaged, new, other = (f"{work}/{name}" for name in ("damaged", "new", "other"))
    for name in sorted(os.listdir(bases)):
        original = f"{bases}/{name}/db"
        model, history, _ = pickle.load(open(f"{bases}/{name}/truth.pkl", "rb"))
        where = places(original)
        for kind, damage in damages.cases(f"{bases}/{name}").items():
            cases += 1
            for folder in (damaged, other):
                shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(original, damaged)
            damage(damaged, random.Random(seed))
            shutil.copytree(damaged, other)
            right = {}
            for prefer in ("newest", "sound"):
                shutil.rmtree(new, ignore_errors=True)
                arguments = [program, "repair", damaged, "--to", new, "--prefer", prefer, "--json"]
                result = subprocess.run(arguments, capture_output=True)
                lines = [json.loads(line) for line in result.stdout.splitlines()]
                found, agree = entries(new, history)
                counts = score.score(found, model, history)
                sums[prefer].update(counts, exact=found == model, keys=len(model))
                wrong = [key for key in {**model, **found} if model.get(key) != found.get(key)]
                faults.extend(check((name, kind), prefer, result.returncode, lines, counts, wrong))
                if not agree:
                    faults.append(f"{(name, kind)}: lookups and iterator differ")
                right[prefer] = counts["right"]
                if prefer == "newest":
                    parts.update(left(damaged, original, where[key]) for key in model if key not in found)
            found = by_leveldb(other)
            counts = score.score(found, model, history)
            sums["RepairDB"].update(counts, exact=found == model, keys=len(model))
            if right["newest"] < counts["right"]:
                faults.append(f"{(name, kind)}: {right['newest']} right, and {counts['right']} by RepairDB")
    shutil.rmtree(work)
    print(f"{cases} databases, seed {seed}")
    for prefer, counts in sums.items():
        shares = (f"{field} {100 * counts[field] / counts['keys']:.3f} %" for field in ("missing", "stale", "brought_back"))
        print(f"{prefer}: {dict(counts)}: {', '.join(shares)}")
    print(f"of the missing ones there is left of block or record: {dict(parts)}")
    print("\n".join(faults) if faults else "all holds")


main()
