"""Reads the lines in FOLDER, COMMAND.jsonl each, with the columns made of the schemas, and compares all values.

usage: columns.py (duckdb | spark) FOLDER
"""

import json
import pathlib
import sys

import fleet


def duckdb_rows(command, path):
    import duckdb

    db = duckdb.connect()
    db.execute((fleet.SCHEMA / f"{command}.duckdb.sql").read_text())
    answer = db.execute(f"FROM filterblock_{command.replace('-', '_')}('{path}')")
    names = [column[0] for column in answer.description]
    return [dict(zip(names, row)) for row in answer.fetchall()]


def spark_rows(command, path):
    from session import spark

    rows = spark().read.schema(fleet.ddl(command)).option("mode", "FAILFAST").json(path).collect()
    return [row.asDict(recursive=True) for row in rows]


def main():
    engine, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    read = {"duckdb": duckdb_rows, "spark": spark_rows}[engine]
    commands = sorted(path.name.removesuffix(".json") for path in fleet.SCHEMA.glob("*.json"))
    assert len(commands) > 6, commands
    largest = 0
    for command in commands:
        path = folder / f"{command}.jsonl"
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        assert len(lines) > 100, f"{path}: {len(lines)} lines"
        fleet.same(lines, read(command, str(path)))
        largest = max(largest, largest_integer(lines))
        print(f"  {engine} reads {len(lines)} lines of {command}")
    assert largest >= 1 << 63, f"no integer above {largest} was tried"


def largest_integer(value):
    if isinstance(value, (dict, list)):
        return max(map(largest_integer, value.values() if isinstance(value, dict) else value), default=0)
    return value if isinstance(value, int) else 0


main()
