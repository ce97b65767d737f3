"""Reads LevelDB's tables, databases and Bloom filters, damaged and deleted entries included."""

from ._errors import (
    ArgumentError,
    CorruptionError,
    DeniedError,
    Error,
    MissingError,
    ReadError,
    UnsupportedError,
)
from ._filterblock import (
    BloomFilterPolicy,
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
    report,
    scan,
    verify,
)

__all__ = [
    "ArgumentError",
    "BloomFilterPolicy",
    "CorruptionError",
    "Database",
    "DeniedError",
    "Entry",
    "Error",
    "FilterBlockReader",
    "LogFile",
    "MissingError",
    "Pairs",
    "ReadError",
    "Scan",
    "Table",
    "TableFile",
    "UnsupportedError",
    "__version__",
    "inspect",
    "report",
    "scan",
    "verify",
]

# They are known by the name of the package.
for _class in (ArgumentError, CorruptionError, DeniedError, Error, MissingError, ReadError, UnsupportedError):
    _class.__module__ = __name__
del _class
