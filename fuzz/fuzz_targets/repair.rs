//! `filterblock_fuzz_targets::repair` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| filterblock_fuzz_targets::repair::run(data));
