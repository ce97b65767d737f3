//! Inspects a folder, verifies it, and prints what is wrong: `cargo run -p filterblock-engine --example problems -- DB`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::{env, io};

use filterblock_engine::Progress;
use filterblock_engine::report::Verified;
use filterblock_engine::{Engine, Inputs, InspectLine};

/// Shows how many bytes have been verified, and ends the work with the results that are there at Ctrl-C.
#[derive(Default)]
struct Shown(AtomicU64, Arc<AtomicBool>);

impl Progress for Shown {
    fn add(&self, bytes: u64) {
        eprint!("\r{} bytes  ", self.0.fetch_add(bytes, Relaxed) + bytes);
    }

    fn is_interrupted(&self) -> bool {
        self.1.load(Relaxed)
    }
}

fn main() -> io::Result<()> {
    let progress = Arc::new(Shown::default());
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&progress.1))?;
    let engine = Engine::new().progress(progress);
    let inputs = Inputs { paths: env::args_os().skip(1).map(Into::into).collect(), ..Inputs::default() };
    engine.inspect(inputs.clone(), &mut |line: InspectLine| {
        if let InspectLine::Totals(totals) = line {
            println!("{} tables, {} without filters", totals.tables, totals.without_filters);
        }
        Ok(())
    })?;
    engine.verify(inputs, &mut |verified: Verified| {
        verified.checked.problems.to_list().iter().for_each(|problem| println!("\r{problem}"));
        Ok(())
    })?;
    Ok(())
}
