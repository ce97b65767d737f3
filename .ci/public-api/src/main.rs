//! Compares two public interfaces, given as rustdoc's JSON, and prints what the second one lacks, changes and adds.

use std::error::Error;
use std::{env, io, process};

use public_api::diff::PublicApiDiff;
use public_api::{Builder, PublicApi};

fn interface(path: &str) -> Result<PublicApi, Box<dyn Error>> {
    Ok(Builder::from_rustdoc_json(path).omit_blanket_impls(true).omit_auto_trait_impls(true).build()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = env::args().skip(1).collect();
    let [before, after] = paths.as_slice() else {
        return Err(io::Error::other("expected two files of rustdoc's JSON").into());
    };
    let (before, after) = (interface(before)?, interface(after)?);
    let items = after.items().count();
    if items < 100 {
        eprintln!("expected at least 100 public items, found {items}");
        process::exit(1);
    }
    let diff = PublicApiDiff::between(before, after);
    for item in &diff.removed {
        println!("- {item}");
    }
    for changed in &diff.changed {
        println!("- {}\n+ {}", changed.old, changed.new);
    }
    for item in &diff.added {
        println!("+ {item}");
    }
    let (removed, changed, added) = (diff.removed.len(), diff.changed.len(), diff.added.len());
    println!("{items} public items: {removed} removed, {changed} changed, {added} new");
    Ok(())
}
