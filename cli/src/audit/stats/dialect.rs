//! Which hash wrote a table's filters under LevelDB's old name, found by trying it on keys that the table holds.

use filterblock::{BashoInternalFilterPolicy, FilterBlockReader, LegacyBloomPolicy, LegacyHash};

/// LevelDB up to 1.17, and goleveldb, which still writes it.
const OLD_NAME: &str = "leveldb.BuiltinBloomFilter";

/// An internal key is not shorter: sequence number and type alone.
const SUFFIX: usize = 8;

type Reader<'a, P> = FilterBlockReader<P, &'a [u8]>;

/// The filters of a table, read by one hash: as filters of whole keys, and of the user part of internal keys.
struct Reading<'a> {
    whole: Reader<'a, LegacyBloomPolicy>,
    user_part: Reader<'a, BashoInternalFilterPolicy<LegacyBloomPolicy>>,
}

/// How many stored keys match by each hash, as whole keys and by their user part.
#[derive(Default)]
pub(super) struct Trial {
    asked: u64,
    unsigned: [u64; 2],
    signed: [u64; 2],
}

/// The readings to try.
pub(super) struct Readings<'a> {
    unsigned: Reading<'a>,
    signed: Reading<'a>,
}

impl<'a> Reading<'a> {
    fn new(hash: LegacyHash, contents: &'a [u8]) -> Self {
        let policy = LegacyBloomPolicy::new(10).with_hash(hash);
        Self {
            whole: FilterBlockReader::new(policy, contents),
            user_part: FilterBlockReader::new(BashoInternalFilterPolicy::new(policy), contents),
        }
    }

    fn matches(&self, offset: u64, key: &[u8]) -> [u64; 2] {
        // What is too short for an internal key is none.
        let user_part = key.len() >= SUFFIX && self.user_part.key_may_match(offset, key);
        [self.whole.key_may_match(offset, key), user_part].map(u64::from)
    }
}

impl<'a> Readings<'a> {
    /// `None` for filters under other names.
    pub(super) fn new(policy: &str, contents: &'a [u8]) -> Option<Self> {
        let reading = |hash| Reading::new(hash, contents);
        (policy == OLD_NAME)
            .then(|| Self { unsigned: reading(LegacyHash::Unsigned), signed: reading(LegacyHash::Signed) })
    }
}

impl Trial {
    /// Asks for a key that is stored in the data block at `offset`.
    pub(super) fn ask(&mut self, readings: &Readings<'_>, offset: u64, key: &[u8]) {
        self.asked += 1;
        for (counts, reading) in
            [(&mut self.unsigned, &readings.unsigned), (&mut self.signed, &readings.signed)]
        {
            for (count, matched) in counts.iter_mut().zip(reading.matches(offset, key)) {
                *count += matched;
            }
        }
    }

    /// The hash that denies no stored key: "either" if neither does, `None` if both do or none was asked for.
    pub(super) fn dialect(&self) -> Option<&'static str> {
        let fits = |counts: [u64; 2]| self.asked > 0 && counts.contains(&self.asked);
        match (fits(self.unsigned), fits(self.signed)) {
            (true, false) => Some("unsigned"),
            (false, true) => Some("signed"),
            (true, true) => Some("either"),
            (false, false) => None,
        }
    }
}
