//! Filters that deny keys are detected before they are put to use.

use std::sync::Arc;

use filterblock::{BloomFilterPolicy, FilterPolicy, Keys};

use super::super::files::{Folder, Purpose};
use super::super::filters::TableFilters;
use super::super::table::{OutputFile, rewrite};
use super::super::{FilterRequest, Options};
use super::databases::{NEW_NAME, Sample};
use super::modes::{Mode, Root};
use crate::report::RebuildStatus;

/// A policy whose filters lack the last of their keys.
struct Forgetful(BloomFilterPolicy);

impl FilterPolicy for Forgetful {
    fn name(&self) -> &str {
        NEW_NAME
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> filterblock::Result<()> {
        let mut kept = filterblock::KeyBuf::new();
        keys.iter().take(keys.len() - 1).for_each(|key| kept.push(key));
        self.0.create_filter(kept.as_keys(), dst)
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.0.key_may_match(key, filter)
    }
}

/// Promise: B7.
#[test]
fn a_filter_that_denies_a_key_is_a_fault_of_this_program() {
    let root = Root::with(Sample::Levels, Mode::InPlace);
    let (_, dir) = Folder::open(&root.database(), Purpose::InPlace).unwrap();
    let request = Options {
        filters: FilterRequest::Drop,
        keep_undecodable: true,
        assume_bytewise_equality: false,
        verify: false,
        jobs: None,
        dry_run: false,
    };
    let filters = |policy| TableFilters { policy, bits_per_key: 20, base_lg: 11, idb_keys: false };
    let write = |filters: &TableFilters| {
        rewrite((&dir, "000030.ldb"), OutputFile::File(&dir, "000050.dbtmp"), Some(filters), &request, &())
    };
    let bad = filters(Arc::new(Forgetful(BloomFilterPolicy::new(20))));
    let Err(fault) = write(&bad).map(|_| ()) else { panic!("it is noticed") };
    assert_eq!(fault.status, RebuildStatus::Failed);
    assert!(fault.text.contains("000050.dbtmp: the new filter denies the key "), "{}", fault.text);
    assert!(fault.text.ends_with("which is a fault of this program"), "{}", fault.text);
    assert!(!root.database().join("000050.dbtmp").exists());
    write(&filters(Arc::new(BloomFilterPolicy::new(20)))).unwrap();
}
