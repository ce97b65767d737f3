//! Filters and keys at either end of memory that has unreadable pages around it. A load that goes too far ends the
//! process.

use std::process::Stdio;
use std::ptr;

use filterblock::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalFilterPolicy, Keys,
};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use super::reference::{
    at_each_level, hashes_at_the_ends, key_of_hash, random_keys, reference_filter, reference_match,
};
use crate::interpreted::fewer;
use crate::this_program::this_program;

/// A multiple of the page size of every system.
const PAGE: usize = 1 << 16;

/// Memory between two pages that cannot be read.
struct Pages {
    start: *mut u8,
    len: usize,
}

impl Pages {
    /// Allocates memory of at least `len` bytes.
    fn new(len: usize) -> Self {
        let len = len.next_multiple_of(PAGE);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a mapping at an address that the system chooses is no one else's.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), len + 2 * PAGE, protection, MapFlags::PRIVATE) }
            .unwrap();
        let pages = Self { start: start.cast(), len };
        for outside in [0, PAGE + len] {
            // SAFETY: both are within the mapping, and nothing points into them.
            unsafe { mprotect(pages.start.add(outside).cast(), PAGE, MprotectFlags::empty()) }.unwrap();
        }
        pages
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: these bytes are mapped, were zeros at first, and are borrowed with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(PAGE), self.len) }
    }

    /// Copies `bytes` to the end of the memory.
    fn at_end(&mut self, bytes: &[u8]) -> &[u8] {
        let from = self.len - bytes.len();
        let to = &mut self.bytes()[from..];
        to.copy_from_slice(bytes);
        to
    }

    /// Copies `bytes` to the start of the memory.
    fn at_start(&mut self, bytes: &[u8]) -> &[u8] {
        let to = &mut self.bytes()[..bytes.len()];
        to.copy_from_slice(bytes);
        to
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is `self`'s alone.
        unsafe { munmap(self.start.cast(), self.len + 2 * PAGE) }.unwrap();
    }
}

/// The next test runs this one, in a process of its own.
#[ignore = "ends the process"]
#[test]
fn a_byte_too_far() {
    let mut pages = Pages::new(1);
    let end = pages.at_end(&[1]).as_ptr_range().end;
    let start = pages.at_start(&[1]).as_ptr();
    let byte = if std::env::var_os("BEFORE").is_some() { start.wrapping_sub(1) } else { end };
    println!("about to read");
    // SAFETY: none, which is what the test is about.
    println!("have read {}", unsafe { byte.read_volatile() });
}

/// If such a read did not end the process, the other tests here would show nothing.
#[test]
fn a_byte_too_far_ends_the_process() {
    for before in [false, true] {
        let mut command = this_program();
        command.args(["--exact", "--ignored", "--nocapture", "kernels::pages::a_byte_too_far"]);
        if before {
            command.env("BEFORE", "1");
        }
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        // The process ended by a signal, or as AddressSanitizer ends it.
        assert!(!output.status.success(), "{text}");
        assert!(text.contains("about to read") && !text.contains("have read"), "{text}");
    }
}

/// Sizes of arrays around those at which other code may take over.
fn sizes() -> Vec<usize> {
    let around = [512, 1024, 2048, 4096, 8192, 65_536, 1 << 17].into_iter().flat_map(|len| len - 2..=len + 2);
    (0..=300).chain(around).step_by(fewer(3)).collect()
}

#[test]
fn filters_are_read_to_their_ends_and_no_further() {
    let policy = BloomFilterPolicy::new(10);
    let mut behind = Pages::new(1 << 18);
    let mut before = Pages::new(1 << 18);
    for len in sizes() {
        for k in [6, 1, 2, 7, 9, 17, 30, 31] {
            // All bits are set but one, so that nearly every key is looked up to its last bit.
            let mut filter = vec![0xff; len + 1];
            filter[len / 2] = 0xfe;
            filter[len] = k;
            let keys: Vec<[u8; 4]> =
                hashes_at_the_ends(len.max(1)).into_iter().step_by(fewer(9)).map(key_of_hash).collect();
            let expected: Vec<bool> = keys.iter().map(|key| reference_match(key, &filter)).collect();
            let (at_end, at_start) = (behind.at_end(&filter), before.at_start(&filter));
            let ends = [at_end, at_start];
            let probes: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], at_end)).collect();
            // The two copies of the filter in turn, each for a run of neighbouring keys.
            let mixed = |run: usize| -> Vec<(&[u8], &[u8])> {
                (0..).zip(&keys).map(|(at, key)| (&key[..], ends[at / run % 2])).collect()
            };
            let batches = [probes, mixed(1), mixed(5), mixed(usize::MAX)];
            at_each_level(|| {
                let what = || format!("{len} bytes, k {k}");
                for (key, expected) in keys.iter().zip(&expected) {
                    let hash = policy.hash_key(key).unwrap();
                    for filter in ends {
                        assert_eq!(policy.key_may_match(key, filter), *expected, "{}", what());
                        assert_eq!(policy.hash_may_match(hash, filter), *expected, "{}", what());
                    }
                }
                for probes in &batches {
                    for count in [1, 3, 8, 16, 19, probes.len()] {
                        let count = count.min(probes.len());
                        let mut answers = vec![false; count];
                        policy.keys_may_match(&probes[..count], &mut answers);
                        assert_eq!(answers, expected[..count], "{} in a batch", what());
                    }
                }
            });
        }
    }
}

