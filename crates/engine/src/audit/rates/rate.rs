//! A rate with its interval, and the mean of such rates.

use serde::Serialize;

/// The quantile of the normal distribution for an interval of 95%.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// The share of absent keys that pass, measured by asking for some.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// Share of the keys that passed, 0 to 1. A filter is weighted by the share of absent keys that the index sends to
    /// it.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub rate: f64,
    /// Lower end of the rate's 95 % interval, by Wilson's score.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub low: f64,
    /// Upper end of the rate's 95 % interval. If no key passed, the rate is below this.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub high: f64,
    /// Number of keys that were looked up. 0: no table has filters, so that all may match.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    #[serde(rename = "samples")]
    pub asked: u64,
}

impl Rate {
    /// Without filters, every key may match.
    pub(crate) const ALL: Self = Self { rate: 1.0, low: 1.0, high: 1.0, asked: 0 };

    /// The rate if `passed` of `asked` keys passed; `None` if no key was asked for.
    ///
    /// The number of keys for each filter may be fixed in advance, in proportion to the filter's weight, rather
    /// than left to chance: the variance is then smaller than the interval assumes.
    pub fn of(passed: u64, asked: u64) -> Option<Self> {
        (asked > 0).then(|| Self::wilson(passed as f64 / asked as f64, asked as f64, asked))
    }

    /// `sample`: independent samples.
    pub(super) fn wilson(rate: f64, sample: f64, asked: u64) -> Self {
        let z2 = Z * Z;
        let middle = (rate + z2 / (2.0 * sample)) / (1.0 + z2 / sample);
        let inner = rate * (1.0 - rate) / sample + z2 / (4.0 * sample * sample);
        let half = Z / (1.0 + z2 / sample) * inner.sqrt();
        // Rounding must not push an end beyond the rate.
        let (low, high) = ((middle - half).clamp(0.0, rate), (middle + half).clamp(rate, 1.0));
        Self { rate, low, high, asked }
    }
}

/// The weighted mean of independent rates.
///
/// The interval of the mean is computed from those of the rates by the method of variance estimates recovery (Zou and
/// Donner, 2008): the distances of its ends from the mean are the roots of weighted sums of squares.
#[derive(Clone, Copy, Default, Debug)]
pub struct MeanRate {
    weight: f64,
    rate: f64,
    below: f64,
    above: f64,
    asked: u64,
}

impl MeanRate {
    pub(crate) fn add(&mut self, measured: Option<Rate>, weight: f64) {
        let Some(Rate { rate, low, high, asked }) = measured else { return };
        self.weight += weight;
        self.rate += weight * rate;
        self.below += (weight * (rate - low)).powi(2);
        self.above += (weight * (high - rate)).powi(2);
        self.asked = self.asked.saturating_add(asked);
    }

    /// The weighted mean. `None`: no rate with a weight was added.
    pub fn mean(&self) -> Option<Rate> {
        let rate = (self.rate / self.weight).clamp(0.0, 1.0);
        (self.weight > 0.0).then(|| Rate {
            rate,
            low: (rate - self.below.sqrt() / self.weight).max(0.0),
            high: (rate + self.above.sqrt() / self.weight).min(1.0),
            asked: self.asked,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Rate, low: f64, high: f64) {
        assert!((found.low - low).abs() < 5e-5 && (found.high - high).abs() < 5e-5, "{found:?}");
    }

    /// The first case is the example of Newcombe (1998), table I, method 3; the others are in the
    /// same table.
    #[test]
    fn intervals_are_wilsons() {
        for (passed, asked, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            close(Rate::of(passed, asked).unwrap(), low, high);
        }
        let all = Rate::of(20, 20).unwrap();
        assert_eq!((all.rate, all.high), (1.0, 1.0));
        close(all, 1.0 - 0.1611, 1.0);
        assert_eq!(Rate::of(0, 0), None);
    }

    #[test]
    fn a_mean_of_rates_is_known_better_than_each() {
        assert_eq!(MeanRate::default().mean(), None);
        let mut mean = MeanRate::default();
        let one = Rate::of(100, 10_000).unwrap();
        mean.add(Some(one), 7.0);
        close(mean.mean().unwrap(), one.low, one.high);
        (0..3).for_each(|_| mean.add(Some(one), 7.0));
        // The mean of four such rates has an interval half as wide.
        let four = mean.mean().unwrap();
        close(four, one.rate - (one.rate - one.low) / 2.0, one.rate + (one.high - one.rate) / 2.0);
        assert_eq!(four.asked, 40_000);
        // For a table without weight, only the questions are counted.
        mean.add(Rate::of(1, 1), 0.0);
        assert!((mean.mean().unwrap().rate - 0.01).abs() < 1e-12);
    }
}
