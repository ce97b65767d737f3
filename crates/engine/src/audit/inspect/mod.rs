//! Inspection: the facts about tables, or bare filter blocks of `filterblock extract`, and their filters.

pub(crate) mod run;
pub(crate) mod table;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use filterblock::{BloomFilterPolicy, FilterBlockReader, SharedPolicy};

use crate::walk::PathError;

pub use run::{InspectLine, InspectOutcome};
pub use table::inspect_table;

pub(crate) use run::{InspectSurvey, lookup_weights, missing_tables, missing_text, or_unreadable};

/// Of a filter block: its offsets have 32 bits.
const MAX_LEN: u64 = u32::MAX as u64;

/// Standard input if `path` is `-`. `policy`: `None` for LevelDB's.
fn read(path: &Path, policy: Option<&SharedPolicy>) -> Result<FilterBlockReader<SharedPolicy>, PathError> {
    let contents = if path.as_os_str() == "-" { read_all(io::stdin().lock(), 0) } else { read_file(path) };
    let policy = policy.cloned().unwrap_or_else(|| Arc::new(BloomFilterPolicy::new(10)));
    Ok(FilterBlockReader::new(policy, Bytes::from(contents?)))
}

fn read_file(path: &Path) -> Result<Vec<u8>, PathError> {
    // Opening a pipe would wait for its other end, so the type is checked first.
    if !std::fs::metadata(path)?.is_file() {
        let expected = "a regular file, or - for standard input".to_owned();
        return Err(PathError::Unexpected { expected, found: "something else".to_owned() });
    }
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    read_all(file, len)
}

fn read_all(from: impl Read, len: u64) -> Result<Vec<u8>, PathError> {
    let mut contents = Vec::new();
    let too_large = |found| {
        let expected = format!("a filter block of at most {MAX_LEN} bytes");
        Err(PathError::Unexpected { expected, found })
    };
    if len > MAX_LEN {
        return too_large(len.to_string());
    }
    from.take(MAX_LEN + 1).read_to_end(&mut contents)?;
    if contents.len() as u64 > MAX_LEN { too_large("more".to_owned()) } else { Ok(contents) }
}
