//! Scales: from values to shares of an axis, and the values to name on it.

/// Values from `low` to `high`, which differ and are finite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Linear {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Linear {
    /// Reaches to the greatest finite one of `values`, or to 1 if none is above 0.
    pub(super) fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let high = values.into_iter().filter(|value| value.is_finite()).fold(0.0, f64::max);
        Self { low: 0.0, high: if high > 0.0 { high } else { 1.0 } }
    }

    /// Returns 0 to 1. A value beyond the scale is at the nearer end.
    pub(super) fn share(self, value: f64) -> f64 {
        let share = (value / self.high - self.low / self.high) / (1.0 - self.low / self.high);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Two to `most` values, at least 3: multiples of the smallest step that fits, which is 1, 2 or 5 times a power of
    /// 10, times `unit`. None if the step is too large or too small for a number.
    pub(super) fn ticks(self, most: usize, unit: f64) -> Vec<f64> {
        let most = most.max(3);
        let span = (self.high - self.low) / unit;
        let exponent = span.log10().floor() as i32 - 2;
        // Powers with negative exponents are not rounded in the same way on every platform.
        let power = 10_f64.powi(exponent.saturating_abs());
        let scaled = |step: f64| if exponent < 0 { step / power } else { step * power };
        let steps =
            [1.0, 10.0, 100.0, 1000.0].into_iter().flat_map(|tens| [1.0, 2.0, 5.0].map(|step| step * tens));
        // Rounding must not take away a tick at the end of the scale.
        let spaces = |step: f64| (span / step + 1e-9).floor();
        let step = steps.map(scaled).find(|step| spaces(*step) < most as f64);
        let Some(step) = step.map(|step| step * unit).filter(|step| step.is_finite() && *step > 0.0) else {
            return Vec::new();
        };
        let first = (self.low / step - 1e-9).ceil();
        let ticks = (0..most).map(|n| (first + n as f64) * step);
        ticks.take_while(|tick| *tick <= self.high * (1.0 + 1e-9)).collect()
    }

    /// Whole numbers of bytes among the [`ticks`](Self::ticks) in a unit that is a power of 1,024.
    pub(super) fn size_ticks(self, most: usize) -> Vec<f64> {
        let mut unit = 1.0;
        // A unit is taken only if the scale reaches at least twice its size.
        while self.high / unit >= 2048.0 {
            unit *= 1024.0;
        }
        let ticks = self.ticks(most, unit);
        ticks.into_iter().filter(|tick| tick.fract() == 0.0).collect()
    }
}

/// Values above 0, each step ten times the one before.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Log {
    /// Of 10, at the lower end.
    low: i32,
    /// Of 10, at the upper end: greater than `low`.
    high: i32,
}

impl Log {
    /// Whole decades that hold `values`, within `floor` and `ceiling`. Values that are not finite or not above 0 do not
    /// count; without any, the decade that ends at `ceiling`.
    pub(super) fn around(values: impl IntoIterator<Item = f64>, floor: f64, ceiling: f64) -> Self {
        let sound = values.into_iter().filter(|value| value.is_finite() && *value > 0.0);
        let (least, greatest) = sound.fold((f64::INFINITY, 0.0_f64), |(least, greatest), value| {
            let value = value.clamp(floor, ceiling);
            (least.min(value), greatest.max(value))
        });
        let (least, greatest) = if greatest > 0.0 { (least, greatest) } else { (ceiling / 10.0, ceiling) };
        // Rounding must not add a decade for a value that is a power of 10.
        let low = (least.log10() + 1e-9).floor() as i32;
        let high = (greatest.log10() - 1e-9).ceil() as i32;
        Self { low: low.min(high.saturating_sub(1)), high }
    }

