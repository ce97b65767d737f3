//! Looks for crashes of the crate `sstable` in tables damaged by seed. Each table is read in a process of its own.
//!
//! ```text
//! cargo run --release --example sstable                # for a minute
//! cargo run --release --example sstable for SECONDS
//! cargo run --release --example sstable seed NUMBER    # one input again
//! ```

use std::collections::HashSet;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, io};

use filterblock_fuzz::Damager;
use filterblock_fuzz::table::{Damage, samples};
use sstable::{Options, SSIterator as _, Table};

/// Opens the table, walks through it, and asks for a key.
fn read(file: Vec<u8>) {
    let len = file.len();
    let Ok(table) = Table::new(Options::default(), Box::new(file), len) else { return };
    let mut entries = table.iter();
    while entries.next().is_some() {}
    let _ = table.get(b"key007");
}

/// Tries one seed after the other, and prints the first crash at each place.
fn hunt(limit: Duration) -> io::Result<()> {
    let (program, start, mut places) = (env::current_exe()?, Instant::now(), HashSet::new());
    for seed in 0_u64.. {
        if start.elapsed() >= limit {
            println!("{seed} inputs, crashes at {} places", places.len());
            break;
        }
        let run =
            Command::new(&program).args(["seed", &seed.to_string()]).env("RUST_BACKTRACE", "0").output()?;
        let said = String::from_utf8_lossy(&run.stderr);
        // "thread 'main' (7) panicked at PATH:LINE:COLUMN:" and the message or, if memory runs out, only a message.
        let (place, message) = match said.split_once("panicked at ") {
            Some((_, panic)) => panic.split_once('\n').unwrap_or((panic, "")),
            None => ("", &said[..]),
        };
        if !run.status.success() && places.insert(place.to_owned()) {
            let place = place.find("sstable-").map_or(place, |at| &place[at..]);
            let message = message.lines().next().unwrap_or_default();
            println!("{:.1?}, seed {seed}: {}: {place} {message}", start.elapsed(), run.status);
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let number = words.get(1).map_or(60, |text| text.parse().expect("a number"));
    if words.first().is_none_or(|word| word == "for") {
        return hunt(Duration::from_secs(number));
    }
    let table = samples()[0].assemble(Some(11), Damage::Nothing);
    read(Damager::new(&table).damage(number));
    Ok(())
}
