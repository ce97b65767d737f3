//! The filters of a table in as many parts as a picture or a line of text has room for, and the reason why fewer than
//! half of their bits are set.

use super::numbers::{distinct_keys, entries, percent};
use crate::audit::stats::Filter;
use crate::report::{FilterState, Filters, Table};

/// The state of one filter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fill {
    /// The share of the filter's bits that are set, from 0 to 1.
    Share(f64),
    /// The filter has no bytes, like that of a range without keys.
    Empty,
    /// The filter is malformed, or its policy does not describe it.
    Unknown,
}

/// Consecutive filters, summed up.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct FillBin {
    /// The number of filters.
    pub filters: u64,
    /// The number of filters without bytes.
    pub empty: u64,
    /// The number of filters that are malformed, or not described by their policy.
    pub unknown: u64,
    /// The smallest of the known shares of bits set; 0 if no share is known.
    pub min: f64,
    /// The mean of the known shares of bits set; 0 if no share is known.
    pub mean: f64,
    /// The greatest of the known shares of bits set; 0 if no share is known.
    pub max: f64,
}

impl FillBin {
    /// The number of filters whose shares are known.
    pub const fn known(&self) -> u64 {
        self.filters.saturating_sub(self.empty).saturating_sub(self.unknown)
    }

    fn add(&mut self, fill: Fill) {
        self.filters = self.filters.saturating_add(1);
        match fill {
            Fill::Share(share) if !share.is_nan() => {
                let share = share.clamp(0.0, 1.0);
                let known = self.known();
                (self.min, self.max) =
                    if known == 1 { (share, share) } else { (self.min.min(share), self.max.max(share)) };
                self.mean += (share - self.mean) / known as f64;
            }
            Fill::Empty => self.empty = self.empty.saturating_add(1),
            Fill::Share(_) | Fill::Unknown => self.unknown = self.unknown.saturating_add(1),
        }
    }
}

/// All filters of a table, in parts whose numbers of filters are as equal as possible.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct FillBins {
    /// The bins, in the order of the filters.
    pub bins: Vec<FillBin>,
}

impl FillBins {
    /// The greatest number of parts that pictures show.
    pub const OF_PICTURE: usize = 400;

    /// Puts `count` filters into at most `most` parts. Filters beyond `count` go into the last
    /// part. If `count` or `most` is 0, there are no parts.
    pub fn new(count: u64, most: usize, filters: impl IntoIterator<Item = Fill>) -> Self {
        let parts = usize::try_from(count).unwrap_or(usize::MAX).min(most);
        let mut bins = vec![FillBin::default(); parts];
        for (index, fill) in (0_u128..).zip(filters) {
            let part = index * parts as u128 / u128::from(count.max(1));
            let part = usize::try_from(part).unwrap_or(usize::MAX).min(parts.saturating_sub(1));
            if let Some(bin) = bins.get_mut(part) {
                bin.add(fill);
            }
        }
        Self { bins }
    }

    /// Puts the filters of a block into at most `most` parts.
    pub fn of_block(Filters { stats: filters, .. }: &Filters, most: usize) -> Self {
        let fill = |filter: Filter| match filter.state {
            FilterState::Empty => Fill::Empty,
            FilterState::Ok if filter.bits > 0 => Fill::Share(filter.bits_set as f64 / filter.bits as f64),
            FilterState::Ok | FilterState::Malformed => Fill::Unknown,
        };
        Self::new(filters.reader().num_filters() as u64, most, filters.iter().map(fill))
    }

    /// All parts as one.
    pub fn sum(&self) -> FillBin {
        self.bins.iter().fold(FillBin::default(), |sum, bin| {
            let (before, known) = (sum.known(), bin.known());
            let joined = |of_both: f64, of_bin: f64| match (before, known) {
                (_, 0) => (of_both, of_both),
                (0, _) => (of_bin, of_bin),
                _ => (of_both.min(of_bin), of_both.max(of_bin)),
            };
            let weight = known as f64 / before.saturating_add(known).max(1) as f64;
            FillBin {
                filters: sum.filters.saturating_add(bin.filters),
                empty: sum.empty.saturating_add(bin.empty),
                unknown: sum.unknown.saturating_add(bin.unknown),
                min: joined(sum.min, bin.min).0,
                mean: sum.mean + (bin.mean - sum.mean) * weight,
                max: joined(sum.max, bin.max).1,
            }
        })
    }
}

/// A sentence, without its full stop, about a table in which many entries are further versions of a key, so
/// that its filters are emptier than usual. `None`: there are few such entries, or their number is not known.
pub fn versions_text(table: &Table) -> Option<String> {
    let (number, keys, fill) = (table.entries?, table.distinct_keys?, table.expected_fill()?);
    table.has_versions().then(|| {
        format!(
            "its {} entries are versions of {} keys, and versions of one key set the same bits: {} is to be expected",
            entries(number),
            distinct_keys(keys),
            percent(fill),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_filters_have_a_part_each() {
        let fills = [Fill::Share(0.5), Fill::Empty, Fill::Unknown, Fill::Share(f64::NAN), Fill::Share(7.0)];
        let bins = FillBins::new(5, 400, fills).bins;
        let shown: Vec<_> =
            bins.iter().map(|bin| (bin.empty, bin.unknown, bin.min, bin.mean, bin.max)).collect();
        assert_eq!(
            shown,
            [
                (0, 0, 0.5, 0.5, 0.5),
                (1, 0, 0.0, 0.0, 0.0),
                (0, 1, 0.0, 0.0, 0.0),
                (0, 1, 0.0, 0.0, 0.0),
                (0, 0, 1.0, 1.0, 1.0)
            ]
        );
        assert!(bins.iter().all(|bin| bin.filters == 1));
    }

    #[test]
    fn many_filters_share_parts_and_none_is_lost() {
        let fills =
            (0..1003).map(|n| if n % 2 == 0 { Fill::Empty } else { Fill::Share(f64::from(n) / 1003.0) });
        let bins = FillBins::new(1003, 10, fills);
        assert_eq!(bins.bins.len(), 10);
        assert!(bins.bins.iter().all(|bin| (100..=101).contains(&bin.filters)), "{bins:?}");
        assert!(bins.bins.is_sorted_by(|a, b| a.max < b.min && a.min < a.mean && a.mean < a.max));
        let sum = bins.sum();
        assert_eq!((sum.filters, sum.empty, sum.unknown, sum.known()), (1003, 502, 0, 501));
        assert_eq!((sum.min, sum.max), (1.0 / 1003.0, 1001.0 / 1003.0));
        // The odd numbers up to 1001 have a mean of 501.
        assert!((sum.mean - 501.0 / 1003.0).abs() < 1e-9, "{}", sum.mean);
    }

    #[test]
    fn a_wrong_count_loses_no_filter() {
        let of = |count, most| FillBins::new(count, most, [Fill::Empty, Fill::Share(0.25), Fill::Empty]);
        assert_eq!(of(2, 2).bins.iter().map(|bin| bin.filters).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(of(u64::MAX, 3).sum().filters, 3);
        assert_eq!((of(0, 3), of(3, 0)), (FillBins::default(), FillBins::default()));
        assert_eq!(FillBins::default().sum(), FillBin::default());
        // An empty part does not change the sums.
        let sum = of(3, 3).sum();
        assert_eq!((sum.min, sum.mean, sum.max), (0.25, 0.25, 0.25));
    }
}
