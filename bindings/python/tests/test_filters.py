"""Filters and filter blocks, held against LevelDB's golden values."""

import mmap

import pytest
from conftest import TABLES, TESTDATA, listing, unhex

import filterblock
from filterblock import BloomFilterPolicy, FilterBlockReader


def bloom_cases():
    cases = []
    for kind, *fields in listing("golden/bloom.txt"):
        if kind == "bits":
            cases.append({"bits": int(fields[0]), "keys": [], "probes": []})
        elif kind == "key":
            cases[-1]["keys"].append(unhex(fields[0]))
        elif kind == "filter":
            cases[-1]["filter"] = unhex(fields[0])
        else:
            cases[-1]["probes"].append((unhex(fields[0]), fields[1] == "1"))
    return cases


def test_filters_are_leveldbs():
    cases = bloom_cases()
    answers = set()
    for case in cases:
        policy = BloomFilterPolicy(case["bits"])
        assert policy.create_filter(case["keys"]) == case["filter"], case["bits"]
        for key, answer in case["probes"]:
            assert policy.key_may_match(key, case["filter"]) is answer
            answers.add(answer)
        keys = [key for key, _ in case["probes"]]
        assert policy.keys_may_match(keys, case["filter"]) == [answer for _, answer in case["probes"]]
        assert all(policy.keys_may_match(case["keys"], case["filter"]))
    assert len(cases) > 10 and answers == {True, False}


def test_filter_blocks_answer_as_leveldbs():
    reader, queries, blocks = None, [], set()

    def finish():
        if reader is not None:
            keys = [(offset, key) for offset, key, _ in queries]
            assert reader.keys_may_match(keys) == [answer for *_, answer in queries]

    for kind, *fields in listing("golden/filter_block_query.txt"):
        if kind == "block":
            finish()
            reader, queries = FilterBlockReader(unhex(fields[0])), []
            assert reader.contents == unhex(fields[0])
            blocks.add(fields[0])
        elif fields[2] in "01":
            offset, key, answer = int(fields[0]), unhex(fields[1]), fields[2] == "1"
            assert reader.key_may_match(offset, key) is answer
            queries.append((offset, key, answer))
    finish()
    assert len(blocks) > 20


def test_filters_of_tables_pass_their_keys():
    filtered = 0
    for path in TABLES:
        table = filterblock.Table(path)
        assert table.filter is None or table.filter.policy_name == table.filter_name
        if table.filter is None:
            continue
        filtered += 1
        scanned = filterblock.scan(path)
        internal = any(entry.sequence is not None for entry in scanned)
        entries = list(filterblock.scan(path, internal_keys=internal))
        if any(entry.type not in ("value", "deletion", None) for entry in entries):
            continue
        assert all(table.filter.keys_may_match([(entry.offset, entry.key) for entry in entries])), path
        table.filter.check()
    assert filtered > 30


def test_parts_of_a_filter_block():
    table = filterblock.Table(TESTDATA / "tables/words-256-bloom10.ldb")
    reader = table.filter
    assert (reader.base_lg, reader.policy_name) == (11, "leveldb.BuiltinBloomFilter2")
    filters = [reader.filter(index) for index in range(len(reader))]
    assert b"".join(filters) == reader.contents[: sum(map(len, filters))]
    assert reader.filter(len(reader)) is None and reader.filter(2**40) is None
    policy, keys = BloomFilterPolicy(10), {}
    for entry in filterblock.scan(TESTDATA / "tables/words-256-bloom10.ldb"):
        keys.setdefault(entry.offset >> 11, []).append(entry.key)
    assert filters == [policy.create_filter(keys[at]) if at in keys else b"" for at in range(len(reader))]


def test_malformed_blocks_let_keys_match_and_say_why():
    for contents, offset in [(b"", 0), (b"abc", 0), (b"\xff" * 9, 4), (b"\0\0\0\0\x40", 4)]:
        reader = FilterBlockReader(contents)
        assert reader.key_may_match(0, b"key") is True
        with pytest.raises(filterblock.CorruptionError) as caught:
            reader.check()
        assert caught.value.offset == offset and caught.value.file is None
        assert f"expected {caught.value.expected}, found {caught.value.found}" in str(caught.value)


