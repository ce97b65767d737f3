//! Writes Spark's DDL and DuckDB's macros beside each schema in `docs/schema`.

mod engines;

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema");
    let mut made = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let command = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let schema = serde_json::from_slice(&fs::read(&path)?)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            made.push((command.clone(), engines::files(&command, &schema)?));
        }
    }
    for (command, texts) in made {
        for (ending, text) in engines::ENDINGS.into_iter().zip(texts) {
            let unfinished = folder.join(format!("{command}.{ending}.unfinished"));
            fs::write(&unfinished, text)?;
            fs::rename(unfinished, folder.join(format!("{command}.{ending}")))?;
        }
    }
    Ok(())
}
