//! Files that LevelDB may empty and that have a second name.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use filterblock::database::{FileKind, Manifest};
use filterblock_crash_states::Tree;

/// Fails if a file that LevelDB may overwrite has a second name. LevelDB numbers new files from the MANIFEST's next
/// number on. It empties existing files of these names, which also empties the file under its second name.
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
