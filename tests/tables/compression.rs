//! Blocks compressed as LevelDB's relatives do it. They are read within limits if the feature is enabled; otherwise,
//! the error names the codec.

use bytes::Bytes;
use filterblock::table::{BlockHandle, Codec, ReadOptions, Table};
use filterblock::{Error, Result};

use crate::encode::encode;
use crate::reference;
use crate::tables::{Crafted, Entry, Place, entry_block, handle, varint};

const CODECS: [Codec; 4] = [Codec::Zstd, Codec::Zlib, Codec::Deflate, Codec::Lz4];

/// The compression types that stand for this codec.
fn types(codec: Codec) -> &'static [u8] {
    match codec {
        Codec::Zstd => &[2, 3],
        Codec::Deflate => &[2, 4],
        _ => &[2],
    }
}

fn is_built(codec: Codec) -> bool {
    let features =
        [("zstd", cfg!(feature = "zstd")), ("zlib", cfg!(feature = "zlib")), ("lz4", cfg!(feature = "lz4"))];
    codec.feature().is_none_or(|feature| features.contains(&(feature, true)))
}

/// A block of one entry under the key `key`, whose value compresses to about half.
fn contents(value_len: usize) -> Vec<u8> {
    let mut state = 1u32;
    let value: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b'a' + (state >> 28) as u8
    })
    .take(value_len)
    .collect();
    entry_block(&[("key", value)])
}

/// A table of one data block, which is stored as given, with this compression type.
fn table(stored: &[u8], id: u8, limit: usize) -> Table<Bytes> {
    let mut crafted = Crafted::default();
    let data = crafted.block_of_type(stored, id);
    let file = crafted.finish(&[(b"key", data)], &[]);
    Table::open(file, &ReadOptions::default().max_block_size(limit)).unwrap()
}

fn codec_of(table: &Table<Bytes>) -> Result<Codec> {
    let data = table.data_blocks().next().unwrap()?;
    Ok(table.block_cursor(data)?.codec())
}

/// Reads the value in the only block.
fn read(stored: &[u8], id: u8, limit: usize) -> Result<Bytes> {
    Ok(table(stored, id, limit).get(b"key")?.expect("the key is there"))
}

#[cfg_attr(miri, ignore = "compresses, which takes large tables")]
#[test]
fn every_codec_is_read_or_named() {
    for codec in CODECS {
        for value_len in [64, 5000, 300_000] {
            let plain = contents(value_len);
            let stored = encode(codec, &plain);
            for &id in types(codec) {
                let table = table(&stored, id, 1 << 20);
                let value = table.get(b"key");
                if is_built(codec) {
                    assert!(
                        plain
                            .windows(value_len)
                            .any(|window| window == value.as_ref().unwrap().as_ref().unwrap())
                    );
                    assert_eq!(codec_of(&table).unwrap(), codec, "type {id}");
                    continue;
                }
                let Err(Error::Unsupported { found, .. }) = value else { panic!("{codec:?}: {value:?}") };
                assert!(found.contains(codec.name()), "{found}");
                assert!(found.contains(&format!("feature `{}`", codec.feature().unwrap())), "{found}");
            }
        }
    }
}

#[cfg_attr(miri, ignore = "compresses, which takes large tables")]
#[test]
fn index_and_metaindex_are_read_too() {
    for codec in CODECS.into_iter().filter(|&codec| is_built(codec)) {
        let id = types(codec)[0];
        let mut crafted = Crafted::default();
        let block = |crafted: &mut Crafted, contents: &[u8]| -> Place {
            crafted.block_of_type(&encode(codec, contents), id)
        };
        let data = block(&mut crafted, &contents(500));
        let metaindex = block(&mut crafted, &entry_block(&[("name", handle(data))]));
        let index = block(&mut crafted, &entry_block(&[("key", handle(data))]));
        let table = Table::open(crafted.footer(metaindex, index), &ReadOptions::default()).unwrap();
        assert!(table.get(b"key").unwrap().is_some());
        assert!(table.metaindex().unwrap().next().unwrap());
        assert_eq!(table.index().codec(), codec);
    }
}

#[cfg_attr(miri, ignore = "compresses, which takes large tables")]
#[test]
fn the_limit_is_kept_to_the_byte() {
    for codec in CODECS.into_iter().filter(|&codec| is_built(codec)) {
        for value_len in [1000, 5000, 140_000] {
            let plain = contents(value_len);
            let stored = encode(codec, &plain);
            for &id in types(codec) {
                assert!(read(&stored, id, plain.len()).is_ok(), "{codec:?} of {} bytes", plain.len());
                let error = read(&stored, id, plain.len() - 1).unwrap_err();
                let Error::Limit { limit, found, .. } = error else { panic!("{codec:?}: {error}") };
                assert_eq!(limit, plain.len() as u64 - 1);
                assert!(found > limit);
            }
        }
    }
}

