//! `AtomicBloomFilter`: by itself, in several threads, and as a filter of a block.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use filterblock::{AtomicBloomFilter, Error, FilterPolicy, KeyBuf, Murmur3BloomPolicy, Structure};

use crate::filters::{filter, numbered_key, numbered_keys, random_key};
use crate::interpreted::fewer;

fn written(shared: &AtomicBloomFilter) -> Vec<u8> {
    let mut dst = b"before".to_vec();
    shared.write_filter(&mut dst).unwrap();
    dst.split_off(b"before".len())
}

#[test]
fn it_is_shared_between_threads() {
    fn check<T: Send + Sync + Unpin + 'static>() {}
    check::<AtomicBloomFilter>();
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn it_becomes_the_policys_filter() {
    for (keys, bits_per_key) in [(0, 10), (1, 10), (1000, 10), (1000, 33)] {
        let policy = Murmur3BloomPolicy::new(bits_per_key);
        let keys = numbered_keys(keys);
        let shared = AtomicBloomFilter::with_capacity(keys.len() as u64, bits_per_key).unwrap();
        shared.add_all(keys.as_keys().iter());
        assert_eq!(written(&shared), filter(&policy, &keys));
        assert_eq!(shared.bits(), (written(&shared).len() as u64 - 1) * 8);
        assert_eq!(shared.probes(), policy.probes());
        let shown = format!("AtomicBloomFilter {{ bits: {}, probes: {} }}", shared.bits(), policy.probes());
        assert_eq!(format!("{shared:?}"), shown);
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn it_comes_back_from_the_policys_filter() {
    let keys = numbered_keys(500);
    let shared = AtomicBloomFilter::from_filter(&filter(&Murmur3BloomPolicy::new(12), &keys)).unwrap();
    assert!(keys.as_keys().iter().all(|key| shared.may_contain(key)));
    let absent = (1_000_000..1_001_000).filter(|&i| shared.may_contain(&numbered_key(i))).count();
    assert!(absent < 20, "{absent}");
    shared.add(b"one more");
    assert!(Murmur3BloomPolicy::new(12).key_may_match(b"one more", &written(&shared)));
}

#[test]
fn what_is_no_filter_is_an_error() {
    for (filter, found) in [
        (&b""[..], "no bytes"),
        (&[7], "0 bytes and 7 probes"),
        (&[0, 0, 0, 0, 7], "4 bytes and 7 probes"),
        (&[0; 9], "8 bytes and 0 probes"),
        (&[65; 9], "8 bytes and 65 probes"),
        (&[1; 25], "24 bytes and 1 probes"),
    ] {
        let error = AtomicBloomFilter::from_filter(filter).unwrap_err();
        let Error::Corrupt { what: Structure::Filter, found: said, .. } = error else { panic!("{error}") };
        assert_eq!(said, found);
    }
}

#[test]
fn many_keys_are_added_as_each_of_them() {
    let one_by_one = AtomicBloomFilter::new(4096, 5).unwrap();
    let batch = AtomicBloomFilter::new(4096, 5).unwrap();
    for key in [&b"bytes"[..], b"", "grün".as_bytes(), b"owned"] {
        one_by_one.add(key);
    }
    batch.add_all([&b"bytes"[..], b""]);
    batch.add_all(["grün"]);
    batch.add_all([String::from("owned")]);
    assert_eq!(written(&one_by_one), written(&batch));
    assert!(batch.may_contain(b"") && batch.may_contain("grün".as_bytes()) && !batch.may_contain(&[7]));
}

#[test]
fn sizes_and_limits() {
    let bits = |bits| AtomicBloomFilter::new(bits, 1).map(|filter| filter.bits());
    assert_eq!([0, 1, 64, 65, 1000].map(|wished| bits(wished).unwrap()), [64, 64, 64, 128, 1024]);
    for wished in [(1 << 34) + 1, u64::MAX] {
        assert!(matches!(bits(wished), Err(Error::FilterSize { limit: 0x4_0000_0000, .. })));
    }
    let error = AtomicBloomFilter::with_capacity(u64::MAX, u32::MAX).unwrap_err();
    assert!(matches!(error, Error::FilterSize { keys: u64::MAX, .. }), "{error}");
    for probes in [0, 65, 255] {
        let error = AtomicBloomFilter::new(64, probes).unwrap_err();
        assert!(matches!(error, Error::InvalidOption { option: "probes", .. }), "{error}");
    }
    for p in [f64::NAN, 0.0, 1.0, 1e-30] {
        let error = AtomicBloomFilter::with_false_positive_rate(10, p).unwrap_err();
        assert!(matches!(error, Error::InvalidOption { .. }), "{error}");
    }
    let filter = AtomicBloomFilter::with_false_positive_rate(1000, 0.01).unwrap();
    assert_eq!((filter.bits(), filter.probes()), (16_384, 7));
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn merging_adds_the_other_filters_keys() {
    let both = AtomicBloomFilter::new(1 << 14, 7).unwrap();
    let [left, right] = [0..500, 500..1000].map(|range| {
        let filter = AtomicBloomFilter::new(1 << 14, 7).unwrap();
        filter.add_all(range.clone().map(random_key));
        both.add_all(range.map(random_key));
        filter
    });
    let before = written(&right);
    left.merge(&right).unwrap();
    assert_eq!(written(&left), written(&both));
    assert_eq!(written(&right), before);
    left.merge(&left).unwrap();
    assert_eq!(written(&left), written(&both));
}

#[test]
fn filters_of_other_shapes_do_not_merge() {
    let filter = AtomicBloomFilter::new(1024, 7).unwrap();
    filter.add(b"key");
    let before = written(&filter);
    for (bits, probes, shape) in [(2048, 7, "2048 bits and 7 probes"), (1024, 6, "1024 bits and 6 probes")] {
        let other = AtomicBloomFilter::new(bits, probes).unwrap();
        other.add(b"other");
        let Err(Error::InvalidOption { expected, found, .. }) = filter.merge(&other) else {
            panic!("merged")
        };
        assert_eq!((&*expected, &*found), ("1024 bits and 7 probes", shape));
        assert_eq!(written(&filter), before);
    }
}

#[test]
fn clearing_forgets_all_keys() {
    let mut filter = AtomicBloomFilter::with_capacity(100, 10).unwrap();
    let empty = written(&filter);
    filter.add_all((0..100).map(random_key));
    assert_ne!(written(&filter), empty);
    filter.clear();
    assert_eq!(written(&filter), empty);
    filter.add(b"again");
    assert!(filter.may_contain(b"again"));
}

/// Threads set bits in a few words, where an OR that is not atomic would lose some. The result is the same as with one
/// thread.
#[test]
fn no_bit_is_lost_between_threads() {
    const THREADS: u64 = 4;
    let rounds = 200 / fewer(100) as u64;
    let keys = 64 / fewer(4) as u64;
    for round in 0..rounds {
        let filter = AtomicBloomFilter::new(1 << 10, 3).unwrap();
        let start = Barrier::new(THREADS as usize);
        let key = |thread, i| random_key((round * THREADS + thread) * keys + i);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (filter, start) = (&filter, &start);
                scope.spawn(move || {
                    start.wait();
                    for i in 0..keys {
                        filter.add(&key(thread, i));
                        assert!(filter.may_contain(&key(thread, i)), "a thread finds its own key");
                    }
                });
            }
        });
        let alone = AtomicBloomFilter::new(1 << 10, 3).unwrap();
        for thread in 0..THREADS {
            alone.add_all((0..keys).map(|i| key(thread, i)));
        }
        assert_eq!(written(&filter), written(&alone));
    }
}

/// A reader finds the keys that it saw a thread publish, while others go on adding.
#[test]
fn published_keys_are_found_while_others_are_added() {
    let keys = 20_000 / fewer(500) as u64;
    let filter = AtomicBloomFilter::with_capacity(2 * keys, 10).unwrap();
    let published = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..keys {
                filter.add(&random_key(i));
                published.store(i + 1, Ordering::Release);
            }
        });
        scope.spawn(|| filter.add_all((keys..2 * keys).map(random_key)));
        scope.spawn(|| {
            let mut found = 0;
            while found < keys {
                let until = published.load(Ordering::Acquire);
                for i in found..until {
                    assert!(filter.may_contain(&random_key(i)), "key {i} of {until}");
                }
                found = until;
                thread::yield_now();
            }
        });
    });
    let keys: KeyBuf = (0..2 * keys).map(random_key).collect();
    assert_eq!(written(&filter), crate::filters::filter(&Murmur3BloomPolicy::new(10), &keys));
}