#[test]
fn keys_are_read_to_their_ends_and_no_further() {
    let policy = BloomFilterPolicy::new(10);
    let internal = InternalFilterPolicy::new(policy);
    let (mut behind, mut before) = (Pages::new(PAGE), Pages::new(PAGE));
    for len in (0..=140).step_by(fewer(7)) {
        for count in [1, 7, 8, 9, 15, 16, 17, 33, 64, 65].into_iter().step_by(fewer(2)) {
            let keys = random_keys(count, len as u64, |_| len);
            let expected = reference_filter(&keys, 10, 6);
            let suffixed: Vec<Vec<u8>> = keys.iter().map(|key| [key, &[7; 8][..]].concat()).collect();
            let expected_answers: Vec<bool> =
                keys.iter().map(|key| reference_match(key, &expected)).collect();
            for (keys, policy) in [(&keys, &policy as &dyn FilterPolicy), (&suffixed, &internal)] {
                let (len, bytes) = (keys[0].len(), keys.concat());
                let starts: Vec<usize> = (0..count).map(|at| at * len).collect();
                for bytes in [behind.at_end(&bytes), before.at_start(&bytes)] {
                    let probes: Vec<(&[u8], &[u8])> =
                        starts.iter().map(|&at| (&bytes[at..at + len], &expected[..])).collect();
                    at_each_level(|| {
                        let what = || format!("{count} keys of {len} bytes");
                        let mut filter = Vec::new();
                        policy.create_filter(Keys::new(bytes, &starts).unwrap(), &mut filter).unwrap();
                        assert!(filter == expected, "{}", what());
                        let mut answers = vec![false; count];
                        policy.keys_may_match(&probes, &mut answers);
                        assert_eq!(answers, expected_answers, "{}", what());
                        for ((key, filter), expected) in probes.iter().zip(&expected_answers) {
                            assert_eq!(policy.key_may_match(key, filter), *expected, "{}", what());
                        }
                    });
                }
            }
        }
    }
}

/// Keys of several lengths are copied in another way than those of one length.
#[test]
fn keys_of_several_lengths_are_read_to_their_ends_and_no_further() {
    let policy = BloomFilterPolicy::new(10);
    let (mut behind, mut before) = (Pages::new(PAGE), Pages::new(PAGE));
    for len in 0..=130 {
        let mut keys = random_keys(4, len as u64, |_| len.max(3));
        keys.iter_mut().zip([1, 2, 3, len]).for_each(|(key, len)| key.truncate(len));
        let expected = reference_filter(&keys, 10, 6);
        for last in [behind.at_end(&keys[3]), before.at_start(&keys[3])] {
            at_each_level(|| {
                let mut builder = FilterBlockBuilder::new(policy);
                keys[..3].iter().for_each(|key| builder.add_key(key));
                builder.add_key(last);
                assert!(builder.finish().unwrap().starts_with(&expected), "{len} bytes");
            });
        }
        let starts: Vec<usize> = (0..4).map(|at| keys[..at].concat().len()).collect();
        let all = keys.concat();
        for bytes in [behind.at_end(&all), before.at_start(&all)] {
            at_each_level(|| {
                let mut filter = Vec::new();
                policy.create_filter(Keys::new(bytes, &starts).unwrap(), &mut filter).unwrap();
                assert!(filter == expected, "{len} bytes");
            });
        }
    }
}

/// One key alone lies at the end of memory. It is asked for in batches of all lengths.
#[test]
fn the_last_key_of_a_batch_is_read_to_its_end() {
    let policy = BloomFilterPolicy::new(10);
    let mut behind = Pages::new(PAGE);
    for len in (0..=80).step_by(fewer(7)) {
        let keys = random_keys(18, len as u64, |_| len);
        let filter = reference_filter(&keys, 10, 6);
        let last = behind.at_end(&keys[17]);
        // The same key each time, so that all lanes of a batch are at the end.
        let probes = [(last, &filter[..]); 18];
        at_each_level(|| {
            for count in 1..=18 {
                let mut answers = [false; 18];
                policy.keys_may_match(&probes[..count], &mut answers[..count]);
                assert!(answers[..count].iter().all(|answer| *answer), "{count} keys of {len} bytes");
            }
        });
    }
}

#[test]
fn blocks_are_read_to_their_ends_and_no_further() {
    let policy = BloomFilterPolicy::new(10);
    let mut behind = Pages::new(PAGE);
    for (keys_each, filters) in [(1, 1), (1, 9), (40, 20), (200, 5), (7, 50), (2000, 1)] {
        let keys = random_keys(keys_each * filters, keys_each as u64, |_| 16);
        let mut builder = FilterBlockBuilder::new(policy);
        for (block, keys) in (0..).zip(keys.chunks(keys_each)) {
            builder.start_block(block * 2048).unwrap();
            keys.iter().for_each(|key| builder.add_key(key));
        }
        let contents = builder.finish().unwrap().to_vec();
        let reader = FilterBlockReader::new(policy, behind.at_end(&contents));
        let queries: Vec<(u64, &[u8])> =
            (0..).zip(&keys).map(|(at, key)| (at / keys_each as u64 * 2048, &key[..])).collect();
        // Beyond the last filter, too.
        let absent: Vec<(u64, &[u8])> =
            (0..=filters as u64).map(|block| (block * 2048, &b"an absent key"[..])).collect();
        let denied: Vec<bool> = absent.iter().map(|(at, key)| reader.key_may_match(*at, key)).collect();
        at_each_level(|| {
            let mut answers = Vec::new();
            reader.keys_may_match(&queries, &mut answers);
            assert!(answers.len() == keys.len() && answers.iter().all(|answer| *answer));
            assert!(queries.iter().all(|(at, key)| reader.key_may_match(*at, key)));
            reader.keys_may_match(&absent, &mut answers);
            assert_eq!(answers, denied);
            assert!(absent.iter().map(|(at, key)| reader.key_may_match(*at, key)).eq(denied.iter().copied()));
        });
    }
}
