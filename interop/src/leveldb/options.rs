//! Options in the layout of `shim/abi.h`.

use super::{DatabaseOptions, TableOptions};

/// `fb_table_options`
#[repr(C)]
pub(super) struct RawTableOptions {
    block_size: u64,
    restart_interval: i32,
    compression: i32,
    bits_per_key: i32,
    internal_keys: u8,
    verify_checksums: u8,
}

impl From<&TableOptions> for RawTableOptions {
    fn from(from: &TableOptions) -> Self {
        assert!(from.restart_interval >= 1, "LevelDB asserts a restart interval of at least 1");
        Self {
            block_size: from.block_size as u64,
            restart_interval: i32::try_from(from.restart_interval).expect("a small restart interval"),
            compression: from.compression as i32,
            bits_per_key: bits_per_key(from.bits_per_key),
            internal_keys: from.internal_keys.into(),
            verify_checksums: from.verify_checksums.into(),
        }
    }
}

/// `fb_db_options`
#[repr(C)]
pub(super) struct RawDatabaseOptions {
    write_buffer_size: u64,
    max_file_size: u64,
    block_size: u64,
    compression: i32,
    bits_per_key: i32,
    reverse_order: u8,
    paranoid_checks: u8,
}

impl From<&DatabaseOptions> for RawDatabaseOptions {
    fn from(from: &DatabaseOptions) -> Self {
        Self {
            write_buffer_size: from.write_buffer_size as u64,
            max_file_size: from.max_file_size as u64,
            block_size: from.block_size as u64,
            compression: from.compression as i32,
            bits_per_key: bits_per_key(from.bits_per_key),
            reverse_order: from.reverse_order.into(),
            paranoid_checks: from.paranoid_checks.into(),
        }
    }
}

fn bits_per_key(bits: Option<u32>) -> i32 {
    bits.map_or(-1, |bits| i32::try_from(bits).expect("a small number of bits per key"))
}
