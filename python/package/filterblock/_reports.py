"""The types of reports. A name that Python uses itself has an underscore behind it. Made by make_reports.py from the schemas in docs/schema."""

from typing import Any, ClassVar, Literal


class Report(dict[str, Any]):
    """A part of a report: a dictionary whose fields are properties as well."""

    __slots__ = ()
    _parts: ClassVar[dict[str, type["Report"]]] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({super().__repr__()})"


class EntryCount(Report):
    """A part of what `inspect` finds."""

    __slots__ = ()

    @property
    def count(self) -> int:
        """Number of entries, an estimate from some data blocks unless `exact`."""
        return self["count"]  # type: ignore[no-any-return]

    @property
    def low(self) -> int:
        """Lower end of an interval that holds the true number for 19 of 20 tables."""
        return self["low"]  # type: ignore[no-any-return]

    @property
    def high(self) -> int:
        """Upper end of an interval that holds the true number for 19 of 20 tables."""
        return self["high"]  # type: ignore[no-any-return]

    @property
    def exact(self) -> bool:
        """True if all entries were counted. `low` and `high` are then the same as `count`."""
        return self["exact"]  # type: ignore[no-any-return]


class DistinctKeys(Report):
    """A part of what `inspect` finds."""

    __slots__ = ()

    @property
    def count(self) -> int | None:
        """Number of different keys, an estimate unless `exact`. None: only its bounds are known, because several
        tables may hold the same keys and not all of these tables could be compared key by key.
        """
        return self["count"]  # type: ignore[no-any-return]

    @property
    def low(self) -> int:
        """Lower bound: with `count`, the lower end of an interval that holds the true number for 19 of 20
        tables.
        """
        return self["low"]  # type: ignore[no-any-return]

    @property
    def high(self) -> int:
        """Upper bound: with `count`, the upper end of an interval that holds the true number for 19 of 20
        tables.
        """
        return self["high"]  # type: ignore[no-any-return]

    @property
    def exact(self) -> bool:
        """True if all keys were counted. `low` and `high` are then the same as `count`."""
        return self["exact"]  # type: ignore[no-any-return]


class InspectLostKeys(Report):
    """A part of what `inspect` finds."""

    __slots__ = ()

    @property
    def from_(self) -> str | None:
        """The first key of the range, according to the MANIFEST. None: not known."""
        return self["from"]  # type: ignore[no-any-return]

    @property
    def after(self) -> str | None:
        """A key of the index that comes before the whole range. None: not known."""
        return self["after"]  # type: ignore[no-any-return]

    @property
    def up_to(self) -> str:
        """The last of them, or a key behind it and before the next block."""
        return self["up_to"]  # type: ignore[no-any-return]


class InspectLargerRanges(Report):
    """A part of what `inspect` finds."""

    __slots__ = ()

    @property
    def base_lg(self) -> int:
        """The smallest `base_lg` that saves at least nine tenths of the bytes that one filter for the whole
        table would save.
        """
        return self["base_lg"]  # type: ignore[no-any-return]

    @property
    def saves(self) -> int:
        """Number of bytes by which the filter block would be smaller with `base_lg`, estimated from the sizes of
        the filters.
        """
        return self["saves"]  # type: ignore[no-any-return]

    @property
    def estimated_fpr(self) -> float | None:
        """Share of random absent keys expected to pass with `base_lg`, 0 to 1. A greater share may pass if
        absent keys are consecutive numbers. None: it does not follow from the filters' sizes.
        """
        return self["estimated_fpr"]  # type: ignore[no-any-return]


class InspectMeasuredRate(Report):
    """A part of what `inspect` finds."""

    __slots__ = ()

    @property
    def rate(self) -> float:
        """Share of the keys that passed, 0 to 1. A filter is weighted by the share of absent keys that the index
        sends to it.
        """
        return self["rate"]  # type: ignore[no-any-return]

    @property
    def low(self) -> float:
        """Lower end of the rate's 95 % interval, by Wilson's score."""
        return self["low"]  # type: ignore[no-any-return]

    @property
    def high(self) -> float:
        """Upper end of the rate's 95 % interval. If no key passed, the rate is below this."""
        return self["high"]  # type: ignore[no-any-return]

    @property
    def asked(self) -> int:
        """Number of keys that were asked for. 0: no table has filters, so that all pass."""
        return self["asked"]  # type: ignore[no-any-return]


class InspectOneFilter(Report):
    """A part of what `inspect` finds."""

    __slots__ = ()

    @property
    def index(self) -> int:
        """Position of the filter in the block, counted from 0."""
        return self["index"]  # type: ignore[no-any-return]

    @property
    def first_offset(self) -> int:
        """First offset of the filter's range: the filter is for the data blocks that begin in that range."""
        return self["first_offset"]  # type: ignore[no-any-return]

    @property
    def last_offset(self) -> int:
        """Last offset of the filter's range, inclusive."""
        return self["last_offset"]  # type: ignore[no-any-return]

    @property
    def data_blocks(self) -> list[int]:
        """Offsets of the data blocks that the filter is for. Empty for a bare filter block."""
        return self["data_blocks"]  # type: ignore[no-any-return]

    @property
    def bytes(self) -> int:
        """Size of the filter in bytes, including the byte for *k*. 0: the filter is empty or malformed."""
        return self["bytes"]  # type: ignore[no-any-return]

    @property
    def bits(self) -> int:
        """Number of bits of the filter. 0: the filter is empty or malformed, or has only the byte for *k*; its
        encoding is not known; or filters of the block share bytes.
        """
        return self["bits"]  # type: ignore[no-any-return]

    @property
    def bits_set(self) -> int:
        """Number of 1 bits in the filter."""
        return self["bits_set"]  # type: ignore[no-any-return]

    @property
    def probes(self) -> int | None:
        """Number of probes per key, *k*. None: the filter is empty or malformed, its encoding is not known, or
        filters of the block share bytes.
        """
        return self["probes"]  # type: ignore[no-any-return]

    @property
    def estimated_fpr(self) -> float:
        """Share of absent keys expected to pass, 0 to 1. An empty filter lets no key pass; a malformed filter
        nearly always lets all keys pass. A filter whose encoding is not known, or that shares bytes with
        other filters, counts as 1.
        """
        return self["estimated_fpr"]  # type: ignore[no-any-return]

    @property
    def state(self) -> Literal["ok", "empty", "malformed"]:
        """`ok`: the filter has bytes. `empty`: it has no bytes. `malformed`: its offsets contradict each other,
        or `base_lg` is above 63.
        """
        return self["state"]  # type: ignore[no-any-return]


class InspectFilter(Report):
    """A part of what `inspect` finds."""

    __slots__ = ()
    _parts = {"larger_ranges": InspectLargerRanges, "random_fpr": InspectMeasuredRate, "neighbour_fpr": InspectMeasuredRate, "list": InspectOneFilter}

    @property
    def policy(self) -> str:
        """Name of the filter policy, without `filter.`"""
        return self["policy"]  # type: ignore[no-any-return]

    @property
    def policy_assumed(self) -> bool:
        """True for a bare filter block (`--block`) without `--policy`: the policy is a guess."""
        return self["policy_assumed"]  # type: ignore[no-any-return]

    @property
    def offset(self) -> int:
        """Offset of the filter block in the file, in bytes."""
        return self["offset"]  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """Size of the filter block in bytes, without its trailer."""
        return self["size"]  # type: ignore[no-any-return]

    @property
    def base_lg(self) -> int:
        """Binary logarithm of the length of the range of offsets that one filter covers. A block with a value
        above 63 is malformed.
        """
        return self["base_lg"]  # type: ignore[no-any-return]

    @property
    def filters(self) -> int:
        """Number of filters, empty ones included."""
        return self["filters"]  # type: ignore[no-any-return]

    @property
    def empty_filters(self) -> int:
        """Number of empty filters: those without bytes, as for ranges in which no data block begins."""
        return self["empty_filters"]  # type: ignore[no-any-return]

    @property
    def offset_array_bytes(self) -> int:
        """Number of bytes of the filter block that hold the offsets of the filters."""
        return self["offset_array_bytes"]  # type: ignore[no-any-return]

    @property
    def empty_filter_bytes(self) -> int:
        """The part of `offset_array_bytes` that is for empty filters."""
        return self["empty_filter_bytes"]  # type: ignore[no-any-return]

    @property
    def larger_ranges(self) -> InspectLargerRanges | None:
        """Larger ranges that would make the block smaller. None: nothing would be saved, the block is malformed,
        the data blocks are not known, or `depth` is `tail`.
        """
        return self["larger_ranges"]  # type: ignore[no-any-return]

    @property
    def bits(self) -> int:
        """Number of bits of all filters together. Filters whose bits are not known count as 0."""
        return self["bits"]  # type: ignore[no-any-return]

    @property
    def bits_set(self) -> int:
        """Number of 1 bits in all filters."""
        return self["bits_set"]  # type: ignore[no-any-return]

    @property
    def probes(self) -> int | None:
        """Number of probes per key, *k*. None: the number differs from filter to filter, or is known for no
        filter.
        """
        return self["probes"]  # type: ignore[no-any-return]

    @property
    def estimated_fpr(self) -> float | None:
        """Share of absent keys expected to pass, 0 to 1, going by the bits set. Each filter is weighted by its
        number of entries, judging by its size, since absent keys reach the filters in that proportion. None:
        there are no data blocks, a bare filter block has only empty filters, or the encoding cannot be read.
        """
        return self["estimated_fpr"]  # type: ignore[no-any-return]

    @property
    def random_fpr(self) -> InspectMeasuredRate | None:
        """Measured share of random keys that pass. Each filter is asked for keys in proportion to its entries.
        None: there was no filter to ask, the encoding cannot be read, or `depth` is `tail`.
        """
        return self["random_fpr"]  # type: ignore[no-any-return]

    @property
    def neighbour_fpr(self) -> InspectMeasuredRate | None:
        """Share of neighbours that pass. Neighbours are keys that are not stored, made from stored ones by
        changing one byte or appending six. Measured in up to 17 data blocks, each weighted by its entries.
        None: no such key was asked for, the encoding cannot be read, or `key_format` is None.
        """
        return self["neighbour_fpr"]  # type: ignore[no-any-return]

    @property
    def malformed(self) -> str | None:
        """First contradiction in the structure of the filter block, with offsets within the block. None: the
        block is well formed.
        """
        return self["malformed"]  # type: ignore[no-any-return]

    @property
    def unsound(self) -> str | None:
        """Message with the number of stored keys that the filters deny, out of those tried. None: they deny none
        of the keys tried.
        """
        return self["unsound"]  # type: ignore[no-any-return]

    @property
    def list(self) -> list[InspectOneFilter] | None:
        """The filters, in order. Present only with `--filters`."""
        return self.get("list")  # type: ignore[no-any-return]


