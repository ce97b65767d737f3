//! The results of `tune` as text: the advice and, if they are asked for, the numbers that it rests on.

use std::io::{self, Write as _};
use std::path::PathBuf;

use filterblock::escape_path;
use filterblock_engine::report::{
    Advice, Candidate, Estimate, Reads, SimilarKind, Tuned, Tuning, Verdict, VerdictCounts,
};
use filterblock_engine::text::{
    AdviceText, about_size, advice_text, bits_text, blocks, count, counted, measured, or_dash, similar_text,
    size,
};

use super::advice::write_advice;
use super::columns::{Cell, Column, Layout};
use super::labelled::{paragraph, write_counts, write_verdict};
use crate::io::{Console, Tone};

/// The databases tuned so far. One of them is shown in full, several in a line each, those that need something first.
#[derive(Default)]
pub(crate) struct Summary {
    first: Option<Tuned>,
    lines: Vec<Line>,
    verdicts: VerdictCounts,
}

struct Line {
    path: PathBuf,
    advice: AdviceText,
    /// The data blocks that a lookup reads fewer after what is advised.
    saved: f64,
    is_conditional: bool,
}

impl Summary {
    /// Adds a result. A table by itself, and what is neither a table nor a database, is shown at once.
    pub(crate) fn add(&mut self, tuned: Tuned, is_wide: bool, console: &mut Console) -> io::Result<()> {
        let Some(advice) = &tuned.advice else { return write(&tuned, is_wide, console) };
        self.verdicts.add(advice.verdict);
        if is_wide {
            return write(&tuned, true, console);
        }
        if self.verdicts.all() == 1 {
            self.first = Some(tuned);
            return Ok(());
        }
        let tuned = [self.first.take(), Some(tuned)];
        self.lines.extend(tuned.into_iter().flatten().filter_map(|tuned| Line::of(&tuned)));
        Ok(())
    }

    pub(crate) fn end(mut self, console: &mut Console) -> io::Result<()> {
        if let Some(tuned) = self.first {
            return write(&tuned, false, console);
        }
        let rank = |verdict| match verdict {
            Verdict::FalseNegatives => 0,
            Verdict::Fine | Verdict::CouldBeBetter => 1,
            Verdict::Damaged => 2,
            Verdict::CannotTell => 3,
        };
        self.lines.sort_by(|one, other| {
            let ranks = rank(one.advice.verdict).cmp(&rank(other.advice.verdict));
            ranks.then(one.is_conditional.cmp(&other.is_conditional)).then(other.saved.total_cmp(&one.saved))
        });
        self.lines.iter().try_for_each(|line| line.write(console))?;
        match self.verdicts.all() {
            0 | 1 => Ok(()),
            _ => write_counts(&self.verdicts, "database", console),
        }
    }
}

impl Line {
    fn of(tuned: &Tuned) -> Option<Self> {
        let advice = tuned.advice.as_ref().filter(|advice| advice.verdict != Verdict::Fine)?;
        let tuning = tuned.result.as_ref().ok();
        let then = tuning.and_then(|tuning| tuning.advised(Some(advice)));
        Some(Self {
            path: tuned.path.clone(),
            advice: advice_text(advice, tuning, &tuned.path),
            saved: tuning.zip(then).map_or(0.0, |(tuning, then)| tuning.saved(then)),
            is_conditional: advice.is_conditional(),
        })
    }

    fn write(&self, console: &mut Console) -> io::Result<()> {
        let AdviceText { verdict, condition, short, commands, .. } = &self.advice;
        write_verdict(&self.path, *verdict, &format!("{condition}{short}"), console)?;
        let is_certain = matches!(verdict, Verdict::FalseNegatives | Verdict::CouldBeBetter);
        let commands = commands.iter().filter(|_| is_certain && !self.is_conditional);
        commands.take(1).try_for_each(|command| writeln!(console, "    {command}"))
    }
}

fn write(tuned: &Tuned, is_wide: bool, console: &mut Console) -> io::Result<()> {
    let tuning = tuned.result.as_ref().ok();
    let advice = tuned.advice.as_ref();
    match (advice, &tuned.result) {
        (Some(advice), _) => write_advice(&tuned.path, &advice_text(advice, tuning, &tuned.path), console)?,
        (None, Ok(tuning)) => {
            writeln!(console, "{}", escape_path(&tuned.path))?;
            paragraph(console, 2, &table_text(tuning))?;
            writeln!(console)?;
            return write_bits(tuning, None, console);
        }
        (None, Err(failure)) => console.message_about(&tuned.path, &failure.text),
    }
    if let Some(tuning) = tuning.filter(|_| is_wide) {
        if let Some(reads) = &tuning.now.reads {
            writeln!(console)?;
            write_reads(tuning, reads, console)?;
        }
        writeln!(console)?;
        write_bits(tuning, advice, console)?;
        writeln!(console)?;
        write_levels(tuning, console)?;
        if tuning.logs > 0 {
            paragraph(console, 2, &format!("Not counted: newer writes in {}.", counted(tuning.logs, "log")))?;
        }
        for table in &tuning.left_out {
            paragraph(console, 2, &format!("Not counted: {}: {}.", table.name, table.why.text))?;
        }
    }
    console.flush()
}

