//! Writing blocks and their trailers, one after another (`WriteBlock` and `WriteRawBlock` of
//! LevelDB's `table/table_builder.cc`).

use std::io::{self, Write};

use crate::error::IoAction;
use crate::table::block::BlockBuilder;
use crate::table::block::trailer;
use crate::table::codec::{Compression, Compressor};
use crate::table::format::{BlockHandle, Footer, TRAILER_LEN};
use crate::{Error, Result};

/// Writes blocks and the footer to `writer`, and counts the bytes. After an error the file is lost,
/// since part of a block may be in it.
pub(in crate::table) struct BlockWriter<W> {
    writer: W,
    offset: u64,
    compression: Compression,
    compressor: Compressor,
}

impl<W: Write> BlockWriter<W> {
    pub(in crate::table) fn new(writer: W, compression: Compression) -> Self {
        Self { writer, offset: 0, compression, compressor: Compressor::new() }
    }

    /// The number of bytes written, which is the offset of the next block.
    pub(in crate::table) fn offset(&self) -> u64 {
        self.offset
    }

    /// Writes a block of entries, compressed if that pays, and resets `block` for the next block.
    pub(in crate::table) fn write_block(&mut self, block: &mut BlockBuilder) -> Result<BlockHandle> {
        let contents = block.finish();
        let handle = match self.compressor.compress(self.compression, contents) {
            Some(compressed) => {
                write_stored(&mut self.writer, &mut self.offset, compressed, self.compression)
            }
            None => write_stored(&mut self.writer, &mut self.offset, contents, Compression::None),
        }?;
        block.reset();
        Ok(handle)
    }

    /// Writes a block that does not consist of entries, uncompressed. Leaves its trailer appended
    /// to `contents`.
    pub(in crate::table) fn write_raw(&mut self, contents: &mut Vec<u8>) -> Result<BlockHandle> {
        write_stored(&mut self.writer, &mut self.offset, contents, Compression::None)
    }

    /// Writes a block as another table has stored it, with its trailer.
    pub(in crate::table) fn write_stored(&mut self, block: &[u8]) -> Result<BlockHandle> {
        let size = (block.len() as u64).saturating_sub(TRAILER_LEN as u64);
        let handle = BlockHandle { offset: self.offset, size };
        write_all(&mut self.writer, &mut self.offset, block)?;
        Ok(handle)
    }

    /// Writes the footer and flushes the writer. Nothing may follow.
    pub(in crate::table) fn finish(&mut self, footer: &Footer) -> Result<()> {
        let mut bytes = Vec::new();
        footer.encode(&mut bytes);
        write_all(&mut self.writer, &mut self.offset, &bytes)?;
        self.flush()
    }

    pub(in crate::table) fn flush(&mut self) -> Result<()> {
        self.writer.flush().map_err(|error| Error::io(IoAction::Flush, self.offset, error))
    }

    pub(in crate::table) fn into_writer(self) -> W {
        self.writer
    }
}

/// Writes contents and trailer together, so that a block takes one call of `write` if the writer
/// accepts all of its bytes.
fn write_stored(
    writer: &mut impl Write,
    offset: &mut u64,
    contents: &mut Vec<u8>,
    compression: Compression,
) -> Result<BlockHandle> {
    let handle = BlockHandle { offset: *offset, size: contents.len() as u64 };
    let trailer = trailer(contents, compression.id());
    contents.extend_from_slice(&trailer);
    write_all(writer, offset, contents)?;
    Ok(handle)
}

/// Writes all of `bytes` as [`Write::write_all`] does, and counts them. If a writer reports to have
/// written more than it was given, that is an error, not a panic.
fn write_all(writer: &mut impl Write, offset: &mut u64, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        let error = match writer.write(bytes) {
            Ok(0) => io::ErrorKind::WriteZero.into(),
            Ok(len) => match bytes.get(len..) {
                Some(rest) => {
                    bytes = rest;
                    *offset = offset.saturating_add(len as u64);
                    continue;
                }
                None => io::Error::other(format!(
                    "the writer claims to have written {len} bytes of {}",
                    bytes.len()
                )),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => error,
        };
        return Err(Error::io(IoAction::Write { len: bytes.len() as u64 }, *offset, error));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets around the limits of 32 bits, signed and unsigned, and beyond.
    #[test]
    fn blocks_beyond_4_gib_are_written_where_they_are() {
        for offset in [(1 << 31) - 5, (1 << 32) - 20, (1 << 32) - 5, 1 << 32, 1 << 40] {
            let mut writer = BlockWriter::new(Vec::new(), Compression::None);
            writer.offset = offset;
            let mut at = offset;
            for contents in [&b"first"[..], b"", b"the third"] {
                let handle = writer.write_raw(&mut contents.to_vec()).unwrap();
                assert_eq!(handle, BlockHandle { offset: at, size: contents.len() as u64 });
                at += contents.len() as u64 + 5;
                assert_eq!(writer.offset(), at);
            }
            let mut block = BlockBuilder::new(1);
            block.add(b"key", b"value");
            assert_eq!(writer.write_block(&mut block).unwrap(), BlockHandle { offset: at, size: 19 });
            writer
                .finish(&Footer { metaindex: BlockHandle::default(), index: BlockHandle::default() })
                .unwrap();
            assert_eq!(writer.offset(), at + 24 + 48);
            assert_eq!(writer.into_writer().len() as u64, at + 24 + 48 - offset);
        }
    }
}
