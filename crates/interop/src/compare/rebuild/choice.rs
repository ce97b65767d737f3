//! The options of a random rebuild.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use filterblock::{CassandraBloomPolicy, Murmur3BloomPolicy};

use super::source::Kind;
use crate::leveldb::StoreFilter;
use crate::random::Random;

const BUILT_IN: &str = "leveldb.BuiltinBloomFilter2";
const LEGACY: &str = "leveldb.BuiltinBloomFilter";
const CASSANDRA: &str = "filterblock.CassandraBloomFilter1";
const MURMUR3: &str = "filterblock.Murmur3BloomFilter1";

/// The way to rebuild: into another folder, or in place, with or without undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    To,
    InPlace,
    InPlaceNoUndo,
}

/// The options of a rebuild.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) way: Way,
    kind: Kind,
    /// The bits a key.
    pub(super) bits: u32,
    pub(super) base_lg: Option<u8>,
    pub(super) drop: bool,
    policy: Option<&'static str>,
    hash: Option<&'static str>,
    jobs: u64,
}

impl Choice {
    /// Takes each way in turn for each kind of database. Everything else is random. If `has_tables` is false, no
    /// filters reveal policy and hash, so both are chosen here.
    pub(super) fn new(random: &mut Random, case: u64, kind: Kind, has_tables: bool) -> Self {
        let kinds = Kind::ALL.len() as u64;
        let way = [Way::To, Way::InPlaceNoUndo, Way::InPlace];
        let bits = if random.one_in(4) { 10 } else { random.between(1, 30) as u32 };
        let drop = random.one_in(8);
        let mut choice = Self {
            way: way[(case / kinds + case % kinds) as usize % 3],
            kind,
            bits,
            base_lg: [None, Some(11), Some(14), Some(63)][random.index(4)],
            drop,
            policy: None,
            hash: None,
            jobs: random.between(1, 3),
        };
        match kind {
            Kind::Unfiltered | Kind::GoleveldbUnfiltered => {
                let policy = [BUILT_IN, LEGACY, CASSANDRA, MURMUR3][random.index(4)];
                choice.policy = Some(policy);
                if policy == LEGACY {
                    choice.hash = Some(["unsigned", "signed"][random.index(2)]);
                }
            }
            Kind::Goleveldb if random.one_in(2) => choice.hash = Some("unsigned"),
            Kind::Signed if random.one_in(2) => choice.hash = Some("signed"),
            _ => {}
        }
        if !has_tables {
            choice.policy = Some(choice.policy_after());
            choice.hash = (choice.policy_after() == LEGACY).then_some(choice.hash_after());
        }
        choice
    }

    /// Returns the hash of the database's filters, for the option that some refusals ask for. `None` if the choice
    /// names the hash already, or needs none.
    pub(super) fn missing_hash(&self) -> Option<&'static str> {
        (!self.drop && self.policy_after() == LEGACY && self.hash.is_none()).then(|| self.hash_after())
    }

    /// Returns the arguments of the program, without `--assume-bytewise-equality`.
    pub(super) fn arguments(&self, folder: &Path, to: &Path) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["rebuild".into(), folder.into()];
        let mut push = |option: &str, value: String| words.extend([option.into(), value.into()]);
        if !self.drop {
            push("--bits-per-key", self.bits.to_string());
            self.base_lg.iter().for_each(|base_lg| push("--base-lg", base_lg.to_string()));
            self.policy.iter().for_each(|policy| push("--policy", (*policy).to_owned()));
            self.hash.iter().for_each(|hash| push("--hash", (*hash).to_owned()));
        }
        push("--jobs", self.jobs.to_string());
        match self.way {
            Way::To => words.extend(["--to".into(), to.into()]),
            Way::InPlace => words.push("--in-place".into()),
            Way::InPlaceNoUndo => words.extend(["--in-place".into(), "--no-undo".into()]),
        }
        if self.drop {
            words.push("--drop".into());
        }
        words
    }

    /// The name of the policy that the tables have afterwards, unless filters are dropped.
    pub(super) fn policy_after(&self) -> &'static str {
        self.policy.unwrap_or(match self.kind {
            Kind::Goleveldb | Kind::Signed => LEGACY,
            _ => BUILT_IN,
        })
    }

    fn hash_after(&self) -> &'static str {
        self.hash.unwrap_or(if self.kind == Kind::Signed { "signed" } else { "unsigned" })
    }

    /// Returns true if LevelDB 1.23 makes the same filters, maybe under another name.
    pub(super) fn filters_are_as_leveldb_makes_them(&self) -> bool {
        self.policy_after() == BUILT_IN || self.policy_after() == LEGACY && self.hash_after() == "unsigned"
    }

    /// The policy with which a program reads the database afterwards.
    pub(super) fn reader(&self) -> Result<StoreFilter> {
        Ok(match (self.drop, self.policy_after(), self.hash_after()) {
            (true, ..) => StoreFilter::None,
            (_, BUILT_IN, _) => StoreFilter::BuiltIn(10),
            (_, LEGACY, "unsigned") => StoreFilter::Legacy(10),
            (_, LEGACY, _) => StoreFilter::LegacySigned(10),
            (_, CASSANDRA, _) => StoreFilter::Policy(Arc::new(CassandraBloomPolicy::new(10))),
            (_, MURMUR3, _) => StoreFilter::Policy(Arc::new(Murmur3BloomPolicy::new(10))),
            (_, name, _) => bail!("no reader of {name}"),
        })
    }

    /// Returns the name of the policy with which goleveldb reads the database; empty if it reads without filters.
    pub(super) fn goleveldb_reader(&self) -> &'static str {
        let can = !self.drop && self.filters_are_as_leveldb_makes_them();
        if can { self.policy_after() } else { "" }
    }
}
