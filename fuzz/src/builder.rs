//! Calls to the filter block's builder in any order, with a policy that sometimes fails. Keys that were added match,
//! misuse gives the right error and changes nothing, and the block equals the model's.

use std::sync::Mutex;

use arbitrary::{Arbitrary, Unstructured};
use filterblock::{
    BloomFilterPolicy, Error, FilterBlockBuilder, FilterBlockReader, FilterPolicy, KeyBuf, KeyHash, Keys,
    Result,
};

use filterblock_fuzz::model;

#[derive(Arbitrary, Debug)]
struct Plan<'a> {
    base_lg: u8,
    bits_per_key: u8,
    max_size: MaxSize,
    calls: Vec<Call<'a>>,
}

/// Small limits, so that blocks often reach them exactly.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum MaxSize {
    Few(u8),
    Many(u16),
}

impl MaxSize {
    fn bytes(self) -> u64 {
        match self {
            Self::Few(bytes) => u64::from(bytes % 32),
            Self::Many(bytes) => bytes.into(),
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Call<'a> {
    Start(u64),
    StartFurther(u16),
    Key(&'a [u8]),
    Hash(&'a [u8]),
    Finish,
    FinishInto,
    Mood(Mood),
    Keys(Vec<&'a [u8]>),
}

/// The behaviour of the policy when a filter is to be made.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Mood {
    Good,
    Refuse,
}

struct Moody {
    policy: BloomFilterPolicy,
    mood: Mutex<Mood>,
}

impl Moody {
    fn make(&self, dst: &mut Vec<u8>, make: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        match self.mood() {
            Mood::Good => make(dst),
            Mood::Refuse => Err(Error::policy("not now")),
        }
    }

    fn mood(&self) -> Mood {
        *self.mood.lock().expect("nobody panics")
    }

    fn set_mood(&self, mood: Mood) {
        *self.mood.lock().expect("nobody panics") = mood;
    }
}

impl FilterPolicy for Moody {
    fn name(&self) -> &str {
        "fuzz.Moody"
    }
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        self.make(dst, |dst| self.policy.create_filter(keys, dst))
    }
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.policy.key_may_match(key, filter)
    }
    fn takes_hashes(&self) -> bool {
        true
    }
    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        self.policy.hash_key(key)
    }
    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        self.make(dst, |dst| self.policy.create_filter_from_hashes(hashes, dst))
    }
}

/// The builder's options, and the keys and the offset that it took since it finished a block. The expected results
/// follow from both.
struct Told<'a> {
    base_lg: u8,
    bits_per_key: u32,
    max_size: u64,
    /// Each key, with the offset at which it was added.
    keys: Vec<(u64, &'a [u8])>,
    last: u64,
}

/// The result that a call must have.
#[derive(Debug, PartialEq)]
enum Expected {
    Done,
    Order,
    Refused,
    Limit,
}

impl Told<'_> {
    /// The number of filters made so far. Keys added now belong to the next one.
    fn made(&self) -> u64 {
        self.last >> self.base_lg
    }

    fn has_pending(&self) -> bool {
        self.keys.iter().any(|&(offset, _)| offset >> self.base_lg == self.made())
    }

    /// The length of a block with `count` filters.
    fn len(&self, count: u64) -> u64 {
        let mut filters = 0;
        let mut ranges: Vec<u64> = self.keys.iter().map(|&(offset, _)| offset >> self.base_lg).collect();
        ranges.sort_unstable();
        for range in ranges.chunk_by(|a, b| a == b) {
            filters += (range.len() as u64 * u64::from(self.bits_per_key)).max(64).div_ceil(8) + 1;
        }
        count.saturating_mul(4).saturating_add(filters + 5)
    }

    fn made_to_be(&self, count: u64, mood: Mood) -> Expected {
        match mood {
            Mood::Refuse if self.has_pending() => Expected::Refused,
            _ if self.len(count) > self.max_size => Expected::Limit,
            _ => Expected::Done,
        }
    }

    fn start(&self, offset: u64, mood: Mood) -> Expected {
        match offset >> self.base_lg {
            index if index < self.made() => Expected::Order,
            index if index == self.made() => Expected::Done,
            index => self.made_to_be(index, mood),
        }
    }

    fn finish(&self, mood: Mood) -> Expected {
        self.made_to_be(self.made() + u64::from(self.has_pending()), mood)
    }

    fn check_block(&self, block: &[u8]) {
        let expected = model::filter_block(&self.keys, self.last, self.base_lg, self.bits_per_key);
        assert_eq!(block, expected);
        let reader = FilterBlockReader::new(BloomFilterPolicy::new(10), block);
        reader.check().expect("a block of our own is sound");
        for (offset, key) in &self.keys {
            assert!(reader.key_may_match(*offset, key), "a stored key is denied");
        }
    }
}

