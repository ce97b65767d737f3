"""A small fleet of tables, what the program says of each alone, and how to compare lines with an engine's rows."""

import decimal
import json
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs" / "schema"
PROGRAM = os.environ.get("FILTERBLOCK", str(ROOT / "target" / "debug" / "filterblock"))

# Names that lists with a path a line cannot carry: one has a line break, one is not UTF-8.
UNLISTABLE = [b"line\nbreak.ldb", b"latin-1-\xe4.ldb"]


class Fleet:
    """Tables in `folder`: `paths` is the listing, in bytes."""

    def __init__(self, folder):
        self.folder = os.fsencode(folder)
        self.paths = []
        tables = sorted(ROOT.glob("testdata/**/*.ldb"))
        assert len(tables) > 50, f"{len(tables)} tables in testdata"
        for number, table in enumerate(tables):
            self._add(b"%06d.ldb" % number, table.read_bytes())
        sound = (ROOT / "testdata/tables/words-256-bloom10.ldb").read_bytes()
        flipped = bytearray(sound)
        flipped[100] ^= 0x10
        self._add(b"damaged block.ldb", bytes(flipped))
        self._add(b"cut off.ldb", sound[:-20])
        self._add(b"empty.ldb", b"")
        for name in ['with  spaces.ldb', 'grüße-表.ldb', 'quote" and \\ and \'.ldb', "$(date)&;#*?.ldb"]:
            self._add(name.encode(), sound)
        for name in UNLISTABLE:
            self._add(name, sound)
        self.paths.append(os.path.join(self.folder, b"never there.ldb"))
        self._add(b"vanishing.ldb", sound)

    def _add(self, name, contents):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(contents)
        self.paths.append(path)

    def vanish(self):
        """Removes a table that is in the listing already."""
        os.remove(os.path.join(self.folder, b"vanishing.ldb"))

    def listable(self):
        """The paths that a list with a path a line can carry, as text."""
        return [path.decode() for path in self.paths if os.path.basename(path) not in UNLISTABLE]

    def alone(self, command="inspect"):
        """The line that the program prints for each path, asked for this path only."""
        lines = {}
        for path in self.paths:
            run = subprocess.run([PROGRAM, command, "--json", "--keep-going", path], capture_output=True, check=True)
            [line] = run.stdout.decode("ascii").splitlines()
            lines[path] = json.loads(line)
        return lines


def path_of(line):
    """The path of a line, or of a row, in bytes."""
    return bytes.fromhex(line["path_bytes"]) if line["path_bytes"] is not None else line["path"].encode()


def ddl(command):
    """Spark's DDL of the lines of a command."""
    return (SCHEMA / f"{command}.spark.ddl").read_text()


def plain(value):
    """A line or a row without what is null, and with Python's own numbers."""
    if isinstance(value, dict):
        return {name: plain(field) for name, field in value.items() if field is not None}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return int(value) if isinstance(value, decimal.Decimal) else value


def same(lines, rows):
    """Fails unless the rows are the lines, each once, in any order."""
    lines, rows = ([json.dumps(plain(one), sort_keys=True) for one in side] for side in (lines, rows))
    wrong = set(lines).symmetric_difference(rows)
    assert not wrong, f"{len(wrong)} differ, such as {min(wrong)}"
    assert sorted(lines) == sorted(rows), f"{len(lines)} lines, {len(rows)} rows"


def rates(lines):
    """By policy (None: no filter): tables, entries, and the mean rate of false positives, weighted by entries."""
    policies = {}
    for line in lines:
        if line["object"] == "table" and line["status"] == "ok":
            filter, entries = line["filter"] or {}, line["entries"]["count"] if line["entries"] else 0
            rate = filter.get("random_fpr")
            sums = policies.setdefault(filter.get("policy"), [0, 0, 0.0, 0])
            sums[0] += 1
            sums[1] += entries
            if rate is not None:
                sums[2] += rate["rate"] * entries
                sums[3] += entries
    return {
        name: (tables, entries, sum / of if of else None)
        for name, (tables, entries, sum, of) in policies.items()
    }


# The same in SQL, for DuckDB and Spark.
RATES = """
SELECT filter.policy AS policy, count(*) AS tables, sum(coalesce(entries.count, 0)) AS entries,
       sum(filter.random_fpr.rate * entries.count)
           / nullif(sum(CASE WHEN filter.random_fpr.rate IS NOT NULL THEN entries.count END), 0) AS rate
FROM lines WHERE object = 'table' AND status = 'ok' GROUP BY 1 ORDER BY 1
"""


def same_rates(expected, rows):
    """Fails unless the rows of RATES are what `rates` says."""
    found = {row[0]: (int(row[1]), int(row[2]), row[3]) for row in rows}
    assert found.keys() == expected.keys(), f"policies {found.keys()}, expected {expected.keys()}"
    for policy, (tables, entries, rate) in expected.items():
        assert found[policy][:2] == (tables, entries), f"{policy}: {found[policy]}, expected {(tables, entries)}"
        other = found[policy][2]
        assert rate == other or abs(float(other) - rate) < 1e-12, f"{policy}: rate {other}, expected {rate}"
    assert len(expected) >= 4 and None in expected, f"only {list(expected)}"


def show_rates(rows):
    for policy, tables, entries, rate in rows:
        shown = "" if rate is None else f"  {100 * float(rate):.3f} % of random keys pass"
        print(f"  {policy or 'no filter':36} {tables:3} tables  {entries:8} entries{shown}")


def fresh(folder):
    """An empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    pathlib.Path(folder).mkdir(parents=True)
    return str(folder)
