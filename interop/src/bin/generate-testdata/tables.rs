//! Bare tables by `leveldb::TableBuilder`, and a listing for each set of entries.

use std::fs;
use std::path::Path;

use anyhow::Result;
use filterblock_interop::leveldb::{Compression, Entries, TableOptions, build_table};

use crate::sets::{self, Set};
use crate::text::{Text, hex, value_of};

const NONE: Compression = Compression::None;
const SNAPPY: Compression = Compression::Snappy;

pub(crate) fn write(folder: &Path) -> Result<()> {
    set(
        folder,
        "words",
        &sets::words(),
        &[
            options(256, Some(10), NONE),
            options(1024, Some(20), SNAPPY),
            options(4096, Some(10), SNAPPY),
            options(4096, Some(1), NONE),
            options(4096, None, NONE),
            options(4096, None, SNAPPY),
            TableOptions { restart_interval: 1, ..options(2048, Some(10), NONE) },
        ],
    )?;
    set(
        folder,
        "binary",
        &sets::binary(),
        &[
            options(256, Some(10), NONE),
            options(512, Some(1), SNAPPY),
            options(4096, Some(20), SNAPPY),
            options(1024, None, NONE),
        ],
    )?;
    set(folder, "dense", &sets::dense(), &[options(256, Some(10), NONE), options(256, Some(10), SNAPPY)])?;
    set(
        folder,
        "large",
        &sets::large(),
        &[
            options(65536, Some(10), NONE),
            options(65536, Some(10), SNAPPY),
            options(65536, None, SNAPPY),
            options(4096, Some(20), SNAPPY),
        ],
    )?;
    set(folder, "noise", &sets::noise(), &[options(2048, Some(10), SNAPPY)])?;
    let single = Set::from([(Vec::new(), 5)]);
    set(folder, "single", &single, &[options(4096, Some(10), NONE), options(4096, None, NONE)])?;
    set(folder, "empty", &Set::new(), &[options(4096, Some(10), NONE), options(4096, None, NONE)])?;
    versions(
        folder,
        &[options(512, Some(10), NONE), options(4096, Some(10), SNAPPY), options(1024, None, SNAPPY)]
            .map(|options| TableOptions { internal_keys: true, ..options }),
    )
}

fn options(block_size: usize, bits_per_key: Option<u32>, compression: Compression) -> TableOptions {
    TableOptions { block_size, bits_per_key, compression, ..TableOptions::default() }
}

fn set(folder: &Path, name: &str, set: &Set, tables: &[TableOptions]) -> Result<()> {
    let mut listing = Text::new("<key> <length of its value>");
    set.iter().for_each(|(key, len)| listing.line(format!("{} {len}", hex(key))));
    listing.write(&folder.join(name).with_extension("keys"))?;

    let entries = set.iter().map(|(key, &len)| (key, value_of(key, len))).collect();
    write_each(folder, name, &entries, tables)
}

fn versions(folder: &Path, tables: &[TableOptions]) -> Result<()> {
    let mut listing = Text::new("<internal key> <length of its value>");
    let entries = sets::versions();
    entries.iter().for_each(|(key, _, len)| listing.line(format!("{} {len}", hex(key))));
    listing.write(&folder.join("versions.keys"))?;

    let entries = entries.iter().map(|(key, user_key, len)| (key, value_of(user_key, *len))).collect();
    write_each(folder, "versions", &entries, tables)
}

fn write_each(folder: &Path, set: &str, entries: &Entries, tables: &[TableOptions]) -> Result<()> {
    for options in tables {
        let filter = options.bits_per_key.map_or("unfiltered".to_owned(), |bits| format!("bloom{bits}"));
        let restarts = if options.restart_interval == 1 { "-restart1" } else { "" };
        let snappy = if options.compression == SNAPPY { "-snappy" } else { "" };
        let name = format!("{set}-{}-{filter}{restarts}{snappy}.ldb", options.block_size);
        fs::write(folder.join(name), build_table(options, entries)?)?;
    }
    Ok(())
}
