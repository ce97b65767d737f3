//! Runs the targets without libFuzzer: the committed corpus, then seeded mutations of it.
//!
//! ```text
//! stable [--seconds N | --inputs N] [--seed N] [--corpus FOLDER] [target]...
//! ```
//!
//! FOLDER has more initial inputs, in a subfolder for each target. A panic ends the run, after the
//! input has been printed in hexadecimal.

use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use filterblock_fuzz::mutate::{Random, next_input};
use filterblock_fuzz_targets::{TARGETS, Target, corpus};

const USAGE: &str = "usage: stable [--seconds N | --inputs N] [--seed N] [--corpus FOLDER] [target]...";

/// Borders between the classes of the inputs' lengths, in bytes.
const LENGTHS: [usize; 3] = [512, 4 << 10, 16 << 10];

/// The command line.
struct Options {
    seconds: Option<u64>,
    inputs: u64,
    seed: u64,
    corpus: Option<PathBuf>,
    targets: Vec<Target>,
}

fn options() -> Option<Options> {
    let mut options = Options { seconds: None, inputs: 20_000, seed: 1, corpus: None, targets: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--corpus" {
            options.corpus = Some(arguments.next()?.into());
            continue;
        }
        let mut number = || arguments.next()?.parse::<u64>().ok();
        match argument.as_str() {
            "--seconds" => options.seconds = Some(number()?),
            "--inputs" => options.inputs = number()?,
            "--seed" => options.seed = number()?,
            name => options.targets.push(*TARGETS.iter().find(|(known, _)| *known == name)?),
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.to_vec();
    }
    Some(options)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}\ntargets: {}", TARGETS.map(|(name, _)| name).join(" "));
        return ExitCode::from(2);
    };
    for target in &options.targets {
        if !run(target, &options) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Runs a target on the known inputs, then on mutations of them. Returns false if the target
/// panicked.
fn run(&(name, target): &Target, options: &Options) -> bool {
    let mut known = corpus::of(name);
    if let Some(folder) = &options.corpus {
        known.extend(corpus::files(&folder.join(name)));
    }
    let mut random = Random(options.seed);
    let start = Instant::now();
    let end = options.seconds.map(|seconds| start + Duration::from_secs(seconds));
    let (mut count, mut input) = (0_u64, Vec::new());
    let mut of_len = [0_u64; LENGTHS.len() + 1];
    loop {
        match known.get(count as usize) {
            Some(known) => input.clone_from(known),
            None if end.map_or(count >= options.inputs, |end| count % 64 == 0 && Instant::now() >= end) => {
                break;
            }
            None => next_input(&known, &mut random, &mut input),
        }
        count += 1;
        of_len[LENGTHS.iter().filter(|&&len| input.len() >= len).count()] += 1;
        if panic::catch_unwind(AssertUnwindSafe(|| target(&input))).is_err() {
            let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
            eprintln!("{name}: input {count} with seed {}: {hex}", options.seed);
            return false;
        }
    }
    println!(
        "{name}: {count} inputs in {:.1} s, {} of them from the corpus; of less than 512 bytes, 4 KiB, 16 KiB, and longer: {of_len:?}",
        start.elapsed().as_secs_f64(),
        known.len()
    );
    true
}
