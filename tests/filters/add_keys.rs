//! `FilterBlockBuilder::add_keys` does what `add_key` does for each key, whatever else is added.

use filterblock::{
    BloomFilterPolicy, FilterBlockBuilder, FilterPolicy, InternalFilterPolicy, KeyBuf, Keys, Result,
};

use crate::interpreted::fewer;

/// A policy whose filters are the keys themselves, and that has no hashes.
struct Verbatim;

impl FilterPolicy for Verbatim {
    fn name(&self) -> &str {
        "test.Verbatim"
    }
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        for key in keys {
            dst.push(key.len() as u8);
            dst.extend_from_slice(key);
        }
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

/// One call to the builder.
#[derive(Debug)]
enum Call {
    Key(Vec<u8>),
    /// Keys in a buffer, which may know that their lengths are equal.
    Keys(Vec<Vec<u8>>),
    /// Keys given by their starts, in a buffer with other bytes before the first key.
    KeysAt(Vec<Vec<u8>>),
    /// Keys in a buffer, each followed by this number of bytes that are cut off.
    Stripped(Vec<Vec<u8>>, usize),
    Hash(Vec<u8>),
    Start(u64),
}

fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

fn calls(state: &mut u64, hashes: bool) -> Vec<Call> {
    let lengths = [0, 1, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 100];
    // Most of the keys of one round have the same length.
    let usual = lengths[random(state) % lengths.len()];
    let key = |state: &mut u64| {
        let len = if random(state).is_multiple_of(40) { lengths[random(state) % 17] } else { usual };
        (0..len).map(|_| random(state) as u8).collect::<Vec<u8>>()
    };
    let mut offset = 0;
    let count = random(state) % 12;
    let mut calls = Vec::new();
    for _ in 0..count {
        let kind = random(state) % 8;
        let many = [0, 1, 2, 3, 8, 15, 16, 17, 24, 40, 63, 64, 65, 100][random(state) % 14];
        calls.push(match kind {
            0 | 1 => Call::Key(key(state)),
            2 | 3 => Call::Keys((0..many).map(|_| key(state)).collect()),
            4 => Call::KeysAt((0..many).map(|_| key(state)).collect()),
            5 => Call::Stripped((0..many).map(|_| key(state)).collect(), random(state) % 9),
            6 if hashes => Call::Hash(key(state)),
            _ => {
                offset += random(state) as u64 % 5000;
                Call::Start(offset)
            }
        });
    }
    calls
}

fn make_call<P: FilterPolicy>(
    builder: &mut FilterBlockBuilder<P>,
    call: &Call,
    one_by_one: bool,
) -> Result<()> {
    let add = |builder: &mut FilterBlockBuilder<P>, keys: Keys<'_>| {
        if one_by_one {
            keys.iter().for_each(|key| builder.add_key(key));
        } else {
            builder.add_keys(keys);
        }
    };
    match call {
        Call::Key(key) => builder.add_key(key),
        Call::Keys(keys) => add(builder, keys.iter().collect::<KeyBuf>().as_keys()),
        Call::KeysAt(keys) => {
            let mut bytes = b"before".to_vec();
            let starts: Vec<usize> = keys
                .iter()
                .map(|key| {
                    bytes.extend_from_slice(key);
                    bytes.len() - key.len()
                })
                .collect();
            add(builder, Keys::new(&bytes, &starts)?);
        }
        Call::Stripped(keys, suffix) => {
            let longer: KeyBuf = keys.iter().map(|key| [&key[..], &vec![7; *suffix]].concat()).collect();
            add(builder, longer.as_keys().strip_suffix(*suffix)?);
        }
        Call::Hash(key) => {
            if let Some(hash) = builder.policy().hash_key(key) {
                builder.add_hash(hash)?;
            }
        }
        Call::Start(offset) => builder.start_block(*offset)?,
    }
    Ok(())
}

