//! Runs the target that the variable `FUZZ_TARGET` names, under libFuzzer.
#![no_main]

use std::sync::LazyLock;

use filterblock_fuzz_targets::{TARGETS, Target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let target = TARGETS.into_iter().find(|(known, _)| *known == name);
    target.unwrap_or_else(|| panic!("FUZZ_TARGET is none of {}", TARGETS.map(|(name, _)| name).join(" ")))
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (TARGET.1)(data));