#[test]
fn merging_under_threads_loses_nothing() {
    let parts = 50 / fewer(25) as u64;
    let bits = (1 << 16) / fewer(64) as u64;
    let total = AtomicBloomFilter::new(bits, 5).unwrap();
    thread::scope(|scope| {
        for thread in 0..4 {
            let total = &total;
            scope.spawn(move || {
                for part in 0..parts {
                    let own = AtomicBloomFilter::new(bits, 5).unwrap();
                    own.add_all((0..20).map(|i| random_key((thread * parts + part) * 20 + i)));
                    total.merge(&own).unwrap();
                }
            });
        }
    });
    assert!((0..4 * parts * 20).all(|i| total.may_contain(&random_key(i))));
}

/// Keys from an iterator of known length set the same bits as keys from another iterator, though the bits of the former
/// are gathered first.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn batches_of_any_size_add_their_keys() {
    for (bits, keys) in [(1 << 10, 0), (1 << 10, 1), (1 << 16, 145), (1 << 16, 147), (1 << 16, 5000)] {
        let [one_by_one, told, untold] = [(); 3].map(|()| AtomicBloomFilter::new(bits, 7).unwrap());
        for filter in [&one_by_one, &told, &untold] {
            filter.add(b"before");
        }
        (0..keys).for_each(|i| one_by_one.add(&random_key(i)));
        told.add_all((0..keys).map(random_key));
        untold.add_all((0..keys).map(random_key).filter(|_| true));
        assert_eq!(written(&told), written(&one_by_one), "{keys} keys");
        assert_eq!(written(&untold), written(&one_by_one), "{keys} keys");
    }
}

#[test]
fn batches_under_threads_lose_nothing() {
    let parts = 50 / fewer(25) as u64;
    let filter = AtomicBloomFilter::new(1 << 12, 5).unwrap();
    let alone = AtomicBloomFilter::new(1 << 12, 5).unwrap();
    let key = |thread: u64, part: u64, i: u64| random_key((thread * parts + part) * 20 + i);
    thread::scope(|scope| {
        for thread in 0..4 {
            let filter = &filter;
            scope.spawn(move || {
                for part in 0..parts {
                    // Keys gathered, then others one by one.
                    filter.add_all((0..20).map(|i| key(thread, part, i)));
                    (0..20).for_each(|i| filter.add(&key(thread, part, i)));
                    assert!((0..20).all(|i| filter.may_contain(&key(thread, part, i))));
                }
            });
        }
    });
    (0..4 * parts * 20).for_each(|i| alone.add(&random_key(i)));
    assert_eq!(written(&filter), written(&alone));
}
