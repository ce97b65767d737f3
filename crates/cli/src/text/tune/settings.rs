//! The settings that were tried, as lines of a listing.

use std::io;

use filterblock_engine::Policy;
use filterblock_engine::report::{Choice, Setting, Tried, Tuning};
use filterblock_engine::words::{about_size, counted, estimate, measured, number, or_dash, percent};

use crate::io::{Console, Tone};
use crate::text::columns::{Cell, Column, Layout};
use crate::text::labelled::{line_width, write_text};

/// The numbers of bits a key that best show the effect of more bits.
const TELLING_BITS: [u32; 8] = [4, 6, 8, 10, 12, 14, 16, 20];
/// The binary logarithm of LevelDB's own range for a filter, 2 KiB.
const USUAL_BASE_LG: u8 = 11;
/// The number of bits a key that LevelDB's header advises.
const USUAL_BITS: u32 = 10;

pub(super) struct Settings<'a> {
    tuning: &'a Tuning,
    /// Set if all settings are shown.
    is_wide: bool,
    now: Option<Setting>,
    /// The best setting that is within the budget and the same on all levels. `None`: there is no such setting.
    best: Option<Setting>,
    /// The setting of the advice, if it has the same bits on all levels.
    advised: Option<Setting>,
}

impl<'a> Settings<'a> {
    pub(super) fn new(tuning: &'a Tuning, is_wide: bool) -> Self {
        Self {
            tuning,
            is_wide,
            now: tuning.settings.iter().find(|tried| tried.in_use).map(|tried| tried.setting),
            best: tuning.uniform.as_ref().and_then(Choice::setting),
            advised: tuning.advice.choice.as_ref().and_then(Choice::setting),
        }
    }

    /// Writes a line for each setting, or for those that a short list should have. `budget`: the limit
    /// that `best` stays within, in words.
    pub(super) fn write(&self, budget: &str, console: &mut Console) -> io::Result<()> {
        let all = &self.tuning.settings;
        let shown: Vec<&Tried> = all.iter().filter(|tried| self.is_wide || self.tells(tried)).collect();
        if shown.is_empty() {
            return Ok(());
        }
        writeln!(console)?;
        console.line(Tone::Title, "Settings, the same on all levels", "")?;
        let layout = self.layout(console);
        layout.write_titles(console)?;
        let mut policy = self.tuning.policy;
        for tried in &shown {
            if tried.setting.policy != policy {
                policy = tried.setting.policy;
                writeln!(console, "by {}", policy.name())?;
            }
            layout.write(console, self.cells(tried))?;
        }
        self.notes(budget, console)?;
        let hidden = layout.hidden();
        if !hidden.is_empty() {
            write_text(console, Tone::Dim, &format!("no room for: {}", hidden.join(", ")))?;
        }
        if shown.len() < all.len() {
            let all = counted(all.len() as u64, "setting");
            write_text(console, Tone::Dim, &format!("{all} were tried; --wide shows all of them"))?;
        }
        Ok(())
    }

    /// Returns `true` if a setting is worth showing in a short list.
    fn tells(&self, tried: &Tried) -> bool {
        let Setting { policy, base_lg, bits_per_key } = tried.setting;
        let marked = [self.now, self.best, self.advised];
        if marked.contains(&Some(tried.setting)) {
            return true;
        }
        let usual = self.now.map_or(USUAL_BASE_LG, |now| now.base_lg);
        if policy == self.tuning.policy && base_lg == usual {
            return TELLING_BITS.contains(&bits_per_key);
        }
        // One setting of each other policy and one of each other range: with the bits a key in use, else those of
        // the best setting, else the usual ones.
        let bits = self.now.or(self.best).map_or(USUAL_BITS, |setting| setting.bits_per_key);
        bits_per_key == bits && (policy == self.tuning.policy || base_lg == usual)
    }

    fn has_reads(&self) -> bool {
        self.tuning.settings.iter().any(|tried| tried.outcome.reads.is_some())
    }

