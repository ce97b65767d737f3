//! Inspection: the facts about tables, or bare filter blocks of `filterblock extract`, and their filters.

pub(crate) mod run;
pub(crate) mod table;

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use filterblock::table::ReadAt as _;
use filterblock::{BloomFilterPolicy, FilterBlockReader, SharedPolicy};

use crate::report::Fault;
use crate::walk::{Storage, open};

pub use run::InspectLine;
pub use table::inspect_table;

pub(crate) use run::{InspectTask, lookup_weights, missing_tables, missing_text, unreadable};

/// Of a filter block: its offsets have 32 bits.
const MAX_LEN: u64 = u32::MAX as u64;

/// Standard input if `path` is `-`. `policy`: `None` for LevelDB's.
fn read(
    path: &Path,
    policy: Option<&SharedPolicy>,
    storage: &dyn Storage,
) -> Result<FilterBlockReader<SharedPolicy>, Fault> {
    let contents = match path.as_os_str() == "-" {
        true => {
            let mut contents = Vec::new();
            io::stdin().lock().take(MAX_LEN + 1).read_to_end(&mut contents)?;
            Bytes::from(contents)
        }
        false => {
            let file = open(storage, path, false)?;
            file.read_at(0, file.len()?.min(MAX_LEN + 1) as usize)?
        }
    };
    if contents.len() as u64 > MAX_LEN {
        return Err(Fault::unexpected(format!("a filter block of at most {MAX_LEN} bytes"), "more"));
    }
    let policy = policy.cloned().unwrap_or_else(|| Arc::new(BloomFilterPolicy::new(10)));
    Ok(FilterBlockReader::new(policy, contents))
}
