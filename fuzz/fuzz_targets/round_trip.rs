//! `filterblock_fuzz_targets::round_trip` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| filterblock_fuzz_targets::round_trip::run(data));
