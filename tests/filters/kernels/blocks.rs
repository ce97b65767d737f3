//! Answers of whole filter blocks.

use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use super::levels::at_each_level;
use super::reference::{random, random_keys};
use crate::interpreted::fewer;

/// Each answer has to be in the place of its query, whether or not a filter was asked for it.
#[test]
fn many_queries_of_a_block() {
    let policy = BloomFilterPolicy::new(10);
    let keys = random_keys(2000 / fewer(2), 11, |random| 8 + random as usize % 3);
    let mut builder = FilterBlockBuilder::new(policy);
    for (index, keys) in keys.chunks(20).enumerate() {
        // Every third range stays empty.
        builder.start_block((index + index / 2) as u64 * 2048).unwrap();
        keys.iter().for_each(|key| builder.add_key(key));
    }
    let mut contents = builder.finish().unwrap().to_vec();
    // Some offsets are malformed.
    let len = contents.len();
    contents[len - 205..len - 165].fill(0xff);
    let reader = FilterBlockReader::new(policy, contents);
    let mut state = 5;
    let queries: Vec<(u64, &[u8])> = (0..5000 / fewer(25))
        .map(|_| {
            let random = random(&mut state);
            let offset = if random.is_multiple_of(50) { u64::MAX - random } else { random % (170 * 2048) };
            (offset, &keys[random as usize % keys.len()][..])
        })
        .collect();
    let alone =
        || -> Vec<bool> { queries.iter().map(|&(offset, key)| reader.key_may_match(offset, key)).collect() };
    let one_by_one = alone();
    assert!(one_by_one.contains(&true) && one_by_one.contains(&false));
    at_each_level(|| {
        assert_eq!(alone(), one_by_one);
        let mut answers = vec![true; 3];
        // Batches that begin at any query. Their answers replace those of earlier batches.
        for (from, count) in (0..queries.len().min(300))
            .step_by(fewer(70))
            .map(|count| (count % 7, count))
            .chain([(0, queries.len())])
        {
            reader.keys_may_match(&queries[from..from.max(count)], &mut answers);
            assert_eq!(answers, one_by_one[from..from.max(count)]);
        }
    });
}