    fn layout(&self, console: &Console) -> Layout {
        let mut columns = vec![
            Column::right("bits", 4, 0),
            Column::right("base_lg", 7, 4),
            Column::right("size", 10, 0),
            Column::right("bytes", 5, 6),
            Column::right("formula", 7, 7),
            Column::right("random", 8, 5),
            Column::right("near", 8, 3),
        ];
        if self.tuning.lookups.is_some() {
            columns.push(Column::right("lookups", 7, 2));
        }
        if self.has_reads() {
            columns.push(Column::right("absent", 7, 0));
            columns.push(Column::right("stored", 7, 1));
        }
        columns.push(Column::left("", 9, 0));
        if self.is_wide { Layout::all(columns) } else { Layout::new(columns, Some(line_width(console))) }
    }

    fn cells(&self, tried: &Tried) -> Vec<Cell> {
        let Tried { setting, outcome, .. } = tried;
        let rates = outcome.rates;
        let rate = |rate: Option<_>| Cell::from(or_dash(rate.map(measured)));
        let mut cells: Vec<Cell> = vec![
            setting.bits_per_key.to_string().into(),
            setting.base_lg.to_string().into(),
            about_size(outcome.size).into(),
            number(outcome.bytes_per_entry).into(),
            or_dash(rates.formula.map(percent)).into(),
            rate(rates.random),
            rate(rates.neighbours),
        ];
        if self.tuning.lookups.is_some() {
            cells.push(rate(rates.lookups));
        }
        if self.has_reads() {
            let reads = outcome.reads;
            cells.push(or_dash(reads.map(|reads| estimate(reads.absent()))).into());
            cells.push(or_dash(reads.map(|reads| estimate(reads.present))).into());
        }
        let marks = [(self.now, "now"), (self.best, "best")];
        let marks = marks.iter().filter(|(of, _)| *of == Some(*setting)).map(|(_, mark)| *mark);
        cells.push(Cell::toned(marks.collect::<Vec<_>>().join(", "), Tone::Good));
        cells
    }

    /// Explains the columns and the marks.
    fn notes(&self, budget: &str, console: &mut Console) -> io::Result<()> {
        let mut note = |text: &str| write_text(console, Tone::Dim, text);
        note("bytes: of filters, for each entry")?;
        let lookups = if self.tuning.lookups.is_some() { ", lookups" } else { "" };
        note(&format!(
            "formula, random, near{lookups}: share of absent keys that a filter lets pass, so that a data block is read \
             in vain; near: stored keys that are changed, cut or longer, or numbers missing between them, whichever is \
             worst"
        ))?;
        if self.has_reads() {
            let of =
                if self.tuning.lookups.is_some() { "among your lookups" } else { "as in near or random" };
            note(&format!("absent, stored: data blocks read by an absent key {of}, and by a stored key"))?;
        }
        note(ranges_note(self.tuning.policy))?;
        let reads = if self.has_reads() { "reads" } else { "keys that pass" };
        match (self.now, self.best) {
            (Some(_), Some(_)) => {
                note(&format!("now: that of most filters; best: the fewest {reads} within {budget}"))
            }
            (None, Some(_)) => note(&format!("best: the fewest {reads} within {budget}")),
            (_, None) => note(&format!("no setting fits into {budget}")),
        }
    }
}

/// A note on the range of filters, and on the ways to set it.
const fn ranges_note(policy: Policy) -> &'static str {
    match policy {
        Policy::Builtin2 => {
            "base_lg: a filter for every 2^base_lg bytes of data blocks. LevelDB's programs write 11 and read any: others \
             come from rebuild only"
        }
        Policy::Builtin(_) => {
            "base_lg: a filter for every 2^base_lg bytes of data blocks. goleveldb's programs set it with FilterBaseLg and \
             read any"
        }
        Policy::Own(_) => "base_lg: a filter for every 2^base_lg bytes of data blocks",
    }
}
