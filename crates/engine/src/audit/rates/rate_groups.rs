//! False-positive rates from samples in groups, one for each filter or table checked.

use super::rate::{Rate, Z};

/// Sums over groups. Each is for one filter or table, and weighted by the lookups that reach it.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(crate) struct RateGroups {
    groups: u64,
    asked: u64,
    weight: f64,
    /// The weighted sum of the groups' rates.
    rates: f64,
    /// Of the weights: as they are, times the groups' rates, and times the squares of the rates.
    squares: [f64; 3],
    /// Of the squared weights, each divided by the group's number of samples.
    per_question: f64,
}

impl RateGroups {
    pub(crate) fn add(&mut self, passed: u64, asked: u64, weight: f64) {
        if asked == 0 {
            return;
        }
        let rate = passed as f64 / asked as f64;
        let square = weight * weight;
        self.groups += 1;
        self.asked += asked;
        self.weight += weight;
        self.rates += weight * rate;
        for (sum, factor) in self.squares.iter_mut().zip([1.0, rate, rate * rate]) {
            *sum += square * factor;
        }
        self.per_question += square / asked as f64;
    }

    /// The weighted mean of the groups' rates; `None` if nothing with a weight was checked.
    ///
    /// `all`: every filter was checked; otherwise, others may differ from them as much as they do from each other. The
    /// interval is Wilson's for the number of independent samples of the same variance (Korn and Graubard, 1998).
    pub(crate) fn rate(&self, all: bool) -> Option<Rate> {
        if self.asked == 0 || self.weight <= 0.0 {
            return None;
        }
        let rate = (self.rates / self.weight).clamp(0.0, 1.0);
        let square = self.weight * self.weight;
        let by_questions = square / self.per_question;
        let [alone, once, twice] = self.squares;
        let spread = (twice - 2.0 * rate * once + rate * rate * alone).max(0.0);
        let degrees = self.groups as f64 - 1.0;
        let sample = if all || degrees < 1.0 || spread <= 0.0 {
            by_questions
        } else {
            let variance = spread / square * self.groups as f64 / degrees;
            let by_groups = rate * (1.0 - rate) / variance * (Z / student(degrees)).powi(2);
            by_questions.min(by_groups)
        };
        Some(Rate::wilson(rate, sample.max(f64::MIN_POSITIVE), self.asked))
    }
}

/// The quantile for an interval of 95%. From three degrees of freedom, by Cornish and Fisher's expansion: 1% low with
/// three, nearly exact with many.
pub(crate) fn student(degrees: f64) -> f64 {
    if degrees < 3.0 {
        return if degrees < 2.0 { 12.706 } else { 4.303 };
    }
    let second = (Z.powi(3) + Z) / 4.0;
    let third = (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0;
    let fourth = (3.0 * Z.powi(7) + 19.0 * Z.powi(5) + 17.0 * Z.powi(3) - 15.0 * Z) / 384.0;
    Z + second / degrees + third / degrees.powi(2) + fourth / degrees.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_students() {
        for (degrees, quantile) in
            [(1.0, 12.706), (2.0, 4.303), (3.0, 3.182), (5.0, 2.571), (15.0, 2.131), (63.0, 1.998)]
        {
            assert!((student(degrees) / quantile - 1.0).abs() < 0.012, "{degrees}: {}", student(degrees));
        }
    }

    #[test]
    fn groups_that_agree_are_as_good_as_single_questions() {
        let mut clusters = RateGroups::default();
        (0..10).for_each(|_| clusters.add(5, 100, 3.0));
        assert_eq!(clusters.rate(false), Rate::of(50, 1000));
        clusters.add(0, 0, 1.0);
        assert_eq!(clusters.rate(true), Rate::of(50, 1000));
        assert_eq!(RateGroups::default().rate(true), None);
    }

    /// Half of the filters let all keys pass and half let no key pass, so that 16 filters reveal little about the
    /// others.
    #[test]
    fn groups_that_differ_tell_little_of_others() {
        let mut clusters = RateGroups::default();
        (0..16).for_each(|at| clusters.add(if at % 2 == 0 { 100 } else { 0 }, 100, 1.0));
        let some = clusters.rate(false).unwrap();
        assert_eq!((some.rate, some.asked), (0.5, 1600));
        // 8 of 16 independent questions would give an interval from 0.28 to 0.72.
        assert!(some.low < 0.28 && some.high > 0.72, "{some:?}");
        assert!(some.low > 0.2 && some.high < 0.8, "{some:?}");
        assert_eq!(clusters.rate(true), Rate::of(800, 1600));
    }

    #[test]
    fn a_filter_counts_by_its_weight() {
        let mut clusters = RateGroups::default();
        clusters.add(10, 10, 1.0);
        clusters.add(0, 1000, 9.0);
        assert!((clusters.rate(true).unwrap().rate - 0.1).abs() < 1e-12);
    }
}
