use super::*;

fn decompress(id: u8, stored: Bytes, offset: u64, max_len: u64, memory: u64) -> Result<(Bytes, Codec)> {
    let limits = Limits { contents: max_len, memory };
    super::decompress(id, stored, offset, limits, &mut Vec::new(), &mut 0)
}

const MEMORY: u64 = 8 << 20;

fn error(id: u8, stored: &[u8]) -> String {
    decompress(id, Bytes::copy_from_slice(stored), 100, 1 << 20, MEMORY).unwrap_err().to_string()
}

#[test]
fn uncompressed_contents_are_not_copied() {
    let stored = Bytes::from(vec![7; 100]);
    let (contents, codec) = decompress(0, stored.clone(), 0, 0, 0).unwrap();
    assert_eq!((contents.as_ptr(), codec), (stored.as_ptr(), Codec::None));
}

#[test]
fn types_that_nobody_reads_are_named() {
    for (id, meaning) in [
        (5, "LZ4HC in RocksDB"),
        (6, "XPRESS in RocksDB"),
        (7, "Zstandard in RocksDB"),
        (255, "of unknown meaning"),
    ] {
        let error = error(id, b"abc");
        assert!(error.starts_with("compression type at offset 103: expected 0 (none)"), "{error}");
        assert!(error.ends_with(&format!("found {id} ({meaning}), which is not supported")), "{error}");
    }
    assert_eq!((Codec::foreign_name(2), Codec::foreign_name(3)), (None, Some("bzip2 in RocksDB")));
    assert_eq!(Codec::foreign_name(4), Some("LZ4 in RocksDB"));
}

/// If the data can only be one codec's, the error reported is that codec's.
#[cfg(all(feature = "zstd", feature = "zlib", feature = "lz4"))]
#[test]
fn damage_is_told_by_the_codec_meant() {
    for (id, stored, expected) in [
        (2, &[0xff; 40][..], "expected data of type 2: zstd, zlib, lz4, deflate, found something else"),
        (2, b"\x28\xb5\x2f\xfdjunk", "expected a Zstandard frame, found"),
        (2, b"\x78\x9cjunk", "expected zlib data, found"),
        (2, b"\x78\x9c\x01\x00\x00\xff\xff\x00\x00\x00\x02", "expected zlib data, found a wrong checksum"),
        // Deflate has no blocks of type 3.
        (4, &[0xff; 40], "expected deflate data, found invalid data"),
        // An empty stored block: cut before its length; complete, but not the last; and followed by
        // more.
        (4, b"\x01", "expected deflate data, found an end within them"),
        (4, b"\x00\x00\x00\xff\xff", "expected deflate data, found an end within them"),
        (4, b"\x01\x00\x00\xff\xffmore", "expected deflate data, found 4 bytes behind their end"),
    ] {
        let error = error(id, stored);
        assert!(error.contains(expected), "{error}");
    }
}

#[cfg(feature = "zstd")]
#[test]
fn a_declared_length_is_held_to_the_limit_before_the_data() {
    // A single segment with a one-byte length field, and a raw block of five bytes, marked as the last block.
    let frame =
        |declared: u8| Bytes::from([b"\x28\xb5\x2f\xfd\x20", &[declared][..], b"\x29\0\0hello"].concat());
    assert_eq!(decompress(3, frame(5), 0, 5, MEMORY).unwrap().0, "hello");
    for declared in [4, 6] {
        let error = decompress(3, frame(declared), 0, 6, MEMORY).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    }
    for (declared, limit) in [(5, 4), (200, 199)] {
        let error = decompress(3, frame(declared), 0, limit, MEMORY).unwrap_err();
        assert!(matches!(error, Error::Limit { found, .. } if found == u64::from(declared)), "{error}");
    }
}

