"""What the programs for the servers share: running `filterblock`, and holding what it finds against what it finds in folders."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Where a line comes from, and what reading it took.
PLACE = ["input", "path", "depth", "e_tag", "requests", "bytes_read", "logs"]
CLOUDS = ("AWS_", "AZURE_", "GOOGLE_")
TESTDATA = pathlib.Path(__file__).resolve().parent.parent.parent / "testdata"
DATABASE = TESTDATA / "databases" / "levels"
LARGE = TESTDATA / "tables" / "large-65536-bloom10.ldb"
KEYS = ["item/0001/919", "item/0000/0", "no such key"]
# Names that no file has, each of a table, with what is said of it.
ODD = {
    "odd//b.ldb": "an empty part",
    "odd/./c.ldb": "the part .",
    "odd/../e.ldb": "the part ..",
    "odd/a\tb.ldb": "a control character",
    "odd/a\nb.ldb": "a control character",
    "/lead.ldb": "a slash at its beginning",
}


def environment():
    """The variables of this process without those about clouds, and with an empty home."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(CLOUDS)}
    return clean | {"HOME": tempfile.mkdtemp(prefix="filterblock-home-")}


def run(program, arguments, variables):
    done = subprocess.run([program, *arguments], env=variables, capture_output=True, text=True, timeout=120)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def anywhere(lines):
    return [{name: value for name, value in line.items() if name not in PLACE} for line in lines]


def expect(what, expected, found):
    if expected != found:
        sys.exit(f"{what}: expected {expected}, found {found}")
    print(f"  {what}")


def database(program, url, variables):
    """Compares the database at `url`, a copy of DATABASE, with the folder."""
    for command, behind in [
        (["inspect", "--json", "--depth", "all", "--ordered"], []),
        (["verify", "--json", "--ordered"], []),
        (["query", "--json", "--ordered"], ["--", *KEYS]),
    ]:
        status, lines, errors = run(program, [*command, url, *behind], variables)
        here = [word for word in command if word != "--ordered"]
        expected_status, expected, _ = run(program, [*here, str(DATABASE), *behind], environment())
        expect(f"{command[0]}: status {expected_status}", expected_status, status)
        expect(f"{command[0]}: {len(expected)} lines as of the folder", anywhere(expected), anywhere(lines))


def odd(program, bucket, keys, variables):
    """Looks for `sound` beside these of the keys of ODD in the bucket at this URL."""
    status, lines, errors = run(program, ["inspect", "--json", "--recursive", bucket], variables)
    tables = [line["path"] for line in lines if line["object"] == "table"]
    expect("odd keys: the sound table", [f"{bucket}odd/000005.ldb"], tables)
    said = {line["path"].removeprefix(bucket): line["error"] for line in lines if line["object"] == "unreadable"}
    expect(f"odd keys: {len(keys)} passed over", sorted(keys), sorted(said))
    for key in keys:
        if ODD[key] not in said[key]:
            sys.exit(f"{key!r}: expected '{ODD[key]}', found '{said[key]}'")
    expect("odd keys: status", 2, status)


def refusals(program, cases, variables):
    """Runs that give one line: what it is called, arguments, changed variables, kind of the error, text in it."""
    for what, arguments, changes, kind, text in cases:
        status, lines, errors = run(program, ["inspect", "--json", "--timeout", "2", *arguments], variables | changes)
        expect(f"{what}: status", 2, status)
        expect(f"{what}: one line", 1, len(lines))
        expect(f"{what}: kind", kind, lines[0]["error_kind"])
        if text not in lines[0]["error"]:
            sys.exit(f"{what}: expected '{text}', found '{lines[0]['error']}'")


class NodeServer:
    """A server of a package of npm, which names the port that it found on a line of its output."""

    def __init__(self, modules, name, arguments, before):
        command = ["node", f"{modules}/.bin/{name}", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if before in line:
                self.address = line.split(before)[1].split()[0].strip("/")
                return
        sys.exit(f"{name} did not start")

    def __enter__(self):
        return self.address

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
