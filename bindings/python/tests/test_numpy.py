"""Keys and values as arrays of bytes and offsets."""

import random

import pytest
from conftest import TESTDATA

import filterblock

LEVELS = TESTDATA / "databases/levels"


def split(data, offsets):
    """The parts of bytes end to end."""
    return [bytes(data[start:end]) for start, end in zip(offsets[:-1], offsets[1:], strict=True)]


def join(keys):
    """Keys end to end, and their offsets."""
    offsets = [0]
    for key in keys:
        offsets.append(offsets[-1] + len(key))
    return b"".join(keys), offsets


@pytest.mark.parametrize("count", [1, 7, 100, 5000, None])
def test_columns_have_what_iterating_has(count):
    database = filterblock.Database(LEVELS)
    iterator, found = database.iterator(), []
    while True:
        columns = iterator.columns(count)
        if len(columns) == 0:
            break
        assert len(columns) == len(columns.key_offsets) - 1 and (count is None or len(columns) <= count)
        keys = split(columns.key_bytes, columns.key_offsets)
        found += zip(keys, split(columns.value_bytes, columns.value_offsets), strict=True)
    assert found == list(database) and len(found) > 300
    columns = filterblock.scan(LEVELS).columns()
    entries = list(filterblock.scan(LEVELS))
    assert split(columns.key_bytes, columns.key_offsets) == [entry.key for entry in entries]
    assert split(columns.value_bytes, columns.value_offsets) == [entry.value or b"" for entry in entries]
    keys_alone = database.iterator(include_value=False).columns()
    assert keys_alone.value_bytes == b"" and len(keys_alone) == len(found)


def test_columns_stop_before_damage():
    words = (TESTDATA / "tables/words-256-bloom10.ldb").read_bytes()
    offset, _ = filterblock.Table(words).data_blocks()[3]
    damaged = bytearray(words)
    damaged[offset + 5] ^= 0xFF
    iterator = iter(filterblock.Table(bytes(damaged)))
    before = iterator.columns()
    with pytest.raises(filterblock.CorruptionError):
        iterator.columns()
    after = iterator.columns()
    keys = [split(part.key_bytes, part.key_offsets) for part in (before, after)]
    kept = [entry.key for entry in filterblock.scan(TESTDATA / "tables/words-256-bloom10.ldb") if entry.offset != offset]
    assert keys[0] + keys[1] == kept and keys[0] and keys[1]


def test_arrays_of_numpy_share_memory():
    numpy = pytest.importorskip("numpy")
    columns = filterblock.Database(LEVELS).iterator().columns()
    data = numpy.frombuffer(columns.key_bytes, numpy.uint8)
    offsets = numpy.asarray(columns.key_offsets)
    assert offsets.dtype == numpy.int64 and offsets[-1] == len(data)
    address = lambda view: numpy.asarray(view).__array_interface__["data"][0]
    assert address(columns.key_offsets) == offsets.__array_interface__["data"][0]
    assert numpy.shares_memory(data, numpy.frombuffer(columns.key_bytes, numpy.uint8))
    assert split(data.tobytes(), offsets) == [key for key, _ in filterblock.Database(LEVELS)]


def test_keys_as_bytes_and_offsets():
    source, policy = random.Random(1), filterblock.BloomFilterPolicy()
    stored = [source.randbytes(source.randrange(20)) + b"\0" * source.randrange(3) for _ in range(2000)]
    asked = stored[:500] + [source.randbytes(9) for _ in range(500)]
    data, offsets = join(stored)
    view = memoryview(b"".join(number.to_bytes(8, "little") for number in offsets)).cast("q")
    filter = policy.create_filter(stored)
    assert policy.create_filter((data, view)) == policy.create_filter((bytearray(data), view)) == filter
    joined = join(asked)
    view = memoryview(b"".join(number.to_bytes(8, "little") for number in joined[1])).cast("q")
    answers = policy.keys_may_match((joined[0], view), filter)
    assert answers.tolist() == policy.keys_may_match(asked, filter) and all(answers[:500])

    database = filterblock.Database(LEVELS)
    columns = database.iterator().columns()
    expected = [value for _, value in database]
    assert database.get_many(columns) == expected
    assert database.get_many((columns.key_bytes, columns.key_offsets)) == expected
    # A pair of keys is not taken for bytes with offsets.
    assert policy.create_filter((b"one", b"two")) == policy.create_filter([b"one", b"two"])
    for wrong in [[0, 5, 3], [0, 999_999], [-1, 3]]:
        view = memoryview(b"".join(number.to_bytes(8, "little", signed=True) for number in wrong)).cast("q")
        with pytest.raises(ValueError, match="offsets: expected"):
            policy.create_filter((data, view))


@pytest.mark.parametrize("kind", ["int64", "uint64", "int32", "uint32"])
def test_keys_as_arrays_of_numpy(kind):
    numpy = pytest.importorskip("numpy")
    policy, stored = filterblock.BloomFilterPolicy(), [b"a", b"", b"b\0", b"\0\0", b"longer"]
    data, offsets = join(stored)
    pair = numpy.frombuffer(data, numpy.uint8), numpy.array(offsets, kind)
    filter = policy.create_filter(stored)
    assert policy.create_filter(pair) == policy.create_filter((pair[0].copy(), pair[1])) == filter
    answers = numpy.asarray(policy.keys_may_match(pair, filter))
    assert answers.dtype == bool and answers.all() and len(answers) == len(stored)
    # A part of a larger array, which begins in its middle.
    assert policy.create_filter((pair[0], pair[1][2:])) == policy.create_filter(stored[2:])
    # NumPy's type S drops zero bytes at the end.
    for call in [policy.create_filter, lambda keys: policy.keys_may_match(keys, filter), filterblock.Database(LEVELS).get_many]:
        with pytest.raises(TypeError, match="type S"):
            call(numpy.array(stored))
    assert policy.create_filter(numpy.array(stored, object)) == filter
