//! The policies side by side, and threads that fill one filter.
//!
//! All that is compared runs in turns, so that what else the machine does meets everyone alike: the medians are printed, with ratios to
//! the first of a line. `cargo bench -p filterblock-bench --bench policies -- each` and `-- shared` run one part.

#[path = "../common/mod.rs"]
mod common;
mod each;
mod shared;

use std::env;
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    // Unless it is `cargo bench` that runs this, and not with `--test`, all that matters is whether it runs.
    let rounds = if given("--bench") && !given("--test") { 400 } else { 2 };
    let all = !given("each") && !given("shared");
    if all || given("each") {
        each::run(rounds);
    }
    if all || given("shared") {
        shared::run(rounds);
    }
}

/// In nanoseconds for each of `operations`.
fn median(mut times: Vec<Duration>, operations: usize) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(f64::NAN, |time| time.as_nanos() as f64 / operations as f64)
}