    /// Returns 0 to 1. A value beyond the scale is at the nearer end, and 0 at the lower end.
    pub(super) fn share(self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.low)) / f64::from(self.high.saturating_sub(self.low));
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Evenly spaced powers of 10: at most `most`, at least 2.
    pub(super) fn ticks(self, most: usize) -> Vec<f64> {
        let decades = self.high.saturating_sub(self.low).unsigned_abs() as usize;
        let step = decades.div_ceil(most.max(2).saturating_sub(1)).max(1);
        // The powers are taken from the top, so that the greatest is named.
        (self.low..=self.high).rev().step_by(step).map(|power| 10_f64.powi(power)).collect()
    }

    /// They get a line without a name.
    pub(super) fn minor_ticks(self) -> impl Iterator<Item = f64> {
        (self.low..self.high).flat_map(|power| [2.0, 5.0].map(|times| times * 10_f64.powi(power)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_from_0_to_1_for_any_value() {
        let linear = Linear::from_zero([3.0, f64::NAN, f64::INFINITY, -7.0, 8.0]);
        assert_eq!(linear, Linear { low: 0.0, high: 8.0 });
        let found = [0.0, 2.0, 8.0, 9.0, -1.0, f64::NAN, f64::INFINITY].map(|value| linear.share(value));
        assert_eq!(found, [0.0, 0.25, 1.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(Linear { low: 4.0, high: 20.0 }.share(8.0), 0.25);
        assert_eq!(Linear::from_zero([]).high, 1.0);
        assert_eq!(Linear::from_zero([f64::MAX]).share(f64::MAX / 2.0), 0.5);
        let log = Log::around([0.003, 0.2], 1e-9, 1.0);
        let found = [0.0, 0.001, 0.01, 1.0, f64::INFINITY, -1.0, f64::NAN].map(|value| log.share(value));
        assert_eq!(found.map(|share| (share * 3.0).round()), [0.0, 0.0, 1.0, 3.0, 3.0, 0.0, 0.0]);
    }

    #[test]
    fn ticks_are_round_even_and_few() {
        let ticks = |low, high, most| Linear { low, high }.ticks(most, 1.0);
        assert_eq!(ticks(0.0, 10.0, 6), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(4.0, 20.0, 6), [5.0, 10.0, 15.0, 20.0]);
        assert_eq!(ticks(0.0, 0.3, 4), [0.0, 0.1, 0.2, 0.1 * 3.0]);
        for high in [1e-300, 1e-9, 0.7, 3.3, 12_345.0, 1e18, 1e300] {
            for most in 3..9 {
                let ticks = ticks(0.0, high, most);
                assert!((2..=most).contains(&ticks.len()) && ticks[0] == 0.0, "{high} {most} {ticks:?}");
                assert!(ticks.iter().all(|tick| *tick <= high * (1.0 + 1e-9)), "{high} {most} {ticks:?}");
            }
        }
        assert_eq!(Linear { low: 0.0, high: f64::MAX }.ticks(5, 1.0)[0], 0.0);
    }

    #[test]
    fn sizes_are_multiples_of_their_unit() {
        let ticks = |high: f64| Linear { low: 0.0, high }.size_ticks(5);
        let kib = |numbers: [f64; 4]| numbers.map(|number| number * 1024.0).to_vec();
        assert_eq!(ticks(1.0), [0.0, 1.0]);
        assert_eq!(ticks(1000.0), [0.0, 500.0, 1000.0]);
        assert_eq!(ticks(16.0 * 1024.0), kib([0.0, 5.0, 10.0, 15.0]));
        assert_eq!(ticks(3.0 * 1024.0 * 1024.0)[1..], [1024.0 * 1024.0, 2048.0 * 1024.0, 3072.0 * 1024.0]);
        assert!(ticks(u64::MAX as f64).len() > 1);
    }

    #[test]
    fn logarithmic_scales_are_of_whole_decades() {
        let of = |values: &[f64]| Log::around(values.iter().copied(), 1e-7, 1.0);
        assert_eq!(of(&[0.02, 0.5]), Log { low: -2, high: 0 });
        assert_eq!(of(&[0.01, 0.1]), Log { low: -2, high: -1 });
        assert_eq!(of(&[0.01]), Log { low: -3, high: -2 });
        assert_eq!(of(&[1.0]), Log { low: -1, high: 0 });
        assert_eq!(of(&[1e-300, 0.5, 0.0]), Log { low: -7, high: 0 });
        assert_eq!(of(&[f64::NAN, -1.0, f64::INFINITY]), Log { low: -1, high: 0 });
        assert_eq!(of(&[]), Log { low: -1, high: 0 });
        let close = |found: Vec<f64>, to: &[f64]| {
            found.len() == to.len() && found.iter().zip(to).all(|(a, b)| (a / b - 1.0).abs() < 1e-9)
        };
        let log = of(&[1e-6, 0.5]);
        assert!(close(log.ticks(9), &[1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6]));
        assert!(close(log.ticks(4), &[1.0, 0.01, 1e-4, 1e-6]), "{:?}", log.ticks(4));
        assert!(close(of(&[0.5]).minor_ticks().collect(), &[0.2, 0.5]));
    }
}
