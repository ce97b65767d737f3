//! Tables written through the public API: compared byte by byte, with filters, misused, and by writers that fail.

mod counts;
mod estimate;
mod faults;
mod filters;
mod layout;
mod misuse;

use filterblock::table::{Compression, TableBuilder, TableSummary, WriteOptions};
use filterblock::{FilterPolicy, Keys, Result};

fn uncompressed() -> WriteOptions {
    WriteOptions::default().compression(Compression::None)
}

fn write<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    options: WriteOptions,
    entries: impl IntoIterator<Item = (K, V)>,
) -> Result<(Vec<u8>, TableSummary)> {
    let mut table = TableBuilder::new(Vec::new(), options);
    for (key, value) in entries {
        table.add(key.as_ref(), value.as_ref())?;
    }
    Ok(table.finish()?)
}

fn entries(count: usize) -> impl Iterator<Item = (String, String)> + Clone {
    (0..count).map(|i| (format!("key{i:06}"), format!("value {i}").repeat(1 + i % 7)))
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: impl Iterator<Item = u8>) -> u32 {
    !bytes.fold(!0, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 },
        )
    })
}

/// A block as it lies in an uncompressed table: the parts, type 0, and the masked checksum.
fn block(parts: &[&[u8]]) -> Vec<u8> {
    let mut block = parts.concat();
    block.push(0);
    let crc = crc32c(block.iter().copied());
    block.extend(crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
    block
}

/// The footer, for handles whose numbers take one byte each.
fn footer(handles: [u8; 4]) -> Vec<u8> {
    let mut footer = handles.to_vec();
    footer.resize(40, 0);
    footer.extend(0xdb47_7524_8b80_fb57_u64.to_le_bytes());
    footer
}

/// The end of a block with the one restart that every block has.
const ONE_RESTART: &[u8] = &[0, 0, 0, 0, 1, 0, 0, 0];

/// A policy whose filters are its name and the number of keys.
struct CountingPolicy(&'static str);

impl FilterPolicy for CountingPolicy {
    fn name(&self) -> &str {
        self.0
    }
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        dst.extend(format!("{}{}", self.0, keys.len()).bytes());
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}
