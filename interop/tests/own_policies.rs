//! Tables with filters of our own policies, as LevelDB sees them: it does not know the names, and
//! reads without filters.

use filterblock::table::{ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{CassandraBloomPolicy, Murmur3BloomPolicy, SharedPolicy};
use filterblock_interop::leveldb::{self, TableOptions};

fn key(i: u32) -> [u8; 4] {
    i.to_be_bytes()
}

#[test]
fn leveldb_opens_them_without_complaint_and_finds_every_key() {
    let policies: [SharedPolicy; 2] = [
        std::sync::Arc::new(CassandraBloomPolicy::new(10)),
        std::sync::Arc::new(Murmur3BloomPolicy::new(10)),
    ];
    for policy in policies {
        let options = WriteOptions::default().filter_policies(vec![policy.clone()]);
        let mut builder = TableBuilder::new(Vec::new(), options);
        (0..2000).for_each(|i| builder.add(&key(2 * i), b"value").unwrap());
        let (file, _) = builder.finish().unwrap();

        let theirs =
            leveldb::Table::open(&TableOptions { bits_per_key: Some(10), ..TableOptions::default() }, &file)
                .unwrap();
        assert_eq!(theirs.entries().unwrap().len(), 2000);
        for i in 0..2000 {
            let (found, _) = theirs.internal_get(&key(2 * i)).unwrap().unwrap();
            assert_eq!(found, key(2 * i));
        }
        assert_eq!(theirs.filter_counts(), (0, 0), "{}: LevelDB has no filter to ask", policy.name());

        // This library knows the names.
        let ours = Table::open(&file[..], &ReadOptions::default().filter_policies(vec![policy])).unwrap();
        let denied = (0..2000).filter(|i| !ours.may_contain(&key(2 * i + 1)).unwrap()).count();
        assert!(denied > 1900, "{denied}");
        assert!((0..2000).all(|i| ours.may_contain(&key(2 * i)).unwrap()));
    }
}
