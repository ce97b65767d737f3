//! The keys that a database may have.

use crate::random::Random;

/// The form of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// 16 random bytes.
    Random,
    /// `C`, a random hash of 32 bytes and a small number, like the keys of Bitcoin's unspent outputs.
    Hashes,
    /// `key` and twelve digits, counted up.
    Counter,
    /// Coordinates of a region in two 32-bit integers, then one or two bytes for the kind of record, like the keys of
    /// Minecraft's chunks.
    Chunks,
    /// `https://host/path/number`.
    Links,
    /// Every second number, as 64 bits big-endian.
    BigEndian,
    /// Every second number, as 64 bits little-endian.
    LittleEndian,
    /// Every second number, as `%016x`.
    Hexadecimal,
    /// Every second number, as `%016d`.
    Decimal,
    /// `block/` and every second number, as `%d`.
    Blocks,
}

impl Keys {
    /// The key of a number. Different numbers have different keys.
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
            Self::BigEndian => (2 * number).to_be_bytes().to_vec(),
            Self::LittleEndian => (2 * number).to_le_bytes().to_vec(),
            Self::Hexadecimal => format!("{:016x}", 2 * number).into_bytes(),
            Self::Decimal => format!("{:016}", 2 * number).into_bytes(),
            Self::Blocks => format!("block/{}", 2 * number).into_bytes(),
        }
    }

    /// Returns the missing key that follows `key`, where every second number is stored, or else a close neighbour of
    /// `key`. `None` if keys of this form have no such neighbour.
    pub(super) fn between(self, key: &[u8], random: &mut Random) -> Option<Vec<u8>> {
        let text = |key: &[u8]| String::from_utf8(key.to_vec()).ok();
        Some(match self {
            Self::BigEndian => (u64::from_be_bytes(key.try_into().ok()?) + 1).to_be_bytes().to_vec(),
            Self::LittleEndian => (u64::from_le_bytes(key.try_into().ok()?) + 1).to_le_bytes().to_vec(),
            Self::Hexadecimal => {
                format!("{:016x}", u64::from_str_radix(&text(key)?, 16).ok()? + 1).into_bytes()
            }
            Self::Decimal => format!("{:016}", text(key)?.parse::<u64>().ok()? + 1).into_bytes(),
            Self::Blocks => {
                let number: u64 = text(key)?.strip_prefix("block/")?.parse().ok()?;
                format!("block/{}", number + 1).into_bytes()
            }
            Self::Random => {
                let mut key = key.to_vec();
                let last = key.last_mut()?;
                let distance = random.between(1, 3) as u8;
                *last = match random.below(2) {
                    0 => last.wrapping_add(distance),
                    _ => last.wrapping_sub(distance),
                };
                key
            }
            Self::Counter => {
                format!("key{:012}", text(key)?.strip_prefix("key")?.parse::<u64>().ok()? + 1).into_bytes()
            }
            Self::Links => {
                let key = text(key)?;
                let (path, number) = key.rsplit_once('/')?;
                let (number, distance) = (number.parse::<u64>().ok()?, random.between(1, 3));
                let other =
                    if random.below(2) == 0 { number + distance } else { number.checked_sub(distance)? };
                format!("{path}/{other}").into_bytes()
            }
            Self::Hashes | Self::Chunks => return None,
        })
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
