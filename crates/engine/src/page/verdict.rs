//! The verdict on a database in two sentences, and the command to run.

use std::path::Path;

use super::request::Shown;
use super::words::{all_tables, sentence, text};
use crate::audit::overview::{Kind, Overview, OverviewFindings};
use crate::audit::policies::PolicyCounts;
use crate::report::{
    Action, Advice, Code, Finding, FoundFilters, LevelTotals, Note, Table, TableState, Tuning,
};
use crate::words::{
    DECIDE, RENEW, USUAL_BITS_TEXT, bits_per_entry, count, counted, counted_as, denied_text, measured,
    path_word, rebuild_command, repair_command, several_policies_text, size,
};

/// The verdict on a database, folder or table.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) tone: Tone,
    /// The state of the database, folder or table.
    pub(super) state: String,
    /// The advice.
    pub(super) advice: String,
    pub(super) command: Option<String>,
}

/// The tone of a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tone {
    Good,
    /// Nothing is wrong, but the filters could be better.
    Better,
    Bad,
}

/// The arguments that choose a policy for a database that has no filters.
pub(super) const USUAL_POLICY: [&str; 2] = ["--policy", "leveldb.BuiltinBloomFilter2"];

impl Verdict {
    /// Judges the contents of a page.
    pub(super) fn of(page: &Shown<'_>) -> Self {
        let mut verdict = Self::but_manifest(page);
        for (_, note) in &page.overview.found.notes {
            if let Note::HugeManifest(text) = note {
                verdict.advice += &format!(" {}", sentence(text));
            }
        }
        verdict
    }

    /// Judges the contents of a page, but not the length of the MANIFEST.
    fn but_manifest(page: &Shown<'_>) -> Self {
        let overview = page.overview;
        let sums = overview.sums();
        let is_database = overview.kind == Kind::Database && overview.has_records;
        let rebuild = |arguments: &[String]| is_database.then(|| rebuild_command(page.path, arguments));
        let decide = |advice: String| match cfg!(feature = "fs") && overview.has_undo {
            true => format!("{advice} {}", sentence(DECIDE)),
            false => advice,
        };
        let look = || {
            Some(match overview.found.is_of_logs_alone() {
                true => format!("{} --dry-run", repair_command(page.path)),
                false if !overview.found.is_damage() => {
                    format!("filterblock verify {}", path_word(page.path))
                }
                // A table that is given by itself is in no database that could be repaired.
                false if overview.kind == Kind::Table => {
                    format!("filterblock scan --carve {}", path_word(page.path))
                }
                false => repair_command(page.path),
            })
        };
        if let Some((state, advice)) = worst(&overview.found) {
            let mends = !overview.found.is_damage() && !overview.found.hides_something();
            if !mends || !is_database {
                return Self { tone: Tone::Bad, state, advice, command: look() };
            }
            let (advice, command) = match denied_by_tune(page) {
                Some((advice, arguments)) => (advice, arguments.and_then(rebuild)),
                None => {
                    let (remark, arguments) = new_filters(page);
                    (decide(advice + &remark), rebuild(&arguments))
                }
            };
            return Self { tone: Tone::Bad, state, advice, command };
        }
        let state = state(&sums);
        if sums.all() == 0 {
            let advice = match overview.logs.len() {
                0 => "Nothing is stored, and there is nothing to do.".to_owned(),
                _ => "All entries are in logs yet; filters come with the first table.".to_owned(),
            };
            return Self { tone: Tone::Good, state, advice, command: None };
        }
        if let Some(tuning) = page.tuned() {
            return Self::tuned(tuning, state, page.path, is_database);
        }
        let (tone, advice, command) = if sums.in_state(&[TableState::NoFilter]) > 0 {
            let advice = "If the program that opens it uses filters, all tables should have some.";
            match filtered(&sums) {
                // Filters of another policy would take the place of those that the program reads.
                0 if sums.in_state(&[TableState::UnknownPolicy]) > 0 => {
                    (Tone::Better, advice.to_owned(), None)
                }
                0 => {
                    let arguments = USUAL_POLICY.map(str::to_owned);
                    (Tone::Good, decide(advice.to_owned()), rebuild(&arguments))
                }
                _ => {
                    let (remark, arguments) = new_filters(page);
                    (Tone::Better, decide(advice.to_owned() + &remark), rebuild(&arguments))
                }
            }
        } else if sums.in_state(&[TableState::UnknownPolicy]) > 0 {
            (Tone::Better, "What they do cannot be told, and nothing else is wrong.".to_owned(), None)
        } else if !overview.found.verified {
            (Tone::Good, "Nothing wrong was seen; not every block was read.".to_owned(), None)
        } else {
            (Tone::Good, "Every block and every entry was read, and nothing is wrong.".to_owned(), None)
        };
        Self { tone, state, advice, command }
    }

