//! Generates `docs/schema` and the tables of `docs/json.md`. With `--check`, writes nothing, and fails if a file is
//! outdated.

use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let check = match env::args().nth(1).as_deref() {
        None => false,
        Some("--check") => true,
        Some(other) => return Err(format!("expected nothing or --check, found {other}").into()),
    };
    for (path, text) in filterblock_docs_check::files()? {
        if check {
            if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
                return Err(format!("{} is outdated: run `cargo run` in docs/check", path.display()).into());
            }
            continue;
        }
        let mut unfinished = path.clone().into_os_string();
        unfinished.push(".unfinished");
        fs::write(&unfinished, text)?;
        fs::rename(unfinished, path)?;
    }
    Ok(())
}
