use super::*;
use crate::BloomFilterPolicy;

/// Keys stay pending rather than getting an empty filter, or the filter of other keys.
#[test]
fn keys_without_a_made_filter_get_none() {
    let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    for _ in 0..2 {
        builder.add_key(b"key");
        for _ in 0..2 {
            assert!(matches!(builder.finished_len(1), Err(Error::PolicyContract { .. })));
            assert!(matches!(builder.take_made_filter(), Err(Error::PolicyContract { .. })));
            assert_eq!((builder.pending.len(), builder.made.len()), (1, 0));
        }
        assert_eq!(builder.finish().unwrap().len(), 9 + 4 + 5);
    }
}
