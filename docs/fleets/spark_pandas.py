"""The Python package in `mapInPandas`: lines of `inspect` and `verify`, one for each table."""

import json
import tempfile

import pandas
from pyspark.sql import functions as sql

import fleet
from session import spark


def ask(batches, command):
    """For `mapInPandas`: paths in, lines out."""
    import filterblock

    for batch in batches:
        lines = [line for path in batch["path"] for line in getattr(filterblock, command)(bytes(path), jobs=1)]
        yield pandas.DataFrame({"line": [json.dumps(line) for line in lines]})


with tempfile.TemporaryDirectory() as folder:
    session = spark()
    tables = fleet.Fleet(folder)
    # BINARY, as paths need not be UTF-8.
    paths = session.createDataFrame([(path,) for path in tables.paths], "path BINARY").repartition(4)
    # One partition of paths for each of the four, and two without any.
    paths = paths.union(paths.limit(0).repartition(1)).union(session.createDataFrame([], paths.schema))
    empty = paths.rdd.glom().map(len).collect().count(0)
    assert empty > 0, "no partition is empty"
    tables.vanish()

    for command in "inspect", "verify":
        expected = list(tables.alone(command).values())
        lines = paths.mapInPandas(lambda batches: ask(batches, command), "line STRING")
        rows = lines.select(sql.from_json("line", fleet.ddl(command), {"mode": "FAILFAST"}).alias("row")).select("row.*")
        fleet.same(expected, [row.asDict(recursive=True) for row in rows.collect()])
        print(f"  mapInPandas, {command}: {len(expected)} tables, {empty} partitions empty")
        rows.createOrReplaceTempView("lines")
        if command == "inspect":
            found = [tuple(row) for row in session.sql(fleet.RATES).collect()]
            fleet.show_rates(found)
            fleet.same_rates(fleet.rates(expected), found)
        else:
            sums = session.sql("SELECT status, count(*) FROM lines GROUP BY status").collect()
            found, alone = {row[0]: row[1] for row in sums}, {}
            for line in expected:
                alone[line["status"]] = alone.get(line["status"], 0) + 1
            assert found == alone and {"sound", "findings", "unreadable"} <= found.keys(), (found, alone)
            print(f"  by status: {found}")
