import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, final

from typing_extensions import Buffer

from ._errors import Error

_Path = str | os.PathLike[str]

__all__ = [
    "Database",
    "LogFile",
    "TableFile",
    "Entry",
    "Pairs",
    "Scan",
    "FilterBlockReader",
    "BloomFilterPolicy",
    "inspect",
    "report",
    "scan",
    "Table",
    "verify",
    "__version__",
]

__version__: str

@final
class Table:
    """An open table: a path, or the bytes of a file.

    The tables of databases have internal keys: a user key with sequence number and type behind it. Whether a table
    has, its filters or first keys tell, unless `internal_keys` does. `get`, `may_contain` and `filter` take the user
    key then. Iterating gives the keys as they are stored, and `scan` takes them apart.

    `max_output` limits the bytes of blocks and keys that one walk decodes: by default 100 times the file's size, and 256
    MiB at least.
    """

    def __new__(
        cls,
        source: _Path | Buffer,
        *,
        internal_keys: bool | None = None,
        verify_checksums: bool = True,
        max_output: int | None = None,
    ) -> Table: ...
    def get(self, key: Buffer, *, sequence: int | None = None) -> bytes | None:
        """Returns the value of a key, or None if it is absent or deleted.

        Of internal keys: of the newest entry that is not newer than `sequence`.
        """
    def get_many(self, keys: Sequence[Buffer], *, sequence: int | None = None) -> list[bytes | None]:
        """Returns for each key what `get` returns, in the same order. Faster than `get` for some dozen keys and more.

        The first error is raised.
        """
    def may_contain(self, key: Buffer) -> bool:
        """Returns False if index or filter say that the table has no entry of the key. Reads no data block."""
    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """Iterates over stored keys and values, in the order of the file.

        Damage is raised once. The next step goes on behind the damaged block.
        """
    def data_blocks(self) -> list[tuple[int, int]]:
        """Returns offset and size of each data block, as the index has them."""
    @property
    def path(self) -> str | None:
        """Path of the file; None for bytes."""
    @property
    def internal_keys(self) -> bool:
        """True if the keys are a database's internal keys."""
    @property
    def file_size(self) -> int:
        """Size in bytes."""
    @property
    def filter(self) -> FilterBlockReader | None:
        """The filter block; None if there is none, or none that can be read."""
    @property
    def filter_name(self) -> str | None:
        """Name of the filter policy that the table names; None if it names none."""
    @property
    def filter_error(self) -> Error | None:
        """The error that keeps filters from being used; None if all is well."""

