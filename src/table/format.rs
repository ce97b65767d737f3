//! Handles and the footer (LevelDB's `table/format.h`, `table/format.cc`), and the origin of a table, as far as
//! the names in its metaindex reveal it.
//!
//! The page of `filterblock::table` describes the layout of handles and footer.

use crate::bytes::coding::{
    MAX_VARINT64_LEN, VarintError, fixed64_at, get_short, get_varint64, put_fixed64, put_varint64,
};
use crate::{Error, Origin, Result, Structure};

/// The length of the trailer after each block: the compression type and the checksum.
pub(crate) const TRAILER_LEN: usize = 5;

/// The prefix of a filter's name in the metaindex. The policy's name follows it.
pub(crate) const FILTER_PREFIX: &[u8] = b"filter.";

/// The room for handles in the footer: two handles of the greatest length, which are four varints.
const HANDLES_LEN: usize = 4 * MAX_VARINT64_LEN;

/// Magics of formats whose tables are laid out differently, as fixed64.
const OTHER_MAGICS: [(u64, &str); 2] = [
    (0x88e2_41b7_85f4_cff7, "RocksDB's"),
    (u64::from_le_bytes(*b"\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3"), "Pebble's"),
];

/// The location of a block in its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockHandle {
    /// The offset of the block's first byte, in bytes from the start of the file.
    pub offset: u64,
    /// The length of the block's contents as stored, in bytes. The five bytes of compression type
    /// and checksum after them are not counted.
    pub size: u64,
}

impl BlockHandle {
    /// The greatest length of an encoded handle, in bytes.
    pub const MAX_ENCODED_LEN: usize = 2 * MAX_VARINT64_LEN;

    /// Appends the handle to `dst`: two varints, 2 to 20 bytes.
    pub fn encode(&self, dst: &mut Vec<u8>) {
        put_varint64(dst, self.offset);
        put_varint64(dst, self.size);
    }

    /// Reads the handle at the start of `bytes`. Returns it with the number of bytes it takes;
    /// bytes after it are ignored.
    ///
    /// `at` is the offset of `bytes` in the file, for error messages only. The block may be outside
    /// the file: that is not checked here.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if `bytes` does not begin with two varints of up to 64 bits and ten bytes
    /// each. LevelDB drops excess bits; here they are an error.
    #[inline]
    pub fn decode(bytes: &[u8], at: u64) -> Result<(Self, usize)> {
        match Self::decode_short(bytes) {
            Some(handle) => Ok(handle),
            None => Self::decode_long(bytes, at),
        }
    }

    /// Like [`decode`](Self::decode), but only if neither number takes more than eight bytes and at least eight bytes
    /// follow the offset. Otherwise `None`.
    #[inline(always)]
    pub(in crate::table) fn decode_short(bytes: &[u8]) -> Option<(Self, usize)> {
        let (offset, offset_len) = get_short(bytes)?;
        let (size, size_len) = get_short(bytes.get(offset_len..)?)?;
        Some((Self { offset, size }, offset_len.wrapping_add(size_len)))
    }

    #[inline(never)]
    fn decode_long(bytes: &[u8], at: u64) -> Result<(Self, usize)> {
        let (offset, offset_len) = varint(bytes, at, "an offset of 1 to 10 bytes")?;
        let rest = bytes.get(offset_len..).unwrap_or_default();
        let (size, size_len) = varint(rest, at.saturating_add(offset_len as u64), "a size of 1 to 10 bytes")?;
        Ok((Self { offset, size }, offset_len.saturating_add(size_len)))
    }

    /// The offset of the first byte after the block and its five-byte trailer, or `None` if that
    /// is beyond 64 bits.
    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.size)?.checked_add(TRAILER_LEN as u64)
    }
}

fn varint(bytes: &[u8], at: u64, expected: &'static str) -> Result<(u64, usize)> {
    get_varint64(bytes).map_err(|error| bad_varint(error, at, expected))
}

