//! The policies side by side, and threads that fill one filter.
//!
//! Everything that is compared runs in turns, so that other load on the machine affects all alike.
//! The medians are printed, with ratios to the first of the line. `cargo bench -p filterblock-bench --bench policies --
//! each` and `-- shared` run one part.

#[path = "../common/mod.rs"]
mod common;
mod each;
mod shared;

use std::env;
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    // Measures only under `cargo bench` without `--test`. Otherwise it only shows that everything
    // runs.
    let rounds = if given("--bench") && !given("--test") { 400 } else { 2 };
    let all = !given("each") && !given("shared");
    if all || given("each") {
        each::run(rounds);
    }
    if all || given("shared") {
        shared::run(rounds);
    }
}

/// Nanoseconds for each of `operations`.
fn median(mut times: Vec<Duration>, operations: usize) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(f64::NAN, |time| time.as_nanos() as f64 / operations as f64)
}
