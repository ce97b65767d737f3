//! Simulated samples: intervals contain the true value as often as they claim, and are not much wider than they have to
//! be.

use super::{RateGroups, SplitMix};

/// The number of simulated tables of each kind.
pub(crate) const TABLES: u64 = 1000;

/// The quantile of Student's distribution for an interval of 95 %, from a printed table. With more than 15 degrees of
/// freedom, that of the normal distribution.
pub(crate) fn printed_quantile(degrees: usize) -> f64 {
    [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]
        .get(degrees - 1)
        .copied()
        .unwrap_or(1.96)
}

/// The frequency with which intervals contain the true value, and the widths of the intervals.
#[derive(Default)]
pub(crate) struct Held {
    intervals: u64,
    holding: u64,
    width: f64,
    reference: f64,
}

impl Held {
    /// Takes an interval. `reference`: half the width of the interval that the reference formula gives, from the
    /// variance that the simulation has rather than from that of the sample.
    pub(crate) fn add(&mut self, (low, high): (f64, f64), truth: f64, reference: f64) {
        self.intervals += 1;
        // Rounding may part a bound and a true value that are equal.
        let slack = 1e-9 * truth.abs();
        self.holding += u64::from(low <= truth + slack && truth <= high + slack);
        self.width += (high - low) / truth;
        self.reference += 2.0 * reference / truth;
    }

    /// Checks that at least 93 of 100 intervals contain the true value, and that their widths together are at most 1.3
    /// times those of the reference.
    pub(crate) fn check(&self, what: &str) {
        let Self { intervals, holding, width, reference } = *self;
        println!("{what}: {holding} of {intervals}, {:.2} times the reference", width / reference);
        assert!(intervals >= TABLES && 100 * holding >= 93 * intervals, "{what}: {holding} of {intervals}");
        assert!(width <= 1.3 * reference, "{what}: {width} {reference}");
    }
}

/// A number from the standard normal distribution (Box and Muller).
pub(crate) fn normal(random: &mut SplitMix) -> f64 {
    let radius = (-2.0 * (1.0 - random.share()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.share()).cos()
}

/// The number of `asked` questions that are answered with yes.
pub(crate) fn passed(rate: f64, asked: u64, random: &mut SplitMix) -> u64 {
    (0..asked).map(|_| u64::from(random.share() < rate)).sum()
}

/// Filters whose rates differ by far more than the random error of the questions, and filters whose rates differ by
/// about that error: the mean rate, the relative standard deviation of the rates, and the number of questions to a
/// filter.
const RATES: [(f64, f64, u64); 2] = [(0.2, 0.5, 200), (0.02, 0.3, 1000)];

/// `groups` filters are asked, out of very many whose rates are normally distributed.
#[test]
fn rates_of_some_filters_hold_for_all() {
    for (mean, share, asked) in RATES {
        for groups in [2, 3, 4, 8, 16] {
            let (mut held, mut random) = (Held::default(), SplitMix(groups));
            for _ in 0..TABLES {
                let mut clusters = RateGroups::default();
                let (mut weights, mut variance) = (0.0, 0.0);
                for _ in 0..groups {
                    let spread = (mean * share).powi(2);
                    let rate = (mean * (1.0 + share * normal(&mut random))).clamp(0.0, 1.0);
                    let weight = 0.8 + 0.4 * random.share();
                    clusters.add(passed(rate, asked, &mut random), asked, weight);
                    weights += weight;
                    variance += weight * weight * (spread + mean * (1.0 - mean) / asked as f64);
                }
                let rate = clusters.rate(false).unwrap();
                let quantile = printed_quantile(groups as usize - 1);
                held.add((rate.low, rate.high), mean, quantile * variance.sqrt() / weights);
            }
            held.check(&format!("{groups} filters of many, {mean}"));
        }
    }
}

/// All filters are asked, so their differences are not a matter of chance.
#[test]
fn rates_of_all_filters_hold() {
    for (mean, share, asked) in RATES {
        for groups in [1, 2, 16, 40] {
            let (mut held, mut random) = (Held::default(), SplitMix(100 + groups));
            for _ in 0..TABLES {
                let mut clusters = RateGroups::default();
                let (mut weights, mut sum, mut variance) = (0.0, 0.0, 0.0);
                for _ in 0..groups {
                    // If very few keys pass, Wilson's interval is much wider than the normal one.
                    let rate = mean * (1.0 + share * normal(&mut random)).max(0.25);
                    let weight = 0.2 + random.share();
                    clusters.add(passed(rate, asked, &mut random), asked, weight);
                    weights += weight;
                    sum += weight * rate;
                    variance += weight * weight * rate * (1.0 - rate) / asked as f64;
                }
                let rate = clusters.rate(true).unwrap();
                held.add((rate.low, rate.high), sum / weights, 1.96 * variance.sqrt() / weights);
            }
            held.check(&format!("all of {groups} filters, {mean}"));
        }
    }
}
