//! The keys that a database may have.

use crate::random::Random;

/// What keys look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// 16 random bytes.
    Random,
    /// `C`, a random hash of 32 bytes and a small number, as Bitcoin's unspent outputs.
    Hashes,
    /// `key` and twelve digits, counted up.
    Counter,
    /// Coordinates of a region in two 32-bit integers, then one or two bytes for the kind of record,
    /// as Minecraft's chunks.
    Chunks,
    /// `https://host/path/number`.
    Links,
}

impl Keys {
    /// The key of a number; others have other keys.
    fn key(self, number: u64) -> Vec<u8> {
        match self {
            Self::Random => Random::for_case(1, number).bytes(16),
            Self::Hashes => {
                let mut key = vec![b'C'];
                Random::for_case(2, number / 2).fill(32, &mut key);
                key.push((number % 2) as u8);
                key
            }
            Self::Counter => format!("key{number:012}").into_bytes(),
            Self::Chunks => {
                const RECORDS: [&[u8]; 8] =
                    [b"\x2f\0", b"\x2f\x01", b"\x2f\x02", b"\x2f\x03", b"+", b",", b"1", b"6"];
                let (chunk, record) = (number / 8, number % 8);
                let (x, z) = ((chunk % 48) as i32 - 24, (chunk / 48) as i32 - 24);
                [&x.to_le_bytes()[..], &z.to_le_bytes(), RECORDS[record as usize]].concat()
            }
            Self::Links => {
                let host = number.wrapping_mul(0x9e37_79b9) % 97;
                format!("https://host{host}.example/articles/{}/{number}", number % 13).into_bytes()
            }
        }
    }

    /// The keys of the numbers below `count`, in order.
    pub(super) fn universe(self, count: u64) -> Vec<Vec<u8>> {
        let mut keys: Vec<_> = (0..count).map(|number| self.key(number)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// A value of which Snappy saves half.
pub(super) fn value(random: &mut Random, len: usize) -> Vec<u8> {
    let mut value = random.bytes(len.div_ceil(2));
    value.resize(len, b'v');
    value
}
