//! The names in the metaindex.

use filterblock::table::Table;

use crate::report::Name;

/// The greatest number of names that are listed; further names are only counted. Prefix compression
/// lets a small file hold very many names.
const MAX_NAMES: usize = 16;

/// The names in the metaindex.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Metaindex {
    names: Vec<Name>,
    more: u64,
    /// The first damage in the entries. `None` also if the metaindex cannot be read at all: the
    /// table's filter error then has the reason.
    pub error: Option<String>,
}

impl Metaindex {
    pub(crate) fn read<R>(table: &Table<R>) -> Self {
        let mut read = Self::default();
        let Some(mut entries) = table.metaindex() else { return read };
        loop {
            match entries.next() {
                Ok(false) => return read,
                Ok(true) if read.names.len() < MAX_NAMES => read.names.push(Name::cut(entries.key())),
                Ok(true) => read.more += 1,
                Err(error) => {
                    read.error = Some(error.without_path().to_string());
                    return read;
                }
            }
        }
    }

    /// The names, followed by the number of further names, if there are any.
    pub(crate) fn names(&self) -> Vec<Name> {
        let more = (self.more > 0).then(|| Name::cut(format!("... and {} more", self.more).as_bytes()));
        self.names.iter().cloned().chain(more).collect()
    }

    /// The names of the policies that have filters in this table, known or not, among the names
    /// that are listed.
    pub(crate) fn filter_names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().filter_map(|name| name.as_bytes().strip_prefix(b"filter."))
    }
}
