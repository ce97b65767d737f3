//! The functions of `shim/filter.cc`.

use super::{Bytes, Sink, SinkFn, collect, with_sink};
use crate::leveldb::Script;

unsafe extern "C" {
    fn fb_hash(data: Bytes, seed: u32) -> u32;
    fn fb_bloom_create(bits_per_key: i32, keys: Bytes, filter: Sink);
    fn fb_bloom_match(bits_per_key: i32, key: Bytes, filter: Bytes) -> u8;
    fn fb_filter_blocks_build(script: Bytes, blocks: Sink);
    fn fb_filter_blocks_query(script: Bytes, answers: Sink);
}

pub(in crate::leveldb) fn hash(data: &[u8], seed: u32) -> u32 {
    // SAFETY: only reads the bytes.
    unsafe { fb_hash(Bytes::new(data), seed) }
}

pub(in crate::leveldb) fn bloom_create(bits_per_key: i32, keys: &Script) -> Vec<u8> {
    // SAFETY: the caller's script holds byte strings; the sink is used only during the call.
    collect(|filter| unsafe { fb_bloom_create(bits_per_key, Bytes::new(keys.as_slice()), filter) })
}

pub(in crate::leveldb) fn bloom_match(bits_per_key: i32, key: &[u8], filter: &[u8]) -> bool {
    // SAFETY: only reads the bytes, and stays within them whatever the filter holds.
    unsafe { fb_bloom_match(bits_per_key, Bytes::new(key), Bytes::new(filter)) != 0 }
}

pub(in crate::leveldb) fn build_filter_blocks(script: &Script, block: &mut SinkFn<'_>) {
    // SAFETY: `BlockScript` produces only complete sequences of operations; the sink is used only
    // during the call.
    with_sink(block, |blocks| unsafe { fb_filter_blocks_build(Bytes::new(script.as_slice()), blocks) });
}

pub(in crate::leveldb) fn query_filter_blocks(script: &Script) -> Vec<u8> {
    // SAFETY: `QueryScript` produces only complete sequences of operations; the sink is used only
    // during the call.
    collect(|answers| unsafe { fb_filter_blocks_query(Bytes::new(script.as_slice()), answers) })
}
