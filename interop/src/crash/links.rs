//! Files that LevelDB may write to, under another name as well.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use filterblock::database::{FileKind, Manifest};
use filterblock_crash_states::Tree;

/// Fails if a file of the database that LevelDB may take for a new one of its own has another name. LevelDB gives new
/// files numbers from the MANIFEST's next one on, and empties a file that has such a name: it would empty the file of
/// the other name.
pub fn check_links(tree: &Tree, database: &str) -> Result<()> {
    let folder = Path::new(database);
    let current = String::from_utf8_lossy(tree.contents(&folder.join("CURRENT"))?).into_owned();
    let manifest = tree.contents(&folder.join(current.trim_end()))?;
    let next = Manifest::parse(manifest).context("the MANIFEST")?.next_file_number();
    let listing = tree.listing();
    let mut names: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for (path, entry) in &listing {
        if let Some((first, _)) = &entry.file {
            names.entry(first).or_default().push(path);
        }
    }
    for paths in names.values().filter(|paths| paths.len() > 1) {
        for path in paths.iter().filter(|path| path.parent() == Some(folder)) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = FileKind::parse(name).map_or(0, |(_, number)| number);
            ensure!(number < next, "{name}, which LevelDB may use from {next} on, is one of {paths:?}");
        }
    }
    Ok(())
}
