"""What the program `filterblock` finds out, as dictionaries."""

import json
import operator
import os
from typing import Any

from ._filterblock import _run


def inspect(
    path: str | os.PathLike[str],
    *,
    filters: bool = False,
    recursive: bool = False,
    jobs: int | None = None,
    max_output: int | None = None,
) -> list[dict[str, Any]]:
    """Finds out what tables and their filters are like, as `filterblock inspect --json` does.

    Returns a dictionary for each line that the program prints: for a table, one; for a database, one for the
    folder, one for each table, and the totals. `object` tells which. What cannot be looked at has one too
    (`status` or `error_kind`), and raises nothing.

    `filters` lists every filter. `recursive` looks into the folders below. `jobs` tables are looked at at once,
    by default as many as there are processors. `max_output` limits the bytes to decode of each file.
    """
    arguments = ["inspect", "--json"]
    if filters:
        arguments.append("--filters")
    return _objects(arguments, path, recursive, jobs, max_output)


def verify(
    path: str | os.PathLike[str],
    *,
    recursive: bool = False,
    comparator: str | None = None,
    seed: int = 0,
    jobs: int | None = None,
    max_output: int | None = None,
) -> list[dict[str, Any]]:
    """Checks every block, entry and filter, and the MANIFEST, as `filterblock verify --json` does.

    Returns a dictionary for each line that the program prints: one for each table, and one for a folder.
    Damage is in `findings`, and raises nothing.

    `comparator` is the order of user keys where no MANIFEST names it: "bytewise" or None. Another `seed` makes
    other absent keys to measure false positives with. The others are as for `inspect`.
    """
    arguments = ["verify", "--json", f"--seed={_unsigned('seed', seed, 0, 2**64 - 1)}"]
    if comparator is not None:
        if comparator != "bytewise":
            raise ValueError(f"comparator: expected 'bytewise', found {comparator!r}")
        arguments.append("--comparator=bytewise")
    return _objects(arguments, path, recursive, jobs, max_output)


def _objects(
    arguments: list[str],
    path: str | os.PathLike[str],
    recursive: bool,
    jobs: int | None,
    max_output: int | None,
) -> list[dict[str, Any]]:
    if recursive:
        arguments.append("--recursive")
    if jobs is not None:
        arguments.append(f"--jobs={_unsigned('jobs', jobs, 1, 256)}")
    if max_output is not None:
        arguments.append(f"--max-output={_unsigned('max_output', max_output, 0, 2**64 - 1)}")
    # A path that begins with a dash is no option.
    arguments += ["--", os.fsdecode(path)]
    return [json.loads(line) for line in _run(arguments).splitlines()]


def _unsigned(name: str, value: int, lowest: int, highest: int) -> int:
    number = operator.index(value)
    if not lowest <= number <= highest:
        raise ValueError(f"{name}: expected {lowest} to {highest}, found {number}")
    return number
