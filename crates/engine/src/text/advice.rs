//! Advice in words, for every kind of output.

use std::fmt::{self, Display};
use std::path::Path;

use filterblock::quote;

use super::commands::commands;
use super::conditions::{condition_text, obstacle_text};
use super::folder::format_details;
use super::numbers::{bits_text, blocks, count, counted, rough_size, size, size_range};
use super::sentences::{sentence, some_of};
use crate::report::{
    Action, Advice, Basis, COPIES_ONLY, Candidate, Condition, DEFAULT_BITS, Damage, DamagedPart, Effect,
    FalseNegatives, Reads, Tuning, Verdict,
};

/// On damage, before the command that saves what can be saved.
pub const SAVE: &str = "Keep this folder. Best is a backup from before the damage, then a program's own rebuild (Bitcoin Core: \
     -reindex, -reindex-chainstate). Failing these, save what can be saved; this database is not changed:";
/// Where LevelDB does not open the database, and nothing else is known to be damaged.
pub const NEW_DATABASE: &str = "Make a new database of what is there; this one is not changed:";
/// On a missing log.
pub const FIND_LOG: &str = "Look for the log in a backup. Failing that, save what is left:";
/// On false negatives: what they mean, and what comes before the command.
pub const BRING_BACK: [&str; 2] = [
    "Programs that use filters do not find these keys. No entry is lost.",
    match COPIES_ONLY {
        true => "New filters bring the keys back:",
        false => "New filters bring the keys back, and can be undone:",
    },
];
/// On a huge MANIFEST, before the command.
pub const SHORT_MANIFEST: &str = "LevelDB reads all of it whenever it opens the database: slow, and possibly more memory than there is. A new \
     database starts with a new one:";
/// Follows a line about damage that opening the database would make worse.
pub const DO_NOT_OPEN: &str = "; do not open it";
/// Sentences begin with a capital letter and end with a full stop, or with a colon before a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdviceText {
    /// The verdict.
    pub verdict: Verdict,
    /// What follows the verdict: the condition on which it rests, if any.
    pub condition: &'static str,
    /// What follows in the first line if nothing else stands in it, if anything.
    pub clause: String,
    /// What follows where the first line is all that is shown.
    pub short: String,
    /// Paragraphs below the first line.
    pub paragraphs: Vec<String>,
    /// The command to run, or the two from which to choose.
    pub commands: Vec<String>,
    /// Paragraphs below the commands.
    pub after: Vec<String>,
    /// On a page, the first line in place of the verdict, which stands above it.
    pub title: String,
    /// On a page, what the title means, in a sentence. May be empty.
    pub sentence: String,
    /// On a page, what has to be so, what comes first, and what is good to know: a line each.
    pub conditions: Vec<String>,
}

impl AdviceText {
    /// The first line, without the path.
    pub fn headline(&self) -> String {
        format!("{}{}{}", self.verdict.words(), self.condition, self.clause)
    }
}

impl Display for AdviceText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&sentence(&self.headline()))?;
        self.paragraphs.iter().try_for_each(|text| write!(f, " {text}"))?;
        if !self.commands.is_empty() {
            write!(f, " {}.", self.commands.join(" or "))?;
        }
        self.after.iter().try_for_each(|text| write!(f, " {text}"))
    }
}

/// `advice` on `database` in words. `tuning`: the numbers that it rests on.
pub fn advice_text(advice: &Advice, tuning: Option<&Tuning>, database: &Path) -> AdviceText {
    let condition = if advice.is_conditional() { ", if its program uses filters" } else { "" };
    let mut text = AdviceText {
        verdict: advice.verdict,
        condition,
        clause: String::new(),
        short: String::new(),
        paragraphs: Vec::new(),
        commands: commands(advice, database),
        after: Vec::new(),
        title: String::new(),
        sentence: String::new(),
        conditions: Vec::new(),
    };
    text.describe(advice, tuning);
    for condition in &advice.conditions {
        let is_after = matches!(condition, Condition::SimilarKeys { .. });
        let texts = if is_after { &mut text.after } else { &mut text.paragraphs };
        texts.push(condition_text(*condition));
    }
    text.paragraphs.extend(advice.obstacles.iter().map(|obstacle| obstacle_text(*obstacle, advice)));
    // A colon stands before a command only.
    if text.commands.is_empty()
        && let Some(last) = text.paragraphs.last_mut()
        && last.ends_with(':')
    {
        last.pop();
        last.push('.');
    }
    text.describe_on_page(advice, tuning);
    text
}

