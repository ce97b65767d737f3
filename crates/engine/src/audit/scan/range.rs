//! The request for a scan, with the range of keys to show, in bytewise order, and the outcome.

/// The bounds of the keys to show. A key has to be within all of them. `None`: there is no such bound.
#[derive(Clone, Debug, Default)]
pub struct KeyRange {
    /// The bytes that all keys begin with.
    pub prefix: Option<Vec<u8>>,
    /// The lower bound of the range, which is part of it.
    pub from: Option<Vec<u8>>,
    /// The upper bound of the range, which is not part of it.
    pub to: Option<Vec<u8>>,
}

impl KeyRange {
    /// The first key that may be in the range. `None`: the range has no lower bound.
    pub fn start(&self) -> Option<&[u8]> {
        self.prefix.as_deref().max(self.from.as_deref())
    }

    /// Returns true if `key` lies in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.prefix.as_ref().is_none_or(|prefix| key.starts_with(prefix))
            && self.from.as_ref().is_none_or(|from| from.as_slice() <= key)
            && !self.is_past_end(key)
    }

    /// Returns true if neither `key` nor any key after it is in the range.
    pub fn is_past(&self, key: &[u8]) -> bool {
        let is_past_prefix = |prefix: &Vec<u8>| prefix.as_slice() < key && !key.starts_with(prefix);
        self.is_past_end(key) || self.prefix.as_ref().is_some_and(is_past_prefix)
    }

    fn is_past_end(&self, key: &[u8]) -> bool {
        self.to.as_ref().is_some_and(|to| to.as_slice() <= key)
    }
}

/// The entries to show.
#[derive(Clone, Debug, Default)]
pub struct ScanRequest {
    /// Shows every version of each key and every deletion. Otherwise, shows the newest version of each key, unless it
    /// is a deletion; a log that is shown by itself leaves out deletions only.
    pub all: bool,
    /// Finds the data blocks of tables by their checksums, without footer and index.
    #[cfg(feature = "fs")]
    pub carve: bool,
    /// Corrects one wrong bit of each block, and of each fragment of logs and MANIFESTs, if the checksum tells which.
    #[cfg(feature = "fs")]
    pub correct: bool,
    /// The range of keys to show.
    pub range: KeyRange,
    /// The greatest number of entries to show; `None`: all entries.
    pub limit: Option<u64>,
    /// True if the keys of tables that are shown one by one are internal keys. `None`: the keys of a database's tables
    /// are internal keys; for other tables, their filters or first keys decide.
    pub internal_keys: Option<bool>,
}

// Without the feature `fs`, nothing is compiled for what cannot be asked for: these functions are constant there.
impl ScanRequest {
    pub(super) const fn carves(&self) -> bool {
        #[cfg(feature = "fs")]
        return self.carve;
        #[cfg(not(feature = "fs"))]
        false
    }

    pub(super) const fn corrects(&self) -> bool {
        #[cfg(feature = "fs")]
        return self.correct;
        #[cfg(not(feature = "fs"))]
        false
    }
}
