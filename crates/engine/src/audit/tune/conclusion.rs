//! The results, made from all sums.

use std::collections::BTreeMap;
use std::path::Path;

use filterblock::escape_path;

use super::advice::{Facts, Scope};
use super::candidates::{Candidate as Tried, WHOLE_TABLE};
use super::effect::{LevelFacts, TuneModel};
use super::hash_evidence::HashEvidence;
use super::input::{Input, Request};
use super::lookups::Survey;
use super::new_filters::NewFilters;
use crate::audit::policies::{Policy, PolicyCounts};
use crate::report::{
    Basis, Candidate, Damage, DamagedPart, ErrorKind, FalseNegatives, LeftOut, Level, LevelEffect, Lookups,
    SampleSize, TuneFailure, Tuning,
};
use crate::words::some_of;

pub(super) struct TuneResults<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) request: &'a Request,
    pub(super) model: TuneModel,
    pub(super) candidates: Vec<Tried>,
    pub(super) base_lg: u8,
    pub(super) policy: Policy,
    pub(super) is_assumed: bool,
    /// The policy of all filters, if programs do not set it.
    pub(super) unknown: Option<String>,
    /// The bits per key that most tables have.
    pub(super) most_used: Option<u32>,
    pub(super) survey: Survey,
    pub(super) faults: BTreeMap<usize, TuneFailure>,
    /// (table, stored keys that its filters hide, its keys)
    pub(super) hiding: Vec<(usize, u64, u64)>,
    pub(super) hashes: HashEvidence,
    pub(super) bytes: u64,
}

impl TuneResults<'_> {
    pub(super) fn report(self, lookups: Option<Lookups>) -> Tuning {
        let model = &self.model;
        let now = model.now();
        let has_entries = !model.levels.is_empty();
        let tried = || self.candidates.iter().enumerate().filter(|_| has_entries);
        let at_range = |of: &Tried| of.base_lg != WHOLE_TABLE || self.base_lg == WHOLE_TABLE;
        let candidates = tried()
            .filter(|(_, of)| at_range(of))
            .map(|(at, of)| Candidate { bits_per_key: of.bits_per_key, outcome: model.of_candidate(at) });
        let whole_tables = tried().find(|(_, of)| !at_range(of)).map(|(at, _)| model.of_candidate(at));
        Tuning {
            policy: self.policy,
            policy_assumed: self.is_assumed,
            base_lg: self.base_lg,
            bits_per_key: self.most_used,
            sample: self.sample(),
            levels: model.levels.iter().zip(&now.levels).map(|(level, now)| self.level(level, now)).collect(),
            candidates: candidates.collect(),
            whole_tables,
            now,
            lookups,
            budget: self.request.budget,
            logs: 0,
            facts: self.facts(),
            left_out: self
                .faults
                .iter()
                .map(|(&at, why)| LeftOut { name: self.name(at), why: why.clone() })
                .collect(),
        }
    }

    fn name(&self, table: usize) -> String {
        let name = self.input.tables.get(table).and_then(|table| table.path.file_name());
        escape_path(Path::new(name.unwrap_or_default())).to_string()
    }

    fn facts(&self) -> Facts {
        let is_damage = |of: &TuneFailure| matches!(of.kind, Some(ErrorKind::Damaged | ErrorKind::Missing));
        let is_missing = |of: &TuneFailure| of.kind == Some(ErrorKind::Missing);
        let damaged = self.faults.iter().filter(|(_, of)| is_damage(of));
        let names: Vec<_> = damaged.clone().map(|(&table, _)| self.name(table)).collect();
        let title = match damaged.clone().all(|(_, of)| is_missing(of)) {
            true => format!(
                "{} {} missing",
                some_of(&names, "tables"),
                if names.len() == 1 { "is" } else { "are" }
            ),
            false => some_of(&names, "tables"),
        };
        let unread = self.faults.iter().find(|(_, of)| !is_damage(of));
        let unread =
            unread.map(|(&table, of)| Basis::Unread { what: self.name(table), why: of.text.clone() });
        let names_of = |survey: &Survey| -> Vec<String> {
            survey.iter().filter_map(|filters| filters.as_ref().ok()?.name.clone()).collect()
        };
        let policies = names_of(&self.survey);
        let policies = PolicyCounts::of(&mut policies.iter().map(|name| name.as_bytes()));
        let filters = NewFilters::of(self.request.policy, self.policy, &policies);
        let bits = self.most_used.filter(|_| filters.policy.name() == self.policy.name());
        Facts {
            scope: if self.input.tables.iter().any(|table| table.level.is_none()) {
                Scope::Table
            } else {
                Scope::Database
            },
            has_tables: !self.input.tables.is_empty(),
            damage: (!names.is_empty()).then_some(Damage {
                title,
                detail: None,
                warning: None,
                part: DamagedPart::Files,
            }),
            false_negatives: FalseNegatives {
                tables: self.hiding.iter().map(|&(table, ..)| self.name(table)).collect(),
                hidden: self.hiding.iter().map(|(_, hidden, _)| hidden).sum(),
                keys: Some(self.hiding.iter().map(|(_, _, keys)| keys).sum()),
            },
            unknown: self.unknown.clone().map(Basis::Policy).or(unread),
            filters: NewFilters { bits, ..filters.hash(self.hashes, self.input.is_goleveldb) },
            ..Facts::default()
        }
    }

    fn sample(&self) -> SampleSize {
        let sum = |of: fn(&LevelFacts) -> u64| self.model.levels.iter().map(of).sum();
        SampleSize {
            tables: sum(|level| level.tally.tried),
            of_tables: sum(|level| level.tables),
            bytes: self.bytes,
            entries: self.model.entries,
        }
    }

    fn level(&self, level: &LevelFacts, now: &LevelEffect) -> Level {
        let model = &self.model;
        Level {
            number: level.number,
            tables: level.tables,
            without_filters: level.unfiltered,
            size: level.size,
            entries: level.entries().value,
            filter_size: level.filter_size as f64,
            fpr: now.rates.lookups.or(now.rates.random).map(|rate| rate.rate),
            checked: model.has_tree.then(|| level.visits(model.absent(), &model.lookups)),
        }
    }
}
