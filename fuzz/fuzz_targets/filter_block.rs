//! `filterblock_fuzz::filter_block` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| filterblock_fuzz::filter_block::run(data));