impl AdviceText {
    fn describe(&mut self, advice: &Advice, tuning: Option<&Tuning>) {
        let then = tuning.and_then(|tuning| Some((tuning, tuning.advised(Some(advice))?)));
        let (clause, lines): (String, Vec<String>) = match &advice.reason {
            Basis::Nothing => Default::default(),
            Basis::NoTables if tuning.is_some_and(|tuning| tuning.logs > 0) => {
                ("no tables yet; all writes are in logs".to_owned(), vec![])
            }
            Basis::NoTables => ("no tables yet".to_owned(), vec![]),
            Basis::TooSmall => {
                let line = "Tables of less than 1 MiB together fit into any cache.";
                (String::new(), vec![line.to_owned()])
            }
            Basis::Enough => (String::new(), tuning.map(enough_lines).unwrap_or_default()),
            Basis::Reads => {
                return then.into_iter().for_each(|(tuning, then)| self.describe_reads(advice, tuning, then));
            }
            Basis::Size => {
                return then.into_iter().for_each(|(tuning, then)| self.describe_size(tuning, then));
            }
            Basis::HugeManifest(huge) => (huge.title(), vec![SHORT_MANIFEST.to_owned()]),
            Basis::MalformedFilters(tables) => {
                let line = "LevelDB reads data blocks instead. New filters:".to_owned();
                (format!("filters of {} are malformed", some_of(tables, "tables")), vec![line])
            }
            Basis::UnreadableFilters(tables) => {
                let line = "No entry is concerned. New filters:".to_owned();
                (format!("filters of {} cannot be read", some_of(tables, "tables")), vec![line])
            }
            Basis::FalseNegatives(FalseNegatives { tables, hidden, keys }) => {
                let whose = some_of(tables, "tables");
                self.short = format!(": filters of {whose} hide {}", counted(*hidden, "key"));
                let of = keys.map(|keys| format!("{} of {}", count(*hidden), counted(keys, "key")));
                let of = of.unwrap_or_else(|| counted(*hidden, "key"));
                (format!("filters of {whose} hide {of}"), BRING_BACK.map(str::to_owned).to_vec())
            }
            Basis::Damage(damage) => return self.describe_damage(damage, advice, tuning),
            Basis::Policy(name) => {
                let line = "LevelDB and goleveldb use no such filters.".to_owned();
                (format!("filters of the policy {}", quote(name.as_bytes())), vec![line])
            }
            Basis::KeyOrder(name) => {
                (format!("keys are ordered by {}, which is not known here", quote(name.as_bytes())), vec![])
            }
            Basis::Unread { what, why } if what.is_empty() => (why.clone(), vec![]),
            Basis::Unread { what, why } => (what.clone(), vec![sentence(why)]),
            Basis::Format(format) => (format.format().to_string(), format_details(format)),
        };
        self.paragraphs = lines;
        if !clause.is_empty() {
            self.clause = format!(": {clause}");
        }
        if self.short.is_empty() {
            self.short.clone_from(&self.clause);
        }
    }

    fn describe_reads(&mut self, advice: &Advice, tuning: &Tuning, then: &Candidate) {
        let Candidate { bits_per_key, outcome } = then;
        let (Some(now_reads), Some(then_reads)) = (tuning.now.reads, outcome.reads) else { return };
        let now_text = reads_text(&now_reads, tuning);
        let (absent, stored) = (blocks(then_reads.absent.value), blocks(then_reads.stored.value));
        let bits = bits_text(*bits_per_key);
        let change = if tuning.now.size.value == 0.0 {
            let filters = size(outcome.size.value as u64);
            format!("With {bits} ({filters} of filters) it would read {absent} and {stored}.")
        } else {
            format!("With {bits} it would read {absent} and {stored}; {}.", size_text(tuning, then))
        };
        self.paragraphs.push(format!("{now_text} {change}"));
        let fewer = blocks(tuning.saved(then));
        self.short = match advice.is_conditional() {
            true => format!(": {fewer} fewer blocks"),
            false => format!(": {fewer} fewer blocks per lookup, {}", size_change(&tuning.now, outcome)),
        };
        if !advice.is_conditional() && !self.commands.is_empty() && advice.obstacles.is_empty() {
            let lasting =
                format!("New tables get what the program sets; {bits_per_key} bits there make it last.");
            self.after.push(lasting);
        }
    }

