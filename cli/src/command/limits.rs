//! The argument `--max-output`.

use clap::Args;
use filterblock::table::ReadOptions;
use filterblock_engine::{Engine, audit::read_options};

use crate::io::Console;

#[derive(Args)]
pub(super) struct Limits {
    /// The most bytes of blocks and keys to decode of each file, and so of one block
    ///
    /// If not given, 100 times the file's size and at least 256 MiB, and 256 MiB of one block. A
    /// block never takes more memory than it really holds, or could hold by its stored size. K, M
    /// and G behind the number stand for 2^10, 2^20 and 2^30 bytes.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    max_output: Option<u64>,
}

/// Reads a number of bytes, with a unit or without.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let text = text.strip_suffix("iB").filter(|text| text.ends_with(['K', 'M', 'G'])).unwrap_or(text);
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (text.get(..at), 1 << 10),
        Some((at, 'm' | 'M')) => (text.get(..at), 1 << 20),
        Some((at, 'g' | 'G')) => (text.get(..at), 1 << 30),
        _ => (Some(text), 1),
    };
    let number = digits.and_then(|digits| digits.parse::<u64>().ok());
    let bytes = number.and_then(|number| number.checked_mul(unit));
    bytes.ok_or_else(|| "expected a number of bytes, such as 1000000000, 900M or 2G".to_owned())
}

impl Limits {
    /// The options for reading tables within these limits.
    pub(super) fn read_options(&self) -> ReadOptions {
        let options = read_options();
        match self.max_output {
            Some(bytes) => {
                options.max_output(bytes).max_block_size(usize::try_from(bytes).unwrap_or(usize::MAX))
            }
            None => options,
        }
    }

    /// An engine with these limits, whose work the console's meter counts.
    pub(super) fn engine(&self, console: &Console) -> Engine {
        let engine = Engine::new().meter(console.meter());
        match self.max_output {
            Some(bytes) => engine.max_output(bytes),
            None => engine,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_may_have_a_unit() {
        for (text, expected) in
            [("0", 0), ("1000", 1000), ("1k", 1024), ("3M", 3 << 20), ("2G", 2 << 30), ("5MiB", 5 << 20)]
        {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for wrong in ["", "G", "1.5G", "-1", "1GB", "1iBB", "1iB", "99999999999G", "1é", "é"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
