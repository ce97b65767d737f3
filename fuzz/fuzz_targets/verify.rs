//! `filterblock_fuzz::verify` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| filterblock_fuzz::verify::run(data));