    /// The verdict according to the effects that other filters would have.
    fn tuned(tuning: &Tuning, state: String, path: &Path, is_database: bool) -> Self {
        let arguments = tuning.advice.arguments.as_ref();
        // Filters help only if the program that opens the database uses them.
        let tone = match tuning.found {
            _ if tuning.denied() > 0 => Tone::Bad,
            _ if tuning.advice.action != Action::Rebuild => Tone::Good,
            FoundFilters::OfPolicy => Tone::Better,
            FoundFilters::None | FoundFilters::OfOthers => Tone::Good,
        };
        let command = arguments.filter(|_| is_database).map(|arguments| rebuild_command(path, arguments));
        Self { tone, state, advice: sentence(&tuning.advice.text), command }
    }

    /// Returns true if there are findings: files or filters are damaged or wrong, or something could not be read.
    pub(super) fn is_bad(&self) -> bool {
        self.tone == Tone::Bad
    }

    /// The verdict in one line.
    pub(super) fn line(&self) -> String {
        let Self { state, advice, command, .. } = self;
        match command {
            Some(command) => format!("{state} {advice} Run: {command}"),
            None => format!("{state} {advice}"),
        }
    }
}

/// The advice on filters that deny stored keys and the arguments of `rebuild`, if other filters were tried and keys were
/// found denied there, too. `arguments` is `None` if more has to be known, which the advice names.
fn denied_by_tune<'a>(page: &Shown<'a>) -> Option<(String, Option<&'a [String]>)> {
    let tuning = page.tuned()?;
    let Advice { action: Action::Rebuild, text, arguments, .. } = &tuning.advice else { return None };
    // The number of keys that the verification has found stands in the state.
    let advice = text.strip_prefix(&format!("{}. ", denied_text(tuning.denied())))?;
    Some((sentence(advice), arguments.as_deref()))
}

/// A remark on new filters, after a space, and the arguments of `rebuild`: the bits a key in use, if they are known, and,
/// if tables in use have filters of several policies, the most frequent one of those known.
fn new_filters(page: &Shown<'_>) -> (String, Vec<String>) {
    let counts = PolicyCounts::of(&mut page.overview.in_use().filter_map(Table::policy));
    let (mut remark, mut arguments) = (String::new(), Vec::new());
    match page.tuned().and_then(|tuning| tuning.settings.iter().find(|tried| tried.in_use)) {
        Some(tried) if !counts.are_several() => {
            arguments.extend(["--bits-per-key".to_owned(), tried.setting.bits_per_key.to_string()]);
        }
        _ => remark += &format!(" {}", sentence(USUAL_BITS_TEXT)),
    }
    if let Some(policy) = counts.most_frequent().filter(|_| counts.are_several()) {
        remark += &format!(" {}", sentence(&several_policies_text(policy.name())));
        arguments.extend(["--policy", policy.name()].map(str::to_owned));
    }
    (remark, arguments)
}

