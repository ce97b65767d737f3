//! What is said of a folder that cannot be read as a database of LevelDB's.

use filterblock::{OtherFormat, escape_path};

use super::path_word;
use crate::walk::FoundFormat;

/// Logs to name.
const NAMED: usize = 4;

/// What is good to know of another format.
pub fn format_details(found: &FoundFormat) -> Vec<String> {
    let logs = found.plain_logs();
    let [begin, have, are] = match logs {
        Some(_) => ["Its files begin", "Its files have", "They are not damaged, but have"],
        None => ["It begins", "It has", "It is not damaged, but has"],
    };
    let mut details = vec![match found.format() {
        OtherFormat::NetEase => format!(
            "{begin} with 80 1D 30 01. {are} to be decrypted before this or any other program can read them."
        ),
        OtherFormat::NetEaseOlder => format!("{begin} with 90 1D 30 01. The key is not in the world."),
        OtherFormat::Marketplace => format!(
            "{have} FC B9 CF 9B at offset 4. Only the game of an account that owns the world has the key."
        ),
        OtherFormat::RocksDb => {
            "filterblock reads LevelDB. For RocksDB there are its own tools: ldb, sst_dump.".to_owned()
        }
        _ => "filterblock reads LevelDB. For Pebble there is its own tool: pebble.".to_owned(),
    }];
    if let Some(logs @ [first, ..]) = logs {
        let names = logs.iter().take(NAMED).filter_map(|log| log.file_name());
        let mut names: Vec<_> = names.map(|name| escape_path(name).to_string()).collect();
        names.extend((logs.len() > NAMED).then(|| "…".to_owned()));
        let whose = if logs.len() == 1 { "its" } else { "their" };
        let names = names.join(", ");
        let first = path_word(first);
        details.push(format!("Not encrypted: {names}. To see {whose} writes: filterblock scan {first}"));
    }
    details
}
