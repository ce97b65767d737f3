//! The results of `tune` as text: part by part, with the advice at the end.

mod head;
mod ranking;
mod settings;

use std::io::{self, Write as _};
use std::path::Path;

pub(crate) use self::ranking::Ranking;
use self::settings::Settings;
use filterblock::escape_path;
use filterblock_engine::report::{Action, Budget, BudgetOrigin, Choice, Tuned, Tuning};
use filterblock_engine::words::{
    LEAST_GAIN, about_size, bits_text, estimate, loss_by_level, ranges_text, rebuild_command, size,
};

use super::labelled::{self, write_text};
use crate::io::{Console, Tone};

/// Writes notes and faults as messages, apart from the results.
pub(crate) fn write_messages(tuned: &Tuned, console: &mut Console) {
    match &tuned.result {
        Ok(Tuning { notes, faults, .. }) => {
            notes.iter().for_each(|note| console.message_about(&tuned.path, note));
            faults.iter().for_each(|fault| console.message_about(&fault.path, &fault.error));
        }
        Err(failure) => {
            console.message_about(&tuned.path, &failure.text);
            failure.first.iter().for_each(|command| console.message(format_args!("first: {command}")));
        }
    }
}

/// Writes the results, if there are any. `is_wide`: all settings are shown. `is_first`: nothing was
/// written before, so that no empty line comes first.
pub(crate) fn write(
    tuned: &Tuned,
    is_wide: bool,
    is_first: &mut bool,
    console: &mut Console,
) -> io::Result<()> {
    let Ok(tuning) = &tuned.result else { return Ok(()) };
    if !std::mem::replace(is_first, false) {
        writeln!(console)?;
    }
    console.line(Tone::Title, escape_path(&tuned.path), "")?;
    head::write(tuning, console)?;
    head::write_now(tuning, console)?;
    head::write_levels(tuning, console)?;
    Settings::new(tuning, is_wide).write(&budget_text(tuning.budget), console)?;
    by_level(tuning, console)?;
    advice(&tuned.path, tuning, console)?;
    console.flush()
}

fn budget_text(budget: Budget) -> String {
    let origin = match budget.origin {
        BudgetOrigin::Given => "as --budget says",
        BudgetOrigin::InUse => "what the filters take today",
        BudgetOrigin::TenBits => "what 10 bits a key take",
    };
    format!("{}, {origin}", size(budget.bytes))
}