/// A frame of `len` zeros in blocks of 128 KiB, with `header` after the magic.
#[cfg(feature = "zstd")]
fn zeros(header: &[u8], len: u32) -> Bytes {
    let mut frame = [b"\x28\xb5\x2f\xfd", header].concat();
    let blocks = len >> 17;
    for block in 1..=blocks {
        let header = 1 << 20 | 1 << 1 | u32::from(block == blocks);
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame.into()
}

/// Bytes that a codec makes are counted, sound or not.
#[cfg(all(feature = "zstd", feature = "zlib", feature = "lz4"))]
#[test]
fn what_is_made_is_counted_also_where_it_is_damaged() {
    let made = |id, stored: &[u8]| {
        let mut made = 7;
        let limits = Limits { contents: 1 << 20, memory: MEMORY };
        let stored = Bytes::copy_from_slice(stored);
        let result = super::decompress(id, stored, 0, limits, &mut Vec::new(), &mut made);
        (result.is_ok(), made - 7)
    };
    assert_eq!(made(0, b"hello"), (true, 5));
    assert_eq!(made(1, b"\x05\x10hello"), (true, 5));
    // A declared length counts in full, since that many zeros are written first.
    assert_eq!(made(1, b"\x06\x10hello"), (false, 6));
    assert_eq!(made(1, b"\xff\xff\xff\xff\x0f"), (false, 0));
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(&[7; 100_000], 6);
    let (_, wrong_checksum) = zlib.split_at(2);
    assert_eq!(made(4, &wrong_checksum[..wrong_checksum.len() - 4]), (true, 100_000));
    assert_eq!(made(2, &zlib), (true, 100_000));
    let last = zlib.len() - 1;
    let damaged = [&zlib[..last], &[!zlib[last]]].concat();
    let (is_sound, found) = made(2, &damaged);
    assert!(!is_sound && found >= 100_000, "{found}");
    let cut = &zlib[2..last - 4];
    let (is_sound, found) = made(4, cut);
    assert!(!is_sound && found > 50_000, "{found}");
    // Two blocks of 128 KiB with a wrong checksum. Below, the second block is of a type that does
    // not exist.
    let mut frame = zeros(&[0x04, 7 << 3], 2 << 17).to_vec();
    frame.extend([0; 4]);
    let (is_sound, found) = made(3, &frame);
    assert!(!is_sound && (2 << 17..=3 << 17).contains(&found), "{found}");
    assert_eq!(made(3, &zeros(&[0, 7 << 3], 2 << 17)), (true, 2 << 17));
    let at = frame.len() - 8;
    frame[at] |= 6;
    let (is_sound, found) = made(3, &frame);
    assert!(!is_sound && (1 << 17..=2 << 17).contains(&found), "{found}");
    assert_eq!(made(2, b"\x05\0\0\0\x50hello"), (true, 5));
}

/// Contents, window and decoder count against the limit on memory.
#[cfg(feature = "zstd")]
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn zstandard_keeps_to_its_memory() {
    for (len, memory) in
        [(1_u32 << 17, 3_014_658), (2 << 20, 7_077_889), (17 << 17, 7_208_961), (4 << 20, 11_272_193)]
    {
        // A single segment with a four-byte length field: the window is as long as the contents.
        let frame = zeros(&[&[0xa0][..], &len.to_le_bytes()].concat(), len);
        let found = |memory| decompress(3, frame.clone(), 0, 8 << 20, memory);
        assert!(found(memory).is_ok_and(|(contents, _)| contents.len() == len as usize), "{len}");
        let error = found(memory - 1).unwrap_err();
        assert!(matches!(error, Error::Limit { found, .. } if found == u64::from(len)), "{error}");
    }
    // Windows of 128 KiB, 208 KiB and 1 MiB, without a declared length.
    for (window, memory) in [(7 << 3, 3_145_730), (7 << 3 | 5, 3_276_801), (10 << 3, 4_194_305)] {
        let found = |memory| decompress(3, zeros(&[0, window], 2 << 17), 0, 8 << 20, memory);
        assert!(found(memory).is_ok_and(|(contents, _)| contents.len() == 2 << 17), "{window}");
        assert!(matches!(found(memory - 1), Err(Error::Limit { .. })), "{window}");
    }
}

/// Bytes with two readings: zlib's header and a stored block cut short, or a length and LZ4 data.
#[cfg(all(feature = "zlib", feature = "lz4"))]
#[test]
fn data_with_a_mark_that_go_over_the_limit_are_not_taken_for_others() {
    // To zlib, 0x78 and 0x9c are the header, the next byte begins a stored block, and the four
    // after it are the block's length 0xf000, plain and inverted. To LZ4, the first four bytes are
    // the length 0x9c78. Then comes a token with its length of 15 + 255 + 15 literals.
    let mut stored = b"\x78\x9c\0\0\xf0\xff\x0f".to_vec();
    stored.extend([7; 285]);
    // A match of four bytes, one byte back, then literals to the end.
    stored.extend(b"\x01\0\xf0");
    let rest = 0x9c78 - 285 - 4;
    stored.extend(vec![0xff; (rest - 15) / 255]);
    stored.push(((rest - 15) % 255) as u8);
    stored.extend(vec![8; rest]);
    let lz4 = crate::table::codec::lz4::decode(&stored, 0, 0x9c78, &mut 0).unwrap();
    assert_eq!(lz4, [vec![7; 289], vec![8; rest]].concat());
    let error = decompress(2, stored.into(), 0, 0x9c78, MEMORY).unwrap_err();
    assert!(matches!(error, Error::Limit { limit: 0x9c78, .. }), "{error}");
}

/// One byte can stand for 255 bytes. The greatest length that ten bytes can stand for is tried, and a
/// length one byte greater.
#[cfg(feature = "lz4")]
#[test]
fn lz4_can_hold_so_much() {
    let found = |declared: u32| {
        let stored = [&declared.to_le_bytes()[..], &[0; 10]].concat();
        crate::table::codec::lz4::decode(&stored, 0, 1 << 20, &mut 0).unwrap_err().to_string()
    };
    assert!(found(2551).contains("a declared length of 2551 for 10 bytes"), "{}", found(2551));
    assert!(!found(2550).contains("2550 for 10 bytes"), "{}", found(2550));
}

#[cfg(not(any(feature = "zstd", feature = "zlib", feature = "lz4")))]
#[test]
fn features_that_are_missing_are_named() {
    let error = error(2, &[0xff; 40]);
    assert!(
        error.contains("lz4, which needs the feature `lz4`; or deflate, which needs the feature `zlib`"),
        "{error}"
    );
}
