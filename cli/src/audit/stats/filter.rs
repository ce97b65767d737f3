//! One filter: its size, its bits set, and the share of absent keys that pass it.

/// A filter of a filter block.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Filter {
    pub(crate) state: State,
    pub(crate) bytes: u64,
    pub(crate) bits: u64,
    pub(crate) bits_set: u64,
    /// `None` if there is no filter.
    pub(crate) probes: Option<u8>,
    /// The share of absent keys that pass.
    pub(crate) rate: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Ok,
    Empty,
    Malformed,
}

impl State {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Empty => "empty",
            Self::Malformed => "malformed",
        }
    }
}

impl Filter {
    /// A filter without bytes of its own.
    pub(super) const fn without_bytes(state: State, rate: f64) -> Self {
        Self { state, bytes: 0, bits: 0, bits_set: 0, probes: None, rate }
    }

    /// A filter of this policy: a bit array of `array_len` bytes with `bits_set` bits set, and k.
    pub(super) fn of_array(policy: &str, array_len: usize, bits_set: u64, probes: u8) -> Self {
        let bits = 8 * array_len as u64;
        let rate = match denies(policy, array_len, probes) {
            Denies::All => 0.0,
            Denies::Some => (bits_set as f64 / bits as f64).powi(i32::from(probes)),
            Denies::None => 1.0,
        };
        Self { state: State::Ok, bytes: array_len as u64 + 1, bits, bits_set, probes: Some(probes), rate }
    }
}

/// The absent keys that a filter denies, by its length and k alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Denies {
    None,
    Some,
    All,
}

/// All known policies put k behind the bits, of which there are `len` bytes here.
fn denies(policy: &str, len: usize, probes: u8) -> Denies {
    let is_sound = match policy {
        "filterblock.CassandraBloomFilter1" => len > 0 && len.is_multiple_of(8) && (1..=15).contains(&probes),
        "filterblock.Murmur3BloomFilter1" => len >= 8 && len.is_power_of_two() && (1..=64).contains(&probes),
        // The encoding is not known, so every key may match.
        "rocksdb.BuiltinBloomFilter" => false,
        // LevelDB: without bits nothing matches.
        _ if len == 0 => return Denies::All,
        // LevelDB: greater k is reserved.
        _ => (1..=30).contains(&probes),
    };
    if is_sound { Denies::Some } else { Denies::None }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use filterblock::{
        BloomFilterPolicy, CassandraBloomPolicy, FilterBlockReader, LegacyBloomPolicy, Murmur3BloomPolicy,
        SharedPolicy,
    };

    use crate::audit::stats::filters::FilterStats;

    /// A block of one filter with these contents.
    fn single(policy: SharedPolicy, filter: &[u8]) -> FilterStats {
        let len = (filter.len() as u32).to_le_bytes();
        let contents = [filter, &[0; 4], &len, &[11]].concat();
        FilterStats::new(FilterBlockReader::new(policy, contents.into()))
    }

    /// Filters that deny nothing, or everything.
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