class InspectFilterCost(Report):
    """A part of what `inspect` finds."""

    __slots__ = ()
    _parts = {"entries": EntryCount}

    @property
    def bits_per_key(self) -> int:
        """Bits a key that the estimate assumes, with LevelDB's range of 2 KiB for each filter."""
        return self["bits_per_key"]  # type: ignore[no-any-return]

    @property
    def entries(self) -> EntryCount:
        """Entries of the table, each of which takes `bits_per_key` bits."""
        return self["entries"]  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """Size of the filter block in bytes."""
        return self["size"]  # type: ignore[no-any-return]


class InspectTable(Report):
    """A line of what `inspect` finds."""

    __slots__ = ()
    _parts = {"entries": EntryCount, "distinct_keys": DistinctKeys, "lost": InspectLostKeys, "filter": InspectFilter, "filter_cost": InspectFilterCost}

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["table", "filter_block"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def status(self) -> Literal["ok", "error", "not-live"]:
        """`error` if the table could not be opened, or if its index or a data block that was looked at is
        damaged or cannot be read. `not-live` if it was found in a database's folder, the database does not
        use it, and it is not a complete table: it is being written, or was left behind. Faults of the
        filters, and a size other than `recorded_size`, leave it `ok`.
        """
        return self["status"]  # type: ignore[no-any-return]

    @property
    def error(self) -> str | None:
        """First fault of the table, and the number of other faults; with `not-live`, the reason why the file is
        not a complete table. None: `status` is `ok`.
        """
        return self["error"]  # type: ignore[no-any-return]

    @property
    def file_size(self) -> int | None:
        """Size of the file in bytes. None: the file could not be opened, or the parts needed to open the table
        could not be read from it.
        """
        return self["file_size"]  # type: ignore[no-any-return]

    @property
    def data_blocks(self) -> int | None:
        """Number of data blocks that the index names, each counted once. Blocks that would lie outside the file
        are not counted. None: the table could not be opened, or the file is a bare filter block.
        """
        return self["data_blocks"]  # type: ignore[no-any-return]

    @property
    def entries(self) -> EntryCount | None:
        """Entries of the table, including deletions and older versions of keys. Filters are sized by these.
        None: too few data blocks could be decoded, or no data block was looked at.
        """
        return self["entries"]  # type: ignore[no-any-return]

    @property
    def distinct_keys(self) -> DistinctKeys | None:
        """Different keys among the entries: all versions of a key, including deletions, count once, because they
        set the same bits of a filter. None: as for `entries`.
        """
        return self["distinct_keys"]  # type: ignore[no-any-return]

    @property
    def compression(self) -> list[str] | None:
        """Codecs of the data blocks that were looked at: `none`, `snappy`, `zstd`, `zlib`, `deflate`, `lz4`. A
        compression type whose codec could not be determined is `type N`, with the candidates in parentheses
        if there are any. Empty: there is no data block whose type could be read, the table could not be
        opened, or the file is a bare filter block. None: no data block was looked at, because `depth` is
        `tail`.
        """
        return self["compression"]  # type: ignore[no-any-return]

    @property
    def metaindex(self) -> list[str]:
        """Names in the metaindex, in the order of the file. The name of a filter block is `filter.` followed by
        the name of its policy. Of more than 16 names, only the first 16 are listed, and a last element counts
        the other names.
        """
        return self["metaindex"]  # type: ignore[no-any-return]

    @property
    def key_format(self) -> Literal["internal", "user"] | None:
        """Part of a stored key that filters are made from. `internal`: the user key within an internal key, as
        databases write it. `user`: the whole key. None: the keys tried do not decide it, or no key was tried:
        there are no filters that deny keys, or no data block was decoded.
        """
        return self["key_format"]  # type: ignore[no-any-return]

    @property
    def origin(self) -> Literal["basho", "rocksdb"] | None:
        """Relative of LevelDB whose mark is in the metaindex. None: there is no mark; LevelDB itself leaves no
        mark.
        """
        return self["origin"]  # type: ignore[no-any-return]

    @property
    def dialect(self) -> Literal["unsigned", "signed", "either", "basho", "rocksdb"] | None:
        """Encoding of the filters where the policy's name leaves it open. Under `leveldb.BuiltinBloomFilter`,
        the hash with which all keys tried pass: `unsigned`, `signed`, or `either` if they pass with both. If
        that does not apply, the same as `origin`. None: `origin` is None, and no hash was tried or neither
        fits.
        """
        return self["dialect"]  # type: ignore[no-any-return]

    @property
    def comparator(self) -> str | None:
        """Comparator that the MANIFEST names. None: the MANIFEST names no comparator or cannot be relied on, or
        the table is in no database.
        """
        return self["comparator"]  # type: ignore[no-any-return]

    @property
    def level(self) -> int | None:
        """Level that the MANIFEST has the table on. None: the table is not live or in no database, or the
        MANIFEST cannot be relied on.
        """
        return self["level"]  # type: ignore[no-any-return]

    @property
    def live(self) -> bool | None:
        """True if the MANIFEST lists the table; false if the database does not use it any longer, or not yet.
        None: the table is in no database, or the MANIFEST cannot be relied on.
        """
        return self["live"]  # type: ignore[no-any-return]

    @property
    def recorded_size(self) -> int | None:
        """Size of the file that the MANIFEST records, in bytes. LevelDB looks for the footer where a file of
        that size ends. None: the table is not live or in no database, or the MANIFEST cannot be relied on.
        """
        return self["recorded_size"]  # type: ignore[no-any-return]

    @property
    def lost(self) -> InspectLostKeys | None:
        """The keys that cannot be read because of the fault in `error`. None: there is no fault, or the keys are
        not known.
        """
        return self["lost"]  # type: ignore[no-any-return]

    @property
    def filter_error(self) -> str | None:
        """Reason why the filters cannot be used: the metaindex or the filter block cannot be read, or the
        filters are in another encoding than their name implies. None: there is no such reason.
        """
        return self["filter_error"]  # type: ignore[no-any-return]

    @property
    def filter(self) -> InspectFilter | None:
        """The filter block. None: the table has no filter block of a known policy, or the filter block could not
        be read.
        """
        return self["filter"]  # type: ignore[no-any-return]

    @property
    def filter_cost(self) -> InspectFilterCost | None:
        """Estimated cost of a filter block for a table without a filter block. None: the table has, or may have,
        a filter block of any policy, or too little of the table was read for an estimate.
        """
        return self["filter_cost"]  # type: ignore[no-any-return]

    @property
    def depth(self) -> Literal["tail", "sample", "all"] | None:
        """Parts of a table that are read. `tail`: index, metaindex and filters, so that nothing is known of the
        entries. `sample`: also some data blocks, from which numbers are estimated. `all`: every part that the
        command asks for; `inspect` decodes every data block. None: the file or object could not be opened,
        the file is a bare filter block, or the path is that of a file and the command is not `inspect`.
        """
        return self["depth"]  # type: ignore[no-any-return]

    @property
    def e_tag(self) -> str | None:
        """The store's tag for the version of the object that was read. None: the store gave no tag, or the path
        is that of a file.
        """
        return self["e_tag"]  # type: ignore[no-any-return]

    @property
    def requests(self) -> int | None:
        """Number of requests made for the object, not counting retries after a failure. None: the path is that
        of a file, or the object could not be requested.
        """
        return self["requests"]  # type: ignore[no-any-return]

    @property
    def bytes_read(self) -> int | None:
        """Number of bytes of the object that were received. None: the path is that of a file, or the object
        could not be requested.
        """
        return self["bytes_read"]  # type: ignore[no-any-return]


class InspectFolder(Report):
    """A line of what `inspect` finds."""

    __slots__ = ()

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["folder"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def database(self) -> bool:
        """True if the folder has a MANIFEST, or a file that implies one: CURRENT, or a log that is neither empty
        nor a link.
        """
        return self["database"]  # type: ignore[no-any-return]

    @property
    def comparator(self) -> str | None:
        """Comparator that the MANIFEST names. None: there is no MANIFEST that can be relied on, or it names no
        comparator.
        """
        return self["comparator"]  # type: ignore[no-any-return]

    @property
    def error(self) -> str | None:
        """Reason why the MANIFEST cannot be relied on, so that all tables are taken to be live. None: it can be
        relied on, or there is no database.
        """
        return self["error"]  # type: ignore[no-any-return]

    @property
    def tables(self) -> int:
        """Number of table files in the folder."""
        return self["tables"]  # type: ignore[no-any-return]

    @property
    def logs(self) -> list[str]:
        """Paths of the logs whose writes may be in no table yet. No filter covers such writes."""
        return self["logs"]  # type: ignore[no-any-return]


class InspectLevel(Report):
    """A part of what `inspect` finds."""

    __slots__ = ()
    _parts = {"entries": EntryCount, "distinct_keys": DistinctKeys, "random_fpr": InspectMeasuredRate}

    @property
    def level(self) -> int | None:
        """The level. None: the tables that are not live."""
        return self["level"]  # type: ignore[no-any-return]

    @property
    def tables(self) -> int:
        """Number of table files."""
        return self["tables"]  # type: ignore[no-any-return]

    @property
    def unfiltered(self) -> int:
        """Number of tables that were opened and have no filter block of a known policy that could be read."""
        return self["unfiltered"]  # type: ignore[no-any-return]

    @property
    def file_size(self) -> int:
        """Bytes of all files whose `file_size` is known."""
        return self["file_size"]  # type: ignore[no-any-return]

    @property
    def entries(self) -> EntryCount | None:
        """Number of entries of the tables for which it is known. It is not exact if it is not known for some
        table. None: it is known for no table.
        """
        return self["entries"]  # type: ignore[no-any-return]

    @property
    def distinct_keys(self) -> DistinctKeys | None:
        """Different keys of the tables. On level 1 and higher, two tables of a level have at most one key in
        common, which is at their ends, so the numbers of the tables add up except for these keys. None: there
        are no tables, or the number of keys of some table is not known.
        """
        return self["distinct_keys"]  # type: ignore[no-any-return]

    @property
    def filter_size(self) -> int:
        """Bytes of all filter blocks that are of a known policy and could be read."""
        return self["filter_size"]  # type: ignore[no-any-return]

    @property
    def estimated_fpr(self) -> float | None:
        """Mean of `estimated_fpr` of the tables, each weighted by the share of absent keys whose lookups reach
        it or, if the order of keys is not known, by its entries. A table without filters counts as 1.
        Obsolete tables are weighted by their entries. None: no table has a known rate.
        """
        return self["estimated_fpr"]  # type: ignore[no-any-return]

    @property
    def random_fpr(self) -> InspectMeasuredRate | None:
        """Mean of `random_fpr` of the tables, weighted as for `estimated_fpr`. None: no table has a known rate.
        """
        return self["random_fpr"]  # type: ignore[no-any-return]


class InspectTotals(Report):
    """A line of what `inspect` finds."""

    __slots__ = ()
    _parts = {"entries": EntryCount, "distinct_keys": DistinctKeys, "random_fpr": InspectMeasuredRate, "levels": InspectLevel}

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["totals"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def tables(self) -> int:
        """Number of table files."""
        return self["tables"]  # type: ignore[no-any-return]

    @property
    def missing(self) -> int:
        """Number of live tables that have no file. No other number includes them."""
        return self["missing"]  # type: ignore[no-any-return]

    @property
    def damaged(self) -> int:
        """Number of tables in which damage was found, without those in `unreadable`."""
        return self["damaged"]  # type: ignore[no-any-return]

    @property
    def not_live(self) -> int:
        """Number of files that are not complete tables and that the database does not use: they are being
        written, or were left behind.
        """
        return self["not_live"]  # type: ignore[no-any-return]

    @property
    def unreadable(self) -> int:
        """Number of tables that could not be read, or not completely."""
        return self["unreadable"]  # type: ignore[no-any-return]

    @property
    def unfiltered(self) -> int:
        """Number of tables that were opened and have no filter block of a known policy that could be read."""
        return self["unfiltered"]  # type: ignore[no-any-return]

    @property
    def file_size(self) -> int:
        """Bytes of all files whose `file_size` is known."""
        return self["file_size"]  # type: ignore[no-any-return]

    @property
    def data_blocks(self) -> int:
        """Number of data blocks of the tables that could be opened."""
        return self["data_blocks"]  # type: ignore[no-any-return]

    @property
    def entries(self) -> EntryCount | None:
        """Number of entries of the tables for which it is known, including obsolete tables. It is not exact if
        it is not known for some table. None: it is known for no table.
        """
        return self["entries"]  # type: ignore[no-any-return]

    @property
    def distinct_keys(self) -> DistinctKeys | None:
        """Different keys of all tables: a key that several tables hold counts once. Tables with at most 65 data
        blocks, all of which were read, are compared key by key; with other tables, the number is estimated,
        or only its bounds are known. None: there are no tables, or the number of keys of some table is not
        known.
        """
        return self["distinct_keys"]  # type: ignore[no-any-return]

    @property
    def filter_size(self) -> int:
        """Bytes of all filter blocks that are of a known policy and could be read."""
        return self["filter_size"]  # type: ignore[no-any-return]

    @property
    def filters(self) -> int:
        """Number of filters, empty ones included."""
        return self["filters"]  # type: ignore[no-any-return]

    @property
    def empty_filters(self) -> int:
        """Number of empty filters."""
        return self["empty_filters"]  # type: ignore[no-any-return]

    @property
    def bits(self) -> int:
        """Number of bits of all filters. Filters whose bits are not known count as 0."""
        return self["bits"]  # type: ignore[no-any-return]

    @property
    def bits_set(self) -> int:
        """Number of 1 bits in all filters."""
        return self["bits_set"]  # type: ignore[no-any-return]

    @property
    def estimated_fpr(self) -> float | None:
        """Mean of `estimated_fpr` of the tables, each weighted by the share of absent keys whose lookups reach
        it or, if the levels or the order of keys are not known, by its entries. A table without filters
        counts as 1, and obsolete tables do not count. None: no table that counts has a known rate.
        """
        return self["estimated_fpr"]  # type: ignore[no-any-return]

    @property
    def random_fpr(self) -> InspectMeasuredRate | None:
        """Mean of `random_fpr` of the tables, weighted as for `estimated_fpr`. None: no table that counts has a
        known rate.
        """
        return self["random_fpr"]  # type: ignore[no-any-return]

    @property
    def levels(self) -> list[InspectLevel]:
        """Sums by level, starting with level 0; tables that are not live come last. Empty: there are no tables,
        or there is no MANIFEST that can be relied on.
        """
        return self["levels"]  # type: ignore[no-any-return]


class InspectOther(Report):
    """A line of what `inspect` finds."""

    __slots__ = ()

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["log", "manifest"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def status(self) -> Literal["ok", "error", "not-live"]:
        """`ok`: nothing wrong was found; `error`: the file is damaged, or cannot be read."""
        return self["status"]  # type: ignore[no-any-return]

    @property
    def error(self) -> str | None:
        """The first fault. None: no fault was found."""
        return self["error"]  # type: ignore[no-any-return]

    @property
    def file_size(self) -> int | None:
        """Size of the file in bytes."""
        return self["file_size"]  # type: ignore[no-any-return]

    @property
    def writes(self) -> int | None:
        """Number of writes in a log that can be read. None: the file is a MANIFEST."""
        return self["writes"]  # type: ignore[no-any-return]

    @property
    def batches(self) -> int | None:
        """Number of batches that these writes are in. None: the file is a MANIFEST."""
        return self["batches"]  # type: ignore[no-any-return]


class InspectUnreadable(Report):
    """A line of what `inspect` finds."""

    __slots__ = ()

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["unreadable"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def status(self) -> Literal["error"]:
        """Always `error`."""
        return self["status"]  # type: ignore[no-any-return]

    @property
    def error(self) -> str:
        """Reason why the path cannot be looked at."""
        return self["error"]  # type: ignore[no-any-return]


class VerifyNeighbourRate(Report):
    """A part of what `verify` finds."""

    __slots__ = ()

    @property
    def rate(self) -> float:
        """Share of the keys that passed, 0 to 1. A filter is weighted by the share of absent keys that the index
        sends to it.
        """
        return self["rate"]  # type: ignore[no-any-return]

    @property
    def low(self) -> float:
        """Lower end of the rate's 95 % interval, by Wilson's score."""
        return self["low"]  # type: ignore[no-any-return]

    @property
    def high(self) -> float:
        """Upper end of the rate's 95 % interval. If no key passed, the rate is below this."""
        return self["high"]  # type: ignore[no-any-return]

    @property
    def asked(self) -> int:
        """Number of keys that were asked for. 0: no table has filters, so that all pass."""
        return self["asked"]  # type: ignore[no-any-return]


class VerifyLost(Report):
    """A part of what `verify` finds."""

    __slots__ = ()

    @property
    def from_(self) -> str | None:
        """The first key of the range, according to the MANIFEST. None: not known."""
        return self["from"]  # type: ignore[no-any-return]

    @property
    def after(self) -> str | None:
        """A key of the index that comes before the whole range. None: not known."""
        return self["after"]  # type: ignore[no-any-return]

    @property
    def up_to(self) -> str | None:
        """The last key of the range, or a key after it and before the next block. None: not known."""
        return self["up_to"]  # type: ignore[no-any-return]


class Finding(Report):
    """A part of what `verify` finds."""

    __slots__ = ()
    _parts = {"lost": VerifyLost}

    @property
    def code(self) -> Literal["unreadable", "unsupported", "encrypted", "other-format", "limit", "not-a-table", "bad-handle", "checksum", "bad-compression", "bad-block", "repeated-block", "overlapping-blocks", "index-order", "key-order", "short-key", "filter-unusable", "filter-malformed", "filter-denies-key", "manifest", "log-missing", "table-missing", "table-size", "table-range", "table-overlap", "log-damaged", "newer-below", "more"]:
        """Kind of finding. [findings.md](findings.md) gives the meaning, the risk and the remedy of each kind.
        """
        return self["code"]  # type: ignore[no-any-return]

    @property
    def offset(self) -> int | None:
        """Offset in the file, in bytes. None: the finding concerns the file as a whole."""
        return self["offset"]  # type: ignore[no-any-return]

    @property
    def expected(self) -> str:
        """Description of what was expected."""
        return self["expected"]  # type: ignore[no-any-return]

    @property
    def found(self) -> str:
        """Description of what was found instead."""
        return self["found"]  # type: ignore[no-any-return]

    @property
    def lost(self) -> VerifyLost | None:
        """The keys that cannot be read because of the finding. None: there are no such keys, or they are not
        known.
        """
        return self["lost"]  # type: ignore[no-any-return]


class Verdict(Report):
    """A line of what `verify` finds."""

    __slots__ = ()
    _parts = {"measured_fpr": VerifyNeighbourRate, "findings": Finding}

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["table", "folder", "log", "manifest", "unreadable"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def status(self) -> Literal["sound", "not-live", "findings", "unreadable"]:
        """`sound`: nothing wrong was found. `not-live`: the file is in a database's folder, the database does
        not use it, and it is not a complete table: it is being written, or was left behind. `findings`: there
        are findings. `unreadable`: a part could not be looked at, whatever else was found.
        """
        return self["status"]  # type: ignore[no-any-return]

    @property
    def entries(self) -> int:
        """Number of entries that were decoded, including deletions and older versions of keys."""
        return self["entries"]  # type: ignore[no-any-return]

    @property
    def distinct_keys(self) -> int:
        """Number of different keys among the entries: an entry that is a further version of the key before it
        does not count.
        """
        return self["distinct_keys"]  # type: ignore[no-any-return]

    @property
    def writes(self) -> int | None:
        """Number of writes in a log that can be read. None: the subject is no log."""
        return self["writes"]  # type: ignore[no-any-return]

    @property
    def batches(self) -> int | None:
        """Number of batches that these writes are in. None: the subject is no log."""
        return self["batches"]  # type: ignore[no-any-return]

    @property
    def denied(self) -> int:
        """Number of stored keys that a filter denies."""
        return self["denied"]  # type: ignore[no-any-return]

    @property
    def measured_fpr(self) -> VerifyNeighbourRate | None:
        """Measured share of neighbours that pass. Neighbours are keys that are not stored, made from stored ones
        by changing one byte or appending six. None: no filter was asked.
        """
        return self["measured_fpr"]  # type: ignore[no-any-return]

    @property
    def estimated_fpr(self) -> float | None:
        """Share of absent keys expected to pass, 0 to 1, judging by the bits that are set. None: no filter was
        asked.
        """
        return self["estimated_fpr"]  # type: ignore[no-any-return]

    @property
    def findings(self) -> list[Finding]:
        """The findings. The first 16 of each code are listed. If there are further findings, a last finding, of
        the code `more`, gives their number for each code.
        """
        return self["findings"]  # type: ignore[no-any-return]

    @property
    def depth(self) -> Literal["all"] | None:
        """Parts of a table that are read. `tail`: index, metaindex and filters, so that nothing is known of the
        entries. `sample`: also some data blocks, from which numbers are estimated. `all`: every part that the
        command asks for; `inspect` decodes every data block. None: the file or object could not be opened,
        the file is a bare filter block, or the path is that of a file and the command is not `inspect`.
        """
        return self["depth"]  # type: ignore[no-any-return]

    @property
    def e_tag(self) -> str | None:
        """The store's tag for the version of the object that was read. None: the store gave no tag, or the path
        is that of a file.
        """
        return self["e_tag"]  # type: ignore[no-any-return]

    @property
    def requests(self) -> int | None:
        """Number of requests made for the object, not counting retries after a failure. None: the path is that
        of a file, or the object could not be requested.
        """
        return self["requests"]  # type: ignore[no-any-return]

    @property
    def bytes_read(self) -> int | None:
        """Number of bytes of the object that were received. None: the path is that of a file, or the object
        could not be requested.
        """
        return self["bytes_read"]  # type: ignore[no-any-return]


class TuneEstimate(Report):
    """A part of what `tune` finds."""

    __slots__ = ()

    @property
    def value(self) -> float:
        """The number. It may have a fraction even if it counts things."""
        return self["value"]  # type: ignore[no-any-return]

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval. The same as `value` if the number is exact."""
        return self["low"]  # type: ignore[no-any-return]

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval. The same as `value` if the number is exact."""
        return self["high"]  # type: ignore[no-any-return]


class TunePassingRate(Report):
    """A part of what `tune` finds."""

    __slots__ = ()

    @property
    def rate(self) -> float:
        """Share of the keys that passed, 0 to 1, of those that come to a filter. Tables without filters let all
        pass.
        """
        return self["rate"]  # type: ignore[no-any-return]

    @property
    def low(self) -> float:
        """Lower end of its 95 % interval."""
        return self["low"]  # type: ignore[no-any-return]

    @property
    def high(self) -> float:
        """Upper end of the rate's 95 % interval. If no key passed, the rate is below this."""
        return self["high"]  # type: ignore[no-any-return]

    @property
    def asked(self) -> int:
        """Number of keys that were asked for. 0: no table has filters, so that all pass."""
        return self["asked"]  # type: ignore[no-any-return]


class TuneNearRates(Report):
    """A part of what `tune` finds."""

    __slots__ = ()
    _parts = {"changed": TunePassingRate, "between": TunePassingRate, "cut": TunePassingRate, "longer": TunePassingRate}

    @property
    def changed(self) -> TunePassingRate | None:
        """Stored keys with a byte changed. None: no such key was asked for."""
        return self["changed"]  # type: ignore[no-any-return]

    @property
    def between(self) -> TunePassingRate | None:
        """Stored keys whose number is changed to a missing one. The number may be decimal, hexadecimal, big-
        endian or little-endian; in keys without a number, the last bytes are taken as the number. None: no
        such key was asked for, as when no number is missing.
        """
        return self["between"]  # type: ignore[no-any-return]

    @property
    def cut(self) -> TunePassingRate | None:
        """Stored keys without their last bytes. None: no such key was asked for."""
        return self["cut"]  # type: ignore[no-any-return]

    @property
    def longer(self) -> TunePassingRate | None:
        """Stored keys with some bytes appended. None: no such key was asked for."""
        return self["longer"]  # type: ignore[no-any-return]


class TuneRates(Report):
    """A part of what `tune` finds."""

    __slots__ = ()
    _parts = {"random": TunePassingRate, "neighbours": TunePassingRate, "near": TuneNearRates, "lookups": TunePassingRate}

    @property
    def formula(self) -> float | None:
        """Rate that the formula for Bloom filters gives for the filters' number of bits a key, 0 to 1. None: the
        bits differ by level, or the filters are those in use.
        """
        return self["formula"]  # type: ignore[no-any-return]

    @property
    def random(self) -> TunePassingRate | None:
        """Share of random keys that pass. Random keys do not resemble stored ones. None: no such key was asked
        for.
        """
        return self["random"]  # type: ignore[no-any-return]

    @property
    def neighbours(self) -> TunePassingRate | None:
        """Share of keys near stored ones that pass: the greatest share in `near` among the kinds of key that a
        program with such stored keys is likely to ask for. None: no such key was asked for.
        """
        return self["neighbours"]  # type: ignore[no-any-return]

    @property
    def near(self) -> TuneNearRates:
        """Shares of keys near stored ones that pass, by kind."""
        return self["near"]  # type: ignore[no-any-return]

    @property
    def lookups(self) -> TunePassingRate | None:
        """Share of the keys of `--lookups` that pass, out of those that reach a table that does not hold them.
        None: no such key was asked for.
        """
        return self["lookups"]  # type: ignore[no-any-return]


class TuneNearReads(Report):
    """A part of what `tune` finds."""

    __slots__ = ()
    _parts = {"changed": TuneEstimate, "between": TuneEstimate, "cut": TuneEstimate, "longer": TuneEstimate}

    @property
    def changed(self) -> TuneEstimate | None:
        """Stored keys with a byte changed. None: no such key was asked for."""
        return self["changed"]  # type: ignore[no-any-return]

    @property
    def between(self) -> TuneEstimate | None:
        """Stored keys whose number is changed to a missing one. The number may be decimal, hexadecimal, big-
        endian or little-endian; in keys without a number, the last bytes are taken as the number. None: no
        such key was asked for, as when no number is missing.
        """
        return self["between"]  # type: ignore[no-any-return]

    @property
    def cut(self) -> TuneEstimate | None:
        """Stored keys without their last bytes. None: no such key was asked for."""
        return self["cut"]  # type: ignore[no-any-return]

    @property
    def longer(self) -> TuneEstimate | None:
        """Stored keys with some bytes appended. None: no such key was asked for."""
        return self["longer"]  # type: ignore[no-any-return]


class TuneReads(Report):
    """A part of what `tune` finds."""

    __slots__ = ()
    _parts = {"random": TuneEstimate, "neighbours": TuneEstimate, "near": TuneNearReads, "lookups": TuneEstimate, "present": TuneEstimate}

    @property
    def random(self) -> TuneEstimate:
        """Mean number of data blocks read for absent keys that are distributed like the stored ones. 0 if no
        such key was asked for.
        """
        return self["random"]  # type: ignore[no-any-return]

    @property
    def neighbours(self) -> TuneEstimate:
        """Mean number of data blocks read for absent keys near stored ones: the greatest number in `near` among
        the kinds of key that a program with such stored keys is likely to ask for. 0 if no such key was asked
        for.
        """
        return self["neighbours"]  # type: ignore[no-any-return]

    @property
    def worst(self) -> Literal["changed", "between", "cut", "longer"] | None:
        """Kind of key that `neighbours` is for. None: random keys read more, or no key of the kinds that are
        likely was asked for.
        """
        return self["worst"]  # type: ignore[no-any-return]

    @property
    def near(self) -> TuneNearReads:
        """Mean numbers of data blocks read for absent keys near stored ones, by kind."""
        return self["near"]  # type: ignore[no-any-return]

    @property
    def lookups(self) -> TuneEstimate | None:
        """Mean number of data blocks read for those keys of `--lookups` that have no value: absent and deleted
        keys. None: there is no such key.
        """
        return self["lookups"]  # type: ignore[no-any-return]

    @property
    def present(self) -> TuneEstimate:
        """Mean number of data blocks read for those keys of `--lookups` that are stored or, without that option,
        for stored keys. 1 if no such key was looked up.
        """
        return self["present"]  # type: ignore[no-any-return]


class TuneLevelOutcome(Report):
    """A part of what `tune` finds."""

    __slots__ = ()
    _parts = {"size": TuneEstimate, "rates": TuneRates, "reads": TuneEstimate}

    @property
    def level(self) -> int | None:
        """The level. None: the table was given by itself."""
        return self["level"]  # type: ignore[no-any-return]

    @property
    def bits_per_key(self) -> int | None:
        """Number of filter bits for each key. None: not known, as for the filters in use."""
        return self["bits_per_key"]  # type: ignore[no-any-return]

    @property
    def size(self) -> TuneEstimate:
        """Bytes of the filter blocks of this level."""
        return self["size"]  # type: ignore[no-any-return]

    @property
    def rates(self) -> TuneRates:
        """Shares of absent keys that pass on this level."""
        return self["rates"]  # type: ignore[no-any-return]

    @property
    def reads(self) -> TuneEstimate | None:
        """Mean number of data blocks of this level that a lookup of an absent key reads. The key is one of
        `--lookups` or, if all keys of `--lookups` have values, of the kind that `worst` names, or random.
        None: the order of keys is not known, a table was given by itself, or no such key was asked for.
        """
        return self["reads"]  # type: ignore[no-any-return]


class TuneOutcome(Report):
    """A part of what `tune` finds."""

    __slots__ = ()
    _parts = {"size": TuneEstimate, "rates": TuneRates, "reads": TuneReads, "levels": TuneLevelOutcome}

    @property
    def size(self) -> TuneEstimate:
        """Bytes of all filter blocks."""
        return self["size"]  # type: ignore[no-any-return]

    @property
    def bytes_per_entry(self) -> float:
        """`size` divided by the number of entries, including deletions and older versions of keys. 0 without
        entries.
        """
        return self["bytes_per_entry"]  # type: ignore[no-any-return]

    @property
    def rates(self) -> TuneRates:
        """Shares of absent keys that pass."""
        return self["rates"]  # type: ignore[no-any-return]

    @property
    def reads(self) -> TuneReads | None:
        """Data blocks that lookups read. None: the order of keys is not known, or a table was given by itself.
        """
        return self["reads"]  # type: ignore[no-any-return]

    @property
    def levels(self) -> list[TuneLevelOutcome]:
        """Sizes, rates and block reads on each level of the tuning."""
        return self["levels"]  # type: ignore[no-any-return]


class TuneSetting(Report):
    """A line of what `tune` finds."""

    __slots__ = ()
    _parts = {"outcome": TuneOutcome}

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["setting"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def policy(self) -> str:
        """Name of the filter policy, without `filter.`"""
        return self["policy"]  # type: ignore[no-any-return]

    @property
    def base_lg(self) -> int:
        """A filter covers the data blocks that begin in a range of 2^base_lg bytes."""
        return self["base_lg"]  # type: ignore[no-any-return]

    @property
    def bits_per_key(self) -> int:
        """Number of filter bits for each key, the same on all levels."""
        return self["bits_per_key"]  # type: ignore[no-any-return]

    @property
    def in_use(self) -> bool:
        """True if this is the most frequent setting of the filters in use."""
        return self["in_use"]  # type: ignore[no-any-return]

    @property
    def outcome(self) -> TuneOutcome:
        """The effects of filters of this setting."""
        return self["outcome"]  # type: ignore[no-any-return]


class TuneSampledKeys(Report):
    """A part of what `tune` finds."""

    __slots__ = ()

    @property
    def count(self) -> int:
        """Number of different keys, an estimate unless `exact`."""
        return self["count"]  # type: ignore[no-any-return]

    @property
    def low(self) -> int:
        """Lower end of its 95 % interval."""
        return self["low"]  # type: ignore[no-any-return]

    @property
    def high(self) -> int:
        """Upper end of its 95 % interval."""
        return self["high"]  # type: ignore[no-any-return]

    @property
    def exact(self) -> bool:
        """True if all keys were counted. `low` and `high` are then the same as `count`."""
        return self["exact"]  # type: ignore[no-any-return]


class TuneSample(Report):
    """A part of what `tune` finds."""

    __slots__ = ()
    _parts = {"entries": TuneEstimate, "distinct_keys": TuneSampledKeys}

    @property
    def tables(self) -> int:
        """Number of tables whose every entry was decoded."""
        return self["tables"]  # type: ignore[no-any-return]

    @property
    def of_tables(self) -> int:
        """Number of tables that could be read."""
        return self["of_tables"]  # type: ignore[no-any-return]

    @property
    def bytes(self) -> int:
        """Bytes of the files of the tables whose every entry was decoded."""
        return self["bytes"]  # type: ignore[no-any-return]

    @property
    def of_bytes(self) -> int:
        """Bytes of the files of the tables that could be read."""
        return self["of_bytes"]  # type: ignore[no-any-return]

    @property
    def entries(self) -> TuneEstimate:
        """Entries of the tables that could be read, including deletions and older versions of keys. Filters are
        sized by these.
        """
        return self["entries"]  # type: ignore[no-any-return]

    @property
    def distinct_keys(self) -> TuneSampledKeys | None:
        """Different keys of the tables that could be read: a key that several tables hold counts once. None: not
        every entry of these tables was decoded.
        """
        return self["distinct_keys"]  # type: ignore[no-any-return]

    @property
    def all(self) -> bool:
        """True if every entry of the tables that could be read was decoded."""
        return self["all"]  # type: ignore[no-any-return]


class TuneVisits(Report):
    """A part of what `tune` finds."""

    __slots__ = ()

    @property
    def absent(self) -> float:
        """Mean number of tables that a lookup of a key without a value reaches in vain. The keys are those of
        `--lookups` or, without that option, of the kind that `worst` names in the reads of the filters in
        use.
        """
        return self["absent"]  # type: ignore[no-any-return]

    @property
    def present(self) -> float:
        """Mean number of tables that a lookup of a stored key reaches in vain before it finds the key."""
        return self["present"]  # type: ignore[no-any-return]


class TuneLevel(Report):
    """A part of what `tune` finds."""

    __slots__ = ()
    _parts = {"entries": TuneEstimate, "visits": TuneVisits}

    @property
    def level(self) -> int | None:
        """The level. None: the table was given by itself."""
        return self["level"]  # type: ignore[no-any-return]

    @property
    def tables(self) -> int:
        """Number of tables that could be read."""
        return self["tables"]  # type: ignore[no-any-return]

    @property
    def unfiltered(self) -> int:
        """Number of these tables without sound filters of the policy. Filters that deny a stored key are not
        sound.
        """
        return self["unfiltered"]  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """Bytes of the files of the tables."""
        return self["size"]  # type: ignore[no-any-return]

    @property
    def entries(self) -> TuneEstimate:
        """Number of entries of the tables."""
        return self["entries"]  # type: ignore[no-any-return]

    @property
    def visits(self) -> TuneVisits | None:
        """Tables of this level that a lookup reaches in vain. None: the order of keys is not known, or a table
        was given by itself.
        """
        return self["visits"]  # type: ignore[no-any-return]


class TuneBudget(Report):
    """A part of what `tune` finds."""

    __slots__ = ()

    @property
    def bytes(self) -> int:
        """The maximum size of all filter blocks together, in bytes."""
        return self["bytes"]  # type: ignore[no-any-return]

    @property
    def origin(self) -> Literal["given", "in-use", "ten-bits"]:
        """`given`: the budget is from `--budget`. `in-use`: it is the size of the filters in use. `ten-bits`: it
        is the size of filters with 10 bits a key, because some tables have no sound filters of the policy.
        """
        return self["origin"]  # type: ignore[no-any-return]


class TuneLevelBits(Report):
    """A part of what `tune` finds."""

    __slots__ = ()

    @property
    def level(self) -> int | None:
        """The level. None: the table was given by itself."""
        return self["level"]  # type: ignore[no-any-return]

    @property
    def bits_per_key(self) -> int:
        """Number of filter bits for each key."""
        return self["bits_per_key"]  # type: ignore[no-any-return]


class TuneChoice(Report):
    """A part of what `tune` finds."""

    __slots__ = ()
    _parts = {"bits_per_key": TuneLevelBits, "outcome": TuneOutcome}

    @property
    def policy(self) -> str:
        """Name of the filter policy, without `filter.`"""
        return self["policy"]  # type: ignore[no-any-return]

    @property
    def base_lg(self) -> int:
        """A filter covers the data blocks that begin in a range of 2^base_lg bytes."""
        return self["base_lg"]  # type: ignore[no-any-return]

    @property
    def bits_per_key(self) -> list[TuneLevelBits]:
        """Number of filter bits for each key, by level."""
        return self["bits_per_key"]  # type: ignore[no-any-return]

    @property
    def outcome(self) -> TuneOutcome:
        """The effects of these filters."""
        return self["outcome"]  # type: ignore[no-any-return]


class TuneAdvice(Report):
    """A part of what `tune` finds."""

    __slots__ = ()
    _parts = {"choice": TuneChoice}

    @property
    def action(self) -> Literal["leave", "rebuild", "none"]:
        """`leave`: the filters do well as they are. `rebuild`: other filters would do better, or filters deny
        stored keys, so that new ones are needed. `none`: there is nothing to advise on.
        """
        return self["action"]  # type: ignore[no-any-return]

    @property
    def text(self) -> str:
        """The advice as a sentence, with its reason or its savings."""
        return self["text"]  # type: ignore[no-any-return]

    @property
    def choice(self) -> TuneChoice | None:
        """The filters that are advised. None: `action` is not `rebuild`, or filters deny stored keys and are to
        be made anew.
        """
        return self["choice"]  # type: ignore[no-any-return]

    @property
    def arguments(self) -> list[str] | None:
        """Arguments to append to `filterblock rebuild DB --in-place` (on Windows, to `filterblock rebuild DB
        --to NEW`). None: `action` is not `rebuild`, or a rebuild has to be told more than is known, which
        `text` names.
        """
        return self["arguments"]  # type: ignore[no-any-return]


class TuneLookups(Report):
    """A part of what `tune` finds."""

    __slots__ = ()

    @property
    def given(self) -> int:
        """Number of keys in the file of `--lookups`."""
        return self["given"]  # type: ignore[no-any-return]

    @property
    def used(self) -> int:
        """Number of keys of the file that were looked up."""
        return self["used"]  # type: ignore[no-any-return]

    @property
    def present(self) -> int:
        """Number of keys that were looked up and are stored."""
        return self["present"]  # type: ignore[no-any-return]


class TuneMemory(Report):
    """A part of what `tune` finds."""

    __slots__ = ()

    @property
    def mapped_tables(self) -> int:
        """Number of tables whose files LevelDB maps, so that their filters are in the page cache."""
        return self["mapped_tables"]  # type: ignore[no-any-return]

    @property
    def heap_tables(self) -> int:
        """Number of tables whose filters LevelDB holds on the heap."""
        return self["heap_tables"]  # type: ignore[no-any-return]

    @property
    def heap_bytes(self) -> int:
        """Number of bytes of the filter blocks on the heap, on the assumption that LevelDB opens tables in the
        order of their levels, and those of one level in the order of their numbers.
        """
        return self["heap_bytes"]  # type: ignore[no-any-return]


class TuneLeftOut(Report):
    """A part of what `tune` finds."""

    __slots__ = ()

    @property
    def path(self) -> str:
        """Path of the table."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def error(self) -> str:
        """Reason why the table could not be read, or the number of stored keys that its filters deny."""
        return self["error"]  # type: ignore[no-any-return]


class Tuning(Report):
    """A line of what `tune` finds."""

    __slots__ = ()
    _parts = {"sample": TuneSample, "levels": TuneLevel, "now": TuneOutcome, "budget": TuneBudget, "uniform": TuneChoice, "by_level": TuneChoice, "advice": TuneAdvice, "lookups": TuneLookups, "memory": TuneMemory, "faults": TuneLeftOut}

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["tuning"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def status(self) -> Literal["ok", "error"]:
        """`ok`, or `error` if there are no results. With `error`, all fields after the field `error` are None.
        """
        return self["status"]  # type: ignore[no-any-return]

    @property
    def error(self) -> str | None:
        """Reason why there are no results. None: `status` is `ok`."""
        return self["error"]  # type: ignore[no-any-return]

    @property
    def policy(self) -> str | None:
        """Name of the policy of the filters in use, or of the one given by `--policy`, without `filter.`"""
        return self["policy"]  # type: ignore[no-any-return]

    @property
    def policy_assumed(self) -> bool | None:
        """True if `--policy` was not given and no table has a sound filter block of a policy that this program
        can make. `policy` is then goleveldb's, if goleveldb opened the database last, or else LevelDB's own.
        """
        return self["policy_assumed"]  # type: ignore[no-any-return]

    @property
    def sample(self) -> TuneSample | None:
        """The amount of data that was looked at."""
        return self["sample"]  # type: ignore[no-any-return]

    @property
    def levels(self) -> list[TuneLevel] | None:
        """The levels that have tables that could be read, from the top. A table that was given by itself is on a
        level without a number.
        """
        return self["levels"]  # type: ignore[no-any-return]

    @property
    def now(self) -> TuneOutcome | None:
        """The effects of the filters in use."""
        return self["now"]  # type: ignore[no-any-return]

    @property
    def budget(self) -> TuneBudget | None:
        """The limit on the size of the filters."""
        return self["budget"]  # type: ignore[no-any-return]

    @property
    def uniform(self) -> TuneChoice | None:
        """Of the filters with the same bits a key on all levels, the best within the budget. None: no setting
        fits the budget, or `status` is `error`.
        """
        return self["uniform"]  # type: ignore[no-any-return]

    @property
    def by_level(self) -> TuneChoice | None:
        """Of the filters whose bits a key may differ by level, the best within the budget. Level 0 keeps the
        bits a key that are most in use, or 10 if these are not known, because the program writes level 0 anew
        with its own filters. With these filters, lookups may read more than with those of `uniform` if the
        budget is large. None: there are fewer than two levels, the order of keys is not known, no setting
        fits the budget, or `status` is `error`.
        """
        return self["by_level"]  # type: ignore[no-any-return]

    @property
    def advice(self) -> TuneAdvice | None:
        """The advice."""
        return self["advice"]  # type: ignore[no-any-return]

    @property
    def lookups(self) -> TuneLookups | None:
        """The keys of `--lookups`. None: no keys were given, or `status` is `error`."""
        return self["lookups"]  # type: ignore[no-any-return]

    @property
    def memory(self) -> TuneMemory | None:
        """The memory that the filters take in LevelDB. goleveldb holds all filters in its block cache."""
        return self["memory"]  # type: ignore[no-any-return]

    @property
    def faults(self) -> list[TuneLeftOut] | None:
        """Tables that could not be read completely, which the other results leave out, though `memory` may count
        them; then tables whose filters deny stored keys, which count as tables without filters.
        """
        return self["faults"]  # type: ignore[no-any-return]


class RebuildFilters(Report):
    """A part of what `rebuild` finds."""

    __slots__ = ()

    @property
    def policy(self) -> str:
        """Name of the filter policy, without `filter.`"""
        return self["policy"]  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """Size of the filter block in bytes."""
        return self["size"]  # type: ignore[no-any-return]

    @property
    def base_lg(self) -> int | None:
        """A filter covers the data blocks that begin in a range of 2^base_lg bytes. None: the filter block is
        malformed, or of no known policy.
        """
        return self["base_lg"]  # type: ignore[no-any-return]

    @property
    def bits_per_key(self) -> int | None:
        """Bits a key that the filters were made with. None: not known, as for every filter from before the
        rebuild.
        """
        return self["bits_per_key"]  # type: ignore[no-any-return]


class RebuildTable(Report):
    """A line of what `rebuild` finds."""

    __slots__ = ()
    _parts = {"old_filter": RebuildFilters, "new_filter": RebuildFilters}

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["table"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def status(self) -> Literal["rebuilt", "kept"]:
        """`rebuilt`: the table was rewritten or, with `--dry-run`, would be. `kept`: it was left as it is,
        because of `--keep-undecodable`.
        """
        return self["status"]  # type: ignore[no-any-return]

    @property
    def error(self) -> str | None:
        """Reason why the table was left as it is. None: it was rebuilt."""
        return self["error"]  # type: ignore[no-any-return]

    @property
    def level(self) -> int:
        """Level that the MANIFEST has the table on."""
        return self["level"]  # type: ignore[no-any-return]

    @property
    def new_name(self) -> str:
        """Name of the new file, in the same folder with `--in-place` and in `target` with `--to`. `path` is the
        old file, which is gone after `--in-place`.
        """
        return self["new_name"]  # type: ignore[no-any-return]

    @property
    def entries(self) -> int | None:
        """Number of entries. None: the filters were dropped, so that no entry was decoded, or the table was left
        as it is.
        """
        return self["entries"]  # type: ignore[no-any-return]

    @property
    def old_size(self) -> int:
        """Size of the old file in bytes."""
        return self["old_size"]  # type: ignore[no-any-return]

    @property
    def new_size(self) -> int:
        """Size of the new file in bytes."""
        return self["new_size"]  # type: ignore[no-any-return]

    @property
    def old_filter(self) -> RebuildFilters | None:
        """The filter block before the rebuild. None: the table had no filter block, or could not be opened."""
        return self["old_filter"]  # type: ignore[no-any-return]

    @property
    def new_filter(self) -> RebuildFilters | None:
        """The filter block after the rebuild. None: the table has no filter block, or it was left as it is and
        could not be opened.
        """
        return self["new_filter"]  # type: ignore[no-any-return]


class RebuildDatabase(Report):
    """A line of what `rebuild` finds."""

    __slots__ = ()

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["database"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def status(self) -> Literal["rebuilt", "dry-run", "undone", "discarded", "finished", "refused", "in-use", "interrupted", "failed"]:
        """`rebuilt`, `dry-run`, `undone` and `discarded`: the run did just that. `finished`: it only completed
        an earlier run that had been cut off. `refused`: the request or the state of the files does not allow
        it. `in-use`: another program has the database open. `interrupted`: a signal ended the run. `failed`:
        any other error.
        """
        return self["status"]  # type: ignore[no-any-return]

    @property
    def error(self) -> str | None:
        """Reason why the run did not succeed. If the run had begun to change the database, also the state that
        the database is in. None: the run succeeded.
        """
        return self["error"]  # type: ignore[no-any-return]

    @property
    def tables(self) -> int:
        """Number of tables. 0 unless `status` is `rebuilt` or `dry-run`."""
        return self["tables"]  # type: ignore[no-any-return]

    @property
    def kept(self) -> int:
        """Number of tables that were left as they are. 0 if `tables` is 0."""
        return self["kept"]  # type: ignore[no-any-return]

    @property
    def old_size(self) -> int:
        """Bytes of all tables before the rebuild. 0 if `tables` is 0."""
        return self["old_size"]  # type: ignore[no-any-return]

    @property
    def new_size(self) -> int:
        """Bytes of all tables after the rebuild. 0 if `tables` is 0."""
        return self["new_size"]  # type: ignore[no-any-return]

    @property
    def old_filter_size(self) -> int:
        """Bytes of all filter blocks before the rebuild. 0 if `tables` is 0."""
        return self["old_filter_size"]  # type: ignore[no-any-return]

    @property
    def new_filter_size(self) -> int:
        """Bytes of all filter blocks after the rebuild. 0 if `tables` is 0."""
        return self["new_filter_size"]  # type: ignore[no-any-return]

    @property
    def policy(self) -> str | None:
        """Name of the policy of the new filters. None: filters were dropped, or no filters were made."""
        return self["policy"]  # type: ignore[no-any-return]

    @property
    def manifest(self) -> str | None:
        """Name of the MANIFEST that CURRENT names now, with `--to` in the new database. None: this run committed
        nothing, or did not succeed.
        """
        return self["manifest"]  # type: ignore[no-any-return]

    @property
    def verified(self) -> bool:
        """True if every block, entry and filter of the rewritten tables was verified."""
        return self["verified"]  # type: ignore[no-any-return]

    @property
    def target(self) -> str | None:
        """Folder of the new database, with `--to`. None: no new database was made, or the run did not succeed.
        """
        return self["target"]  # type: ignore[no-any-return]

    @property
    def undo(self) -> str | None:
        """Folder that keeps the tables from before the rebuild until `--undo` or `--discard`. None: there is no
        such folder, or the run did not rebuild a database in place.
        """
        return self["undo"]  # type: ignore[no-any-return]


class RepairFile(Report):
    """A line of what `repair` finds."""

    __slots__ = ()

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["file"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def kind(self) -> Literal["table", "log", "manifest"]:
        """`table`, `log` or `manifest`."""
        return self["kind"]  # type: ignore[no-any-return]

    @property
    def standing(self) -> Literal["live", "obsolete", "partly-obsolete", "missing", "trusted", "distrusted"]:
        """`live`: the file's entries count. `obsolete`: they count only where entries of live files are lost.
        `partly-obsolete`: this is so only for those entries of the file from which other tables were made.
        `trusted`: a MANIFEST that is relied on. `distrusted`: a MANIFEST that is not relied on. `missing`: a
        live table that does not exist, any table that cannot be read, or a table's or log's name without a
        file behind it, unless the MANIFEST that is relied on shows that the file was obsolete.
        """
        return self["standing"]  # type: ignore[no-any-return]

    @property
    def level(self) -> int | None:
        """Level that a MANIFEST has the table on. None: no MANIFEST has it, or the file is not a table."""
        return self["level"]  # type: ignore[no-any-return]

    @property
    def size(self) -> int | None:
        """Size of the file in bytes. None: there is no such file."""
        return self["size"]  # type: ignore[no-any-return]

    @property
    def entries(self) -> int:
        """Number of entries read from a table, of operations read from a log, or of records of a MANIFEST."""
        return self["entries"]  # type: ignore[no-any-return]

    @property
    def first_key(self) -> str | None:
        """First user key of a table's sound blocks, in hexadecimal. None: the table has no sound blocks, or the
        file is not a table.
        """
        return self["first_key"]  # type: ignore[no-any-return]

    @property
    def last_key(self) -> str | None:
        """Last user key of a table's sound blocks, in hexadecimal. None: the table has no sound blocks, or the
        file is not a table.
        """
        return self["last_key"]  # type: ignore[no-any-return]

    @property
    def corrected(self) -> list[int]:
        """Offsets of the bytes in each of which one wrong bit was corrected."""
        return self["corrected"]  # type: ignore[no-any-return]

    @property
    def damaged(self) -> list[int]:
        """Offsets of the places in a log that are damaged or torn; only the first 1,000 are listed. If sequence
        numbers are missing at such a place, operations are lost.
        """
        return self["damaged"]  # type: ignore[no-any-return]

    @property
    def losses(self) -> int:
        """Number of lost ranges of a table. For a log, number of damaged places, of which at most 1,000 are
        counted. For a MANIFEST, 1 if it is damaged or contradicts the other files, and otherwise 0.
        """
        return self["losses"]  # type: ignore[no-any-return]

    @property
    def remark(self) -> str | None:
        """The file that a copy of another name is taken for; the reason why the blocks of a table were searched
        for without its footer, why a table may have had entries though the MANIFEST does not list it, why the
        file cannot be read, or why a MANIFEST is not trusted; that the keys of a table are out of order, or
        overlap those of another on its level. None: there is nothing of this kind to explain.
        """
        return self["remark"]  # type: ignore[no-any-return]


class RepairLoss(Report):
    """A line of what `repair` finds."""

    __slots__ = ()

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["loss"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def kind(self) -> Literal["table", "log"]:
        """Kind of the file, `table` or `log`."""
        return self["kind"]  # type: ignore[no-any-return]

    @property
    def first_key(self) -> str | None:
        """First user key that may be affected, in hexadecimal. None: the range has no lower bound."""
        return self["first_key"]  # type: ignore[no-any-return]

    @property
    def last_key(self) -> str | None:
        """Last user key that may be affected, in hexadecimal. None: the range has no upper bound."""
        return self["last_key"]  # type: ignore[no-any-return]

    @property
    def offset(self) -> int | None:
        """Offset in the file at which the loss begins. None: it is not known."""
        return self["offset"]  # type: ignore[no-any-return]

    @property
    def bytes(self) -> int | None:
        """Number of bytes that are lost. None: it is not known."""
        return self["bytes"]  # type: ignore[no-any-return]

    @property
    def operations(self) -> int | None:
        """Number of operations of a log that are lost. None: it is not known, or the file is a table."""
        return self["operations"]  # type: ignore[no-any-return]

    @property
    def last_sequence_before(self) -> int | None:
        """Last sequence number known before the loss, if the loss is in a log. None: there is no such number, or
        the file is a table.
        """
        return self["last_sequence_before"]  # type: ignore[no-any-return]

    @property
    def first_sequence_after(self) -> int | None:
        """First sequence number that was read after the loss, if the loss is in a log. None: there is no such
        number, or the file is a table.
        """
        return self["first_sequence_after"]  # type: ignore[no-any-return]

    @property
    def doubtful(self) -> int:
        """Number of keys of which a newer version may be lost in this range."""
        return self["doubtful"]  # type: ignore[no-any-return]

    @property
    def filled(self) -> int:
        """Number of keys in `doubtful` whose newest version is from an obsolete file."""
        return self["filled"]  # type: ignore[no-any-return]

    @property
    def denied(self) -> int:
        """Number of keys in this range for which sound filters rule out a lost version."""
        return self["denied"]  # type: ignore[no-any-return]

    @property
    def why(self) -> str:
        """Reason for the loss."""
        return self["why"]  # type: ignore[no-any-return]


class RepairKey(Report):
    """A line of what `repair` finds."""

    __slots__ = ()

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["key"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def key(self) -> str:
        """The user key in hexadecimal."""
        return self["key"]  # type: ignore[no-any-return]

    @property
    def sequence(self) -> int:
        """Sequence number of the newest version that may be valid."""
        return self["sequence"]  # type: ignore[no-any-return]

    @property
    def is_deletion(self) -> bool:
        """True if the newest version that may be valid is a deletion."""
        return self["is_deletion"]  # type: ignore[no-any-return]

    @property
    def is_obsolete(self) -> bool:
        """True if the newest version that may be valid is from an obsolete file."""
        return self["is_obsolete"]  # type: ignore[no-any-return]

    @property
    def is_kept(self) -> bool:
        """True with `--prefer newest`: if the version is a value, it goes into the new database, and a deleted
        key stays deleted.
        """
        return self["is_kept"]  # type: ignore[no-any-return]


class RepairDatabase(Report):
    """A line of what `repair` finds."""

    __slots__ = ()

    @property
    def schema_version(self) -> int:
        """Version of this format, raised when a field changes its meaning or is removed."""
        return self["schema_version"]  # type: ignore[no-any-return]

    @property
    def object(self) -> Literal["database"]:
        """Kind of object, which decides its other fields."""
        return self["object"]  # type: ignore[no-any-return]

    @property
    def input(self) -> str:
        """Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
        the path of the list. Every input has at least one object.
        """
        return self["input"]  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """Path that the object is about: the input, or a path found in or below it."""
        return self["path"]  # type: ignore[no-any-return]

    @property
    def path_bytes(self) -> str | None:
        """Bytes of `path` in lowercase hexadecimal. None: `path` is UTF-8."""
        return self["path_bytes"]  # type: ignore[no-any-return]

    @property
    def error_kind(self) -> Literal["damaged", "unreadable", "vanished", "changed", "missing", "denied", "unsupported"] | None:
        """Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
        not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
        replaced while it was being read, or since it was listed. `denied`: the system does not permit access
        to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
        could not be read or written, for a reason that no other kind names. None: there is no fault.
        """
        return self["error_kind"]  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[str]:
        """Facts that are not faults but are good to know. They are also written to standard error."""
        return self["notes"]  # type: ignore[no-any-return]

    @property
    def status(self) -> Literal["repaired", "dry-run", "refused", "in-use", "interrupted", "failed"]:
        """`repaired` and `dry-run`: the run did just that. `refused`: the request or the state of the files does
        not allow it. `in-use`: another program has the database open. `interrupted`: a signal ended the run.
        `failed`: any other error. There is a new database only with `repaired`, or if the last sync failed.
        """
        return self["status"]  # type: ignore[no-any-return]

    @property
    def error(self) -> str | None:
        """Reason why the run did not succeed. None: it succeeded."""
        return self["error"]  # type: ignore[no-any-return]

    @property
    def is_complete(self) -> bool:
        """True if it is certain that nothing is lost or doubtful."""
        return self["is_complete"]  # type: ignore[no-any-return]

    @property
    def unknown(self) -> list[str]:
        """Reasons why more may be missing than is reported. Empty: it is certain that all losses are reported,
        or the run ended before the losses were known.
        """
        return self["unknown"]  # type: ignore[no-any-return]

    @property
    def manifest(self) -> str | None:
        """Name of the trusted MANIFEST. None: no MANIFEST is trusted, so that the entries of files decide which
        files are live, or the run ended before this was known.
        """
        return self["manifest"]  # type: ignore[no-any-return]

    @property
    def comparator(self) -> str | None:
        """Name of the comparator that orders the keys. None: the run ended before it was known."""
        return self["comparator"]  # type: ignore[no-any-return]

    @property
    def is_comparator_assumed(self) -> bool:
        """True if neither `--comparator` nor a MANIFEST names the comparator, so that the order is inferred from
        the tables or, without entries in tables, taken to be LevelDB's.
        """
        return self["is_comparator_assumed"]  # type: ignore[no-any-return]

    @property
    def keys_(self) -> int:
        """Number of keys that the new database has or, in a dry run, would have."""
        return self["keys"]  # type: ignore[no-any-return]

    @property
    def bits_corrected(self) -> int:
        """Number of wrong bits that are corrected."""
        return self["bits_corrected"]  # type: ignore[no-any-return]

    @property
    def losses(self) -> int:
        """Number of lost ranges of live tables and live logs."""
        return self["losses"]  # type: ignore[no-any-return]

    @property
    def doubtful(self) -> int:
        """Number of keys, deleted ones included, of which a newer version may be lost in a table, or whose
        version is not covered by a checksum.
        """
        return self["doubtful"]  # type: ignore[no-any-return]

    @property
    def filled(self) -> int:
        """Number of doubtful keys whose newest version is from an obsolete file."""
        return self["filled"]  # type: ignore[no-any-return]

    @property
    def left_out(self) -> int:
        """Number of doubtful keys, deleted ones not counted, that are left out of the new database."""
        return self["left_out"]  # type: ignore[no-any-return]

    @property
    def lost_operations(self) -> int | None:
        """Number of operations that are lost from logs. None: it is not known."""
        return self["lost_operations"]  # type: ignore[no-any-return]

    @property
    def last_sequence(self) -> int:
        """Greatest valid sequence number found anywhere, which the new database takes over."""
        return self["last_sequence"]  # type: ignore[no-any-return]

    @property
    def tables(self) -> int:
        """Number of new tables. 0 in a dry run."""
        return self["tables"]  # type: ignore[no-any-return]

    @property
    def old_size(self) -> int:
        """Bytes of all tables and logs before the repair."""
        return self["old_size"]  # type: ignore[no-any-return]

    @property
    def new_size(self) -> int:
        """Bytes of all new tables. 0 in a dry run."""
        return self["new_size"]  # type: ignore[no-any-return]

    @property
    def policy(self) -> str | None:
        """Name of the policy of the new filters. None: no filters were made."""
        return self["policy"]  # type: ignore[no-any-return]

    @property
    def bits_per_key(self) -> int | None:
        """Bits a key of the new filters. None: no filters were made."""
        return self["bits_per_key"]  # type: ignore[no-any-return]

    @property
    def verified(self) -> bool:
        """True if every block, entry and filter of the new tables was read back."""
        return self["verified"]  # type: ignore[no-any-return]

    @property
    def target(self) -> str | None:
        """Folder of the new database. None: no new database was made, or the run did not succeed."""
        return self["target"]  # type: ignore[no-any-return]


_LINES: dict[str, dict[str, type[Report]]] = {
    "inspect": {"table": InspectTable, "filter_block": InspectTable, "folder": InspectFolder, "totals": InspectTotals, "log": InspectOther, "manifest": InspectOther, "unreadable": InspectUnreadable},
    "verify": {"table": Verdict, "folder": Verdict, "log": Verdict, "manifest": Verdict, "unreadable": Verdict},
    "tune": {"setting": TuneSetting, "tuning": Tuning},
    "rebuild": {"table": RebuildTable, "database": RebuildDatabase},
    "repair": {"file": RepairFile, "loss": RepairLoss, "key": RepairKey, "database": RepairDatabase},
}

__all__ = [
    "DistinctKeys",
    "EntryCount",
    "Finding",
    "InspectFilter",
    "InspectFilterCost",
    "InspectFolder",
    "InspectLargerRanges",
    "InspectLevel",
    "InspectLostKeys",
    "InspectMeasuredRate",
    "InspectOneFilter",
    "InspectOther",
    "InspectTable",
    "InspectTotals",
    "InspectUnreadable",
    "RebuildDatabase",
    "RebuildFilters",
    "RebuildTable",
    "RepairDatabase",
    "RepairFile",
    "RepairKey",
    "RepairLoss",
    "Report",
    "TuneAdvice",
    "TuneBudget",
    "TuneChoice",
    "TuneEstimate",
    "TuneLeftOut",
    "TuneLevel",
    "TuneLevelBits",
    "TuneLevelOutcome",
    "TuneLookups",
    "TuneMemory",
    "TuneNearRates",
    "TuneNearReads",
    "TuneOutcome",
    "TunePassingRate",
    "TuneRates",
    "TuneReads",
    "TuneSample",
    "TuneSampledKeys",
    "TuneSetting",
    "TuneVisits",
    "Tuning",
    "Verdict",
    "VerifyLost",
    "VerifyNeighbourRate",
]