def test_every_kind_of_bytes():
    policy = BloomFilterPolicy()
    keys = [b"one", bytearray(b"two"), memoryview(b"xthreex")[1:6], memoryview(b"fxoxuxrx")[::2]]
    filter = policy.create_filter(keys)
    assert filter == policy.create_filter(iter([b"one", b"two", b"three", b"four"]))
    for given in [filter, bytearray(filter), memoryview(filter)]:
        assert policy.keys_may_match((key for key in keys), given) == [True] * 4
        assert policy.key_may_match(keys[3], given) and not policy.key_may_match(b"five", given)
    table = (TESTDATA / "tables/words-256-bloom10.ldb").read_bytes()
    block = filterblock.Table(table).filter.contents
    at = table.index(block)
    for given in [memoryview(table)[at : at + len(block)], memoryview(bytearray(table))[at : at + len(block)]]:
        assert FilterBlockReader(given).contents == block
    assert FilterBlockReader(memoryview(b"")).contents == b""
    with open(TESTDATA / "tables/words-256-bloom10.ldb", "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            assert len(list(filterblock.Table(view))) == 300


def test_what_may_change_is_copied():
    block = bytearray(filterblock.Table(TESTDATA / "tables/words-256-bloom10.ldb").filter.contents)
    reader = FilterBlockReader(block)
    before = reader.contents
    block[:] = bytes(len(block))
    block.clear()
    assert reader.contents == before


def test_bytes_are_shared_not_copied():
    import sys

    block = bytes(filterblock.Table(TESTDATA / "tables/words-256-bloom10.ldb").filter.contents)
    counts = []
    for given in [block, memoryview(block), memoryview(block)[3:]]:
        before = sys.getrefcount(block)
        reader = FilterBlockReader(given)
        counts.append(sys.getrefcount(block) - before)
        assert reader.contents == bytes(given)
        del reader
        assert sys.getrefcount(block) == before
    assert counts == [1, 1, 1]


def test_other_policies_by_name():
    name = "leveldb.BuiltinBloomFilter"
    block = filterblock.Table(TESTDATA / "constructed/leveldb-1.17-signed.ldb").filter
    assert block.policy_name == name
    assert FilterBlockReader(block.contents, name).policy_name == name
    assert FilterBlockReader(block.contents, BloomFilterPolicy(3)).policy_name == BloomFilterPolicy().name
    with pytest.raises(ValueError, match="policy: expected one of .*leveldb.BuiltinBloomFilter2.* found \"x\""):
        FilterBlockReader(b"", "x")
    with pytest.raises(TypeError, match="policy: expected .* found int"):
        FilterBlockReader(b"", 10)


def test_wrong_arguments():
    policy = BloomFilterPolicy()
    with pytest.raises(OverflowError):
        BloomFilterPolicy(-1)
    with pytest.raises(TypeError):
        BloomFilterPolicy("ten")
    for keys in [["text"], "text", [b"key", None], b"bytes"]:
        with pytest.raises(TypeError, match="expected a bytes-like object, found (str|NoneType|int)"):
            policy.create_filter(keys)
        with pytest.raises(TypeError, match="expected a bytes-like object, found (str|NoneType|int)"):
            policy.keys_may_match(keys, b"")
    for call in [lambda: policy.create_filter(7), lambda: policy.key_may_match(b"", None)]:
        with pytest.raises(TypeError):
            call()
    reader = FilterBlockReader(b"")
    for query in [(b"key", 0), (0,), 7, (0, "text")]:
        with pytest.raises((TypeError, ValueError), match="tuple|int|bytes-like"):
            reader.keys_may_match([query])
    with pytest.raises(OverflowError):
        reader.key_may_match(-1, b"")
    with pytest.raises(OverflowError):
        reader.keys_may_match([(1 << 64, b"")])

    def broken():
        yield b"key"
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        policy.create_filter(broken())


def test_more_bits_than_a_filter_can_have():
    with pytest.raises(filterblock.ArgumentError, match="expected at most"):
        BloomFilterPolicy(2**32 - 1).create_filter([b"%d" % number for number in range(200)])
