"""Reads LevelDB's tables, databases and Bloom filters, damaged and deleted entries included."""

from collections.abc import Sequence as _Sequence

from . import _errors
from ._errors import *
from ._filterblock import *
from ._reports import *

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
    "Report",
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

# They are known by the name of the package.
for _class in vars(_errors).values():
    if isinstance(_class, type) and issubclass(_class, Error):
        _class.__module__ = __name__
del _class

# What takes named tuples takes entries, too.
_Sequence.register(Entry)
