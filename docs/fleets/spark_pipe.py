"""The program in `rdd.pipe`, and in `mapPartitions` for names of any bytes; programs that end too early."""

import json
import os
import subprocess
import sys
import tempfile

from pyspark.sql import functions as sql

import fleet
from session import spark

INSPECT = f"{fleet.PROGRAM} inspect --json --keep-going -j 1 --files-from -"


def frame(lines):
    """The lines as rows with the columns of `inspect`."""
    texts = lines.map(lambda line: (line,)).toDF("line STRING")
    return texts.select(sql.from_json("line", fleet.ddl("inspect"), {"mode": "FAILFAST"}).alias("row")).select("row.*")


def rows(lines):
    return [row.asDict(recursive=True) for row in frame(lines).collect()]


def inspect(paths, program=fleet.PROGRAM):
    """For `mapPartitions`: paths of any bytes in, lines out. Fails if the program does."""
    command = [program, "inspect", "--json", "--keep-going", "-j", "1", "--files-from", "-", "-0"]
    run = subprocess.run(command, input=b"\0".join(paths), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    yield from run.stdout.decode("ascii").splitlines()


def dies(folder, name, always):
    """A program that prints three lines and ends as if killed, each time or only the first."""
    path, mark = f"{folder}/{name}", f"{folder}/{name}.died"
    unless = "" if always else f'[ -e "{mark}" ] || '
    script = f'#!/bin/bash\nif [ -e "{mark}" ] && [ -z "{always or ""}" ]; then exec "{fleet.PROGRAM}" "$@"; fi\n'
    script += f'touch "{mark}"\n"{fleet.PROGRAM}" "$@" 2>/dev/null | head -n 3\nexit 137\n'
    with open(path, "w") as file:
        file.write(script)
    os.chmod(path, 0o755)
    return path


with tempfile.TemporaryDirectory() as folder:
    context = spark().sparkContext
    tables = fleet.Fleet(fleet.fresh(f"{folder}/fleet"))
    listed = tables.listable()
    tables.vanish()
    alone = tables.alone()
    expected = [alone[os.fsencode(path)] for path in listed]

    # More partitions than paths, so that some are empty.
    for partitions in 4, len(listed) + 9:
        paths = context.parallelize(listed, partitions)
        empty = paths.glom().map(len).collect().count(0)
        assert (empty > 0) == (partitions > len(listed)), empty
        fleet.same(expected, rows(paths.pipe(INSPECT, checkCode=True)))
        print(f"  rdd.pipe: {len(listed)} tables in {partitions} partitions, {empty} of them empty")

    # A line break in a name makes two paths of it. Nothing is there under these.
    [broken] = [path for path in tables.paths if b"\n" in path]
    halves = rows(context.parallelize([os.fsdecode(broken)], 1).pipe(INSPECT, checkCode=True))
    assert [row["error_kind"] for row in halves] == ["missing"] * 2, halves
    assert [row["path"] for row in halves] == os.fsdecode(broken).split("\n")

    # Any bytes.
    lines = context.parallelize(tables.paths, 7).mapPartitions(inspect)
    fleet.same(list(alone.values()), rows(lines))
    frame(lines).createOrReplaceTempView("lines")
    found = [tuple(row) for row in spark().sql(fleet.RATES).collect()]
    fleet.show_rates(found)
    fleet.same_rates(fleet.rates(alone.values()), found)

    # The program ends in the middle of a partition.
    def count(lines):
        return len(set(lines.collect()))

    paths, raw = context.parallelize(listed, 2), context.parallelize(tables.paths, 2)
    arguments = INSPECT.removeprefix(fleet.PROGRAM)
    program = dies(folder, "dies", True)
    silent = count(paths.pipe(program + arguments))
    assert silent == 6, silent
    print(f"  rdd.pipe without checkCode: {silent} of {len(listed)} lines, and no error")
    for what, lines in {
        "rdd.pipe with checkCode": paths.pipe(program + arguments, checkCode=True),
        "mapPartitions": raw.mapPartitions(lambda paths: inspect(paths, program)),
    }.items():
        try:
            found = count(lines)
        except Exception as error:
            assert "137" in str(error), error
            print(f"  {what}: the job fails and names exit status 137")
        else:
            sys.exit(f"{what}: {found} lines and no error")
    once = dies(folder, "dies-once", False)
    lines = context.parallelize(tables.paths, 1).mapPartitions(lambda paths: inspect(paths, once))
    fleet.same(list(alone.values()), [json.loads(line) for line in lines.collect()])
    assert os.path.exists(once + ".died")
    print("  a program that dies once: the task is run again, each table has one line")
