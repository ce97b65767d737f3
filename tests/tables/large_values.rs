//! Values of many megabytes, each of which lies whole in a data block.

use bytes::Bytes;
#[cfg(all(feature = "zstd", feature = "zlib", feature = "lz4"))]
use filterblock::table::Codec;
use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Error};

use crate::counting::peak;
use crate::tables::Crafted;

/// A value that compresses well, but not to nothing.
fn value(len: usize) -> Vec<u8> {
    let mut value = Vec::with_capacity(len + 2800);
    for number in (0_u32..).take_while(|number| *number as usize * 2800 < len) {
        value.extend(number.to_le_bytes().repeat(700));
    }
    value.truncate(len);
    value
}

#[test]
fn values_of_40_mib_come_back_from_all_that_is_written() {
    let entries = [("a", 10), ("b", 9 << 20), ("c", 40 << 20), ("d", 0)].map(|(key, len)| (key, value(len)));
    for compression in [Compression::None, Compression::Snappy] {
        let options =
            WriteOptions::default().compression(compression).filter_policy(BloomFilterPolicy::new(10));
        let mut builder = TableBuilder::new(Vec::new(), options);
        for (key, value) in &entries {
            builder.add(key.as_bytes(), value).unwrap();
        }
        let file = Bytes::from(builder.finish().unwrap().0);
        let table = Table::open(file.clone(), &ReadOptions::default()).unwrap();
        for (key, value) in &entries {
            let found = table.get(key.as_bytes()).unwrap().unwrap();
            assert!(found == value, "{key} with {compression:?}");
        }
        assert_eq!(table.iter().map(Result::unwrap).count(), 4);
    }
}

#[cfg(all(feature = "zstd", feature = "zlib", feature = "lz4"))]
#[test]
fn values_of_40_mib_come_back_by_every_codec_that_is_read() {
    let types =
        [(Codec::Snappy, 1), (Codec::Zstd, 2), (Codec::Zlib, 2), (Codec::Deflate, 4), (Codec::Lz4, 2)];
    for len in [9 << 20, 40 << 20] {
        let value = value(len);
        let block = crate::tables::entry_block(&[("a", &value)]);
        for (codec, id) in types {
            let mut crafted = Crafted::default();
            let data = crafted.block_of_type(&crate::encode::encode(codec, &block), id);
            let file = crafted.finish(&[(b"a", data)], &[]);
            let table = Table::open(file, &ReadOptions::default()).unwrap();
            assert!(table.get(b"a").unwrap().unwrap() == value, "{len} by {codec:?}");
        }
    }
}

/// A Zstandard frame: the magic number, this header and these blocks.
#[cfg(feature = "zstd")]
fn frame(header: &[u8], blocks: &[u8]) -> Vec<u8> {
    [b"\x28\xb5\x2f\xfd", header, blocks].concat()
}

/// A frame's header that declares this length of the contents, and a window of the same length.
#[cfg(feature = "zstd")]
fn declares(len: u32) -> [u8; 5] {
    let mut header = [0xa0; 5];
    header[1..].copy_from_slice(&len.to_le_bytes());
    header
}

/// 128 KiB of zeros, as a block of four bytes.
#[cfg(feature = "zstd")]
const ZEROS: [u8; 4] = [0x02, 0x00, 0x10, 0];

/// The decoder takes no memory for the contents that a frame declares until they come.
#[cfg(feature = "zstd")]
#[test]
fn small_files_take_memory_only_for_what_they_hold() {
    let get = |frame: &[u8], options: &ReadOptions| {
        let mut crafted = Crafted::default();
        let data = crafted.block_of_type(frame, 2);
        let file = crafted.finish(&[(b"a", data)], &[]);
        let table = Table::open(file, options).unwrap();
        let (bytes, found) = peak(|| table.get(b"a"));
        (bytes, found.unwrap_err())
    };
    let default = ReadOptions::default();
    let junk = vec![0xff; 50_000];
    for len in [1 << 20, 64 << 20, 100 << 20] {
        // Damaged at once.
        let (bytes, error) = get(&frame(&declares(len), &junk), &default);
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        assert!(bytes < 1 << 20, "{bytes} for {len}");
        // Damaged after a megabyte.
        let (bytes, error) = get(&frame(&declares(len), &[&ZEROS.repeat(8)[..], &junk].concat()), &default);
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        assert!(bytes < 4 << 20, "{bytes} for {len}");
    }
    // A window of 64 MiB, whose contents are not declared.
    let (bytes, error) = get(&frame(&[0, 16 << 3], &junk), &default);
    assert!(matches!(error, Error::Corrupt { .. }) && bytes < 1 << 20, "{bytes}: {error}");
    // Contents that are really there take memory up to the limit, and are then refused.
    let endless = ZEROS.repeat(12_000);
    for limit in [16 << 20, 32 << 20] {
        let (bytes, error) = get(&frame(&[0, 7 << 3], &endless), &default.clone().max_block_size(limit));
        assert!(matches!(error, Error::Limit { .. }), "{error}");
        assert!(bytes > limit / 4 && bytes < limit + (200 << 10), "{bytes} with {limit}");
    }
    // More contents than the frame declares are damage, and take no memory either.
    let (bytes, error) = get(&frame(&declares(1 << 20), &endless), &default);
    assert!(matches!(error, Error::Corrupt { .. }) && bytes < 5 << 20, "{bytes}: {error}");
}

/// The default limit is 256 MiB. Three bytes of Snappy give at most 64 bytes, so a block that declares more is refused
/// unread.
#[test]
fn the_limit_is_256_mib_and_what_the_stored_bytes_can_give() {
    let get = |declared: &[u8], stored: usize| {
        let mut crafted = Crafted::default();
        let data = crafted.block_of_type(&[declared, &vec![0; stored]].concat(), 1);
        let file = crafted.finish(&[(b"a", data)], &[]);
        let table = Table::open(file, &ReadOptions::default()).unwrap();
        let (bytes, found) = peak(|| table.get(b"a"));
        assert!(bytes < 1000, "{bytes}");
        found.unwrap_err()
    };
    // 2^28 + 1 and 2^28.
    let (more, most) = (&[0x81, 0x80, 0x80, 0x80, 0x01], &[0x80, 0x80, 0x80, 0x80, 0x01]);
    let error = get(more, 13 << 20);
    assert!(matches!(error, Error::Limit { limit: 0x1000_0000, found: 0x1000_0001, .. }), "{error}");
    let error = get(most, (12 << 20) - 100).to_string();
    assert!(error.contains("expected at most 268433429 bytes from 12582817 bytes"), "{error}");
}