#[cold]
fn bad_varint(error: VarintError, at: u64, expected: &'static str) -> Error {
    Error::corrupt(Structure::BlockHandle, at, expected, error.to_string())
}

/// The last 48 bytes of a table, which lead to everything else in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footer {
    /// The metaindex, which names filter blocks.
    pub metaindex: BlockHandle,
    /// The index, which has the handles of the data blocks.
    pub index: BlockHandle,
}

impl Footer {
    /// The length of the footer in bytes.
    pub const LEN: usize = HANDLES_LEN + 8;

    /// The number that ends every table, as fixed64.
    pub const MAGIC: u64 = 0xdb47_7524_8b80_fb57;

    /// Appends the footer, 48 bytes, to `dst`.
    pub fn encode(&self, dst: &mut Vec<u8>) {
        let start = dst.len();
        self.metaindex.encode(dst);
        self.index.encode(dst);
        dst.resize(start.saturating_add(HANDLES_LEN), 0);
        put_fixed64(dst, Self::MAGIC);
    }

    /// Reads the footer at the start of `bytes`. It has no checksum: if its handles are damaged, the blocks that they lead
    /// to seem to be. They may lead outside the file.
    ///
    /// `at` is the offset of `bytes` in the file, for error messages only.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if there are fewer than 48 bytes, the last of them are not the magic, or the first are
    /// not two handles. [`Error::Unsupported`] for the magic of RocksDB or Pebble.
    pub fn decode(bytes: &[u8], at: u64) -> Result<Self> {
        let (Some(handles), Some(magic)) = (bytes.get(..HANDLES_LEN), fixed64_at(bytes, HANDLES_LEN)) else {
            return Err(Error::corrupt(
                Structure::Footer,
                at,
                format!("{} bytes", Self::LEN),
                format!("{} bytes", bytes.len()),
            ));
        };
        check_magic(magic, at.saturating_add(HANDLES_LEN as u64))?;
        let (metaindex, len) = BlockHandle::decode(handles, at)?;
        let rest = handles.get(len..).unwrap_or_default();
        let (index, _) = BlockHandle::decode(rest, at.saturating_add(len as u64))?;
        Ok(Self { metaindex, index })
    }
}

fn check_magic(magic: u64, at: u64) -> Result<()> {
    if magic == Footer::MAGIC {
        return Ok(());
    }
    let expected = format!("magic {:#018x}", Footer::MAGIC);
    Err(match OTHER_MAGICS.iter().find(|(other, _)| *other == magic) {
        Some((_, whose)) => Error::Unsupported {
            what: Structure::Footer,
            offset: at,
            expected: expected.into(),
            found: format!("{whose} magic {magic:#018x}").into(),
        },
        None => Error::corrupt(Structure::Footer, at, expected, format!("{magic:#018x}")),
    })
}

/// The prefixes in RocksDB's names for filters of the whole table, stored in one part or in several.
/// The policy's name follows them.
const WHOLE_TABLE_PREFIXES: [&[u8]; 2] = [b"fullfilter.", b"partitionedfilter."];

/// The origin that `name`, a key of the metaindex, indicates, or `None` if `name` is not a mark.
pub(super) fn origin_of_name(name: &[u8]) -> Option<Origin> {
    let is_rocksdb =
        name.starts_with(b"rocksdb.") || name.starts_with(b"filter.rocksdb.") || is_whole_table_filter(name);
    match name {
        b"stats.sst1" => Some(Origin::Basho),
        _ if is_rocksdb => Some(Origin::RocksDb),
        _ => None,
    }
}

