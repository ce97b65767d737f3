//! Says what `cargo test` has left out on this machine. It has no tests: libtest shows nothing of those that pass.

use filterblock::kernel_level::{ALL, best};

fn main() {
    let missing: Vec<_> = ALL.into_iter().filter(|level| *level > best()).collect();
    if !missing.is_empty() {
        println!("left out: kernels at the levels {missing:?}, which this processor or build does not have");
    }
    if std::env::var_os("FILTERBLOCK_ROUNDS").is_none_or(|rounds| rounds != "all") {
        println!("left out: nine of ten rounds of random cases; FILTERBLOCK_ROUNDS=all runs all of them");
    }
    println!(
        "left out: reads, bytes and memory that runs take, counted: cargo test -p filterblock-cli --test cost"
    );
    println!("what needs more than Rust is in .ci/run");
}
