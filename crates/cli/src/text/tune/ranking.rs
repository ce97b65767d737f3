//! The databases, among several, for which a rebuild pays: those whose filters deny stored keys come first, and then
//! those that gain most.

use std::io;
use std::path::PathBuf;

use filterblock::escape_path;
use filterblock_engine::report::{Action, Tuned};
use filterblock_engine::words::{count, counted, size};

use crate::io::{Console, Tone};

/// Collects the advised rebuilds of several databases, to list them: first those of filters that deny stored keys, then
/// those that save most reads.
#[derive(Default)]
pub(crate) struct Ranking {
    rebuilds: Vec<Gain>,
    /// The number of databases, and of tables given singly, that have results.
    all: u64,
}

/// The gain of a rebuild.
struct Gain {
    path: PathBuf,
    /// The number of stored keys that filters deny.
    denied: u64,
    /// The number of data blocks that a lookup no longer reads: the lookup of an absent key or of a
    /// stored key, whichever saves more. 0 if the number is not known.
    reads: f64,
    /// The number of bytes by which the filters grow; negative if they shrink.
    bytes: f64,
}

impl Ranking {
    pub(crate) fn add(&mut self, tuned: &Tuned) {
        let Ok(tuning) = &tuned.result else { return };
        self.all += 1;
        if tuning.advice.action != Action::Rebuild {
            return;
        }
        let then = tuning.advice.choice.as_ref().map_or(&tuning.now, |choice| &choice.outcome);
        let reads = tuning.now.reads.zip(then.reads).map_or(0.0, |(now, then)| {
            (now.absent().value - then.absent().value).max(now.present.value - then.present.value)
        });
        let bytes = then.size.value - tuning.now.size.value;
        self.rebuilds.push(Gain { path: tuned.path.clone(), denied: tuning.denied(), reads, bytes });
    }

    /// Writes a line for each database that should be rebuilt, if more than one database or table has
    /// results.
    pub(crate) fn write(mut self, console: &mut Console) -> io::Result<()> {
        if self.all < 2 {
            return Ok(());
        }
        self.rebuilds
            .sort_by(|one, other| other.denied.cmp(&one.denied).then(other.reads.total_cmp(&one.reads)));
        writeln!(console)?;
        let pays = self.rebuilds.len() as u64;
        let sum = format!(": {} of {}", count(pays), counted(self.all, "database"));
        console.line(Tone::Title, "Where a rebuild pays", &sum)?;
        for Gain { path, denied, reads, bytes } in &self.rebuilds {
            if *denied > 0 {
                let keys = counted(*denied, "stored key");
                writeln!(console, "  {keys} no longer denied: {}", escape_path(path))?;
                continue;
            }
            let more = if *bytes < 0.0 { "less" } else { "more" };
            let bytes = size(bytes.abs().round() as u64);
            writeln!(
                console,
                "  {reads:.3} fewer data blocks a lookup, {bytes} {more}: {}",
                escape_path(path)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use filterblock_engine::report::Tuned;
    use filterblock_engine::words::tune_examples;

    use super::*;
    use crate::io::Screen;

    #[test]
    fn databases_that_gain_most_come_first() {
        let mut ranking = Ranking::default();
        for (path, before) in [("some", 2.0), ("most", 3.0), ("least", 1.0)] {
            let mut result = tune_examples::rebuild();
            result.now.reads.as_mut().unwrap().present.value = before + 1.0;
            ranking.add(&Tuned {
                input: std::path::Path::new(path).into(),
                path: path.into(),
                result: Ok(result),
            });
        }
        let leave = Tuned {
            input: std::path::Path::new("leave").into(),
            path: "leave".into(),
            result: Ok(tune_examples::leave()),
        };
        ranking.add(&leave);
        let screen = Screen::default();
        ranking.write(&mut screen.console()).unwrap();
        let text = screen.text();
        let names: Vec<_> =
            text.lines().filter_map(|line| line.rsplit_once(": ")).map(|(_, name)| name).collect();
        assert_eq!(names, ["3 of 4 databases", "most", "some", "least"], "{text}");
    }
}
