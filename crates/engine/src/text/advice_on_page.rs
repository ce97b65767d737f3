//! Advice in the parts of a page: a title, a sentence, and lines.

use super::advice::{AdviceText, SAVE, size_text};
use super::conditions::SEE_PROGRAMS;
use super::numbers::{bits_text, count, counted};
use super::sentences::{capitalized, sentence};
use crate::report::{
    Action, Advice, Basis, COPIES_ONLY, Candidate, DEFAULT_BITS, Damage, DamagedPart, RepairReport, Tuning,
};

/// Before a program's database is changed or copied.
const CLOSE: &str = "Close the program that uses it first.";
const UNDO: &str = "--undo goes back, as long as no program has opened the database since.";

impl AdviceText {
    /// Fills the fields of a page from the others.
    pub(super) fn describe_on_page(&mut self, advice: &Advice, tuning: Option<&Tuning>) {
        let clause = self.clause.strip_prefix(": ").unwrap_or_default();
        self.title = match &advice.reason {
            Basis::Nothing => "nothing wrong was seen".to_owned(),
            Basis::TooSmall => "sound, and too small for filters to matter".to_owned(),
            Basis::Enough => "sound, and its filters are good".to_owned(),
            Basis::Reads => tuning.map(weakness).unwrap_or_default(),
            // How many keys there are can wait.
            Basis::FalseNegatives(_) => self.short.strip_prefix(": ").unwrap_or_default().to_owned(),
            Basis::Damage(damage) => damage_title(damage, clause),
            Basis::Unread { what, .. } if what.is_empty() => "not all of it could be read".to_owned(),
            Basis::Unread { what, .. } => format!("{what} could not be read"),
            _ => clause.to_owned(),
        };
        self.title = capitalized(&self.title);
        // Neither lookups nor filters of a damaged database are judged.
        let after = if matches!(advice.reason, Basis::Damage(_)) { &[][..] } else { &self.after };
        let lines = self.paragraphs.iter().chain(after).flat_map(|text| sentences(text));
        let mut lines: Vec<_> = lines.collect();
        match &advice.reason {
            Basis::Reads => {
                let then = tuning.and_then(|tuning| Some((tuning, tuning.advised(Some(advice))?)));
                lines.splice(..lines.len().min(2), then.map(|(tuning, then)| saving(tuning, then)));
                lines.extend(then.map(|(tuning, then)| sentence(&size_text(tuning, then))));
                // The page has a section about them.
                lines.retain(|line| !line.ends_with(SEE_PROGRAMS));
            }
            Basis::Nothing => lines.insert(0, "What other filters would save is not known.".to_owned()),
            Basis::Unread { what, why } if what.is_empty() => lines.insert(0, sentence(why)),
            _ => {}
        }
        let mut lines = lines.into_iter();
        self.sentence = lines.next().unwrap_or_default();
        self.conditions = lines.collect();
        if !self.commands.is_empty() && advice.action != Action::Carve {
            self.conditions.push(CLOSE.to_owned());
        }
        let is_said = matches!(advice.reason, Basis::FalseNegatives(_));
        if !COPIES_ONLY && !is_said && advice.rebuild().is_some() && advice.obstacles.is_empty() {
            self.conditions.push(UNDO.to_owned());
        }
    }
}

/// What to know before a repair of which the outcome is known, in place of what holds for any.
pub(crate) fn before_repair(conditions: Vec<String>, report: &RepairReport) -> Vec<String> {
    let general = sentences(SAVE);
    let is_general = |line: &String| general.contains(line) || line.starts_with("Save what can be saved");
    let whole = "The new database has all of it; keep this folder until that one works.".to_owned();
    // To keep the folder, and what is better than a repair.
    let first = if report.data.is_complete { vec![whole] } else { general.iter().take(2).cloned().collect() };
    first.into_iter().chain(conditions.into_iter().filter(|line| !is_general(line))).collect()
}

/// The sentences of a text, without the last one if that only leads to a command.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences: Vec<_> = text.split_inclusive(". ").map(|text| text.trim().to_owned()).collect();
    if let Some(last) = sentences.pop() {
        let is_lead = last.ends_with(':') && last.split(' ').count() < 4;
        sentences.extend((!is_lead).then(|| sentence(last.trim_end_matches(':'))));
    }
    sentences
}

/// What is wrong with filters that could save reads.
fn weakness(tuning: &Tuning) -> String {
    let tables: u64 = tuning.levels.iter().map(|level| level.tables).sum();
    match (tuning.without_filters(), tuning.bits_per_key) {
        (without, _) if without == tables => "no table has filters".to_owned(),
        (without @ 1.., _) => {
            let have = if without == 1 { "has" } else { "have" };
            format!("{} of {} {have} no filters", count(without), counted(tables, "table"))
        }
        (0, Some(bits @ ..DEFAULT_BITS)) => format!("its filters have only {}", bits_text(bits)),
        _ => "other filters would save reads".to_owned(),
    }
}

/// The reads that filters would save, as they are felt: in whole blocks, or by how many lookups.
fn saving(tuning: &Tuning, then: &Candidate) -> String {
    let Some((now, reads)) = tuning.now.reads.zip(then.outcome.reads) else { return String::new() };
    let [absent, stored] = [now.absent.value - reads.absent.value, now.stored.value - reads.stored.value];
    let bits = bits_text(then.bits_per_key);
    let own = if tuning.lookups.is_some() { " of --lookups" } else { "" };
    match () {
        () if absent >= 1.0 && stored >= 0.1 => format!(
            "With {bits}, a lookup would read {} fewer data blocks for an absent key{own}, and {} fewer for a stored one.",
            few(absent),
            few(stored)
        ),
        () if absent >= 1.0 => {
            format!(
                "With {bits}, a lookup would read {} fewer data blocks for an absent key{own}.",
                few(absent)
            )
        }
        () if absent >= stored => {
            format!("With {bits}, filters would save {} of an absent key{own}.", often(absent))
        }
        () => format!("With {bits}, filters would save {} of a stored key.", often(stored)),
    }
}

