import os
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, Literal, Self, SupportsIndex, TypeVar, final, overload

from typing_extensions import Buffer

from ._errors import Error
from ._reports import Report

_Path = str | os.PathLike[str]
_AnyPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Paths = _AnyPath | Iterable[_AnyPath]
_Default = TypeVar("_Default")
_Field = Literal["key", "value", "sequence", "type", "deleted", "state", "file", "offset"]
# Bytes of all keys end to end, and where each begins and the last one ends.
_Keys = Iterable[Buffer] | tuple[Buffer, Buffer] | "Columns"
_Progress = Callable[[int, int | None], object]
_PolicyName = str

__all__ = [
    "Columns",
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
    "tune",
    "verify",
    "rebuild",
    "repair",
    "scan",
    "Table",
    "__version__",
]

__version__: str

@final
class Table:
    """An open table: a path, or the bytes of a file.

    The tables of databases have internal keys: a user key with a sequence number and type after it. Whether a table
    has, its filters or first keys tell, unless `internal_keys` does. `get`, `may_contain` and `filter` take the user
    key then. Iterating gives the keys as they are stored, and `scan` takes them apart.

    `max_output` limits the bytes of blocks and keys that one walk decodes: by default 100 times the file's size, and
    256 MiB at least.
    """

    def __new__(
        cls,
        source: _Path | Buffer,
        *,
        internal_keys: bool | None = None,
        verify_checksums: bool = True,
        max_output: int | None = None,
    ) -> Table: ...
    @overload
    def get(self, key: Buffer, default: None = None, *, sequence: int | None = None) -> bytes | None:
        """Returns the value of a key, or `default` if it is absent or deleted.

        Of internal keys: of the newest entry that is not newer than `sequence`.

        If metaindex or filters are damaged, they do not tell the form of the keys. A value that is found is returned
        then; for a key that is not found, the damage is raised.
        """
    @overload
    def get(self, key: Buffer, default: _Default, *, sequence: int | None = None) -> bytes | _Default: ...
    def get_many(self, keys: _Keys, *, sequence: int | None = None) -> list[bytes | None]:
        """Returns for each key what `get` returns, in the same order. Faster than `get` for some dozen keys and more.

        `keys` may be a pair of bytes and offsets. The first error is raised.
        """
    def may_contain(self, key: Buffer) -> bool:
        """Returns False if index or filter say that the table has no entry of the key. Reads no data block.

        True for every key if the form of the keys is not certain.
        """
    def __iter__(self) -> Pairs[tuple[bytes, bytes]]:
        """Iterates over stored keys and values, in the order of the file.

        Damage is raised once. The next step continues after the damaged block.
        """
    def scan(
        self,
        *,
        reverse: bool = False,
        start: Buffer | None = None,
        stop: Buffer | None = None,
        include_start: bool = True,
        include_stop: bool = False,
        prefix: Buffer | None = None,
        limit: int | None = None,
        on_error: Callable[[Error], object] | None = None,
        fields: Iterable[_Field] | None = None,
    ) -> Scan:
        """Iterates over the entries, every version of each key, in the order of the file or back.

        The options choose user keys, in bytewise order, as for `Database.iterator`; all entries are read. `on_error`
        and `fields` are as for `filterblock.scan`.
        """
    def close(self) -> None:
        """Closes the file, and all iterators over the table."""
    @property
    def closed(self) -> bool:
        """True once it has been closed."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        type: type[BaseException] | None = None,
        value: BaseException | None = None,
        traceback: TracebackType | None = None,
        /,
    ) -> None: ...
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

    Nothing is written, and nothing is locked. The database is opened once: MANIFEST, logs and tables are kept, with
    up to 128 tables' indexes and filters in memory, and read anew when something has changed. `tables` and `logs` are
    those that were there at first. An iterator shows the database as it is when the iterator is made; where a table
    vanishes meanwhile, it continues after the last entry, in the database as it is then.

    `comparator` is the order of the keys of a database without a sound MANIFEST: "bytewise" or "idb_cmp1".
    """

    def __new__(cls, path: _Path, *, comparator: Literal["bytewise", "idb_cmp1"] | None = None) -> Database: ...
    @overload
    def get(self, key: Buffer, default: None = None) -> bytes | None:
        """Returns the value of a key, or `default` if it is absent or deleted. What was written before the call is
        seen.

        It is sought as LevelDB seeks it: in the logs, then in the tables whose ranges include the key, up to the first
        that has it. Damage that the search comes to is raised, and no other.
        """
    @overload
    def get(self, key: Buffer, default: _Default) -> bytes | _Default: ...
    def get_many(self, keys: _Keys) -> list[bytes | None]:
        """Returns for each key what `get` returns, in the same order, and looks each table up once.

        `keys` may be a pair of bytes and offsets. The first error is raised.
        """
    @overload
    def iterator(
        self,
        *,
        reverse: bool = False,
        start: Buffer | None = None,
        stop: Buffer | None = None,
        include_start: bool = True,
        include_stop: bool = False,
        prefix: Buffer | None = None,
        include_key: Literal[True] = True,
        include_value: Literal[True] = True,
    ) -> Pairs[tuple[bytes, bytes]]:
        """Iterates over keys and values: the newest version of each key, in the order of the keys, logs merged in.

        Only keys that begin with `prefix`, and those from `start` on and before `stop`, without the former or with the
        latter if so told; with `reverse` the last one comes first. Without values or keys, the others come alone.
        All is as in plyvel, save that `prefix` may go with the others.

        Damage is raised once. The next step continues after it, where older versions and deleted keys may show.
        """
    @overload
    def iterator(
        self,
        *,
        reverse: bool = False,
        start: Buffer | None = None,
        stop: Buffer | None = None,
        include_start: bool = True,
        include_stop: bool = False,
        prefix: Buffer | None = None,
        include_key: bool = True,
        include_value: bool = True,
    ) -> Pairs[Any]: ...
    def __iter__(self) -> Pairs[tuple[bytes, bytes]]:
        """Iterates as `iterator` does, over all keys."""
    def scan(
        self,
        *,
        newest: bool = False,
        prefix: Buffer | None = None,
        start: Buffer | None = None,
        stop: Buffer | None = None,
        limit: int | None = None,
        on_error: Callable[[Error], object] | None = None,
        fields: Iterable[_Field] | None = None,
    ) -> Scan:
        """Iterates over entries as `filterblock.scan` does."""
    def close(self) -> None:
        """Closes the files, and all iterators over the database."""
    @property
    def closed(self) -> bool:
        """True once it has been closed."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        type: type[BaseException] | None = None,
        value: BaseException | None = None,
        traceback: TracebackType | None = None,
        /,
    ) -> None: ...
    def tables(self) -> list[TableFile]:
        """Returns all tables of the time when the database was opened: live ones by level and number, then others."""
    def logs(self) -> list[LogFile]:
        """Returns all logs of the time when the database was opened, oldest first."""
    @property
    def path(self) -> str:
        """Path of the folder."""
    @property
    def comparator(self) -> str | None:
        """Name of the comparator; None if the MANIFEST has no such name or cannot be relied on."""
    @property
    def manifest_error(self) -> Error | None:
        """The reason why the MANIFEST cannot be relied on; None if it can."""

@final
class TableFile:
    """A table of a database."""

    @property
    def number(self) -> int:
        """Number that its file is named after."""
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
        """Number that its file is named after: the higher, the newer."""
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
    """A version of a key, and where it is.

    It unpacks into key and value, or into the fields that were asked for, as a named tuple does. Two are equal if all
    their attributes are, whatever they unpack into.
    """

    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Any: ...
    @overload
    def __getitem__(self, index: slice, /) -> tuple[Any, ...]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _asdict(self) -> dict[str, Any]:
        """Returns all attributes as a dictionary."""
    @property
    def _fields(self) -> tuple[str, ...]:
        """Names of what it unpacks into."""

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
    """Iterator over entries. It has no thread of its own, and shares open files with others."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> Entry: ...
    def columns(self, count: int | None = None) -> Columns:
        """Takes the next `count` entries at once, or all.

        Damage ends it early, and is raised by the next call.
        """
    @property
    def notes(self) -> list[str]:
        """Facts that are no errors, such as the number of blocks that were found. Complete at the end."""
    def close(self) -> None:
        """Ends the iterator, and gives memory and files back. Another step is a RuntimeError."""
    @property
    def closed(self) -> bool:
        """True once it has been closed."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        type: type[BaseException] | None = None,
        value: BaseException | None = None,
        traceback: TracebackType | None = None,
        /,
    ) -> None: ...

_Item = TypeVar("_Item", covariant=True)

@final
class Pairs(Generic[_Item]):
    """Iterator over keys and values. It has no thread of its own, and shares open files with others."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> _Item: ...
    def columns(self, count: int | None = None) -> Columns:
        """Takes the next `count` entries at once, or all.

        Damage ends it early, and is raised by the next call.
        """
    def close(self) -> None:
        """Ends the iterator, and gives memory and files back. Another step is a RuntimeError."""
    @property
    def closed(self) -> bool:
        """True once it has been closed."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        type: type[BaseException] | None = None,
        value: BaseException | None = None,
        traceback: TracebackType | None = None,
        /,
    ) -> None: ...

@final
class Columns:
    """Keys and values of many entries, each end to end. The key of entry `n` is in `key_bytes`, from
    `key_offsets[n]` to `key_offsets[n + 1]`, and its value likewise.

    NumPy takes them without a copy: `numpy.frombuffer(columns.key_bytes, numpy.uint8)` and
    `numpy.asarray(columns.key_offsets)`. So does pyarrow: `pyarrow.LargeBinaryArray.from_buffers`.
    """

    @property
    def key_bytes(self) -> bytes:
        """All keys, end to end."""
    @property
    def key_offsets(self) -> memoryview[int]:
        """Offset of each key, and the end of the last one: integers of 64 bits."""
    @property
    def value_bytes(self) -> bytes:
        """All values, end to end. Those of deletions, and those that were not asked for, are empty."""
    @property
    def value_offsets(self) -> memoryview[int]:
        """Offset of each value, and the end of the last one: integers of 64 bits."""
    def __len__(self) -> int:
        """Returns the number of entries."""

def _entry(
    key: bytes,
    value: bytes | None,
    file: str,
    offset: int,
    sequence: int | None,
    kind: int | None,
    state: str | None,
    names: list[str] | None,
) -> Entry: ...
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
    comparator: Literal["bytewise", "idb_cmp1"] | None = None,
    max_output: int | None = None,
    on_error: Callable[[Error], object] | None = None,
    fields: Iterable[_Field] | None = None,
) -> Scan:
    """Returns an iterator over the entries of a database, a table or a log, as `filterblock scan --all` prints them.

    Each is an `Entry`: every version of each key and every deletion, also of unused files; with `newest`, only the
    newest version of each key, without those that are deleted.

    `carve` finds the data blocks of tables by their checksums, where footer or index are gone. `prefix`, `start` and
    `stop` choose keys, in bytewise order; `stop` is the first key that is left out. `limit` is the number of entries.
    `internal_keys` says whether a table by itself has a database's keys; by default its filters or first keys tell.
    `max_output` limits the bytes of blocks and keys that are decoded of each file, as for Table. At most 48 tables are
    open at a time, however many there are.

    Damage is skipped. It is raised once, and the next step continues after it. With `on_error` it is not raised:
    the function is called with the exception. A limit that is reached is an UnsupportedError.

    `fields` names what entries unpack into, and the columns of a frame that pandas makes of them; key and value by
    default.
    """

@final
class FilterBlockReader:
    """Reader of a filter block, without its trailer.

    Any bytes are accepted. Where they are malformed, every key may match, and `check` raises the reason. `bytes`, and
    a memoryview of them, are not copied. `policy` is one that made the filters, or its name.
    """

    def __new__(cls, contents: Buffer, policy: BloomFilterPolicy | str | None = None) -> FilterBlockReader: ...
    def key_may_match(self, block_offset: int, key: Buffer) -> bool:
        """Returns False if the filter for the data block at this offset rules the key out."""
    def keys_may_match(self, queries: Iterable[tuple[int, Buffer]]) -> list[bool]:
        """Looks many keys up, each with the offset of its data block, in one call."""
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
    def create_filter(self, keys: _Keys) -> bytes:
        """Makes the filter of keys, byte for byte as LevelDB does. `keys` may be a pair of bytes and offsets."""
    def key_may_match(self, key: Buffer, filter: Buffer) -> bool:
        """Returns False if the filter rules the key out."""
    @overload
    def keys_may_match(  # type: ignore[overload-overlap]
        self, keys: tuple[Buffer, Buffer] | Columns, filter: Buffer
    ) -> memoryview[bool]:
        """Answers for many keys as key_may_match does for one, in one call.

        `keys` may be a pair of bytes and offsets: the answers are then an array, which `numpy.asarray` takes.
        """
    @overload
    def keys_may_match(self, keys: Iterable[Buffer], filter: Buffer) -> list[bool]: ...
    @property
    def name(self) -> str:
        """Name that tables carry, without "filter."."""
    @property
    def bits_per_key(self) -> int:
        """Bits per key of filters that are made."""

def inspect(
    path: _Paths,
    *,
    filters: bool = False,
    recursive: bool = False,
    jobs: int | None = None,
    max_output: int | None = None,
    progress: _Progress | None = None,
) -> list[Report]:
    """Shows what tables and their filters are like, as `filterblock inspect --json` does: of one path or many.

    Returns an object for each line that the program prints: for a table, one; for a database, one for the folder, one
    for each table, and the totals. Each is a dictionary, whose fields are properties as well. What cannot be read
    has one too (`error` and `error_kind`), and raises nothing.

    `entries` counts all entries, versions and deletions among them, and `distinct_keys` the different keys; both
    have `value`, `low` and `high`, which differ where blocks were sampled. Then the totals have no `value` of distinct
    keys, as tables may hold the same ones.

    `filters` lists every filter. `recursive` searches the folders below, too. `jobs` tables are read at once, by default
    as many as there are processors. `max_output` limits the bytes to decode of each file.

    `progress` is called in the caller's thread, about twenty times a second, with the bytes done and those of the whole
    work, or None as long as these are not known. If it raises, or a signal comes, the work ends, and that is raised.
    """

def verify(
    path: _Paths,
    *,
    recursive: bool = False,
    comparator: str | None = None,
    jobs: int | None = None,
    max_output: int | None = None,
    progress: _Progress | None = None,
) -> list[Report]:
    """Checks every block, entry and filter, and the MANIFEST, as `filterblock verify --json` does: of one path or many.

    Returns an object for each line that the program prints: one for each table and log, and then one for the folder.
    `verdict` is "fine", "could-be-better", "false-negatives", "damaged" or "unknown". Damage is in `problems`, each
    with `code`, `offset` and `lost`, and raises nothing. `entries` and `distinct_keys` are the numbers of a table's
    entries and of its different keys, `false_negatives` that of the stored keys that its filters hide.

    `comparator` is the order of user keys where no MANIFEST names it: "bytewise", "idb_cmp1" or None. The others are
    as for `inspect`.
    """

def tune(
    path: _Paths,
    *,
    lookups: Iterable[Buffer] | None = None,
    budget: int | None = None,
    all: bool = False,
    policy: _PolicyName | None = None,
    recursive: bool = False,
    jobs: int | None = None,
    max_output: int | None = None,
    progress: _Progress | None = None,
) -> list[Report]:
    """Measures whether other filters would save reads or space, as `filterblock tune --json` does: of one path or many.

    Returns an object for each database or table: `verdict`; `action`, such as "rebuild", its `arguments` for
    `filterblock rebuild`, and `text`, the advice in words; `absent_reads`, the data blocks that a lookup reads; and
    `by_bits`, the same for other bits per key. What cannot be read raises nothing.

    `lookups` are keys that your program looks up. `budget` is the most bytes that filters may take. `all` reads every
    table. `policy` is the name of the policy, by default that of the tables. The others are as for `inspect`.
    """

@overload
def report(  # type: ignore[overload-overlap]
    path: _AnyPath,
    *,
    verify: bool = True,
    tune: bool = True,
    jobs: int | None = None,
    max_output: int | None = None,
    progress: _Progress | None = None,
) -> str:
    """Makes a page about a database for a browser, the one that `filterblock report` writes. Returns its HTML.

    Of many paths, returns a list with a page for each. A page begins with a verdict and the command to run, and needs
    no network. Without `verify`, not every block is read; without `tune`, no other filters are tried. `jobs`,
    `max_output` and `progress` are as for `inspect`.

    Raises ReadError or MissingError if nothing there can be read. Damage is in the page.
    """

@overload
def report(
    path: Iterable[_AnyPath],
    *,
    verify: bool = True,
    tune: bool = True,
    jobs: int | None = None,
    max_output: int | None = None,
    progress: _Progress | None = None,
) -> list[str]: ...
def rebuild(
    path: _Paths,
    *,
    to: _AnyPath | None = None,
    in_place: bool = False,
    undo: bool = False,
    discard: bool = False,
    bits_per_key: int | None = None,
    policy: _PolicyName | None = None,
    hash: Literal["signed", "unsigned"] | None = None,
    base_lg: int | None = None,
    drop: bool = False,
    keep_undecodable: bool = False,
    jobs: int | None = None,
    dry_run: bool = False,
    assume_bytewise_equality: bool = False,
    keep_undo: bool = True,
    progress: _Progress | None = None,
) -> list[Report]:
    """Gives all tables of a closed database new filters, without touching an entry, as `filterblock rebuild` does.

    Returns an object for each table, and then one for the database. `to` makes a second database in a new folder.
    `in_place` replaces the tables: a crash at any time leaves the old database or the new one, and the former tables
    are kept for `undo`, or until `discard`, unless `keep_undo` is False. `dry_run` writes nothing.

    `bits_per_key` is 10 by default. `policy`, `hash` and `base_lg` are those of the tables by default. `drop` makes no
    filters. docs/rebuild.md, in the source, explains each option and each refusal.

    Close the database first: that this process itself has it open, by plyvel for example, is not noticed.

    Raises InUseError, RefusedError or ReadError; then the database is as it was. Of many paths, the first failure is raised, and those before are done. A signal, or an
    exception of `progress`, ends the work where it can be ended.
    """

def repair(
    path: _AnyPath,
    to: _AnyPath | None = None,
    *,
    prefer: Literal["newest", "sound"] = "newest",
    comparator: str | None = None,
    policy: _PolicyName | None = None,
    hash: Literal["signed", "unsigned"] | None = None,
    bits_per_key: int | None = None,
    jobs: int | None = None,
    dry_run: bool = False,
    max_output: int | None = None,
    progress: _Progress | None = None,
) -> list[Report]:
    """Makes a new database, in the folder `to`, of what can be saved of a damaged one, as `filterblock repair` does.

    With `dry_run=True`, nothing is written, and `to` is not needed.

    The damaged database is only read. Returns an object for each file, each loss and each key that may be stale, and then one
    for the database. With `prefer="sound"`, keys of which a newer version may be lost are left out. docs/repair.md,
    in the source, explains the rest. Raises as `rebuild` does; then there is no new database.
    """