fn table_text(tuning: &Tuning) -> String {
    let rates = &tuning.now.rates;
    let rate = |rate: Option<_>, of: &str| Some(format!("{} of {of} keys", measured(rate?)));
    let rates = [rate(rates.random, "random"), rate(rates.worst, "similar"), rate(rates.lookups, "your")];
    let rates = rates.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let bits = tuning.bits_per_key.map(|bits| format!(", {}", bits_text(bits))).unwrap_or_default();
    match tuning.without_filters() {
        0 => format!("Filters take {}{bits}; false-positive rate {rates}.", about_size(tuning.now.size)),
        _ => format!("No filters of {}.", tuning.policy.name()),
    }
}

fn write_reads(tuning: &Tuning, now: &Reads, console: &mut Console) -> io::Result<()> {
    let then = tuning.target().and_then(|of| Some((of.bits_per_key, of.outcome.reads?)));
    let title = then.map_or(String::new(), |(bits, _)| format!("{bits} bits"));
    let then = then.map(|(_, reads)| reads);
    let line = format!("  {:<24}  {:>5}  {title:>7}  95% interval now", "data blocks per lookup", "now");
    console.line(Tone::Title, line, "")?;
    let mut write = |what: &str, of: &dyn Fn(&Reads) -> Option<Estimate>| {
        let Some(now) = of(now) else { return Ok(()) };
        let then = then.as_ref().and_then(of).map(|then| blocks(then.value)).unwrap_or_default();
        let interval = format!("{} to {}", blocks(now.low), blocks(now.high));
        writeln!(console, "  {what:<24}  {:>5}  {then:>7}  {interval:>16}", blocks(now.value))
    };
    if tuning.lookups.is_some() {
        write("absent key of --lookups", &|reads| Some(reads.absent))?;
    }
    write("absent key, random", &|reads| Some(reads.random))?;
    write("absent key, similar", &|reads| reads.of_kind(now.worst?))?;
    for kind in SimilarKind::ALL {
        write(&format!("  {}", similar_text(*kind)), &|reads| reads.of_kind(*kind))?;
    }
    write("stored key", &|reads| Some(reads.stored))
}

fn write_bits(tuning: &Tuning, advice: Option<&Advice>, console: &mut Console) -> io::Result<()> {
    let mut columns = vec![
        Column::right("bits per key", 12, 0),
        Column::right("size", 8, 0),
        Column::right("random", 6, 0),
        Column::right("similar", 7, 0),
    ];
    if tuning.lookups.is_some() {
        columns.push(Column::right("lookups", 7, 0));
    }
    let has_reads = tuning.now.reads.is_some();
    if has_reads {
        columns.extend([Column::right("absent", 6, 0), Column::right("stored", 6, 0)]);
    }
    columns.push(Column::left("", 8, 0));
    let layout = Layout::all(columns);
    write!(console, "  ")?;
    layout.write_titles(console)?;
    let advised = tuning.advised(advice).map(|of| of.bits_per_key);
    for of in tuning.telling(advice) {
        let Candidate { bits_per_key, outcome } = of;
        let rates = &outcome.rates;
        let mark = match Some(*bits_per_key) {
            bits if bits == advised => "advised",
            bits if bits == tuning.bits_per_key => "now",
            _ => "",
        };
        let mut cells: Vec<Cell> =
            vec![bits_per_key.to_string().into(), size(outcome.size.value as u64).into()];
        let lookups = tuning.lookups.map(|_| rates.lookups);
        let rates = [Some(rates.random), Some(rates.worst), lookups].into_iter().flatten();
        cells.extend(rates.map(|rate| Cell::from(or_dash(rate.map(measured)))));
        if has_reads {
            let reads = [|reads: Reads| reads.absent, |reads: Reads| reads.stored];
            cells.extend(
                reads.map(|of| Cell::from(or_dash(outcome.reads.map(|reads| blocks(of(reads).value))))),
            );
        }
        cells.push(mark.into());
        write!(console, "  ")?;
        layout.write(console, cells)?;
    }
    paragraph(
        console,
        2,
        "random, similar: false-positive rates. Similar keys differ little from stored ones. If you know your lookups, \
         --lookups FILE measures those instead.",
    )
}

fn write_levels(tuning: &Tuning, console: &mut Console) -> io::Result<()> {
    let entries = |entries: f64| count(entries as u64);
    let longest = tuning.levels.iter().map(|level| entries(level.entries).len()).max().unwrap_or_default();
    let layout = Layout::all(vec![
        Column::right("level", 5, 0),
        Column::right("tables", 6, 0),
        Column::right("entries", longest, 0),
        Column::right("filters", 8, 0),
        Column::right("tables checked per absent key", 29, 0),
    ]);
    write!(console, "  ")?;
    layout.write_titles(console)?;
    for level in &tuning.levels {
        write!(console, "  ")?;
        layout.write(
            console,
            vec![
                or_dash(level.number).into(),
                count(level.tables).into(),
                entries(level.entries).into(),
                size(level.filter_size as u64).into(),
                or_dash(level.checked.map(blocks)).into(),
            ],
        )?;
    }
    Ok(())
}
