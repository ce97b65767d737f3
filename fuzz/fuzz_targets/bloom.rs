//! `filterblock_fuzz::bloom` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| filterblock_fuzz::bloom::run(data));
