//! The data that was looked at, and the effect of the present filters, together and on each level.

use std::{fmt::Display, io};

use filterblock_engine::Policy;
use filterblock_engine::report::{
    Estimate, FoundFilters, Level, LevelOutcome, MeasuredRate, Memory, NearKind, Reads, Tuning,
};
use filterblock_engine::words::{
    about_count, about_size, ask_for_lookups, count, counted, entries, estimate, interval, measured,
    near_text, number, or_dash, rate_interval, size, size_interval,
};

use crate::io::{Console, Tone};
use crate::text::columns::{Cell, Column, Layout};
use crate::text::labelled::{line_width, write as line, write_text};

/// Writes the facts about the data that was looked at.
pub(super) fn write(tuning: &Tuning, console: &mut Console) -> io::Result<()> {
    let Tuning { levels, sample, .. } = tuning;
    let sum = |of: fn(&Level) -> u64| levels.iter().map(of).fold(0, u64::saturating_add);
    let tables = sum(|level| level.tables);
    let numbered = levels.iter().filter(|level| level.number.is_some()).count() as u64;
    let mut what = counted(tables, "table");
    if numbered > 0 {
        what = format!("{what} on {}", counted(numbered, "level"));
    }
    let keys = match sample.distinct_keys {
        Some(keys) => format!(" of {} distinct keys", entries(keys)),
        None => "; distinct keys are not counted in a sample".to_owned(),
    };
    let all =
        format!("{what}, {}, {} entries{keys}", size(sum(|level| level.size)), about_count(sample.entries));
    line(console, "holds", all)?;
    line(console, "filters of", policy_text(tuning, tables, sum(|level| level.unfiltered)))?;
    let looked_at = if sample.all {
        "every entry; numbers in parentheses are 95 % intervals".to_owned()
    } else {
        format!(
            "every entry of {} of {} tables, {} of {}; --all looks at all. Numbers in parentheses are 95 % intervals",
            count(sample.tables),
            count(sample.of_tables),
            size(sample.bytes),
            size(sample.of_bytes),
        )
    };
    line(console, "looked at", looked_at)?;
    if let Some(lookups) = tuning.lookups {
        let used = match lookups.used == lookups.given {
            true => count(lookups.given),
            false => format!("{} of the {} given", count(lookups.used), count(lookups.given)),
        };
        line(console, "your lookups", format!("{used}, {} of them of stored keys", count(lookups.present)))?;
    }
    let (faults, left_out) = (tuning.faults.len() as u64, tuning.left_out());
    if left_out > 0 {
        line(console, "left out", format!("{} that could not be read", counted(left_out, "table")))?;
    }
    if faults > left_out {
        let (keys, tables) = (counted(tuning.denied(), "stored key"), counted(faults - left_out, "table"));
        line(console, "filters deny", format!("{keys}, in {tables}"))?;
    }
    Ok(())
}

fn policy_text(tuning: &Tuning, tables: u64, unfiltered: u64) -> String {
    let name = tuning.policy.name();
    match unfiltered {
        _ if tuning.policy_assumed => {
            format!("no known policy; what follows is for {}'s own, {name}", tuning.policy.program())
        }
        0 => name.to_owned(),
        _ => {
            let none = if tuning.denied() > 0 { "no sound ones" } else { "none" };
            format!("{name}; {} of {} have {none}", count(unfiltered), counted(tables, "table"))
        }
    }
}

/// Writes the effect of the filters in use.
pub(super) fn write_now(tuning: &Tuning, console: &mut Console) -> io::Result<()> {
    let now = &tuning.now;
    writeln!(console)?;
    console.line(Tone::Title, "Now", ", on average")?;
    if now.size.high > 0.0 {
        let taken = with_interval(about_size(now.size), size_interval(now.size));
        line(console, "filters take", format!("{taken}, {} bytes an entry", number(now.bytes_per_entry)))?;
        memory(tuning.policy, tuning.memory, console)?;
    } else {
        let none = match tuning.found {
            FoundFilters::None => "nothing: there are none",
            FoundFilters::OfOthers => "nothing: there are none of this policy",
            FoundFilters::OfPolicy => "nothing: there are none that are sound",
        };
        line(console, "filters take", none)?;
    }
    let Some(reads) = now.reads else {
        let rates = [
            (now.rates.neighbours, "of absent keys near stored ones"),
            (now.rates.random, "of random keys"),
            (now.rates.lookups, "of your lookups of absent keys"),
        ];
        let rates = rates.iter().filter_map(|(rate, of)| Some(format!("{} {of}", rate_text((*rate)?))));
        let rates: Vec<_> = rates.collect();
        return if rates.is_empty() { Ok(()) } else { line(console, "let pass", rates.join(", ")) };
    };
    let absent = match (reads.lookups, reads.worst) {
        (Some(lookups), _) => format!("reads {} data blocks among your lookups", reads_text(lookups)),
        (None, Some(kind)) => {
            format!("reads {} data blocks {}", reads_text(reads.neighbours), near_text(kind))
        }
        (None, None) => format!("reads {} data blocks if random", reads_text(reads.random)),
    };
    line(console, "an absent key", absent)?;
    line(console, "others", others_text(&reads))?;
    let present = reads_text(reads.present);
    let blocks = if present == "1" { "data block" } else { "data blocks" };
    line(console, "a stored key", format!("reads {present} {blocks}"))?;
    match ask_for_lookups(&reads) {
        Some(text) => write_text(console, Tone::Dim, text),
        None => Ok(()),
    }
}