/// Returns true if `name`, a key of the metaindex, belongs to a RocksDB filter of the whole table,
/// which is not a filter block.
pub(super) fn is_whole_table_filter(name: &[u8]) -> bool {
    WHOLE_TABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_come_back_whatever_follows_them() {
        for offset in [0, 1, 127, 128, 1 << 40, u64::MAX] {
            for size in [0, 1, 127, 128, 1 << 40, u64::MAX] {
                let handle = BlockHandle { offset, size };
                let mut bytes = Vec::new();
                handle.encode(&mut bytes);
                let len = bytes.len();
                assert!(len <= BlockHandle::MAX_ENCODED_LEN);
                bytes.extend(b"\xff\xff");
                assert_eq!(BlockHandle::decode(&bytes, 0).unwrap(), (handle, len));
            }
        }
        assert_eq!(BlockHandle { offset: u64::MAX, size: 0 }.end(), None);
        assert_eq!(BlockHandle { offset: u64::MAX - 5, size: 1 }.end(), None);
        assert_eq!(BlockHandle { offset: u64::MAX - 6, size: 1 }.end(), Some(u64::MAX));
    }

    #[test]
    fn broken_handles_say_where_they_break() {
        let error = |bytes: &[u8]| BlockHandle::decode(bytes, 1000).unwrap_err().to_string();
        assert_eq!(
            error(b""),
            "block handle at offset 1000: expected an offset of 1 to 10 bytes, found an end within a varint"
        );
        assert_eq!(
            error(b"\x80\x01\x80"),
            "block handle at offset 1002: expected a size of 1 to 10 bytes, found an end within a varint"
        );
        assert_eq!(
            error(&[0x80; 11]),
            "block handle at offset 1000: expected an offset of 1 to 10 bytes, found a varint with too many bytes"
        );
        assert_eq!(
            error(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03, 0]),
            "block handle at offset 1000: expected an offset of 1 to 10 bytes, found a varint with too many bits"
        );
    }

    #[test]
    fn the_footer_has_48_bytes_and_ends_in_the_magic() {
        let footer = Footer {
            metaindex: BlockHandle { offset: 300, size: 8 },
            index: BlockHandle { offset: 313, size: 20 },
        };
        let mut bytes = b"before".to_vec();
        footer.encode(&mut bytes);
        let bytes = &bytes[6..];
        assert_eq!(bytes[..6], [0xac, 0x02, 8, 0xb9, 0x02, 20]);
        assert!(bytes[6..40].iter().all(|&byte| byte == 0));
        assert_eq!(bytes[40..], [0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb]);
        assert_eq!(Footer::decode(bytes, 0).unwrap(), footer);

        let longest = BlockHandle { offset: u64::MAX, size: u64::MAX };
        let longest = Footer { metaindex: longest, index: longest };
        let mut bytes = Vec::new();
        longest.encode(&mut bytes);
        assert_eq!(bytes.len(), Footer::LEN);
        assert_eq!(Footer::decode(&bytes, 0).unwrap(), longest);
    }

    #[test]
    fn what_is_no_footer_is_refused() {
        let mut bytes = Vec::new();
        Footer { metaindex: BlockHandle::default(), index: BlockHandle::default() }.encode(&mut bytes);
        for len in 0..Footer::LEN {
            let error = Footer::decode(&bytes[..len], 7).unwrap_err().to_string();
            assert_eq!(error, format!("footer at offset 7: expected 48 bytes, found {len} bytes"));
        }
        bytes[47] ^= 1;
        assert_eq!(
            Footer::decode(&bytes, 100).unwrap_err().to_string(),
            "footer at offset 140: expected magic 0xdb4775248b80fb57, found 0xda4775248b80fb57"
        );
        bytes[40..].copy_from_slice(&[0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88]);
        assert_eq!(
            Footer::decode(&bytes, 100).unwrap_err().to_string(),
            "footer at offset 140: expected magic 0xdb4775248b80fb57, \
             found RocksDB's magic 0x88e241b785f4cff7, which is not supported"
        );
        bytes[40..].copy_from_slice("🪳🪳".as_bytes());
        assert!(matches!(Footer::decode(&bytes, 100), Err(Error::Unsupported { .. })));
    }
}
