//! `filterblock_fuzz_targets::filter_block` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| filterblock_fuzz_targets::filter_block::run(data));
