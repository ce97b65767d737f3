//! `filterblock_fuzz::tool` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| filterblock_fuzz::tool::run(data));
