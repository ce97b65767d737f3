use super::testing::{entry, raw_block};
use super::*;
use crate::bytes::coding::put_varint32;

fn error(bytes: &[u8]) -> String {
    Block::new(Bytes::copy_from_slice(bytes), 7000).err().expect("an error").to_string()
}

#[test]
fn too_small_for_a_restart_count() {
    for len in 0..4 {
        assert_eq!(
            error(&[0, 0, 0][..len]),
            format!("restart array at offset 7000: expected a block of at least 4 bytes, found {len} bytes")
        );
    }
    assert!(Block::new(Bytes::from_static(&[0; 4]), 0).is_ok_and(|block| block.is_empty()));
}

#[test]
fn more_restarts_than_fit() {
    for (len, count, fits) in [
        (4, 1, false),
        (7, 1, false),
        (8, 1, true),
        (11, 2, false),
        (12, 2, true),
        (12, 1 << 30, false),
        (12, (1 << 30) + 2, false),
        (12, u32::MAX, false),
    ] {
        let mut bytes = vec![0; len - 4];
        bytes.extend(u32::to_le_bytes(count));
        assert_eq!(Block::new(bytes.clone().into(), 0).is_ok(), fits, "{count} in {len} bytes");
        if !fits {
            let most = (len - 4) / 4;
            let expected =
                format!("expected at most {most} restarts in {len} bytes, found a count of {count}");
            assert!(error(&bytes).ends_with(&expected), "{}", error(&bytes));
        }
    }
}

#[test]
fn entries_before_the_first_restart() {
    let entries = [entry(0, b"a", b"1"), entry(0, b"b", b"2")];
    assert!(Block::new(raw_block(&entries, &[0]), 0).is_ok());
    assert_eq!(
        error(&raw_block(&entries, &[5])),
        "restart array at offset 7000: expected the first restart at byte 0, found it at byte 5"
    );
}

#[test]
fn long_headers_are_read_as_short_ones() {
    let long = vec![b'x'; 300];
    let block = Block::new(raw_block(&[entry(0, &long, b"value")], &[0]), 0).unwrap();
    let header = block.header(0).unwrap();
    assert_eq!((header.shared, header.non_shared, header.value_len, header.len), (0, 300, 5, 4));
    // Overlong varints: numbers in more bytes than they need.
    let overlong = [&[0x80, 0x00, 0x81, 0x80, 0x00, 0x82, 0x00][..], b"kvv"].concat();
    let block = Block::new(raw_block(&[overlong], &[0]), 0).unwrap();
    let header = block.header(0).unwrap();
    assert_eq!((header.shared, header.non_shared, header.value_len, header.len), (0, 1, 2, 7));
}

#[test]
fn lengths_that_pass_the_end_or_wrap() {
    for (non_shared, value_len) in
        [(3, 0), (0, 3), (2, 1), (u32::MAX, 3), (3, u32::MAX), (u32::MAX, u32::MAX)]
    {
        let mut bytes = vec![0];
        put_varint32(&mut bytes, non_shared);
        put_varint32(&mut bytes, value_len);
        let len = bytes.len();
        bytes.extend(b"kv");
        let block = Block::new(raw_block(&[bytes], &[0]), 7000).unwrap();
        let header = block.header(0).unwrap();
        assert_eq!(header.len, len);
        assert_eq!(
            block.ranges(0, &header).unwrap_err().to_string(),
            format!(
                "block entry at offset 7000: expected at most 2 bytes of key and value, \
                 found a key rest of {non_shared} and a value of {value_len}, in the entry at byte 0 of the block"
            )
        );
    }
}
