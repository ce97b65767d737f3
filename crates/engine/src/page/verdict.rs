//! The facts on which the verdict of a page rests.

use std::collections::BTreeSet;
use std::path::Path;

use super::names::text;
use crate::audit::overview::{Kind, Overview};
use crate::audit::policies::{Policy, PolicyCounts};
use crate::audit::tune::{Facts, NewFilters, Scope};
use crate::report::name_of;
use crate::report::{
    Basis, Code, Damage, DamagedPart, ErrorKind, FalseNegatives, Fault, FaultDetail, Problem, Tuning,
};
use crate::text::{counted, some_of};

/// Gathers what was read at `path`, and what `tune` found, if it was run.
pub(super) fn facts(path: &Path, overview: &Overview, tuned: Option<&Result<Tuning, Fault>>) -> Facts {
    let mut facts = match tuned {
        Some(Ok(tuning)) => tuning.facts.clone(),
        Some(Err(fault)) => match fault.detail.as_deref() {
            Some(FaultDetail::Database(damage)) => of_overview(overview, Some(damage.clone()), None),
            _ if fault.kind == ErrorKind::Missing => of_overview(overview, None, None),
            _ => of_overview(overview, None, Some(unread(String::new(), fault.text.clone()))),
        },
        None => of_overview(overview, None, None),
    };
    facts.scope = match overview.kind {
        Kind::Table if overview.around.is_none() => Scope::Table,
        Kind::Database if overview.has_records => Scope::Database,
        _ => Scope::Folder,
    };
    facts.has_tables = overview.in_use().next().is_some();
    facts.has_undo = overview.has_undo;
    facts.manifest.clone_from(&overview.manifest);
    let found = &overview.found;
    if found.is_damage() && facts.damage.is_none() {
        facts.damage = Some(damage(overview, path));
    }
    let of_code = |code| names_of(overview, &|problem| problem.code == code);
    facts.unreadable_filters = of_code(Code::FilterUnreadable);
    facts.malformed_filters = of_code(Code::FilterMalformed);
    // The verification reads more than `tune`.
    if found.false_negatives > 0 && found.false_negatives != facts.false_negatives.hidden {
        let tables = of_code(Code::FalseNegative);
        facts.false_negatives = FalseNegatives { tables, hidden: found.false_negatives, keys: None };
    }
    if found.hides_something() && facts.unknown.is_none() {
        let hidden = found.list.iter().find(|(_, problem)| problem.code.hides());
        facts.unknown = Some(match hidden {
            Some((_, problem)) if facts.scope == Scope::Table => unread(String::new(), problem.to_string()),
            Some((name, problem)) => unread(text(name), problem.to_string()),
            None => unread(String::new(), "not everything could be read".to_owned()),
        });
    }
    facts
}

fn unread(what: String, why: String) -> Basis {
    Basis::Unread { what, why }
}

fn damage(overview: &Overview, path: &Path) -> Damage {
    let found = &overview.found;
    let none = Damage { title: String::new(), detail: None, warning: None, part: DamagedPart::Files };
    if let Some(title) = of_database(overview) {
        return Damage { title, ..none };
    }
    // What is wrong with the database as a whole has the name of its folder.
    let (of_folder, of_files): (Vec<_>, Vec<_>) = found
        .list
        .iter()
        .filter(|(_, problem)| problem.code.is_damage())
        .partition(|(name, _)| name == name_of(path));
    let names =
        of_files.iter().map(|(name, _)| text(name)).chain(found.seen.iter().map(|(name, _)| text(name)));
    let names = Vec::from_iter(BTreeSet::from_iter(names));
    match of_folder.first() {
        Some((name, problem)) if names.is_empty() || overview.kind == Kind::Table => {
            let is_it = |(of, code, _): &&(Vec<u8>, Code, String)| of == name && *code == problem.code;
            Damage { detail: found.texts.iter().find(is_it).map(|(_, _, text)| text.clone()), ..none }
        }
        _ => Damage { title: some_of(&names, "files"), ..none },
    }
}

fn of_overview(overview: &Overview, damage: Option<Damage>, unknown: Option<Basis>) -> Facts {
    let names = PolicyCounts::of(&mut overview.in_use().filter_map(|found| found.table.policy()));
    let policy = names.most_frequent().unwrap_or(Policy::Builtin2);
    Facts { damage, unknown, filters: NewFilters::of(None, policy, &names), ..Facts::default() }
}

/// Returns each name once.
fn names_of(overview: &Overview, wanted: &dyn Fn(&Problem) -> bool) -> Vec<String> {
    let names = overview.found.list.iter().filter(|(_, problem)| wanted(problem));
    let mut names: Vec<_> = names.map(|(name, _)| text(name)).collect();
    names.dedup();
    names
}

fn of_database(overview: &Overview) -> Option<String> {
    let is_of_database = |code| {
        matches!(
            code,
            Code::CurrentMissing
                | Code::CurrentDamaged
                | Code::ManifestMissing
                | Code::ManifestDamaged
                | Code::ManifestCut
                | Code::LogMissing
        )
    };
    let mut plain = overview.found.list.iter().filter(|(_, problem)| is_of_database(problem.code));
    plain.find_map(|(_, problem)| problem.title.clone().or_else(|| problem.plain.clone()))
}

/// `None`: they were read, or there are none.
pub(super) fn logs_not_read(overview: &Overview) -> Option<String> {
    match &*overview.logs {
        _ if overview.found.verified => None,
        [] => None,
        [(name, _)] => Some(format!("the log {} was not read", text(name))),
        logs => Some(format!("{} were not read", counted(logs.len() as u64, "log"))),
    }
}
