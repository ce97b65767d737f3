//! The databases, among several, for which a rebuild pays: those that gain most come first.

use std::io;
use std::path::PathBuf;

use filterblock::escape_path;
use filterblock_engine::report::{Action, Tuned};
use filterblock_engine::words::{count, counted, size};

use crate::io::{Console, Tone};

/// Collects the advised rebuilds of several databases, to list those first that save most reads.
#[derive(Default)]
pub(crate) struct Ranking {
    rebuilds: Vec<Gain>,
    /// The number of databases, and of tables given singly, that have results.
    all: u64,
}

/// The gain of a rebuild.
struct Gain {
    path: PathBuf,
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
        let Some(choice) = tuning.advice.choice.as_ref().filter(|_| tuning.advice.action == Action::Rebuild)
        else {
            return;
        };
        let reads = tuning.now.reads.zip(choice.outcome.reads).map_or(0.0, |(now, then)| {
            (now.absent().value - then.absent().value).max(now.present.value - then.present.value)
        });
        let bytes = choice.outcome.size.value - tuning.now.size.value;
        self.rebuilds.push(Gain { path: tuned.path.clone(), reads, bytes });
    }

    /// Writes a line for each database that should be rebuilt, if more than one database or table has
    /// results.
    pub(crate) fn write(mut self, console: &mut Console) -> io::Result<()> {
        if self.all < 2 {
            return Ok(());
        }
        self.rebuilds.sort_by(|one, other| other.reads.total_cmp(&one.reads));
        writeln!(console)?;
        let pays = self.rebuilds.len() as u64;
        let sum = format!(": {} of {}", count(pays), counted(self.all, "database"));
        console.line(Tone::Title, "Where a rebuild pays", &sum)?;
        for Gain { path, reads, bytes } in &self.rebuilds {
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
