"""Compares what the program finds in S3 servers on this machine (moto and s3rver) with what it finds in folders.

    python3 interop/remote/s3.py PROGRAM NODE_MODULES

PROGRAM is `filterblock`, built with the feature `remote`. NODE_MODULES has s3rver.
"""

import pathlib
import sys
import tempfile

import boto3
from botocore.config import Config
from moto.server import ThreadedMotoServer

import compare
from compare import DATABASE, LARGE, expect, run

BUCKET = "tables"


def filled(endpoint, key, secret):
    """A bucket with the database, and a large table."""
    store = boto3.client(
        "s3", endpoint_url=endpoint, aws_access_key_id=key, aws_secret_access_key=secret, region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required"),
    )
    store.create_bucket(Bucket=BUCKET)
    for path in DATABASE.iterdir():
        store.upload_file(str(path), BUCKET, f"backups/db/{path.name}")
    store.upload_file(str(LARGE), BUCKET, "large table/%41+é.ldb")
    return store


def moto(program):
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    environment = compare.environment() | {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_REGION": "us-east-1",
    }
    store = filled(endpoint, "testing", "testing")
    url = f"s3://{BUCKET}/backups/db/"
    compare.database(program, url, environment)

    status, lines, errors = run(program, ["inspect", "--json", "--recursive", f"s3a://{BUCKET}/"], environment)
    tables = [line for line in lines if line["object"] == "table"]
    expect("inspect of a bucket: tables", 4, len(tables))
    expect("inspect of a bucket: status", 0, status)
    expect("a request for each small table", [1, 1, 1], [line["requests"] for line in tables if "/db/" in line["path"]])
    tags = {store.head_object(Bucket=BUCKET, Key=key)["ETag"] for key in ["backups/db/000005.ldb", "large table/%41+é.ldb"]}
    expect("the tags of the objects", tags, tags & {line["e_tag"] for line in tables})

    status, lines, errors = run(program, ["inspect", "--json", f"s3://{BUCKET}/large table/%41+é.ldb"], environment)
    expect("an exact key", (0, "ok"), (status, lines[0]["status"]))
    expect("an exact key: size", LARGE.stat().st_size, lines[0]["file_size"])

    compare.refusals(program, [
        ("no such key", [f"s3://{BUCKET}/backups/db/1.ldb"], {}, "missing", "no such object"),
        ("no such folder", [f"s3://{BUCKET}/nothing/"], {}, "missing", "no such object or folder"),
        ("no such bucket", ["s3://another/db/"], {}, "missing", "no such bucket"),
        ("http without permission", [url], {"AWS_ALLOW_HTTP": "false"}, "unreadable", "AWS_ALLOW_HTTP=true"),
    ], environment)

    store.create_bucket(Bucket="odd")
    table = (DATABASE / "000005.ldb").read_bytes()
    # The client that puts them there removes the parts . and .. from URLs, and the server takes neither a slash at the
    # beginning nor a line break.
    keys = ["odd//b.ldb", "odd/a\tb.ldb"]
    for key in ["odd/000005.ldb", *keys]:
        store.put_object(Bucket="odd", Key=key, Body=table)
    compare.odd(program, "s3://odd/", keys, environment)
    many = {f"many/{number:06}.ldb" for number in range(1, 1103)}
    for key in many:
        store.put_object(Bucket="odd", Key=key, Body=b"")
    status, lines, errors = run(program, ["inspect", "--json", "s3://odd/many/"], environment)
    found = {line["path"].removeprefix("s3://odd/") for line in lines if line["object"] == "table"}
    expect("a listing of two pages", many, found)
    server.stop()


def s3rver(program, modules):
    """The keys are in a profile."""
    folder = tempfile.mkdtemp(prefix="filterblock-s3rver-")
    arguments = ["--directory", folder, "--address", "127.0.0.1", "--port", "0", "--no-vhost-buckets"]
    with compare.NodeServer(modules, "s3rver", arguments, "listening on ") as address:
        endpoint = f"http://{address.removeprefix('http://')}"
        filled(endpoint, "S3RVER", "S3RVER")
        environment = compare.environment() | {"AWS_ALLOW_HTTP": "true", "AWS_PROFILE": "local"}
        files = pathlib.Path(environment["HOME"]) / ".aws"
        files.mkdir()
        (files / "config").write_text(f"[profile local]\nregion = us-east-1\nendpoint_url = {endpoint}\n")
        (files / "credentials").write_text("[local]\naws_access_key_id = S3RVER\naws_secret_access_key = S3RVER\n")
        url = f"s3://{BUCKET}/backups/db/"
        compare.database(program, url, environment)
        status, lines, errors = run(program, ["inspect", "--json", f"s3://{BUCKET}/large table/%41+é.ldb"], environment)
        expect("an exact key", (0, LARGE.stat().st_size), (status, lines[0]["file_size"]))
        other = {"AWS_ACCESS_KEY_ID": "OTHER", "AWS_SECRET_ACCESS_KEY": "S3RVER"}
        compare.refusals(program, [("another key", [url], other, "denied", "InvalidAccessKeyId")], environment)


print("moto:")
moto(sys.argv[1])
print("s3rver:")
s3rver(*sys.argv[1:])
