//! `filterblock_fuzz_targets::verify` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| filterblock_fuzz_targets::verify::run(data));
