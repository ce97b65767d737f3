//! The blocks that lookups have to read, worked out with the library's tables. LevelDB counts exactly these blocks,
//! which shows that its counts hold nothing else.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, Result};
use filterblock::SharedPolicy;
use filterblock::database::{DatabaseFiles, LiveTable, Manifest};
use filterblock::table::{Lookup, ReadOptions, Table};

/// A sequence number above all that are written.
const SEQUENCE: u64 = (1 << 56) - 1;

/// A database whose filters are asked with one policy.
pub(super) struct Emulated {
    /// Tables in the order in which LevelDB asks them.
    tables: Vec<(LiveTable, Table<File>)>,
}

impl Emulated {
    pub(super) fn open(folder: &Path, policy: SharedPolicy) -> Result<Self> {
        let (manifest, listed) = (Manifest::read(folder)?, DatabaseFiles::list(folder)?);
        let options = ReadOptions::default().internal_keys(true).filter_policies(vec![policy]);
        let open = |live: &LiveTable| {
            let file = listed.table(live.number).ok().flatten().context("no file")?;
            Ok((live.clone(), Table::open_path(&file.path, &options)?))
        };
        let mut tables: Vec<_> = manifest.tables().iter().map(open).collect::<Result<_>>()?;
        // On level 0 the newest comes first.
        tables.sort_by_key(|(live, _)| (live.level, std::cmp::Reverse(live.number)));
        Ok(Self { tables })
    }

    /// The number of blocks that LevelDB reads for these keys on each level.
    pub(super) fn reads<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Result<BTreeMap<u8, u64>> {
        let mut blocks = BTreeMap::new();
        for key in keys {
            let sought = [key, &(SEQUENCE << 8 | 1).to_le_bytes()].concat();
            for (live, table) in &self.tables {
                let (smallest, largest) = live.user_keys().context("not a key of LevelDB's")?;
                if key < smallest || largest < key || !table.may_contain(&sought)? {
                    continue;
                }
                *blocks.entry(live.level).or_default() += 1;
                if table.get_at(key, SEQUENCE)? != Lookup::Absent {
                    break;
                }
            }
        }
        Ok(blocks)
    }
}
