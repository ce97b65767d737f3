"""Reads LevelDB's tables, databases and Bloom filters, damaged and deleted entries included."""

from collections.abc import Sequence as _Sequence

from ._errors import (
    ArgumentError,
    CorruptionError,
    DeniedError,
    Error,
    InUseError,
    MissingError,
    ReadError,
    RefusedError,
    UnsupportedError,
)
from ._filterblock import (
    BloomFilterPolicy,
    Columns,
    Database,
    Entry,
    FilterBlockReader,
    LogFile,
    Pairs,
    Scan,
    Table,
    TableFile,
    __version__,
    inspect,
    rebuild,
    repair,
    report,
    scan,
    tune,
    verify,
)
from ._reports import *  # noqa: F403
from ._reports import __all__ as _reports

__all__ = [
    "ArgumentError",
    "BloomFilterPolicy",
    "Columns",
    "CorruptionError",
    "Database",
    "DeniedError",
    "Entry",
    "Error",
    "FilterBlockReader",
    "InUseError",
    "LogFile",
    "MissingError",
    "Pairs",
    "ReadError",
    "RefusedError",
    "Scan",
    "Table",
    "TableFile",
    "UnsupportedError",
    "__version__",
    "inspect",
    "rebuild",
    "repair",
    "report",
    "scan",
    "tune",
    "verify",
]
__all__ += _reports

# They are known by the name of the package.
for _class in (
    ArgumentError,
    CorruptionError,
    DeniedError,
    Error,
    InUseError,
    MissingError,
    ReadError,
    RefusedError,
    UnsupportedError,
):
    _class.__module__ = __name__
del _class

# What takes named tuples takes entries, too.
_Sequence.register(Entry)
