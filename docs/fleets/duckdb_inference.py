"""25,000 tables without filters before the first with one: DuckDB's own types against `columns`."""

import subprocess
import tempfile

import duckdb

import fleet


def line(name):
    path = fleet.ROOT / "testdata/tables" / name
    return subprocess.run([fleet.PROGRAM, "inspect", "--json", path], capture_output=True, check=True).stdout


with tempfile.TemporaryDirectory() as folder:
    lines = f"{folder}/lines.jsonl"
    with open(lines, "wb") as out:
        out.write(line("words-4096-unfiltered.ldb") * 25_000)
        out.write(line("words-4096-bloom10-snappy.ldb"))
    db = duckdb.connect()
    db.execute((fleet.SCHEMA / "inspect.duckdb.sql").read_text())

    def filtered(source):
        [(count,)] = db.execute(f"SELECT count(*) FROM {source} WHERE filter IS NOT NULL").fetchall()
        return count

    inferred, declared = filtered(f"'{lines}'"), filtered(f"filterblock_inspect('{lines}')")
    whole = filtered(f"read_json('{lines}', sample_size = -1)")
    print(f"  tables with filters, of 25,001: {inferred} by inference, {declared} with columns, {whole} after reading all twice")
    assert (declared, whole) == (1, 1), (declared, whole)
    # If this fails, DuckDB has become better at it: say so in docs/fleets.md.
    assert inferred == 0, inferred
