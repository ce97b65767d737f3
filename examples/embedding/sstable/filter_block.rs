//! In place of `sstable`'s src/filter_block.rs.

use std::sync::Arc;

use filterblock::FilterPolicy;

use crate::filter::BoxedFilterPolicy;

pub struct FilterBlockBuilder {
    builder: filterblock::FilterBlockBuilder<BoxedFilterPolicy>,
    range: usize,
    ended: usize,
}

impl FilterBlockBuilder {
    pub fn new(policy: BoxedFilterPolicy) -> Self {
        Self { builder: filterblock::FilterBlockBuilder::new(policy), range: 0, ended: 5 }
    }
    /// The size without the current range, as the tests of `sstable` expect it. `estimated_len` counts that range,
    /// too.
    pub fn size_estimate(&self) -> usize {
        self.ended
    }
    pub fn filter_name(&self) -> &str {
        self.builder.policy().name()
    }
    pub fn add_key(&mut self, key: &[u8]) {
        self.builder.add_key(key);
    }
    pub fn start_block(&mut self, offset: usize) {
        self.builder.start_block(offset as u64).expect("offsets ascend, and the filters fit");
        let range = offset >> self.builder.base_lg();
        if range > self.range {
            self.range = range;
            self.ended = self.builder.estimated_len().unwrap_or(0) as usize;
        }
    }
    pub fn finish(mut self) -> Vec<u8> {
        let mut block = Vec::new();
        self.builder.finish_into(&mut block).expect("the filters fit");
        block
    }
}

#[derive(Clone)]
pub struct FilterBlockReader(Arc<filterblock::FilterBlockReader<BoxedFilterPolicy, Vec<u8>>>);

impl FilterBlockReader {
    pub fn new_owned(policy: BoxedFilterPolicy, block: Vec<u8>) -> Self {
        Self(Arc::new(filterblock::FilterBlockReader::new(policy, block)))
    }
    pub fn num(&self) -> u32 {
        self.0.num_filters() as u32
    }
    pub fn key_may_match(&self, offset: usize, key: &[u8]) -> bool {
        self.0.key_may_match(offset as u64, key)
    }
}
