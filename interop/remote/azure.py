"""Compares what the program finds in Azure's emulator on this machine (azurite) with what it finds in folders.

    python3 interop/remote/azure.py PROGRAM NODE_MODULES

PROGRAM is `filterblock`, built with the feature `remote`. NODE_MODULES has azurite.
"""

import base64
import email.utils
import hashlib
import hmac
import sys
import urllib.parse
import urllib.request

import compare
from compare import DATABASE, LARGE, ODD, expect, run

# Those of every emulator.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def put(endpoint, path, query="", body=b""):
    """Makes a container or a blob, by a request signed with the key."""
    url = f"{endpoint}/{ACCOUNT}/{urllib.parse.quote(path)}"
    headers = {"x-ms-blob-type": "BlockBlob", "x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-12-02"}
    if query:
        del headers["x-ms-blob-type"]
    resource = f"/{ACCOUNT}{urllib.parse.urlsplit(url).path}" + "".join(f"\n{pair.replace('=', ':')}" for pair in query.split("&") if pair)
    named = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
    kind = "application/octet-stream"
    text = f"PUT\n\n\n{len(body) or ''}\n\n{kind}\n\n\n\n\n\n\n{named}{resource}"
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
    headers |= {"Authorization": f"SharedKey {ACCOUNT}:{signature}", "Content-Type": kind, "Content-Length": str(len(body))}
    request = urllib.request.Request(f"{url}?{query}" if query else url, data=body, headers=headers, method="PUT")
    urllib.request.urlopen(request, timeout=20).close()


def main(program, modules):
    arguments = ["--inMemoryPersistence", "--blobPort", "0", "--skipApiVersionCheck", "--disableTelemetry", "--silent"]
    with compare.NodeServer(modules, "azurite-blob", arguments, "listens on ") as endpoint:
        put(endpoint, "box", "restype=container")
        for path in DATABASE.iterdir():
            put(endpoint, f"box/backups/db/{path.name}", body=path.read_bytes())
        put(endpoint, "box/large table/%41+é.ldb", body=LARGE.read_bytes())
        text = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={endpoint}/{ACCOUNT};"
        environment = compare.environment() | {"AZURE_STORAGE_CONNECTION_STRING": text, "AZURE_ALLOW_HTTP": "true"}
        compare.database(program, "az://box/backups/db/", environment)
        status, lines, errors = run(program, ["inspect", "--json", "az://box/large table/%41+é.ldb"], environment)
        expect("an exact key", (0, LARGE.stat().st_size), (status, lines[0]["file_size"]))
        wrong = {"AZURE_STORAGE_CONNECTION_STRING": text.replace(KEY, base64.b64encode(b"wrong").decode())}
        compare.refusals(program, [
            ("a wrong key", ["az://box/backups/db/"], wrong, "denied", ""),
            ("no such key", ["az://box/backups/db/1.ldb"], {}, "missing", "no such object"),
            ("no such folder", ["az://box/nothing/"], {}, "missing", "no such object or folder"),
            ("no such container", ["az://other/db/"], {}, "missing", "no such bucket"),
        ], environment)

        put(endpoint, "odd", "restype=container")
        keys = [key for key in ODD if "/./" not in key and "/../" not in key]
        table = (DATABASE / "000005.ldb").read_bytes()
        for key in ["odd/000005.ldb", *keys]:
            put(endpoint, f"odd/{key}", body=table)
        compare.odd(program, "az://odd/", keys, environment)


main(*sys.argv[1:])
