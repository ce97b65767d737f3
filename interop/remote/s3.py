"""Compares what the program finds in an S3 server (moto, on this machine) with what it finds in folders.

    python3 interop/remote/s3.py PROGRAM

PROGRAM is `filterblock`, built with the feature `remote`.
"""

import json
import os
import pathlib
import subprocess
import sys

import boto3
from moto.server import ThreadedMotoServer

# Where a line comes from, and what reading it took.
PLACE = ["input", "path", "depth", "e_tag", "requests", "bytes_read", "logs"]
BUCKET = "tables"
TESTDATA = pathlib.Path(__file__).resolve().parent.parent.parent / "testdata"
KEYS = ["item/0001/919", "item/0000/0", "no such key"]


def run(program, arguments, environment):
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def anywhere(lines):
    return [{name: value for name, value in line.items() if name not in PLACE} for line in lines]


def expect(what, expected, found):
    if expected != found:
        sys.exit(f"{what}: expected {expected}, found {found}")
    print(f"  {what}")


def main(program):
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment = clean | {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_REGION": "us-east-1",
    }
    store = boto3.client(
        "s3", endpoint_url=endpoint, aws_access_key_id="testing", aws_secret_access_key="testing",
        region_name="us-east-1",
    )
    store.create_bucket(Bucket=BUCKET)
    folder = TESTDATA / "databases" / "levels"
    for path in folder.iterdir():
        store.upload_file(str(path), BUCKET, f"backups/db/{path.name}")
    large = TESTDATA / "tables" / "large-65536-bloom10.ldb"
    store.upload_file(str(large), BUCKET, "large table/%41+é.ldb")

    url = f"s3://{BUCKET}/backups/db/"
    for command, behind in [
        (["inspect", "--json", "--depth", "all", "--ordered"], []),
        (["verify", "--json", "--ordered"], []),
        (["query", "--json", "--ordered"], ["--", *KEYS]),
    ]:
        status, lines, errors = run(program, [*command, url, *behind], environment)
        here = [word for word in command if word not in ("--depth", "all", "--ordered")]
        expected_status, expected, _ = run(program, [*here, str(folder), *behind], clean)
        expect(f"{command[0]}: status {expected_status}", expected_status, status)
        expect(f"{command[0]}: {len(expected)} lines as of the folder", anywhere(expected), anywhere(lines))

    status, lines, errors = run(program, ["inspect", "--json", "--recursive", f"s3a://{BUCKET}/"], environment)
    tables = [line for line in lines if line["object"] == "table"]
    expect("inspect of a bucket: tables", 4, len(tables))
    expect("inspect of a bucket: status", 0, status)
    expect("a request for each small table", [1, 1, 1], [line["requests"] for line in tables if "/db/" in line["path"]])
    tags = {store.head_object(Bucket=BUCKET, Key=key)["ETag"] for key in ["backups/db/000005.ldb", "large table/%41+é.ldb"]}
    expect("the tags of the objects", tags, tags & {line["e_tag"] for line in tables})

    status, lines, errors = run(program, ["inspect", "--json", f"s3://{BUCKET}/large table/%41+é.ldb"], environment)
    expect("an exact key", (0, "ok"), (status, lines[0]["status"]))
    expect("an exact key: size", large.stat().st_size, lines[0]["file_size"])

    for what, arguments, changes, kind, text in [
        ("no such key", [f"s3://{BUCKET}/backups/db/1.ldb"], {}, "missing", "no such object"),
        ("no such folder", [f"s3://{BUCKET}/nothing/"], {}, "missing", "no such object or folder"),
        ("no such bucket", ["s3://another/db/"], {}, "missing", "no such bucket"),
        ("http without permission", [url], {"AWS_ALLOW_HTTP": "false"}, "unreadable", "AWS_ALLOW_HTTP=true"),
    ]:
        status, lines, errors = run(program, ["inspect", "--json", "--timeout", "2", *arguments], environment | changes)
        expect(f"{what}: status", 2, status)
        expect(f"{what}: one line", 1, len(lines))
        expect(f"{what}: kind", kind, lines[0]["error_kind"])
        if text not in lines[0]["error"]:
            sys.exit(f"{what}: expected '{text}', found '{lines[0]['error']}'")
    server.stop()


main(sys.argv[1])
