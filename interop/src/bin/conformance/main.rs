//! The conformance suite: makes the cases, and asks implementations.

mod page;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::{Parser, Subcommand};
use filterblock_interop::conformance::generate;
use serde_json::Value;

/// Makes the cases of the conformance suite, and asks implementations.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Replace the files in `conformance/cases` by LevelDB's answers of today
    Generate,
    /// Ask implementations, and print each answer that is not LevelDB's
    Run {
        /// Implementations to ask; all unless given
        implementations: Vec<String>,
        /// Ask this case alone, and print it with each answer
        #[arg(long)]
        case: Option<String>,
    },
    /// Ask all implementations, and put the table into `docs/conformance.md`
    Page,
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Generate => generate(),
        Command::Run { implementations, case } => page::list(&implementations, case.as_deref()),
        Command::Page => page::write(),
    }
}

/// The folder of the cases.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("conformance").join("cases")
}

/// Finds the program beside this one that answers for the implementations that this package links.
fn runner_program() -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("conformance-runner");
    ensure!(
        program.exists(),
        "{} is not built: cargo build --release -p filterblock-interop",
        program.display()
    );
    Ok(program)
}

fn generate() -> Result<()> {
    let files = generate::files(&runner_program()?)?;
    fs::create_dir_all(folder())?;
    for (name, lines) in files {
        println!("{name}: {} cases", lines.lines().count());
        fs::write(folder().join(name), lines)?;
    }
    Ok(())
}

/// Reads all cases: for each file, its name without the extension, and its cases.
fn cases() -> Result<Vec<(String, Vec<Value>)>> {
    let mut files: Vec<_> = fs::read_dir(folder())?.collect::<std::io::Result<_>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    let read = |file: fs::DirEntry| {
        let text = fs::read_to_string(file.path())?;
        let cases = text.lines().map(serde_json::from_str).collect::<serde_json::Result<_>>()?;
        let name = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, cases))
    };
    files.into_iter().map(read).collect()
}
