//! Options for reading tables, and the meaning of errors.

use filterblock::table::{ReadOptions, Table};
use filterblock::{Error, Structure, escape, policy::default_read_policies};

use crate::audit::stats::Metaindex;

/// The options for reading any table: the policies that are known, and the library's limits.
pub fn read_options() -> ReadOptions {
    ReadOptions::default().filter_policies(default_read_policies())
}

/// The default limit on the bytes decoded from a file, as a multiple of its size.
const MAX_EXPANSION: u64 = 100;
/// Or as much as one block may hold by default, if that is more.
const MIN_DECODED: u64 = 256 << 20;

/// The limit on the bytes decoded from a file of this size. `given`: the user's limit.
pub fn decode_limit(given: Option<u64>, file_size: u64) -> u64 {
    given.unwrap_or_else(|| file_size.saturating_mul(MAX_EXPANSION).max(MIN_DECODED))
}

/// The limit that it was opened with, or that of [`decode_limit`].
pub(crate) fn decode_limit_of<R>(table: &Table<R>) -> u64 {
    let given = Some(table.max_output()).filter(|&limit| limit != u64::MAX);
    decode_limit(given, table.file_size())
}

/// [`decode_limit`] for walks through tables of any size.
pub(crate) fn limit_walks(options: ReadOptions, given: Option<u64>) -> ReadOptions {
    match given {
        Some(bytes) => options.max_output(bytes),
        None => options.max_output(MIN_DECODED).max_output_factor(MAX_EXPANSION),
    }
}

pub(crate) fn decode_limit_text(limit: u64) -> String {
    format!("at most {limit} bytes of blocks and keys to decode (--max-output)")
}

/// Why filters are not used though the table may have some. Not if their policy is unknown: the metaindex names it.
pub(crate) fn filter_trouble<R>(table: &Table<R>) -> Option<&Error> {
    let is_unknown = |error: &Error| {
        let is_unsupported =
            matches!(error.without_path(), Error::Unsupported { what: Structure::FilterBlock, .. });
        is_unsupported && table.filter_name().is_some() && table.filter().is_none()
    };
    table.filter_error().filter(|error| !is_unknown(error))
}

/// The reason why a table has no filter block that can be read.
pub fn why_no_filter<R>(table: &Table<R>) -> String {
    if let Some(error) = filter_trouble(table) {
        return error.to_string();
    }
    let metaindex = Metaindex::read(table);
    let names: Vec<_> = metaindex.filter_names().map(|name| format!("\"{}\"", escape(name))).collect();
    if names.is_empty() {
        return "has no filter block".to_owned();
    }
    format!("has filters of a policy that is not known here: {}", names.join(", "))
}

/// True if bytes could not be read, which may be sound.
pub(crate) fn is_unreadable(error: &Error) -> bool {
    matches!(error.without_path(), Error::Io { .. } | Error::OutOfMemory { .. })
}

/// True if a file does not end like a table.
pub(crate) fn is_not_whole(error: &Error) -> bool {
    matches!(error.without_path(), Error::Corrupt { what: Structure::Table | Structure::Footer, .. })
}

#[cfg(test)]
mod tests {
    use filterblock::table::{Compression, TableBuilder, WriteOptions};

    use super::*;

    #[test]
    fn walks_have_the_limit_of_a_file_of_their_size() {
        for size in [0, 3 << 20] {
            let options = WriteOptions::default().compression(Compression::None);
            let mut builder = TableBuilder::new(Vec::new(), options);
            builder.add(b"k", &vec![0; size]).unwrap();
            let file = builder.finish().unwrap().0;
            for given in [None, Some(7), Some(u64::MAX)] {
                let table = Table::open(file.clone(), &limit_walks(read_options(), given)).unwrap();
                assert_eq!(table.max_output(), decode_limit(given, table.file_size()));
            }
        }
    }
}
