//! Numbers that are counted or estimated, and sums of them.

use serde::{Serialize, Serializer};

/// A number with the ends of its 95 % interval. For an exact number, both ends are the number itself.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate<T = f64, V = T> {
    /// The number. It may have a fraction even if it counts things. `None`: only its bounds are known, because several
    /// tables may hold the same keys and not all of these tables could be compared key by key.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub value: V,
    /// Lower end of the 95 % interval. The same as `value` if the number is exact.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub low: T,
    /// Upper end of the 95 % interval. The same as `value` if the number is exact.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub high: T,
}

/// A number of different keys, which has only bounds where tables may share keys.
pub type KeyCount = Estimate<u64, Option<u64>>;

/// Entries of several tables. Serializes to an [`Estimate`], or to null if no number is known.
#[derive(Clone, Copy, Default, Debug)]
pub struct EntrySum {
    /// Number of entries of those tables for which it is known; `None`: it is known for no table.
    pub value: Option<u64>,
    /// The number of entries of some table is not known.
    pub is_partial: bool,
    /// The sum of the squares of the errors that the estimates may have.
    squared_error: f64,
}

impl<T: Copy> Estimate<T> {
    /// An exact number.
    pub const fn exact(value: T) -> Self {
        Self { value, low: value, high: value }
    }
}

impl<T: PartialEq, V> Estimate<T, V> {
    /// Returns true if the interval holds one number only.
    pub fn is_exact(&self) -> bool {
        self.low == self.high
    }
}

impl Estimate<u64> {
    /// The quotient of `bits` and this number of entries. `None`: there are no bits or no entries.
    pub fn bits_per_entry(self, bits: u64) -> Option<Estimate> {
        let per = |entries: u64| bits as f64 / entries.max(1) as f64;
        let quotient = Estimate { value: per(self.value), low: per(self.high), high: per(self.low) };
        (self.value > 0 && bits > 0).then_some(quotient)
    }
}

impl From<Estimate<u64>> for KeyCount {
    fn from(Estimate { value, low, high }: Estimate<u64>) -> Self {
        Self { value: Some(value), low, high }
    }
}

impl EntrySum {
    /// Adds the entries of a table.
    pub fn add(&mut self, entries: Option<Estimate<u64>>) {
        let error = entries.map_or(0, |Estimate { value, low, high }| {
            high.saturating_sub(value).max(value.saturating_sub(low))
        });
        let (value, squared_error) = (entries.map(|entries| entries.value), (error as f64).powi(2));
        self.add_sum(&Self { value, is_partial: entries.is_none(), squared_error });
    }

    /// Adds another sum.
    pub fn add_sum(&mut self, other: &Self) {
        if let Some(value) = other.value {
            self.value = Some(self.value.unwrap_or_default().saturating_add(value));
        }
        self.squared_error += other.squared_error;
        self.is_partial |= other.is_partial;
    }

    /// The sum with its interval; `None`: no number is known. The tables' errors are taken to be independent.
    pub fn number(&self) -> Option<Estimate<u64>> {
        let (value, error) = (self.value?, self.squared_error.sqrt().round() as u64);
        Some(Estimate { value, low: value.saturating_sub(error), high: value.saturating_add(error) })
    }

    /// Returns true if not all entries were counted.
    pub fn is_estimated(&self) -> bool {
        self.is_partial || self.squared_error > 0.0
    }

    /// The greatest likely error as a share of the sum; `None` if the sum is exact.
    pub fn error(&self) -> Option<f64> {
        self.is_estimated().then(|| self.squared_error.sqrt() / self.value.unwrap_or_default().max(1) as f64)
    }
}

impl From<Option<Estimate<u64>>> for EntrySum {
    fn from(entries: Option<Estimate<u64>>) -> Self {
        let mut sum = Self::default();
        sum.add(entries);
        sum
    }
}

impl Serialize for EntrySum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.number().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_exact_only_if_all_tables_were_counted() {
        let count = |value, error| Some(Estimate { value, low: value - error, high: value + error });
        let sum = |counts: &[Option<Estimate<u64>>]| {
            let mut sum = EntrySum::default();
            counts.iter().for_each(|count| sum.add(*count));
            (sum.value, sum.error(), sum.is_estimated(), sum.is_partial)
        };
        assert_eq!(sum(&[]), (None, None, false, false));
        assert_eq!(sum(&[count(3, 0), count(4, 0)]), (Some(7), None, false, false));
        assert_eq!(sum(&[count(3, 0), None]), (Some(3), Some(0.0), true, true));
        // The squares of independent errors add up.
        assert_eq!(sum(&[count(40, 3), count(60, 4)]), (Some(100), Some(0.05), true, false));
    }
}
