//! Comparisons of the library and the program with LevelDB itself.
//!
//! [`leveldb`] is a safe wrapper of LevelDB, compiled from Debian's source, including its internal
//! filter block classes. The programs in `src/bin` and the tests compare the library with it;
//! `generate-testdata` writes LevelDB's files in `testdata/`.

pub mod compare;
pub mod conformance;
pub mod counting;
pub mod crash;
pub mod goleveldb;
pub mod leveldb;
pub mod sparse;

pub use filterblock_crash_states::random;

use std::fmt::Write as _;

/// Returns bytes as lowercase hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("strings take everything");
        text
    })
}
