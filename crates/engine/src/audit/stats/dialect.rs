//! The hash of filters under LevelDB's old policy name: tries both hashes on stored keys.

use filterblock::{BashoInternalFilterPolicy, FilterBlockReader, LegacyBloomPolicy, LegacyHash};

use crate::{audit::key_encoding::is_internal, report::Dialect};

/// In LevelDB up to 1.17, and in goleveldb, which still writes it.
pub(crate) const LEGACY_POLICY_NAME: &str = "leveldb.BuiltinBloomFilter";

pub(super) type Reader<'a, P> = FilterBlockReader<P, &'a [u8]>;

/// Filters read with one hash: of whole keys, and of the user part of internal keys.
struct HashReader<'a> {
    whole: Reader<'a, LegacyBloomPolicy>,
    user_part: Reader<'a, BashoInternalFilterPolicy<LegacyBloomPolicy>>,
}

pub(super) struct HashReaders<'a> {
    unsigned: HashReader<'a>,
    signed: HashReader<'a>,
}

/// Counts stored keys that match with each hash, as whole keys and by their user part.
#[derive(Default, PartialEq, Eq, Debug)]
pub(super) struct HashTrial {
    asked: u64,
    unsigned: [u64; 2],
    signed: [u64; 2],
}

impl<'a> HashReader<'a> {
    fn new(hash: LegacyHash, contents: &'a [u8]) -> Self {
        let policy = LegacyBloomPolicy::new(10).with_hash(hash);
        Self {
            whole: FilterBlockReader::new(policy, contents),
            user_part: FilterBlockReader::new(BashoInternalFilterPolicy::new(policy), contents),
        }
    }

    fn matches(&self, offset: u64, key: &[u8]) -> [u64; 2] {
        // The wrapping policy lets keys match that are too short for internal keys.
        let user_part = is_internal(key) && self.user_part.key_may_match(offset, key);
        [self.whole.key_may_match(offset, key), user_part].map(u64::from)
    }
}

impl<'a> HashReaders<'a> {
    /// Read with the hash that fits; with the unsigned one if both fit or neither.
    pub(super) const fn by(&self, fitting: Option<Dialect>) -> &Reader<'a, LegacyBloomPolicy> {
        match fitting {
            Some(Dialect::Signed) => &self.signed.whole,
            _ => &self.unsigned.whole,
        }
    }

    /// `None`: another policy.
    pub(super) fn new(policy: &str, contents: &'a [u8]) -> Option<Self> {
        let reader = |hash| HashReader::new(hash, contents);
        (policy == LEGACY_POLICY_NAME)
            .then(|| Self { unsigned: reader(LegacyHash::Unsigned), signed: reader(LegacyHash::Signed) })
    }
}

impl HashTrial {
    /// `key`: stored in the data block at `offset`.
    pub(super) fn ask(&mut self, readers: &HashReaders<'_>, offset: u64, key: &[u8]) {
        self.asked += 1;
        for (counts, reader) in [(&mut self.unsigned, &readers.unsigned), (&mut self.signed, &readers.signed)]
        {
            for (count, matched) in counts.iter_mut().zip(reader.matches(offset, key)) {
                *count += matched;
            }
        }
    }

    /// The hash with which no stored key is hidden; `Either`: both. `None`: neither, or no key was checked.
    pub(super) fn fitting(&self) -> Option<Dialect> {
        let fits = |counts: [u64; 2]| self.asked > 0 && counts.contains(&self.asked);
        match (fits(self.unsigned), fits(self.signed)) {
            (true, false) => Some(Dialect::Unsigned),
            (false, true) => Some(Dialect::Signed),
            (true, true) => Some(Dialect::Either),
            (false, false) => None,
        }
    }
}