/// The worst of the findings, and the advice on it. `None` if there are no findings.
fn worst(found: &OverviewFindings) -> Option<(String, String)> {
    if found.is_empty() {
        return None;
    }
    let findings = counted_as(found.total(), "finding", "findings");
    let findings =
        if found.total() == 1 { format!("there is {findings}") } else { format!("there are {findings}") };
    let denied = found.counts.denied;
    let below = "each is below, with what it means";
    Some(if found.is_damage() {
        let more = match denied {
            0 => String::new(),
            denied => format!(", and filters deny {} that are stored", counted(denied, "key")),
        };
        (
            match found.list.iter().find_map(|(_, finding)| of_database(finding)) {
                Some(text) => format!("Damaged: {text}. {}{more}.", capital(&findings)),
                None => format!("Something is damaged: {findings}{more}."),
            },
            format!(
                "A backup from before is best, then the program's own way to make its data anew; failing these, save what \
                 can be saved. {}.",
                capital(below)
            ),
        )
    } else if found.codes.contains_key(&Code::FilterDeniesKey) {
        (sentence(&denied_text(denied)), sentence(RENEW))
    } else if found.hides_something() {
        (
            format!("Not everything could be looked at: {findings}."),
            format!("See what is in the way; {below}."),
        )
    } else {
        (
            format!("Filters are damaged: {findings}, and lookups read more than they need."),
            "No entry is concerned, and new filters mend it.".to_owned(),
        )
    })
}

/// The fault of a database as a whole in words, if the finding is one.
fn of_database(finding: &Finding) -> Option<&str> {
    matches!(finding.code, Code::Manifest | Code::LogMissing).then_some(finding.plain.as_deref()?)
}

/// A remark that the logs were not read; `None` if they were, or if there are no logs.
pub(super) fn logs_not_read(overview: &Overview) -> Option<String> {
    match &*overview.logs {
        _ if overview.found.verified => None,
        [] => None,
        [(name, _)] => Some(format!("the log {} was not read", text(name))),
        logs => Some(format!("{} were not read", counted(logs.len() as u64, "log"))),
    }
}

/// The number of tables with filters that can be judged.
fn filtered(sums: &LevelTotals) -> u64 {
    sums.in_state(&[TableState::Filtered])
}

/// The state of the filters, as a sentence.
fn state(sums: &LevelTotals) -> String {
    let (all, unfiltered) = (sums.all(), sums.in_state(&[TableState::NoFilter]));
    let rate = sums.random_fpr.mean().map(measured);
    let pass = rate.as_ref().map(|rate| format!(" and let {rate} of random keys pass")).unwrap_or_default();
    let bytes = size(sums.judged_size);
    let what = sums
        .bits_per_entry()
        .map(|bits| format!(" ({} bits an entry)", bits_per_entry(bits)))
        .unwrap_or_default();
    match (filtered(sums), unfiltered) {
        _ if all == 0 => "There are no tables.".to_owned(),
        (0, unfiltered) if unfiltered == all => match all {
            1 => "The table has no filters: every lookup that comes to it reads a data block.".to_owned(),
            all => format!(
                "None of the {} tables has filters: every lookup that comes to one reads a data block.",
                count(all)
            ),
        },
        (filtered, 0) if filtered == all => {
            let have = if all == 1 { "has" } else { "have" };
            format!("{} {have} filters, which take {bytes}{what}{pass}.", capital(&all_tables(all)))
        }
        (0, unfiltered) => {
            let unknown = all.saturating_sub(unfiltered);
            format!("The filters of {} of {} are not known here.", count(unknown), counted(all, "table"))
        }
        (filtered, unfiltered) => {
            let without = all.saturating_sub(filtered);
            let all_pass =
                rate.map(|rate| format!(", and of all, {rate} of random keys pass")).unwrap_or_default();
            format!(
                "{} of the {} tables {} no filters{}; those of the others take {bytes}{what}{all_pass}.",
                count(without),
                count(all),
                if without == 1 { "has" } else { "have" },
                if without == unfiltered { "" } else { " that are known here" }
            )
        }
    }
}

fn capital(text: &str) -> String {
    let text = sentence(text);
    text.strip_suffix('.').unwrap_or(&text).to_owned()
}
