//! Random databases to be rebuilt.

use std::fs;
use std::path::Path;

use anyhow::Result;
use filterblock::database::{DatabaseFiles, FileKind};
use filterblock::table::{ReadOptions, Table};

use super::super::at_random::plan::{self, Plan, Step};
use super::files::Files;
use crate::leveldb::{Compression, Order, Store, StoreFilter, StoreOptions, WriteBatch};
use crate::random::Random;

/// The writer of a database, and its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// LevelDB with its own policy.
    BuiltIn,
    /// goleveldb with its policy: the old name, and the hash that reads bytes as unsigned numbers.
    Goleveldb,
    /// LevelDB with a policy of the old name, and the hash that reads bytes as signed numbers.
    Signed,
    /// LevelDB without filters.
    Unfiltered,
    /// LevelDB, keys in descending order.
    Reversed,
    /// LevelDB with a comparator to which different keys are equal.
    IgnoringCase,
    /// goleveldb without filters.
    GoleveldbUnfiltered,
}

impl Kind {
    pub(super) const ALL: [Self; 7] = [
        Self::BuiltIn,
        Self::Goleveldb,
        Self::Signed,
        Self::Unfiltered,
        Self::Reversed,
        Self::IgnoringCase,
        Self::GoleveldbUnfiltered,
    ];

    pub(super) const fn is_goleveldb(self) -> bool {
        matches!(self, Self::Goleveldb | Self::GoleveldbUnfiltered)
    }

    /// Returns the one spelling of a key that is used, of all that the comparator takes for equal. Filters of its
    /// bytes may deny the other spellings, so the program makes such filters only if told to.
    pub(super) fn spelled(self, key: &[u8]) -> Vec<u8> {
        if self == Self::IgnoringCase { key.to_ascii_lowercase() } else { key.to_vec() }
    }

    pub(super) const fn order(self) -> Order {
        match self {
            Self::Reversed => Order::Reversed,
            Self::IgnoringCase => Order::IgnoringCase,
            _ => Order::Bytewise,
        }
    }
}

/// A database that was written.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) kind: Kind,
    pub(super) bits: Option<u32>,
    pub(super) renamed: u64,
    plan: Plan,
    /// The factor by which values are longer in LevelDB's databases, so that some levels have
    /// several tables of 1 MiB.
    enlarged: usize,
}

impl Source {
    /// Writes a database of this kind into `folder`. `goleveldb` is the program `go/databases`.
    pub(super) fn write(random: &mut Random, kind: Kind, folder: &Path, goleveldb: &Path) -> Result<Self> {
        let mut plan = Plan::empty(random, kind.is_goleveldb());
        plan.order = match kind {
            Kind::Reversed => plan::Order::Reversed,
            _ => plan::Order::Bytewise,
        };
        plan.bits_per_key = match kind {
            Kind::Unfiltered | Kind::GoleveldbUnfiltered => None,
            _ => Some(random.between(1, 24) as u32),
        };
        let count = random.between(3, 2000) as usize;
        for _ in 0..random.between(1, 2) {
            plan.fill(random, count);
        }
        let enlarged = if random.one_in(3) { 8 } else { 1 };
        let mut source = Self { kind, bits: plan.bits_per_key, renamed: 0, plan, enlarged };
        if kind.is_goleveldb() {
            source.plan.write_with_goleveldb(folder, goleveldb)?;
        } else {
            source.write_with_leveldb(folder)?;
        }
        remove_unfinished(folder)?;
        if random.one_in(3) {
            source.renamed = rename_to_sst(folder, || !random.one_in(3))?;
        }
        Ok(source)
    }

    /// Returns the options with which the database's writer opens it.
    pub(super) fn options(&self) -> StoreOptions {
        StoreOptions {
            write_buffer_size: self.plan.write_buffer,
            max_file_size: 1 << 20,
            block_size: self.plan.block_size,
            compression: if self.plan.snappy { Compression::Snappy } else { Compression::None },
            filter: match (self.kind, self.bits) {
                (_, None) => StoreFilter::None,
                (Kind::Signed, Some(bits)) => StoreFilter::LegacySigned(bits),
                (Kind::Goleveldb, Some(bits)) => StoreFilter::Legacy(bits),
                (_, Some(bits)) => StoreFilter::BuiltIn(bits),
            },
            order: self.kind.order(),
            paranoid_checks: true,
            ..StoreOptions::default()
        }
    }

    fn write_with_leveldb(&self, folder: &Path) -> Result<()> {
        let options = self.options();
        let mut database = Store::open(folder, &options)?;
        let mut batch = WriteBatch::new();
        for step in &self.plan.steps {
            match step {
                Step::Put(key, value) => batch.put(&self.kind.spelled(key), &value.repeat(self.enlarged)),
                Step::Delete(key) => batch.delete(&self.kind.spelled(key)),
                Step::Write => {
                    database.write(&batch)?;
                    batch.clear();
                }
                Step::Compact(Some((a, b))) => database.compact(Some((a, b))),
                Step::Compact(None) => database.compact(None),
                Step::Snapshot => database.hold_snapshot(),
                Step::Reopen => {
                    drop(database);
                    database = Store::open(folder, &options)?;
                }
            }
        }
        Ok(())
    }
}

/// Removes tables that LevelDB had begun when the database was closed. `scan --all` would find fault
/// with them.
fn remove_unfinished(folder: &Path) -> Result<()> {
    for file in DatabaseFiles::list(folder)?.of_kind(FileKind::Table) {
        if Table::open_path(&file.path, &ReadOptions::default()).is_err() {
            fs::remove_file(&file.path)?;
        }
    }
    Ok(())
}

/// Gives some tables of a database the extension that LevelDB used up to 1.13. Returns the number of these
/// tables.
fn rename_to_sst(folder: &Path, mut is_chosen: impl FnMut() -> bool) -> Result<u64> {
    let mut renamed = 0;
    for name in Files::read(folder)?.names() {
        if let Some(number) = name.strip_suffix(".ldb").filter(|_| is_chosen()) {
            fs::rename(folder.join(name), folder.join(format!("{number}.sst")))?;
            renamed += 1;
        }
    }
    Ok(renamed)
}
