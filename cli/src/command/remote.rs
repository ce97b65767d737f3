//! The arguments of commands that read from object storage.

use std::time::Duration;

use clap::Args;
use filterblock_engine::{remote::FleetOptions, report::Depth};

#[derive(Args)]
pub(super) struct RemoteArguments {
    /// Number of tables in object storage to read at once; 64 if not given, and 16 if they are read
    /// to their ends
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1024))]
    in_flight: Option<u16>,
    /// Show tables in object storage in the order of the listing, not as their results come
    #[arg(long)]
    ordered: bool,
    /// The time in seconds that a request to object storage may take before it is made once more
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "30")]
    timeout: Duration,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| (0.001..=3600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "expected 0.001 to 3600 seconds".to_owned())
}

impl RemoteArguments {
    /// How tables in object storage are read.
    pub(super) fn fleet(&self, depth: Depth) -> FleetOptions {
        let in_flight = self.in_flight.map(usize::from);
        FleetOptions { in_flight, ordered: self.ordered, timeout: self.timeout, depth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        for wrong in ["", "0", "-1", "NaN", "inf", "1s", "3601"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
