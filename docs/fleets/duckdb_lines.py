"""DuckDB over the program's lines: rates by policy, to Parquet in one statement, what could not be read."""

import subprocess
import tempfile

import duckdb

import fleet

with tempfile.TemporaryDirectory() as folder:
    tables = fleet.Fleet(folder)
    tables.vanish()
    expected = list(tables.alone().values())

    # The whole list in one run, zero bytes between the paths: any name can be in it.
    lines = f"{folder}/lines.jsonl"
    with open(lines, "wb") as out:
        command = [fleet.PROGRAM, "inspect", "--json", "--keep-going", "--files-from", "-", "-0"]
        subprocess.run(command, input=b"\0".join(tables.paths), stdout=out, stderr=subprocess.DEVNULL, check=True)

    db = duckdb.connect()
    db.execute((fleet.SCHEMA / "inspect.duckdb.sql").read_text())
    db.execute(f"CREATE VIEW lines AS FROM filterblock_inspect('{lines}')")

    def rows(sql):
        answer = db.execute(sql)
        names = [column[0] for column in answer.description]
        return [dict(zip(names, row)) for row in answer.fetchall()]

    fleet.same(expected, rows("FROM lines"))
    found = db.execute(fleet.RATES).fetchall()
    fleet.show_rates(found)
    fleet.same_rates(fleet.rates(expected), found)

    # To Parquet in one statement, and back.
    db.execute(f"COPY (FROM filterblock_inspect('{lines}')) TO '{folder}/lines.parquet'")
    fleet.same(expected, rows(f"FROM '{folder}/lines.parquet'"))

    kinds = dict(db.execute("SELECT error_kind, count(*) FROM lines WHERE error_kind IS NOT NULL GROUP BY 1").fetchall())
    # The sample does not read the damaged block of a table.
    assert kinds == {"damaged": 2, "missing": 2, "unsupported": 3}, kinds

    # Every path that was listed has its line.
    answered = {fleet.path_of(row) for row in rows("SELECT path, path_bytes FROM lines")}
    assert answered == set(tables.paths)
    print(f"  {len(expected)} tables: {kinds}; the same from Parquet")
