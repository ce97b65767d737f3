//! The names in the metaindex.

use std::borrow::Cow;

use filterblock::table::Table;

/// More names than this are counted, not listed: prefix compression lets a small file hold very
/// many.
const MAX_NAMES: usize = 16;
/// The longest name that is kept whole, in bytes.
const MAX_NAME_LEN: usize = 256;

/// The names in the metaindex.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Metaindex {
    names: Vec<Vec<u8>>,
    more: u64,
    /// The first damage. If the metaindex cannot be read at all, that is the table's filter error.
    pub error: Option<String>,
}

impl Metaindex {
    pub fn read<R>(table: &Table<R>) -> Self {
        let mut read = Self::default();
        let Some(mut entries) = table.metaindex() else { return read };
        loop {
            match entries.next() {
                Ok(false) => return read,
                Ok(true) if read.names.len() < MAX_NAMES => {
                    read.names.push(short_name(entries.key()).into_owned())
                }
                Ok(true) => read.more += 1,
                Err(error) => {
                    read.error = Some(error.without_path().to_string());
                    return read;
                }
            }
        }
    }

    /// The names as `show` makes text of each, and last the number of others.
    pub fn names<'a, T: From<String>>(&'a self, show: impl Fn(&'a [u8]) -> T) -> impl Iterator<Item = T> {
        let more = (self.more > 0).then(|| format!("... and {} more", self.more).into());
        self.names.iter().map(move |name| show(name)).chain(more)
    }

    /// The names of the policies that have filters in this table, known or not.
    pub fn filter_names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().filter_map(|name| name.strip_prefix(b"filter."))
    }
}

/// Shortens a name from a file to its start and its length, if it is longer than any that a program
/// is known to write.
pub fn short_name(name: &[u8]) -> Cow<'_, [u8]> {
    match name.split_at_checked(MAX_NAME_LEN) {
        Some((start, [_, ..])) => [start, format!("... ({} bytes)", name.len()).as_bytes()].concat().into(),
        _ => name.into(),
    }
}