    fn describe_size(&mut self, tuning: &Tuning, then: &Candidate) {
        let [before, after] = [&tuning.now, &then.outcome].map(|of| size(of.size.value as u64));
        self.clause = format!(": filters take {before}, and {after} would do");
        self.short = format!(": {}", size_change(&tuning.now, &then.outcome));
        if let Some((now, reads)) = tuning.now.reads.zip(then.outcome.reads) {
            let bits = bits_text(then.bits_per_key);
            let [now, then] = [now, reads].map(|reads| blocks(reads.absent.value));
            let text = format!(
                "With {bits}, a lookup would read {then} data blocks for an absent key instead of {now}."
            );
            self.paragraphs.push(text);
        }
    }

    fn describe_damage(&mut self, damage: &Damage, advice: &Advice, tuning: Option<&Tuning>) {
        if !damage.title.is_empty() {
            self.clause = format!(": {}", damage.title);
        }
        self.short.clone_from(&self.clause);
        self.paragraphs.extend(damage.detail.as_deref().map(sentence));
        let text = match (&damage.warning, damage.part) {
            (Some(warning), _) => {
                self.short += DO_NOT_OPEN;
                format!("{warning}. Save what can be saved; this database is not changed:")
            }
            (None, _) if advice.action == Action::Carve => "To see the entries that can be read:".to_owned(),
            (None, DamagedPart::Manifest) => {
                self.clause += ", so LevelDB does not open the database";
                NEW_DATABASE.to_owned()
            }
            (None, DamagedPart::Logs) => {
                let numbers = tuning.and_then(|tuning| Some(reads_text(&tuning.now.reads?, tuning)));
                self.after.extend(numbers);
                FIND_LOG.to_owned()
            }
            (None, DamagedPart::Files) => SAVE.to_owned(),
        };
        self.paragraphs.push(text);
    }
}

pub(super) fn size_text(tuning: &Tuning, then: &Candidate) -> String {
    let (now, then) = (tuning.now.size.value, then.outcome.size.value);
    if now == 0.0 {
        return format!("filters would take {}", size(then as u64));
    }
    format!("filters {} from {}", if then < now { "shrink" } else { "grow" }, size_range(now, then))
}

fn reads_text(reads: &Reads, tuning: &Tuning) -> String {
    let (absent, stored) = (blocks(reads.absent.value), blocks(reads.stored.value));
    let own = if tuning.lookups.is_some() { " of --lookups" } else { "" };
    format!("A lookup reads {absent} data blocks for an absent key{own}, {stored} for a stored one.")
}

/// What filters save now, and that others would save no more.
fn enough_lines(tuning: &Tuning) -> Vec<String> {
    let Some(reads) = &tuning.now.reads else { return Vec::new() };
    let saves = |of: &&Candidate| tuning.saved(of) >= 0.1;
    let bits = tuning.bits_per_key.filter(|_| tuning.without_filters() == 0);
    let more = match (bits, tuning.candidates.iter().find(saves)) {
        (_, Some(of)) => {
            let (bits, fewer) = (bits_text(of.bits_per_key), blocks(tuning.saved(of)));
            format!("{bits} would save {fewer} blocks, if the program sets them.")
        }
        (Some(bits), None) => format!("More than {} would save less than 0.1 blocks.", bits_text(bits)),
        (None, None) => format!("Filters with {} would save less than 0.1 blocks.", bits_text(DEFAULT_BITS)),
    };
    vec![reads_text(reads, tuning), more]
}