fn check<P: FilterPolicy + Copy>(policy: P, hashes: bool, state: &mut u64) -> (usize, usize) {
    // Both builders are used again and again, as their buffers are.
    let [mut whole, mut single] = [FilterBlockBuilder::new(policy), FilterBlockBuilder::new(policy)];
    let (mut made, mut failed) = (0, 0);
    for _ in 0..600 / fewer(30) {
        let calls = calls(state, hashes);
        for call in &calls {
            let [one, other] = [(&mut whole, false), (&mut single, true)]
                .map(|(builder, one_by_one)| make_call(builder, call, one_by_one).map_err(|e| e.to_string()));
            assert_eq!(one, other, "{calls:?}");
        }
        let [one, other] =
            [&mut whole, &mut single].map(|builder| builder.finish().map_err(|error| error.to_string()));
        assert_eq!(one, other, "{calls:?}");
        if one.is_err() {
            // The keys of a filter that cannot be made stay pending.
            failed += 1;
            (whole, single) = (FilterBlockBuilder::new(policy), FilterBlockBuilder::new(policy));
        } else {
            made += 1;
        }
    }
    (made, failed)
}

#[test]
fn equals_key_by_key_in_any_order_of_calls() {
    let mut state = 1;
    assert_eq!(check(BloomFilterPolicy::new(10), true, &mut state).1, 0);
    assert_eq!(check(BloomFilterPolicy::new(3), true, &mut state).1, 0);
    // Each key sets more than six bits.
    assert_eq!(check(BloomFilterPolicy::new(20), false, &mut state).1, 0);
    assert_eq!(check(&Verbatim, false, &mut state).1, 0);
}

/// An internal key that is too short is the same error as key by key, with the same number.
#[test]
fn fails_as_key_by_key_does() {
    let mut state = 2;
    let (made, failed) = check(InternalFilterPolicy::new(BloomFilterPolicy::new(10)), true, &mut state);
    assert!(made > 0 && failed > 0, "{made} made, {failed} failed");
    let (made, failed) = check(InternalFilterPolicy::new(&Verbatim), false, &mut state);
    assert!(made > 0 && failed > 0, "{made} made, {failed} failed");
}

/// After a range whose keys came in one call, the builder makes the next range's filter ahead of time.
#[test]
fn keys_that_follow_those_that_came_together_are_in_the_filter() {
    let policy = BloomFilterPolicy::new(10);
    for len in [None, Some(16)] {
        let key = |number: usize| vec![number as u8; len.unwrap_or(number % 70)];
        let (first, second): (Vec<_>, Vec<_>) = ((0..40).map(key).collect(), (40..50).map(key).collect());
        let [first, second] = [first, second].map(|keys: Vec<Vec<u8>>| keys.iter().collect::<KeyBuf>());
        let expected = |parts: &[&KeyBuf]| {
            let keys: KeyBuf = parts.iter().flat_map(|part| part.as_keys().iter()).collect();
            let mut filter = Vec::new();
            policy.create_filter(keys.as_keys(), &mut filter).unwrap();
            filter
        };
        let mut builder = FilterBlockBuilder::new(policy);
        let mut block = Vec::new();
        for range in 0..9 {
            builder.start_block(range * 2048).unwrap();
            if range < 8 {
                builder.add_keys(first.as_keys());
            } else {
                // As many keys, none of which came together.
                first.as_keys().iter().for_each(|key| builder.add_key(key));
            }
            match range {
                2 => builder.add_keys(second.as_keys()),
                4 => second.as_keys().iter().for_each(|key| builder.add_key(key)),
                6 => second.as_keys().iter().for_each(|key| {
                    builder.add_hash(policy.hash_key(key).unwrap()).unwrap();
                }),
                _ => {}
            }
            let more = [2, 4, 6].contains(&range);
            block.extend(if more { expected(&[&first, &second]) } else { expected(&[&first]) });
        }
        assert!(builder.finish().unwrap().starts_with(&block), "{len:?}");
    }
}
