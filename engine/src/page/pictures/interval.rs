//! A number and how well it is known.

/// A number with the ends of its 95 % interval. The ends of an exact one are the same.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// A number that is known exactly.
    #[cfg(test)]
    pub const fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// Returns true if all three numbers are finite, not negative and in order.
    pub(super) fn is_sound(&self) -> bool {
        let Self { value, low, high } = *self;
        0.0 <= low && low <= value && value <= high && high.is_finite()
    }
}