/// Writes what is gained if the bits a key differ by level.
fn by_level(tuning: &Tuning, console: &mut Console) -> io::Result<()> {
    let Some(choice) = &tuning.by_level else { return Ok(()) };
    writeln!(console)?;
    console.line(Tone::Title, "Bits a key by level", "")?;
    labelled::write(console, "within", budget_text(tuning.budget))?;
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

/// The gain in words: the reads of an absent key with bits by level, and those with the best setting
/// that has the same bits on all levels. `None` if either number is not known.
fn gain_text(choice: &Choice, uniform: Option<&Choice>) -> Option<String> {
    let reads = |choice: &Choice| choice.outcome.reads.map(|reads| reads.absent());
    let (new, old) = (reads(choice)?, reads(uniform?)?);
    let factor = old.value / new.value;
    let loss = loss_by_level(choice, uniform?);
    let gain = match factor {
        _ if loss.is_some() => "nothing".to_owned(),
        _ if factor.is_nan() || factor < LEAST_GAIN => "next to nothing".to_owned(),
        _ if factor.is_finite() => {
            // One decimal below 10, and none above.
            let decimals = usize::from(factor < 9.95);
            format!("{factor:.decimals$} times fewer data blocks read by an absent key")
        }
        _ => "all data blocks read by an absent key".to_owned(),
    };
    let (new, old, why) = (estimate(new), estimate(old), loss.unwrap_or_default());
    Some(format!("{gain}: {new}, where the same bits on all levels have {old}{why}"))
}

/// Writes the advice with its command.
fn advice(database: &Path, tuning: &Tuning, console: &mut Console) -> io::Result<()> {
    writeln!(console)?;
    let text = &tuning.advice.text;
    let text = match tuning.advice.action {
        Action::None => text.replacen("no advice", "No advice", 1),
        Action::Leave | Action::Rebuild => format!("Advice: {text}"),
    };
    write_text(console, Tone::Good, &text)?;
    if let Some(arguments) = &tuning.advice.arguments {
        writeln!(console, "  {}", rebuild_command(database, arguments))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Screen, Signs};
    use filterblock_engine::report::Estimate;
    use filterblock_engine::report::TuneFailure;
    use filterblock_engine::words::tune_examples;

    fn tuned(path: &str, result: Result<Tuning, TuneFailure>) -> Tuned {
        Tuned { input: Path::new(path).into(), path: path.into(), result }
    }

    /// Shows results, and compares the text with `expected`.
    fn compare(results: &[Tuned], is_wide: bool, expected: &str) {
        let screen = Screen::default();
        let mut console = screen.console();
        let mut is_first = true;
        for tuned in results {
            write_messages(tuned, &mut console);
            write(tuned, is_wide, &mut is_first, &mut console).unwrap();
        }
        let text = screen.text();
        let mut expected = expected.replace('\r', "");
        if cfg!(windows) {
            for (other, here) in [
                ("'my db' --in-place", r#""my db" --to "my db-rebuilt""#),
                ("db --in-place", "db --to db-rebuilt"),
                ("1=17,3=9", "\"1=17,3=9\""),
            ] {
                expected = expected.replace(other, here);
            }
        }
        assert_eq!(text, expected, "\n{text}");
        for line in text.lines().filter(|line| !line.starts_with("filterblock:")) {
            assert!(line.len() <= labelled::LINE_WIDTH && !line.ends_with(' '), "{line}");
        }
    }

    #[test]
    fn a_rebuild_is_advised() {
        compare(&[tuned("my db", Ok(tune_examples::rebuild()))], false, include_str!("expected/rebuild.txt"));
    }

    #[test]
    fn all_settings_are_shown_if_they_are_asked_for() {
        let with_policies = tune_examples::rebuild();
        let mut wide = tune_examples::rebuild();
        wide.notes.clear();
        wide.faults.clear();
        compare(&[tuned("db", Ok(wide))], true, include_str!("expected/wide.txt"));
        assert_eq!(with_policies.settings.len(), 15);
    }

    #[test]
    fn filters_are_left_as_they_are() {
        compare(&[tuned("/var/db", Ok(tune_examples::leave()))], false, include_str!("expected/leave.txt"));
    }

    #[test]
    fn a_table_is_shown_without_levels_and_what_failed_as_a_message() {
        let failure = TuneFailure::new("expected a table, found a folder", None);
        let (table, empty) = (tune_examples::table(), tune_examples::empty());
        let results =
            [tuned("x.ldb", Ok(table)), tuned("missing", Err(failure)), tuned("empty db", Ok(empty))];
        compare(&results, false, include_str!("expected/table.txt"));
    }

    /// The text if no setting fits the budget and all lookups are used.
    #[test]
    fn a_budget_that_nothing_fits_is_named() {
        let mut tuning = tune_examples::leave();
        tuning.uniform = None;
        tuning.by_level = None;
        tuning.budget.bytes = 1;
        tuning.lookups.as_mut().unwrap().given = 1000;
        let screen = Screen::default();
        write(&tuned("db", Ok(tuning)), false, &mut true, &mut screen.console()).unwrap();
        let text = screen.text();
        for words in [
            "\n  your lookups     1,000, 100 of them of stored keys\n",
            "\nno setting fits into 1 B, as --budget says\n",
            "  now\n",
        ] {
            assert!(text.contains(words), "{text}");
        }
        assert!(!text.contains("best") && !text.contains("Bits a key by level"), "{text}");
    }

    #[test]
    fn narrow_terminals_have_fewer_columns_and_shorter_lines() {
        let tuned = tuned("db", Ok(tune_examples::leave()));
        for width in [50, 60, 80, 200] {
            let screen = Screen::default();
            write(&tuned, false, &mut true, &mut screen.terminal(Signs::Ascii, width)).unwrap();
            let text = screen.text();
            for line in text.lines() {
                assert!(line.len() <= width.min(labelled::LINE_WIDTH), "{width}: {line}");
            }
            assert_eq!(text.contains("\nno room for: "), width < 100, "{width}: {text}");
        }
    }

    #[test]
    fn what_bits_by_level_gain_is_said() {
        let Tuning { by_level, uniform, .. } = tune_examples::rebuild();
        let (mut choice, mut uniform) = (by_level.unwrap(), uniform.unwrap());
        let mut gain = |of: f64, over: f64| {
            let set = |choice: &mut Choice, value| {
                let reads = choice.outcome.reads.as_mut().unwrap();
                (reads.neighbours, reads.random) = (Estimate::exact(value), Estimate::exact(value));
            };
            set(&mut choice, of);
            set(&mut uniform, over);
            gain_text(&choice, Some(&uniform)).unwrap()
        };
        let tail = "where the same bits on all levels have";
        assert_eq!(gain(0.5, 0.52), format!("next to nothing: 0.500, {tail} 0.520"));
        assert_eq!(
            gain(0.5, 0.6),
            format!("1.2 times fewer data blocks read by an absent key: 0.500, {tail} 0.600")
        );
        assert_eq!(
            gain(0.5, 8.0),
            format!("16 times fewer data blocks read by an absent key: 0.500, {tail} 8")
        );
        assert_eq!(gain(0.0, 0.5), format!("all data blocks read by an absent key: 0, {tail} 0.500"));
        assert_eq!(gain(0.0, 0.0), format!("next to nothing: 0, {tail} 0"));
        assert_eq!(gain(0.5, 0.49), format!("next to nothing: 0.500, {tail} 0.490"));
        // Bits by level may read more, as those of level 0 are not free.
        assert_eq!(gain(0.5, 0.4), format!("nothing: 0.500, {tail} 0.400"));
        assert_eq!(gain(0.5, 0.0), format!("nothing: 0.500, {tail} 0"));
        let top = |choice: &mut Choice| choice.bits[0].level = Some(0);
        top(&mut choice);
        top(&mut uniform);
        assert_eq!(
            gain_text(&choice, Some(&uniform)).unwrap(),
            format!("nothing: 0.500, {tail} 0, as level 0 keeps the program's own bits")
        );
        assert_eq!(gain_text(&choice, None), None);
    }
}
