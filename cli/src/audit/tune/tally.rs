//! Sums of trials, for each level.

use super::questions::{KINDS, Question};
use super::report::Estimate;
use super::trial::{Answers, Trial};
use crate::audit::rates::clusters::Clusters;

/// The quantile of the normal distribution for an interval of 95 %.
pub(super) const Z: f64 = 1.96;

/// The trials of some tables of a level.
#[derive(Debug)]
pub(super) struct LevelTally {
    /// The number of tables tried, and the size of their files.
    pub(super) tried: u64,
    pub(super) tried_size: u64,
    pub(super) entries: Sum,
    /// For each setting.
    pub(super) settings: Vec<SettingTally>,
    /// The passes of the filters in use.
    pub(super) now: [Clusters; KINDS],
}

/// One setting on the tables of a level.
#[derive(Clone, Default, Debug)]
pub(super) struct SettingTally {
    pub(super) size: Sum,
    pub(super) passed: [Clusters; KINDS],
}

/// A sum over tables of something that grows with the size of the file.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sum {
    count: f64,
    sum: f64,
    size: f64,
    squares: [f64; 3],
}

impl Sum {
    pub(super) fn add(&mut self, value: u64, file_size: u64) {
        let (value, size) = (value as f64, file_size as f64);
        self.count += 1.0;
        self.sum += value;
        self.size += size;
        for (sum, square) in self.squares.iter_mut().zip([value * value, value * size, size * size]) {
            *sum += square;
        }
    }

    /// The sum over all `tables` tables of the level, with files of `total` bytes, as a ratio
    /// estimate.
    pub(super) fn of_all(&self, tables: u64, total: u64) -> Estimate {
        let all = tables as f64;
        if self.size <= 0.0 || self.count <= 0.0 {
            return Estimate::default();
        }
        if self.count >= all {
            return Estimate { value: self.sum, low: self.sum, high: self.sum };
        }
        let ratio = self.sum / self.size;
        let [values, both, sizes] = self.squares;
        let spread = (values - 2.0 * ratio * both + ratio * ratio * sizes).max(0.0);
        let variance = if self.count > 1.0 {
            (1.0 - self.count / all) * all * all / (self.count * (self.count - 1.0)) * spread
        } else {
            // A single table tells nothing of the others.
            (self.sum / self.count * all).powi(2)
        };
        let value = ratio * total as f64;
        let half = Z * variance.sqrt();
        Estimate { value, low: (value - half).max(0.0), high: value + half }
    }
}

impl LevelTally {
    pub(super) fn new(settings: usize) -> Self {
        Self {
            tried: 0,
            tried_size: 0,
            entries: Sum::default(),
            settings: vec![SettingTally::default(); settings],
            now: [Clusters::default(); KINDS],
        }
    }

    /// Adds a table. `weight`: the share of lookups that come to it, in any unit.
    pub(super) fn add(&mut self, trial: &Trial, file_size: u64, weight: f64) {
        self.tried += 1;
        self.tried_size += file_size;
        self.entries.add(trial.entries, file_size);
        let count = |clusters: &mut [Clusters; KINDS], answers: &Answers| {
            for (kind, (clusters, &(passed, asked))) in clusters.iter_mut().zip(&answers.passed).enumerate() {
                // Keys that lookups come with are as many as lookups come.
                let are_made_up = kind == Question::Random as usize || kind == Question::Neighbour as usize;
                clusters.add(passed, asked, if are_made_up { weight } else { asked as f64 });
            }
        };
        for (tally, answers) in self.settings.iter_mut().zip(&trial.settings) {
            tally.size.add(answers.size, file_size);
            count(&mut tally.passed, answers);
        }
        if let Some(answers) = &trial.now {
            count(&mut self.now, answers);
        }
    }
}
