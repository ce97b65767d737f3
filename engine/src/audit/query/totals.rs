//! Counts of answers, for each table and for all.

use super::candidates::Answer;

/// The answers of one table.
#[derive(Default)]
pub struct TableMatches {
    /// The number of keys that the table was asked for.
    pub keys: u64,
    /// The number of these that may be there.
    pub matches: u64,
    fpr_sum: f64,
}

/// The answers of all tables.
#[derive(Default)]
pub struct QueryTotals {
    /// Tables and logs.
    pub files: u64,
    /// For each key, whether it may be in some table. As long as the most answers of a table.
    found: Vec<bool>,
}

impl TableMatches {
    pub fn add(&mut self, answer: &Answer<'_>) {
        self.keys += 1;
        self.matches += u64::from(answer.may_match());
        self.fpr_sum += answer.fpr();
    }

    /// The mean chance that an absent key of those asked for is said to be there.
    pub fn fpr(&self) -> f64 {
        if self.keys == 0 { 0.0 } else { self.fpr_sum / self.keys as f64 }
    }
}

impl QueryTotals {
    /// Adds the answer for key number `at` of those sought.
    pub fn add(&mut self, at: usize, answer: &Answer<'_>) {
        if self.found.len() <= at {
            self.found.resize(at + 1, false);
        }
        if let Some(found) = self.found.get_mut(at) {
            *found |= answer.may_match();
        }
    }

    /// The number of keys, and of those that may be in some table.
    pub fn keys(&self) -> (u64, u64) {
        let found = self.found.iter().filter(|found| **found).count();
        (self.found.len() as u64, found as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::query::logs::LogAnswer;

    #[test]
    fn a_key_counts_if_it_may_be_in_any_file() {
        let mut totals = QueryTotals::default();
        let answer = |log| Answer { key: b"key", blocks: None, log: Some(log), error: None };
        for (at, log) in [(0, LogAnswer::Value), (0, LogAnswer::Absent), (1, LogAnswer::Absent)] {
            totals.add(at, &answer(log));
        }
        assert_eq!(totals.keys(), (2, 1));
    }
}
