//! One filter: its size, its bits set, and its false-positive rate.

use filterblock::FilterShape;

use crate::report::words;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Filter {
    pub state: FilterState,
    pub bytes: u64,
    pub bits: u64,
    pub bits_set: u64,
    /// `None`: the filter has no bytes, or is not described.
    pub probes: Option<u32>,
    /// The share of absent keys that may match.
    pub rate: f64,
}

words! {
    /// The state of a filter.
    FilterState {
        /// The filter has bytes.
        Ok = "ok",
        /// The filter has no bytes.
        Empty = "empty",
        /// The offsets of the filter contradict each other, or the filter block's base_lg is too
        /// great.
        Malformed = "malformed",
    }
}

impl Filter {
    pub(super) const fn without_bytes(state: FilterState, rate: f64) -> Self {
        Self { state, bytes: 0, bits: 0, bits_set: 0, probes: None, rate }
    }

    /// Assumes that every key may match if there is no `shape`.
    pub(super) fn described(len: usize, shape: Option<FilterShape>) -> Self {
        let unknown = Self { bytes: len as u64, ..Self::without_bytes(FilterState::Ok, 1.0) };
        shape.map_or(unknown, |shape| Self {
            bits: shape.bits,
            bits_set: shape.bits_set,
            probes: Some(shape.probes),
            rate: shape.expected_rate,
            ..unknown
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use filterblock::{
        BloomFilterPolicy, CassandraBloomPolicy, FilterBlockReader, LegacyBloomPolicy, Murmur3BloomPolicy,
        SharedPolicy,
    };

    use crate::audit::stats::filters::FilterStats;

    /// A filter block whose only filter is `filter`.
    fn single(policy: SharedPolicy, filter: &[u8]) -> FilterStats {
        let len = (filter.len() as u32).to_le_bytes();
        let contents = [filter, &[0; 4], &len, &[11]].concat();
        FilterStats::new(FilterBlockReader::new(policy, contents.into()))
    }

    /// Filters that let every key pass, or no key.
    #[test]
    fn the_rate_is_what_the_policies_answer() {
        let policies: [SharedPolicy; 4] = [
            Arc::new(BloomFilterPolicy::new(10)),
            Arc::new(LegacyBloomPolicy::new(10)),
            Arc::new(CassandraBloomPolicy::new(10)),
            Arc::new(Murmur3BloomPolicy::new(10)),
        ];
        let mut passing = 0;
        let mut denied = 0;
        for policy in policies {
            for len in [0, 1, 4, 8, 16, 24, 32] {
                for probes in 0..=255 {
                    for fill in [0, 0xff] {
                        let stats = single(Arc::clone(&policy), &[vec![fill; len], vec![probes]].concat());
                        let rate = stats.filter(0).unwrap().rate;
                        let passes = stats.reader().key_may_match(0, b"key");
                        assert_eq!(
                            rate,
                            if passes { 1.0 } else { 0.0 },
                            "{} {len} {probes} {fill}",
                            policy.name()
                        );
                        *if passes { &mut passing } else { &mut denied } += 1;
                    }
                }
            }
        }
        assert!(passing > 1000 && denied > 500, "{passing} {denied}");
    }

    #[test]
    fn the_rate_is_the_share_of_bits_to_the_power_of_k() {
        for (filter, rate) in [(&[0x0f, 1][..], 0.5), (&[0x0f, 3], 0.125), (&[0xff, 30], 1.0), (&[7], 0.0)] {
            let stats = single(Arc::new(BloomFilterPolicy::new(10)), filter);
            assert_eq!(stats.filter(0).unwrap().rate, rate, "{filter:?}");
        }
    }
}
