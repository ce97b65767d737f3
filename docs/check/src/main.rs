//! Makes `docs/schema` and the tables of `docs/json.md` anew.

use std::error::Error;
use std::fs;

fn main() -> Result<(), Box<dyn Error>> {
    for (path, text) in filterblock_docs_check::files()? {
        let mut unfinished = path.clone().into_os_string();
        unfinished.push(".unfinished");
        fs::write(&unfinished, text)?;
        fs::rename(unfinished, path)?;
    }
    Ok(())
}