/// Writes a line for each level, if the levels are known.
pub(super) fn write_levels(tuning: &Tuning, console: &mut Console) -> io::Result<()> {
    if tuning.levels.iter().all(|level| level.number.is_none()) {
        return Ok(());
    }
    writeln!(console)?;
    console.line(Tone::Title, "Levels", ", with the filters as they are")?;
    let has_unfiltered = tuning.levels.iter().any(|level| level.unfiltered > 0);
    let has_lookups = tuning.lookups.is_some();
    let mut columns = vec![
        Column::right("level", 5, 0),
        Column::right("tables", 6, 2),
        Column::right("size", 10, 7),
        Column::right("entries", 11, 6),
        Column::right("asked", 7, 1),
        Column::right("filters", 11, 4),
        Column::right("random", 8, 5),
        Column::right("near", 8, 0),
    ];
    if has_unfiltered {
        columns.insert(2, Column::right("no filter", 9, 3));
    }
    if has_lookups {
        columns.push(Column::right("lookups", 7, 0));
    }
    let layout = Layout::new(columns, Some(line_width(console)));
    layout.write_titles(console)?;
    for (level, now) in tuning.levels.iter().zip(&tuning.now.levels) {
        let mut cells = cells(level, now);
        if has_unfiltered {
            let tone = if level.unfiltered > 0 { Tone::Bad } else { Tone::Plain };
            cells.insert(2, Cell::toned(count(level.unfiltered), tone));
        }
        if has_lookups {
            cells.push(or_dash(now.rates.lookups.map(measured)).into());
        }
        layout.write(console, cells)?;
    }
    let rates = if has_lookups { "random, near, lookups" } else { "random, near" };
    let asked = "asked: tables of the level that the lookup of an absent key comes to, on average";
    write_text(console, Tone::Dim, asked)?;
    write_text(console, Tone::Dim, &format!("{rates}: share of absent keys that the filters let pass"))
}

fn cells(level: &Level, now: &LevelOutcome) -> Vec<Cell> {
    vec![
        or_dash(level.number).into(),
        count(level.tables).into(),
        size(level.size).into(),
        about_count(level.entries).into(),
        or_dash(level.visits.map(|visits| number(visits.absent))).into(),
        about_size(now.size).into(),
        or_dash(now.rates.random.map(measured)).into(),
        or_dash(now.rates.neighbours.map(measured)).into(),
    ]
}

/// Writes where LevelDB or goleveldb holds the filters, if it reads those of this policy.
fn memory(policy: Policy, memory: Memory, console: &mut Console) -> io::Result<()> {
    let Memory { mapped_tables, heap_tables, heap_bytes } = memory;
    let text = match policy {
        Policy::Builtin2 if heap_tables == 0 => {
            "LevelDB maps the files of all these tables: their filters are in the page cache".to_owned()
        }
        Policy::Builtin2 => format!(
            "LevelDB maps the files of {}, whose filters are in the page cache, and holds those of {} more on the heap, \
             {}",
            counted(mapped_tables, "table"),
            count(heap_tables),
            size(heap_bytes),
        ),
        Policy::Builtin(_) => {
            "goleveldb holds the filters in its block cache, as far as there is room".to_owned()
        }
        Policy::Own(_) => return Ok(()),
    };
    line(console, "in memory", text)
}

/// The reads of absent keys, in words, for kinds other than the one on which the advice is based.
fn others_text(reads: &Reads) -> String {
    let shown = if reads.lookups.is_none() { reads.worst } else { None };
    let kinds = NearKind::ALL.into_iter().zip(reads.near.all()).filter(|(kind, _)| Some(*kind) != shown);
    let kinds = kinds.filter_map(|(kind, reads)| Some(format!("{} {}", reads_text(reads?), near_text(kind))));
    let random = (shown.is_some() || reads.lookups.is_some())
        .then(|| format!("{} if random", reads_text(reads.random)));
    kinds.chain(random).collect::<Vec<_>>().join(", ")
}

fn reads_text(reads: Estimate) -> String {
    with_interval(estimate(reads), interval(reads))
}

fn rate_text(rate: MeasuredRate) -> String {
    let interval = (rate.low < rate.high).then(|| rate_interval(rate));
    with_interval(measured(rate), interval)
}

fn with_interval(text: String, interval: Option<impl Display>) -> String {
    interval.map_or_else(|| text.clone(), |interval| format!("{text} ({interval})"))
}
