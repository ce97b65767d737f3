#!/usr/bin/env python3
"""Rewrites tables of LevelDB as its relatives lay them out: see testdata/README.md.

A second construction of the formats, apart from the library's: it takes tables that LevelDB has written to pieces
and puts their entries together again, with other codecs, filters, names and checksums.

usage: dialects.py TESTDATA
needs: pip install zstandard==0.25.0
"""

import pathlib
import struct
import sys
import zlib

import zstandard

MAGIC = 0xDB4775248B80FB57
M32 = 0xFFFFFFFF
M64 = 0xFFFFFFFFFFFFFFFF


# --- integers and checksums ---


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def get_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def crc32c(data):
    crc = M32
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ M32


def masked(crc):
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & M32


# --- hashes and filters ---


def leveldb_hash(key, signed):
    h = (0xBC9F1D34 ^ len(key) * 0xC6A4A793) & M32
    whole = len(key) // 4 * 4
    for (word,) in struct.iter_unpack("<I", key[:whole]):
        h = (h + word) * 0xC6A4A793 & M32
        h ^= h >> 16
    tail = key[whole:]
    if tail:
        for i, byte in enumerate(tail):
            h += (byte - 256 if signed and byte > 127 else byte) << 8 * i
        h = (h & M32) * 0xC6A4A793 & M32
        h ^= h >> 24
    return h


def bloom(keys, bits_per_key, signed):
    probes = min(max(bits_per_key * 69 // 100, 1), 30)
    size = (max(len(keys) * bits_per_key, 64) + 7) // 8
    array = bytearray(size)
    for key in keys:
        h = leveldb_hash(key, signed)
        delta = (h >> 17 | h << 15) & M32
        for _ in range(probes):
            array[h % (8 * size) // 8] |= 1 << h % (8 * size) % 8
            h = (h + delta) & M32
    return bytes(array) + bytes([probes])


def filter_block(blocks, base_lg, make):
    """`blocks`: offset and keys of each data block."""
    filters, pending = [], []

    def generate():
        filters.append(make(pending[:]) if pending else b"")
        pending.clear()

    for offset, keys, end in blocks:
        pending.extend(keys)
        while end >> base_lg > len(filters):
            generate()
    if pending:
        generate()
    offsets = b"".join(struct.pack("<I", sum(map(len, filters[:i]))) for i in range(len(filters)))
    contents = b"".join(filters)
    return contents + offsets + struct.pack("<IB", len(contents), base_lg)


# --- blocks and tables ---


def parse_block(contents):
    (restarts,) = struct.unpack("<I", contents[-4:])
    end, at, key, entries = len(contents) - 4 - 4 * restarts, 0, b"", []
    while at < end:
        shared, at = get_varint(contents, at)
        rest, at = get_varint(contents, at)
        value, at = get_varint(contents, at)
        key = key[:shared] + contents[at : at + rest]
        entries.append((key, contents[at + rest : at + rest + value]))
        at += rest + value
    return entries


def build_block(entries, interval=16):
    out, restarts, last = bytearray(), [], b""
    for i, (key, value) in enumerate(entries):
        shared = 0
        if i % interval == 0:
            restarts.append(len(out))
        else:
            while shared < min(len(key), len(last)) and key[shared] == last[shared]:
                shared += 1
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    restarts = restarts or [0]
    return bytes(out) + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


def read_table(path, entries):
    """The data blocks of an uncompressed table, each with its key in the index, up to so many entries."""
    file = path.read_bytes()
    contents = lambda handle: file[handle[0] : handle[0] + handle[1]]

    def handle(data, at=0):
        offset, at = get_varint(data, at)
        size, at = get_varint(data, at)
        return (offset, size), at

    _, at = handle(file[-48:])
    index, _ = handle(file[-48:], at)
    blocks = []
    for separator, value in parse_block(contents(index)):
        place, _ = handle(value)
        assert file[sum(place)] == 0, "expected uncompressed blocks"
        blocks.append((separator, parse_block(contents(place))))
        entries -= len(blocks[-1][1])
        if entries <= 0:
            break
    return blocks


def write_table(path, blocks, compress, kind, filters=None, meta=(), user_key=lambda key: key):
    """`filters`: name in the metaindex, base_lg, and what makes a filter. `meta`: names and contents of other blocks."""
    out = bytearray()

    def put(contents, may_compress=True):
        compressed = compress(contents) if may_compress else contents
        stored, tag = (compressed, kind) if len(compressed) < len(contents) * 7 // 8 else (contents, 0)
        handle = varint(len(out)) + varint(len(stored))
        out.extend(stored + bytes([tag]))
        out.extend(struct.pack("<I", masked(crc32c(stored + bytes([tag])))))
        return handle

    index, filtered = [], []
    for separator, entries in blocks:
        start = len(out)
        index.append((separator, put(build_block(entries))))
        filtered.append((start, [user_key(key) for key, _ in entries], len(out)))
    named = [(name, put(contents, False)) for name, contents in meta]
    if filters:
        name, base_lg, make = filters
        named.append((name, put(filter_block(filtered, base_lg, make), False)))
    metaindex = put(build_block(sorted(named)))
    index = put(build_block(index, 1))
    out.extend((metaindex + index).ljust(40, b"\0") + struct.pack("<Q", MAGIC))
    path.write_bytes(out)


# --- the tables ---


def main():
    testdata = pathlib.Path(sys.argv[1])
    target = testdata / "constructed"
    target.mkdir(exist_ok=True)
    words = read_table(testdata / "tables/words-4096-unfiltered.ldb", 300)
    binary = read_table(testdata / "tables/binary-1024-unfiltered.ldb", 150)

    google = lambda keys: bloom(keys, 10, False)
    signed = lambda keys: bloom(keys, 10, True)
    plain = lambda contents: contents
    zstd = zstandard.ZstdCompressor(level=1).compress
    streamed = zstandard.ZstdCompressor(level=3, write_checksum=True, write_content_size=False).compress

    def deflate(contents):
        codec = zlib.compressobj(9, zlib.DEFLATED, -14)
        return codec.compress(contents) + codec.flush()

    new_name, old_name = b"filter.leveldb.BuiltinBloomFilter2", b"filter.leveldb.BuiltinBloomFilter"
    write_table(target / "leveldb-zstd.ldb", words, zstd, 2, (new_name, 11, google))
    write_table(target / "bedrock-zstd.ldb", words, streamed, 3, (new_name, 11, google))
    write_table(target / "leveldb-1.17-signed.ldb", binary, plain, 0, (old_name, 11, signed))
    # What RocksDB's filter holds does not matter: bits that LevelDB would take for a filter that denies most keys.
    sparse = lambda keys: bytes([1] + [0] * 31 + [6])
    properties = (b"rocksdb.properties", build_block([(b"rocksdb.num.entries", varint(300))]))
    write_table(
        target / "rocksdb-block-filter.ldb",
        words,
        deflate,
        2,
        (b"filter.rocksdb.BuiltinBloomFilter", 11, sparse),
        [properties],
    )
    full = (b"fullfilter.rocksdb.BuiltinBloomFilter", bytes(64) + b"\6\0\0\0\0")
    write_table(target / "rocksdb-full-filter.ldb", words, deflate, 2, None, [properties, full])


main()
