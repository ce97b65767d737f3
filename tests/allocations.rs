//! Building allocates nothing once the buffers have grown, and asking never does.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy};
use filterblock::{InternalFilterPolicy, KeyHash, SharedPolicy};

/// Counts what the current thread allocates.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

fn keys() -> Vec<Vec<u8>> {
    (0..4000u32).map(|i| i.to_be_bytes().repeat(2 + i as usize % 20)).collect()
}

fn build<P: FilterPolicy>(builder: &mut FilterBlockBuilder<P>, keys: &[Vec<u8>], block: &mut Vec<u8>) {
    for (offset, keys) in (0..).step_by(2048).zip(keys.chunks(40)) {
        builder.start_block(offset).unwrap();
        keys.iter().for_each(|key| builder.add_key(key));
    }
    builder.finish_into(block).unwrap();
}

fn policies() -> [SharedPolicy; 2] {
    let bloom = BloomFilterPolicy::new(10);
    [Arc::new(bloom), Arc::new(InternalFilterPolicy::new(bloom))]
}

#[test]
fn building_again_allocates_nothing() {
    let keys = keys();
    for policy in policies() {
        let mut builder = FilterBlockBuilder::new(policy);
        let mut block = Vec::new();
        build(&mut builder, &keys, &mut block);
        let first = std::mem::take(&mut block);
        block.reserve(first.len());
        assert_eq!(allocations(|| build(&mut builder, &keys, &mut block)), 0);
        assert_eq!(block, first);
    }
}

#[test]
fn asking_allocates_nothing() {
    let keys = keys();
    for policy in policies() {
        let mut block = Vec::new();
        build(&mut FilterBlockBuilder::new(&policy), &keys, &mut block);
        let reader = FilterBlockReader::new(&policy, &block);

        let offset = |index: usize| (index / 40) as u64 * 2048;
        let queries: Vec<(u64, &[u8])> =
            keys.iter().enumerate().map(|(index, key)| (offset(index), &key[..])).collect();
        let hashes: Vec<Option<KeyHash>> = keys.iter().map(|key| policy.hash_key(key)).collect();
        let mut answers = Vec::with_capacity(queries.len());
        let count = allocations(|| {
            assert!(queries.iter().all(|&(offset, key)| reader.key_may_match(offset, key)));
            for (&(offset, key), hash) in queries.iter().zip(&hashes) {
                assert_eq!(policy.hash_key(key), *hash);
                assert!(hash.is_none_or(|hash| reader.hash_may_match(offset, hash)));
            }
            reader.keys_may_match(&queries, &mut answers);
            assert!(answers.iter().all(|answer| *answer));
        });
        assert_eq!(count, 0);
    }
}