fn size_change(now: &Effect, then: &Effect) -> String {
    let more = then.size.value - now.size.value;
    format!("{} {}", rough_size(more.abs()), if more < 0.0 { "less" } else { "more" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tune::examples::{outcome, tuning};
    use crate::audit::tune::{Facts, advise};

    fn text_of(tuning: &Tuning) -> AdviceText {
        advice_text(&advise(&tuning.facts, Some(tuning)), Some(tuning), Path::new("db"))
    }

    /// What stands below the verdict, and how it is said in a line.
    #[test]
    fn advice_says_what_is_read_now_and_then() {
        let fine = text_of(&tuning(Some(10)));
        let lines = [
            "A lookup reads 0.02 data blocks for an absent key, 1.01 for a stored one.",
            "More than 10 bits per key would save less than 0.1 blocks.",
        ];
        assert_eq!(
            (fine.headline(), &fine.paragraphs[..]),
            ("fine".to_owned(), &lines.map(str::to_owned)[..])
        );
        assert!(fine.commands.is_empty() && fine.after.is_empty());

        let weak = text_of(&tuning(Some(4)));
        let line = "A lookup reads 0.44 data blocks for an absent key, 1.15 for a stored one. With 10 bits per key it would \
                    read 0.02 and 1.01; filters grow from 6 to 15 MiB.";
        assert_eq!(
            (weak.headline(), &weak.paragraphs[..]),
            ("could be better".to_owned(), &[line.to_owned()][..])
        );
        assert_eq!(weak.short, ": 0.41 fewer blocks per lookup, 9 MiB more");
        assert_eq!(weak.after, ["New tables get what the program sets; 10 bits there make it last."]);

        let none = text_of(&tuning(None));
        assert_eq!(none.headline(), "could be better, if its program uses filters");
        assert_eq!(none.short, ": 2.98 fewer blocks");
        assert!(
            none.paragraphs[0]
                .ends_with("With 10 bits per key (15 MiB of filters) it would read 0.02 and 1.01.")
        );
        assert!(
            none.paragraphs[1].contains("Bitcoin Core") && none.paragraphs[1].ends_with("If yours does:")
        );
        assert!(none.after.is_empty());

        let large = text_of(&tuning(Some(100)));
        assert_eq!(large.headline(), "could be better: filters take 150 MiB, and 15 MiB would do");
        let line =
            "With 10 bits per key, a lookup would read 0.02 data blocks for an absent key instead of 0.00.";
        assert_eq!((&large.paragraphs[..], &*large.short), (&[line.to_owned()][..], ": 135 MiB less"));
    }

    #[test]
    fn more_bits_that_would_save_are_named() {
        let mut tuning = tuning(Some(10));
        tuning.now = outcome(15.0, 0.15, 1.0);
        tuning.candidates.iter_mut().for_each(|of| {
            of.outcome = outcome(15.0, if of.bits_per_key < 14 { 0.15 } else { 0.04 }, 1.0);
        });
        let text = text_of(&tuning);
        assert_eq!(text.paragraphs[1], "14 bits per key would save 0.11 blocks, if the program sets them.");
        assert_eq!(text.to_string().split(". ").next(), Some("Fine"));
    }

    #[test]
    fn a_rebuild_that_lacks_an_argument_has_no_command() {
        let mut tuning = tuning(Some(4));
        tuning.facts.filters.is_hash_unknown = true;
        let text = text_of(&tuning);
        assert!(text.commands.is_empty() && text.after.is_empty());
        assert!(text.paragraphs[1].starts_with("Rebuild has to be given the hash, with --bits-per-key 10: "));
        let undo = Facts { has_undo: true, ..tuning.facts.clone() };
        tuning.facts = undo;
        let commands = ["filterblock rebuild --discard db", "filterblock rebuild --undo db"];
        assert_eq!(text_of(&tuning).commands, commands);
    }

    #[test]
    fn sentences_begin_large_and_end() {
        assert_eq!(sentence("leave it: it is good"), "Leave it: it is good.");
        assert_eq!(sentence("Über 5."), "Über 5.");
    }

    #[test]
    fn of_many_names_the_first_is_shown() {
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let shown = [1, 2, 4].map(|number| some_of(&names[..number], "tables"));
        assert_eq!(shown, ["a", "a and b", "a and 3 more tables"]);
    }
}
