//! The argument `--comparator`.

use clap::ValueEnum;

/// An order of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum KeyOrder {
    /// Byte by byte (leveldb.BytewiseComparator), LevelDB's default
    Bytewise,
}
