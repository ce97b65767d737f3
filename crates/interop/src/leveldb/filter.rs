//! LevelDB's hash, Bloom filters and filter blocks.

use super::Script;
use super::ffi;

/// LevelDB's hash function.
pub fn hash(data: &[u8], seed: u32) -> u32 {
    ffi::hash(data, seed)
}

/// LevelDB's built-in Bloom filter policy.
#[derive(Debug, Clone, Copy)]
pub struct Bloom {
    bits_per_key: i32,
}

impl Bloom {
    /// Makes a policy with this many bits for each key. Panics if there are more than 10,000, for which LevelDB is
    /// never asked.
    pub fn new(bits_per_key: u32) -> Self {
        Self { bits_per_key: checked(bits_per_key) }
    }

    /// The filter for these keys.
    pub fn create_filter<K: AsRef<[u8]>>(&self, keys: &[K]) -> Vec<u8> {
        let mut script = Script::default();
        keys.iter().for_each(|key| script.bytes(key.as_ref()));
        ffi::bloom_create(self.bits_per_key, &script)
    }

    /// Returns true if the key may be among those that `filter` was made for.
    pub fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        ffi::bloom_match(self.bits_per_key, key, filter)
    }
}

fn checked(bits_per_key: u32) -> i32 {
    assert!(bits_per_key <= 10_000, "{bits_per_key} bits per key are beyond what LevelDB is asked for");
    bits_per_key as i32
}

/// Calls to LevelDB's `FilterBlockBuilder`, for any number of blocks.
#[derive(Debug, Default)]
pub struct BlockScript {
    script: Script,
    /// Number of filters that the current builder has made. `None` between blocks.
    filters: Option<u64>,
    blocks: usize,
}

impl BlockScript {
    /// Makes a script without blocks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a block. Every block must be finished before the next one, and before `build`.
    pub fn begin(&mut self, bits_per_key: u32) {
        self.begin_by(0, bits_per_key);
    }

    /// Begins a block of filters over the user keys of internal keys. Every key must have at least
    /// the 8 bytes that follow a user key.
    pub fn begin_internal(&mut self, bits_per_key: u32) {
        self.begin_by(4, bits_per_key);
    }

    fn begin_by(&mut self, op: u8, bits_per_key: u32) {
        assert!(self.filters.is_none(), "the block before has not been finished");
        self.filters = Some(0);
        self.script.op(op);
        self.script.i32(checked(bits_per_key));
    }

    /// `StartBlock`. Panics if no block has begun, and for a range whose filter is already made, which LevelDB leaves
    /// to `assert`.
    pub fn start_block(&mut self, offset: u64) {
        let filters = self.filters.as_mut().expect("begin comes first");
        assert!(offset >> 11 >= *filters, "block offset {offset} when {filters} filters are made");
        *filters = offset >> 11;
        self.script.op(1);
        self.script.u64(offset);
    }

    /// `AddKey`.
    pub fn add_key(&mut self, key: &[u8]) {
        assert!(self.filters.is_some(), "begin comes first");
        self.script.op(2);
        self.script.bytes(key);
    }

    /// `Finish`.
    pub fn finish(&mut self) {
        self.filters.take().expect("begin comes first");
        self.blocks += 1;
        self.script.op(3);
    }

    /// Lets LevelDB build the blocks, and passes each to `block`, in order.
    pub fn build_with(&self, mut block: impl FnMut(&[u8])) {
        assert!(self.filters.is_none(), "the last block has not been finished");
        ffi::build_filter_blocks(&self.script, &mut block);
    }

    /// Lets LevelDB build the blocks, and returns them in order.
    pub fn build(&self) -> Vec<Vec<u8>> {
        let mut blocks = Vec::with_capacity(self.blocks);
        self.build_with(|block| blocks.push(block.to_vec()));
        blocks
    }

    /// Removes all blocks and keeps the memory for the next ones.
    pub fn clear(&mut self) {
        *self = Self { script: std::mem::take(&mut self.script), ..Self::default() };
        self.script.clear();
    }
}

/// The answer of LevelDB's `FilterBlockReader` about one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// True if the key may be there.
    pub may_match: bool,
    /// True if the policy was asked; false if the layout of the block decided.
    pub policy_asked: bool,
}

/// Questions to LevelDB's `FilterBlockReader`, about any number of blocks.
#[derive(Debug, Default)]
pub struct QueryScript {
    script: Script,
    has_block: bool,
}

impl QueryScript {
    /// Makes a script without questions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the block that the following queries are about: fewer than five bytes, or any bytes whose last is below
    /// 64. Panics for other bytes, for which LevelDB's behaviour is undefined.
    pub fn block(&mut self, contents: &[u8]) {
        let defined = contents.len() < 5 || contents.last().is_some_and(|&base_lg| base_lg < 64);
        assert!(defined, "LevelDB's behaviour is undefined for this block");
        self.has_block = true;
        self.script.op(0);
        // The filter itself holds the number of probes; bits per key do not matter for reading.
        self.script.i32(10);
        self.script.bytes(contents);
    }

    /// `KeyMayMatch`.
    pub fn query(&mut self, block_offset: u64, key: &[u8]) {
        assert!(self.has_block, "block comes first");
        self.script.op(1);
        self.script.u64(block_offset);
        self.script.bytes(key);
    }

    /// Lets LevelDB answer, in the order of the queries.
    pub fn answers(&self) -> Vec<Answer> {
        let answers = ffi::query_filter_blocks(&self.script);
        let answer = |bits: u8| Answer { may_match: bits & 1 != 0, policy_asked: bits & 2 != 0 };
        answers.into_iter().map(answer).collect()
    }

    /// Removes all questions and keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.script.clear();
        self.has_block = false;
    }
}
