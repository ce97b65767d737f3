//! Keys and filters of any bytes: LevelDB's filters equal the model's, and no policy denies its own
//! keys.

use filterblock::{
    BashoBloom2Policy, BashoInternalFilterPolicy, BloomFilterPolicy, CassandraBloomPolicy, FilterPolicy,
    InternalFilterPolicy, KeyBuf, KeyHash, LegacyBloomPolicy, LegacyHash, Murmur3BloomPolicy,
};

use filterblock_fuzz::Input;
use filterblock_fuzz::model;

/// Runs an input: options, up to 15 keys, and a filter of any bytes.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let (which, bits_per_key) = (input.byte(), u32::from(input.byte()));
    let keys: Vec<&[u8]> = (0..which >> 4).map(|_| input.string()).collect();
    let filter = input.0;
    match which & 15 {
        0..=7 => leveldb(bits_per_key, &keys, filter),
        8 => own_keys_match(LegacyBloomPolicy::new(bits_per_key), &keys, filter),
        9 => {
            let policy = LegacyBloomPolicy::new(bits_per_key).with_hash(LegacyHash::Signed);
            own_keys_match(policy, &keys, filter);
        }
        10 => own_keys_match(BashoBloom2Policy::new(bits_per_key), &keys, filter),
        11 => own_keys_match(CassandraBloomPolicy::new(bits_per_key), &keys, filter),
        12 => own_keys_match(Murmur3BloomPolicy::new(bits_per_key), &keys, filter),
        13 => own_keys_match(InternalFilterPolicy::new(BloomFilterPolicy::new(bits_per_key)), &keys, filter),
        14 => {
            let policy = BashoInternalFilterPolicy::new(BashoBloom2Policy::new(bits_per_key));
            own_keys_match(policy, &keys, filter);
        }
        _ => {
            let policy = BloomFilterPolicy::new(bits_per_key + (1 << 31));
            let owned: KeyBuf = keys.iter().collect();
            assert!(
                policy.create_filter(owned.as_keys(), &mut Vec::new()).is_err(),
                "beyond LevelDB's integer"
            );
        }
    }
}

fn leveldb(bits_per_key: u32, keys: &[&[u8]], filter: &[u8]) {
    let policy = BloomFilterPolicy::new(bits_per_key);
    assert_eq!(u64::from(policy.probes()), model::probes(bits_per_key));
    let owned: KeyBuf = keys.iter().collect();
    let mut made = b"before".to_vec();
    policy.create_filter(owned.as_keys(), &mut made).expect("few keys make a filter");
    let (before, own) = made.split_at(6);
    assert_eq!(own, model::bloom_filter(keys, bits_per_key));
    assert_eq!(before, b"before");
    for key in keys {
        let hash = model::hash(key);
        assert_eq!(filterblock::hash::leveldb(key, filterblock::hash::BLOOM_SEED), hash);
        assert!(policy.key_may_match(key, own));
        assert_eq!(policy.key_may_match(key, filter), model::bloom_matches(hash, filter));
    }
    // Keys that are probably not in the filter.
    for key in [filter, b"", b"\xff\xfe\xfd"] {
        assert_eq!(policy.key_may_match(key, own), model::bloom_matches(model::hash(key), own));
    }
    same_filter_by_hashes(&policy, keys, own);
    same_answers_by_hashes(&policy, keys, filter);
}

/// Checks what holds for any policy: it may refuse to make a filter, but a filter that it makes
/// must not deny its own keys. About other filters it may answer anything.
fn own_keys_match(policy: impl FilterPolicy, keys: &[&[u8]], filter: &[u8]) {
    let owned: KeyBuf = keys.iter().collect();
    let mut own = b"before".to_vec();
    if policy.create_filter(owned.as_keys(), &mut own).is_ok() {
        assert_eq!(own[..6], *b"before");
        let own = own.split_off(6);
        assert!(keys.iter().all(|key| policy.key_may_match(key, &own)));
        same_filter_by_hashes(&policy, keys, &own);
    } else {
        assert_eq!(own, b"before", "an error leaves everything as it was");
    }
    same_answers_by_hashes(&policy, keys, filter);
}

/// Checks that a policy gives the same answers one by one and together, and by hashes if it
/// supports them.
fn same_answers_by_hashes(policy: &impl FilterPolicy, keys: &[&[u8]], filter: &[u8]) {
    let probes: Vec<(&[u8], &[u8])> = keys.iter().map(|&key| (key, filter)).collect();
    let mut answers = vec![false; keys.len()];
    policy.keys_may_match(&probes, &mut answers);
    for (key, together) in keys.iter().zip(answers) {
        let answer = policy.key_may_match(key, filter);
        assert_eq!(together, answer);
        if let Some(hash) = policy.hash_key(key) {
            assert_eq!(policy.hash_may_match(hash, filter), answer);
        }
    }
}

/// Checks that a policy that supports hashes makes the same filter from hashes as from keys.
fn same_filter_by_hashes(policy: &impl FilterPolicy, keys: &[&[u8]], own: &[u8]) {
    let hashes: Option<Vec<KeyHash>> = keys.iter().map(|key| policy.hash_key(key)).collect();
    if let Some(hashes) = hashes.filter(|hashes| !hashes.is_empty()) {
        let mut by_hashes = Vec::new();
        policy.create_filter_from_hashes(&hashes, &mut by_hashes).expect("as many keys made a filter");
        assert_eq!(by_hashes, own);
    }
}