/// A Zstandard frame of blocks that each repeat one byte 128 Ki times. It declares no length, and a window of 128 KiB
/// (7 << 3) or more.
fn zstd_bomb(blocks: usize, window: u8) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, window];
    for block in 0..blocks {
        let header = (128 << 10) << 3 | 1 << 1 | usize::from(block + 1 == blocks);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

#[cfg_attr(miri, ignore = "compresses, which takes large tables")]
#[test]
fn bombs_stop_at_the_limit() {
    let zeros = vec![0; 64 << 20];
    let mut bombs: Vec<_> = CODECS.into_iter().map(|codec| (codec, encode(codec, &zeros))).collect();
    bombs.push((Codec::Zstd, zstd_bomb(512, 7 << 3)));
    bombs.push((Codec::Zstd, zstd_bomb(512, 10 << 3)));
    for (codec, bomb) in bombs.into_iter().filter(|&(codec, _)| is_built(codec)) {
        assert!(bomb.len() < 1 << 20);
        for &id in types(codec) {
            for limit in [0, 1, 4096, 1 << 20] {
                let error = read(&bomb, id, limit).unwrap_err();
                assert!(matches!(error, Error::Limit { .. }), "{codec:?} within {limit}: {error}");
            }
        }
    }
}

#[cfg(feature = "zstd")]
#[cfg_attr(miri, ignore = "compresses, which takes large tables")]
#[test]
fn a_window_beyond_the_limit_is_refused() {
    // Windows of 128 KiB, of 1 MiB, of an eighth more, and of 2 GiB.
    for (window, fits) in [(7 << 3, true), (10 << 3, true), (10 << 3 | 1, false), (21 << 3, false)] {
        match table(&zstd_bomb(1, window), 2, 1 << 20).get(b"key") {
            // 128 Ki zeros are a block without entries.
            Ok(None) => assert!(fits, "{window}"),
            Err(Error::Limit { what, .. }) => assert!(!fits && what == "Zstandard window", "{window}"),
            other => panic!("{window}: {other:?}"),
        }
    }
    // However low the limit, the smallest windows are allowed.
    let error = read(&zstd_bomb(1, 7 << 3), 2, 10).unwrap_err();
    assert!(matches!(error, Error::Limit { what: "decompressed block", .. }), "{error}");
}

/// The data are cut or followed by more.
#[cfg_attr(miri, ignore = "compresses, which takes large tables")]
#[test]
fn damage_is_an_error() {
    for codec in CODECS.into_iter().filter(|&codec| is_built(codec)) {
        let plain = contents(600);
        let sound = encode(codec, &plain);
        let limit = 2 * plain.len();
        for &id in types(codec) {
            let value = table(&sound, id, limit).get(b"key").unwrap();
            for len in 0..sound.len() {
                let error = read(&sound[..len], id, limit).unwrap_err();
                assert!(matches!(error, Error::Corrupt { .. }), "{codec:?} cut to {len}: {error}");
            }
            let more = [&sound[..], &[0]].concat();
            assert!(read(&more, id, limit).is_err(), "{codec:?} and a byte");
            assert_eq!(table(&sound, id, limit).get(b"key").unwrap(), value);
        }
    }
}

/// The size of the only block, and all entries that a cursor finds in it.
fn walk(stored: &[u8], id: u8, limit: usize) -> Result<(usize, Vec<Entry>)> {
    let table = table(stored, id, limit);
    let mut block = table.block_cursor(table.data_blocks().next().unwrap()?)?;
    let mut entries = Vec::new();
    while block.next()? {
        entries.push((block.key().to_vec(), block.value().to_vec()));
    }
    Ok((block.size(), entries))
}

/// One bit of a block is wrong, though its checksum is right. The result is an error, or what a reference decoder makes
/// of the block. If the data have a checksum of their own, the result is an error or the sound contents.
#[cfg_attr(miri, ignore = "compresses, which takes large tables")]
#[test]
fn every_bit_flipped_within_a_block_is_an_error_or_what_a_reference_decoder_gives() {
    // Contents in which the encoder finds nothing to copy, in which it finds much, and both together.
    let noise: Vec<u8> = (0..300_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let plains = [
        contents(600),
        entry_block(&[("key", &vec![b'v'; 500]), ("kez", &b"abc".repeat(40))]),
        entry_block(&[("key", &noise), ("kez", &[&noise[..100], &noise].concat())]),
    ];
    for plain in &plains {
        let limit = 1 << 16;
        let sound = walk(plain, 0, limit).unwrap();
        let adler = [(Codec::Zlib, 2), (Codec::Zstd, 2), (Codec::Zstd, 3)];
        let none = [(Codec::Snappy, 1), (Codec::Deflate, 4), (Codec::Deflate, 2), (Codec::Lz4, 2)];
        for (codec, id) in adler.into_iter().chain(none).filter(|&(codec, _)| is_built(codec)) {
            let stored = encode(codec, plain);
            assert_eq!(walk(&stored, id, limit).unwrap(), sound, "{codec:?}");
            let checked = matches!(codec, Codec::Zlib | Codec::Zstd);
            let (mut errors, mut others) = (0, 0);
            for bit in 0..stored.len() * 8 {
                let mut damaged = stored.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let found = walk(&damaged, id, limit);
                let what = format!("{codec:?} as type {id}, bit {bit} of {}", stored.len() * 8);
                if checked {
                    errors += usize::from(found.is_err());
                    assert!(found.is_err() || found.unwrap() == sound, "{what}");
                    continue;
                }
                let decoded = match codec {
                    Codec::Snappy => reference::snappy(&damaged, limit),
                    Codec::Lz4 => reference::lz4(&damaged, limit),
                    _ => None,
                };
                // Type 2 may be deflate data too, and they are tried last.
                let decoded = decoded.or_else(|| {
                    let may_be = codec == Codec::Deflate || id == 2 && is_built(Codec::Deflate);
                    may_be.then(|| reference::inflate(&damaged, limit)).flatten()
                });
                let expected = decoded.and_then(|contents| walk(&contents, 0, limit).ok());
                match (found, expected) {
                    (Ok(found), Some(expected)) => {
                        assert!(found == expected, "{what}");
                        others += usize::from(expected != sound);
                    }
                    (Err(_), None) => errors += 1,
                    (found, expected) => panic!("{what}: {found:?}, by the reference {expected:?}"),
                }
            }
            // The last bits of zlib and Zstandard data are their checksums.
            let least = if checked { 32 } else { 1 };
            assert!(
                errors >= least && (checked || others > 0),
                "{codec:?}: {errors} errors, {others} others"
            );
        }
    }
}

/// Each bit of the checksum is flipped in turn, or the checksum is that of other contents.
#[cfg(feature = "zstd")]
#[cfg_attr(miri, ignore = "compresses, which takes large tables")]
#[test]
fn a_wrong_zstandard_checksum_is_an_error() {
    for plain in [contents(0), contents(600), contents(300_000)] {
        let sound = encode(Codec::Zstd, &plain);
        // Bit 2 of the frame's descriptor says that the last four bytes are a checksum.
        assert_eq!(sound[4] & 4, 4);
        let limit = 1 << 20;
        let expected = walk(&sound, 3, limit).unwrap();
        for bit in (sound.len() - 4) * 8..sound.len() * 8 {
            let mut damaged = sound.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            for id in [2, 3] {
                let error = walk(&damaged, id, limit).unwrap_err().to_string();
                assert!(error.ends_with("expected a Zstandard frame, found a wrong checksum"), "{error}");
            }
        }
        let other = encode(Codec::Zstd, &contents(601));
        let swapped = [&sound[..sound.len() - 4], &other[other.len() - 4..]].concat();
        assert!(walk(&swapped, 3, limit).is_err());
        // A frame without the checksum, whose descriptor says so, is as good.
        let mut without = sound[..sound.len() - 4].to_vec();
        without[4] &= !4;
        assert_eq!(walk(&without, 3, limit).unwrap(), expected);
    }
}

/// A frame made by hand, with the checksum that `printf hello | zstd --check` writes: the low half of XXH64.
#[cfg(feature = "zstd")]
#[test]
fn the_zstandard_checksum_is_that_of_other_programs() {
    // One segment with its length in a byte and a checksum, and one stored block of five bytes, the last.
    let frame = |checksum: &[u8; 4]| [b"\x28\xb5\x2f\xfd\x24\x05\x29\0\0hello", &checksum[..]].concat();
    // Decoded, it is no block of entries.
    let error = walk(&frame(b"\xa3\x6d\x9f\x88"), 3, 100).unwrap_err().to_string();
    assert!(error.starts_with("restart array at offset"), "{error}");
    let error = walk(&frame(b"\xa3\x6d\x9f\x89"), 3, 100).unwrap_err().to_string();
    assert!(error.ends_with("found a wrong checksum"), "{error}");
}

/// Deflate is the last codec that a block of this type may have. If it were not built in, the error could not say what
/// is wrong.
#[cfg(all(feature = "lz4", feature = "zlib"))]
#[test]
fn declared_lengths_have_to_be_true() {
    let plain = contents(1000);
    let sound = encode(Codec::Lz4, &plain);
    assert!(read(&sound, 2, 1 << 20).is_ok());
    for declared in [plain.len() - 1, plain.len() + 1, 255 * (sound.len() - 4) + 1, u32::MAX as usize] {
        let mut stored = sound.clone();
        stored[..4].copy_from_slice(&(declared as u32).to_le_bytes());
        let error = read(&stored, 2, 1 << 20).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{declared}: {error}");
    }
}

/// LZ4 data that declare 40,056 bytes begin with `78 9c`, as zlib's data do.
#[cfg(all(feature = "lz4", feature = "zlib"))]
#[cfg_attr(miri, ignore = "compresses, which takes large tables")]
#[test]
fn a_mark_alone_does_not_decide() {
    let spare = 0x9c78 - contents(0).len();
    let plain = (spare - 10..=spare).map(contents).find(|plain| plain.len() == 0x9c78).unwrap();
    let stored = encode(Codec::Lz4, &plain);
    assert_eq!(stored[..4], [0x78, 0x9c, 0, 0]);
    assert_eq!(codec_of(&table(&stored, 2, 1 << 20)).unwrap(), Codec::Lz4);
}

/// The first four bytes of deflate data may be a length that LZ4 data of this size can have, and that is beyond the
/// limit.
#[cfg(feature = "zlib")]
#[test]
fn deflate_data_that_would_be_too_long_as_lz4_are_read() {
    let plain = contents(600);
    // A part that is stored as it is, with its length and the complement before it.
    let part = |last: u8, bytes: &[u8]| {
        let len = bytes.len() as u16;
        [&[last][..], &len.to_le_bytes(), &(!len).to_le_bytes(), bytes].concat()
    };
    let (first, rest) = plain.split_at(255);
    let stored = [part(0, first), part(1, rest)].concat();
    assert_eq!(stored[..4], [0, 0xff, 0, 0]);
    let limit = 4096;
    assert!(limit < 0xff00 && 0xff00 <= 255 * (stored.len() - 4));
    let table = table(&stored, 2, limit);
    assert_eq!(codec_of(&table).unwrap(), Codec::Deflate);
    assert!(table.get(b"key").unwrap().is_some());
}

/// If the index is compressed and its keys share bytes, the keys together may be many times as large as the file.
#[cfg_attr(miri, ignore = "compresses, which takes large tables")]
#[test]
fn keys_of_the_index_may_be_longer_than_a_small_file() {
    let keys = ["a", "b"].map(|end| "k".repeat(20_000) + end);
    let mut crafted = Crafted::default();
    let mut snappy = |contents: &[u8]| crafted.block_of_type(&encode(Codec::Snappy, contents), 1);
    let [first, second] = keys.each_ref().map(|key| handle(snappy(&entry_block(&[(key, "value")]))));
    let mut index =
        [&[0][..], &varint(20_001), &varint(first.len() as u64), keys[0].as_bytes(), &first].concat();
    index.extend([&varint(20_000)[..], &[1], &varint(second.len() as u64), b"b", &second].concat());
    index.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    let index = snappy(&index);
    let metaindex = crafted.entries::<&str, &str>(&[]);
    let file = crafted.footer(metaindex, index);
    assert!(file.len() < 10_000, "{} bytes", file.len());
    let table = Table::open(file, &ReadOptions::default()).unwrap();
    for key in &keys {
        assert_eq!(table.get(key.as_bytes()).unwrap().unwrap(), "value");
    }
}

#[test]
fn what_is_none_of_them_is_refused() {
    for (id, stored) in [(2, &[0xff; 40][..]), (3, b"nothing"), (4, &[0xff; 40])] {
        let error = read(stored, id, 1 << 20).unwrap_err();
        let all_built = CODECS.into_iter().all(is_built);
        match error {
            Error::Corrupt { .. } => assert!(all_built || id == 3 || is_built(Codec::Deflate)),
            Error::Unsupported { .. } => assert!(!all_built),
            error => panic!("{error}"),
        }
    }
    for (id, name) in
        [(3, "bzip2"), (5, "LZ4HC in RocksDB"), (7, "Zstandard in RocksDB"), (8, "MinLZ in Pebble")]
    {
        let error = read(b"BZh91AY", id, 1 << 20).unwrap_err();
        let Error::Unsupported { found, .. } = &error else { panic!("{error}") };
        assert!(found.contains(name), "{error}");
    }
}

/// The compression type is in the bytes after a block. They are read without the block.
#[test]
fn types_are_told_without_decoding() {
    for id in [2, 3, 4, 255] {
        let table = table(b"anything", id, 10);
        let data: BlockHandle = table.data_blocks().next().unwrap().unwrap();
        assert_eq!(table.compression_of(data).unwrap(), id);
    }
}