fn outcome<T>(result: &Result<T>) -> Expected {
    match result {
        Ok(_) => Expected::Done,
        Err(Error::BlockOffsetOrder { .. }) => Expected::Order,
        Err(Error::Policy(_)) => Expected::Refused,
        Err(Error::Limit { .. }) => Expected::Limit,
        Err(other) => panic!("{other}"),
    }
}

/// Runs an input: options and calls.
pub fn run(data: &[u8]) {
    if let Ok(plan) = Plan::arbitrary_take_rest(Unstructured::new(data)) {
        follow(&plan);
    }
}

fn follow(plan: &Plan<'_>) {
    let bits_per_key = u32::from(plan.bits_per_key);
    let policy = Moody { policy: BloomFilterPolicy::new(bits_per_key), mood: Mutex::new(Mood::Good) };
    let builder = FilterBlockBuilder::with_base_lg(&policy, plan.base_lg);
    let mut builder = match builder {
        Ok(builder) => builder.with_max_size(plan.max_size.bytes()),
        Err(error) => {
            assert!(plan.base_lg > 63 && matches!(error, Error::InvalidOption { .. }));
            return;
        }
    };
    assert!(plan.base_lg <= 63);
    let max_size = plan.max_size.bytes();
    let mut told = Told { base_lg: plan.base_lg, bits_per_key, max_size, keys: Vec::new(), last: 0 };
    for call in &plan.calls {
        let mood = policy.mood();
        match *call {
            Call::Mood(mood) => policy.set_mood(mood),
            Call::Key(key) => {
                builder.add_key(key);
                told.keys.push((told.last, key));
            }
            Call::Keys(ref keys) => {
                builder.add_keys(keys.iter().collect::<KeyBuf>().as_keys());
                told.keys.extend(keys.iter().map(|key| (told.last, *key)));
            }
            Call::Hash(key) => {
                let hash = policy.hash_key(key).expect("a Bloom filter looks at hashes");
                builder.add_hash(hash).expect("the policy takes hashes");
                told.keys.push((told.last, key));
            }
            Call::Start(_) | Call::StartFurther(_) => {
                let offset = match *call {
                    Call::StartFurther(by) => told.last.saturating_add(by.into()),
                    Call::Start(offset) => offset,
                    _ => unreachable!("matched above"),
                };
                let started = builder.start_block(offset);
                assert_eq!(outcome(&started), told.start(offset, mood));
                if started.is_ok() {
                    told.last = offset;
                }
            }
            Call::Finish | Call::FinishInto => {
                let mut dst = b"before".to_vec();
                let finished = match call {
                    Call::Finish => builder.finish().map(|block| dst.extend(block)),
                    _ => builder.finish_into(&mut dst),
                };
                assert_eq!(outcome(&finished), told.finish(mood));
                assert_eq!(dst[..6], *b"before");
                if finished.is_ok() {
                    told.check_block(&dst[6..]);
                    (told.keys, told.last) = (Vec::new(), 0);
                } else {
                    assert_eq!(dst.len(), 6, "an error leaves everything as it was");
                }
            }
        }
    }
    policy.set_mood(Mood::Good);
    let finished = builder.finish();
    assert_eq!(outcome(&finished), told.finish(Mood::Good));
    if let Ok(block) = finished {
        told.check_block(&block);
    }
}