/// At most two digits.
fn few(blocks: f64) -> String {
    let text = if blocks < 9.95 { format!("{blocks:.1}") } else { format!("{blocks:.0}") };
    text.trim_end_matches(".0").to_owned()
}

/// A number of blocks of a lookup as a number of reads in so many lookups.
fn often(blocks: f64) -> String {
    let step = |lookups: f64| match lookups {
        ..20.0 => 1.0,
        ..100.0 => 5.0,
        _ => 50.0,
    };
    match blocks {
        1.05.. => format!("{} reads in every lookup", few(blocks)),
        0.95.. => "1 read in every lookup".to_owned(),
        0.825.. => "9 reads in 10 lookups".to_owned(),
        0.71.. => "3 reads in 4 lookups".to_owned(),
        0.55.. => "2 reads in 3 lookups".to_owned(),
        _ => {
            let lookups = (1.0 / blocks.max(1e-3)).min(1000.0);
            let step = step(lookups);
            format!("1 read in {:.0} lookups", (lookups / step).round() * step)
        }
    }
}

/// The verdict on a terminal stands before the names of damaged files and says what they are.
fn damage_title(damage: &Damage, clause: &str) -> String {
    match damage.part {
        _ if clause.is_empty() => "entries of several files contradict each other".to_owned(),
        DamagedPart::Files if !clause.contains(" is ") && !clause.contains(" are ") => {
            format!("{clause} {} damaged", if clause.contains(" and ") { "are" } else { "is" })
        }
        _ => clause.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::audit::tune::examples::tuning;
    use crate::audit::tune::{Facts, advise};
    use crate::report::FalseNegatives;
    use crate::text::advice_text;

    fn text_of(tuning: &Tuning) -> AdviceText {
        advice_text(&advise(&tuning.facts, Some(tuning)), Some(tuning), Path::new("db"))
    }

    /// Ten words are read at a glance, and 25 in one go.
    #[test]
    fn a_page_says_the_same_in_few_words() {
        let words = |text: &str| text.split(' ').count();
        for tuning in [tuning(Some(4)), tuning(Some(10)), tuning(Some(100)), tuning(None)] {
            let text = text_of(&tuning);
            assert!(words(&text.title) <= 10 && (1..=25).contains(&words(&text.sentence)), "{text:?}");
        }
        let none = text_of(&tuning(None));
        assert_eq!(none.title, "No table has filters");
        let saving = "With 10 bits per key, a lookup would read 3 fewer data blocks for an absent key, and 1 fewer for a stored one.";
        assert_eq!(none.sentence, saving);
        assert!(
            !none.conditions.iter().any(|line| line.contains("Bitcoin") || line.ends_with(':')),
            "{none:?}"
        );
        let mut some = tuning(None);
        some.levels[0].without_filters = 0;
        assert_eq!(text_of(&some).title, "50 of 100 tables have no filters");
        let advice = |facts: Facts| advice_text(&advise(&facts, None), None, Path::new("db"));
        let tables = ["1", "2", "3"].map(|name| format!("00000{name}.ldb")).to_vec();
        let hidden = FalseNegatives { tables: tables.clone(), hidden: 15_988, keys: Some(45_000) };
        let text = advice(Facts { false_negatives: hidden, ..Facts::default() });
        assert_eq!(text.title, "Filters of 000001.ldb and 2 more tables hide 15,988 keys");
        assert_eq!(text.sentence, "Programs that use filters do not find these keys.");
        for (title, part, shown) in [
            ("000005.ldb", DamagedPart::Files, "000005.ldb is damaged"),
            ("1.ldb and 3 more tables", DamagedPart::Files, "1.ldb and 3 more tables are damaged"),
            ("1.ldb is missing", DamagedPart::Files, "1.ldb is missing"),
            ("log 000010.log is missing", DamagedPart::Logs, "Log 000010.log is missing"),
            ("", DamagedPart::Files, "Entries of several files contradict each other"),
        ] {
            let damage = Some(Damage::new(title.to_owned(), part));
            assert_eq!(advice(Facts { damage, ..Facts::default() }).title, shown);
        }
        let unknown = Some(Basis::Unread { what: "1.ldb".to_owned(), why: "may not be read".to_owned() });
        let text = advice(Facts { unknown, ..Facts::default() });
        assert_eq!((&*text.title, &*text.sentence), ("1.ldb could not be read", "May not be read."));
    }

    #[test]
    fn savings_are_said_as_they_are_felt() {
        for (blocks, text) in [
            (12.3, "12 reads in every lookup"),
            (1.04, "1 read in every lookup"),
            (0.96, "1 read in every lookup"),
            (0.9, "9 reads in 10 lookups"),
            (0.75, "3 reads in 4 lookups"),
            (0.66, "2 reads in 3 lookups"),
            (0.5, "1 read in 2 lookups"),
            (0.1, "1 read in 10 lookups"),
            (0.0299, "1 read in 35 lookups"),
            (0.0021, "1 read in 500 lookups"),
            (0.0, "1 read in 1000 lookups"),
        ] {
            assert_eq!(often(blocks), text, "{blocks}");
        }
        assert_eq!([few(3.96), few(2.74), few(9.96)], ["4", "2.7", "10"]);
    }
}
