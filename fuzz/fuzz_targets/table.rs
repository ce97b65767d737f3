//! `filterblock_fuzz::table` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| filterblock_fuzz::table::run(data));