@final
class Database:
    """A database, for reading only. It may be in use.

    Nothing is written, and nothing is locked. `tables` and `logs` are those that were there at first. An iterator shows
    the database as it is when the iterator begins; where a table vanishes meanwhile, it goes on behind the last entry,
    in the database as it is then.

    `comparator="bytewise"` is for a database without a sound MANIFEST.
    """

    def __new__(cls, path: _Path, *, comparator: Literal["bytewise"] | None = None) -> Database: ...
    def get(self, key: Buffer) -> bytes | None:
        """Returns the value of a key, or None if it is absent or deleted.

        Reads the MANIFEST and the logs anew: this is for a few keys.
        """
    def get_many(self, keys: Sequence[Buffer]) -> list[bytes | None]:
        """Returns for each key what `get` returns, in the same order. Reads the MANIFEST and the logs once, and opens each
        table once. The first error is raised."""
    def iterator(
        self, *, prefix: Buffer | None = None, start: Buffer | None = None, stop: Buffer | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Iterates over keys and values: the newest version of each key, in the order of the keys, logs merged in.

        Only keys that begin with `prefix`, from `start` on, and before `stop`. Damage is raised once. The next step
        goes on behind it, where older versions and deleted keys may show.
        """
    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """Iterates as `iterator` does, over all keys."""
    def tables(self) -> list[TableFile]:
        """Returns all tables: the live ones by level and number, then the others."""
    def logs(self) -> list[LogFile]:
        """Returns all logs, oldest first."""
    @property
    def path(self) -> str:
        """Path of the folder."""
    @property
    def comparator(self) -> str | None:
        """Name of the comparator; None without a MANIFEST that can be relied on."""
    @property
    def manifest_error(self) -> Error | None:
        """The reason why the MANIFEST cannot be relied on; None if it can."""

@final
class TableFile:
    """A table of a database."""

    @property
    def number(self) -> int:
        """Number that its file is named by."""
    @property
    def path(self) -> str | None:
        """Path; None if a live table has no file."""
    @property
    def state(self) -> Literal["live", "obsolete", "unlisted", "unknown"]:
        """Its part in the database, by the MANIFEST."""
    @property
    def size(self) -> int | None:
        """Size of the file in bytes, if it is known."""
    @property
    def level(self) -> int | None:
        """Level; None if the table is not live, as for the next three."""
    @property
    def recorded_size(self) -> int | None:
        """Size in bytes that the MANIFEST records."""
    @property
    def smallest(self) -> bytes | None:
        """First user key."""
    @property
    def largest(self) -> bytes | None:
        """Last user key."""

@final
class LogFile:
    """A log of a database."""

    @property
    def number(self) -> int:
        """Number that its file is named by: the higher, the newer."""
    @property
    def path(self) -> str | None:
        """Path."""
    @property
    def live(self) -> bool:
        """True if its writes may be in no table yet."""
    @property
    def size(self) -> int | None:
        """Size of the file in bytes, if it is known."""

@final
class Entry:
    """A version of a key, and where it lies."""

    @property
    def key(self) -> bytes:
        """User key, or the stored key of a table whose keys are no internal keys."""
    @property
    def value(self) -> bytes | None:
        """Value; None for a deletion."""
    @property
    def file(self) -> str:
        """Path of the file."""
    @property
    def offset(self) -> int:
        """Offset in the file of the data block, or of the log's record."""
    @property
    def sequence(self) -> int | None:
        """Sequence number; None if the keys are no internal keys."""
    @property
    def type(self) -> str | None:
        """ "value", "deletion" or "type N"; None if the keys are no internal keys."""
    @property
    def deleted(self) -> bool:
        """True for a deletion."""
    @property
    def state(self) -> Literal["live", "obsolete", "unlisted", "unknown", "log"] | None:
        """Part that the file has in its database; None for a file that was given by itself."""

@final
class Scan:
    """Iterator over entries."""

    def __iter__(self) -> Scan: ...
    def __next__(self) -> Entry: ...
    @property
    def notes(self) -> list[str]:
        """Facts that are no errors, such as the number of blocks that were found. Complete at the end."""

@final
class Pairs:
    """Iterator over keys and values."""

    def __iter__(self) -> Pairs: ...
    def __next__(self) -> tuple[bytes, bytes]: ...

def scan(
    path: _Path,
    *,
    newest: bool = False,
    carve: bool = False,
    prefix: Buffer | None = None,
    start: Buffer | None = None,
    stop: Buffer | None = None,
    limit: int | None = None,
    internal_keys: bool | None = None,
    comparator: Literal["bytewise"] | None = None,
    max_output: int | None = None,
    on_error: Callable[[Error], object] | None = None,
) -> Scan:
    """Iterates over the entries of a database, a table or a log, as `filterblock scan --all` does.

    Every version of each key and every deletion, also of obsolete files; with `newest`, only the newest version of
    each key, without those that are deleted.

    `carve` finds the data blocks of tables by their checksums, where footer or index are gone. `prefix`, `start` and
    `stop` choose keys, in bytewise order; `stop` is the first key that is left out. `limit` is the number of entries.
    `internal_keys` says whether a table by itself has a database's keys; by default its filters or first keys tell.
    `max_output` limits the bytes of blocks and keys that are decoded of each file, as for Table. At most 48 tables are
    open at a time, however many there are.

    Damage is passed over. It is raised once, and the next step goes on behind it. With `on_error` it is not raised:
    the function is called with the exception. A limit that is reached is an UnsupportedError.
    """

@final
class FilterBlockReader:
    """Reader of a filter block, without its trailer.

    Any bytes are accepted. Where they are malformed, every key may match, and `check` raises the reason. `bytes`, and
    a memoryview of them, are not copied. `policy` is one that made the filters, or its name.
    """

    def __new__(cls, contents: Buffer, policy: BloomFilterPolicy | str | None = None) -> FilterBlockReader: ...
    def key_may_match(self, block_offset: int, key: Buffer) -> bool:
        """Returns False if the filter for the data block at this offset denies the key."""
    def keys_may_match(self, queries: Iterable[tuple[int, Buffer]]) -> list[bool]:
        """Answers many questions, each an offset and a key, in one call."""
    def check(self) -> None:
        """Raises CorruptionError if the block is malformed. Offsets are those in the block."""
    def filter(self, index: int) -> bytes | None:
        """Returns the bytes of a filter, or None if it is malformed or there are not so many."""
    def __len__(self) -> int:
        """Returns the number of filters, empty ones included."""
    @property
    def base_lg(self) -> int:
        """Binary logarithm of the range of offsets that a filter is for."""
    @property
    def policy_name(self) -> str:
        """Name of the filter policy."""
    @property
    def contents(self) -> bytes:
        """The block as it was given."""

@final
class BloomFilterPolicy:
    """LevelDB's filter policy, with so many bits for each key."""

    def __new__(cls, bits_per_key: int = 10) -> BloomFilterPolicy: ...
    def create_filter(self, keys: Iterable[Buffer]) -> bytes:
        """Makes the filter of keys, in LevelDB's bytes."""
    def key_may_match(self, key: Buffer, filter: Buffer) -> bool:
        """Returns False if the filter says that the key is not among those that it was made of."""
    def keys_may_match(self, keys: Iterable[Buffer], filter: Buffer) -> list[bool]:
        """Answers for many keys as key_may_match does for one, in one call."""
    @property
    def name(self) -> str:
        """Name that tables carry, without "filter."."""
    @property
    def bits_per_key(self) -> int:
        """Bits a key of filters that are made."""

def inspect(
    path: _Path,
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

    `entries` counts all entries, versions and deletions among them, and `distinct_keys` the different keys; both
    are dictionaries with `count`, `low`, `high` and `exact`. Where tables were sampled, the totals have no `count`
    of distinct keys, as tables may hold the same ones: it lies between `low` and `high`.

    `filters` lists every filter. `recursive` looks into the folders below. `jobs` tables are looked at at once,
    by default as many as there are processors. `max_output` limits the bytes to decode of each file.
    """
def verify(
    path: _Path,
    *,
    recursive: bool = False,
    comparator: str | None = None,
    seed: int = 0,
    jobs: int | None = None,
    max_output: int | None = None,
) -> list[dict[str, Any]]:
    """Checks every block, entry and filter, and the MANIFEST, as `filterblock verify --json` does.

    Returns a dictionary for each line that the program prints: one for each table, and one for a folder.
    Damage is in `findings`, and raises nothing. `entries` and `distinct_keys` are the numbers of a table's
    entries and of its different keys.

    `comparator` is the order of user keys where no MANIFEST names it: "bytewise" or None. Another `seed` makes
    other absent keys to measure false positives with. The others are as for `inspect`.
    """

def report(
    path: _Path,
    *,
    verify: bool = True,
    tune: bool = True,
    jobs: int | None = None,
    max_output: int | None = None,
) -> str:
    """Makes a page about a database for a browser, the one that `filterblock report` writes. Returns its HTML.

    It begins with a verdict and the command to run, and needs no network. Without `verify`, not every block is
    read; without `tune`, no other filters are tried. `jobs` and `max_output` are as for `inspect`.

    Raises ReadError or MissingError if nothing there can be looked at. Damage is in the page.
    """
