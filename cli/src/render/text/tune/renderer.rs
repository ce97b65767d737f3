//! What `tune` found out about a database, part by part, and its advice at the end.

use std::io::{self, Write as _};
use std::path::Path;

use filterblock::escape_path;

use super::settings::Settings;
use super::{head, levels};
use crate::audit::tune::report::{Advice, Budget, BudgetOrigin, Choice, TuneFailure, Tuning};
use crate::io::console::{Console, Tone};
use crate::render::advice::{advice_text, bits_text, ranges_text, rebuild_command};
use crate::render::estimates::{about_size, estimate, number};
use crate::render::numbers::size;
use crate::render::renderer::TuneRenderer;
use crate::render::subject::Subject;
use crate::render::text::labelled::{self, write_text};

/// The factor below which fewer reads are none to speak of.
const LEAST_GAIN: f64 = 1.05;

pub(crate) struct TextTune {
    /// All settings are shown.
    is_wide: bool,
    /// Something has been written, so that the next part begins with an empty line.
    written: bool,
}

impl TextTune {
    pub(crate) const fn new(is_wide: bool) -> Self {
        Self { is_wide, written: false }
    }
}

impl TuneRenderer for TextTune {
    fn tuning(
        &mut self,
        subject: Subject<'_>,
        result: Result<&Tuning, &TuneFailure>,
        console: &mut Console,
    ) -> io::Result<()> {
        subject.write_remarks(console);
        let tuning = match result {
            Ok(tuning) => tuning,
            Err(failure) => {
                console.message_about(subject.path, &failure.text);
                return Ok(());
            }
        };
        tuning.notes.iter().for_each(|note| console.message_about(subject.path, note));
        tuning.faults.iter().for_each(|(path, error)| console.message_about(Path::new(path), error));
        if std::mem::replace(&mut self.written, true) {
            writeln!(console)?;
        }
        let title = console.tone(Tone::Title, escape_path(subject.path));
        writeln!(console, "{title}")?;
        head::write(tuning, console)?;
        head::write_now(tuning, console)?;
        levels::write(tuning, console)?;
        Settings::new(tuning, self.is_wide).write(&budget_text(tuning.budget), console)?;
        by_level(tuning, console)?;
        advice(subject.path, tuning, console)?;
        console.flush()
    }
}

fn budget_text(budget: Budget) -> String {
    let origin = match budget.origin {
        BudgetOrigin::Given => "as --budget says",
        BudgetOrigin::InUse => "what the filters take today",
        BudgetOrigin::TenBits => "what 10 bits a key take",
    };
    format!("{}, {origin}", size(budget.bytes))
}

/// Writes what bits a key by level would gain.
fn by_level(tuning: &Tuning, console: &mut Console) -> io::Result<()> {
    let Some(choice) = &tuning.by_level else { return Ok(()) };
    writeln!(console)?;
    let title = console.tone(Tone::Title, "Bits a key by level");
    writeln!(console, "{title}, for filters of at most {}", budget_text(tuning.budget))?;
    if choice.same_bits().is_some() {
        return labelled::write(console, "best", format!("{}, so the same on all levels", bits_text(choice)));
    }
    let taken = about_size(choice.outcome.size);
    let best = format!("{}, {}: {taken}", bits_text(choice), ranges_text(choice.base_lg));
    labelled::write(console, "best", best)?;
    if let Some(gain) = gain_text(choice, tuning.uniform.as_ref()) {
        labelled::write(console, "gains", gain)?;
    }
    labelled::write(
        console,
        "lasts",
        "until compactions write tables anew, with the program's own setting. Only rebuild gives levels bits of their own",
    )
}

/// The reads of an absent key with bits by level, and with the best of the same bits on all levels.
fn gain_text(choice: &Choice, uniform: Option<&Choice>) -> Option<String> {
    let reads = |choice: &Choice| choice.outcome.reads.map(|reads| reads.absent());
    let (new, old) = (reads(choice)?, reads(uniform?)?);
    let factor = old.value / new.value;
    let gain = match factor {
        _ if factor < LEAST_GAIN => "next to nothing".to_owned(),
        _ if factor.is_finite() => {
            format!("{} times fewer data blocks read by an absent key", number(times(factor)))
        }
        _ => "all data blocks read by an absent key".to_owned(),
    };
    Some(format!("{gain}: {}, where the same bits on all levels have {}", estimate(new), estimate(old)))
}

/// A factor with one decimal below 10, and none above.
fn times(factor: f64) -> f64 {
    if factor < 10.0 { (factor * 10.0).round() / 10.0 } else { factor.round() }
}

/// Writes the advice with its command.
fn advice(database: &Path, tuning: &Tuning, console: &mut Console) -> io::Result<()> {
    writeln!(console)?;
    let text = format!("Advice: {}", advice_text(&tuning.advice));
    write_text(console, Tone::Good, &text)?;
    if let Advice::Rebuild { arguments, .. } = &tuning.advice {
        // A table that was given singly is rebuilt with its database.
        let is_database = tuning.levels.iter().any(|level| level.number.is_some());
        let command = rebuild_command(is_database.then_some(database), arguments);
        writeln!(console, "  {command}")?;
        if !is_database {
            writeln!(console, "where DB is the database that this table is of")?;
        }
    }
    Ok(())
}
