//! Measures the requests, the time and the memory that many tables take.
//!
//! Requests and bytes are checked in every run. Time and memory are checked if `FILTERBLOCK_TABLES` gives the number
//! of tables, of 2 MiB each. Nothing else may run meanwhile:
//!
//!     FILTERBLOCK_TABLES=5000 cargo test --release -p filterblock-cli --features remote --test remote \
//!         bars -- --nocapture --test-threads 1
//!
//! `FILTERBLOCK_LATENCY` sets the time of a request in milliseconds; the default is 20. With a longer time, the
//! processor does not limit the rate of requests.

use std::time::{Duration, Instant};

use object_store::path::Path;

use super::probe::Probe;
use super::{known, run, table};

/// The time that each request takes.
fn latency() -> Duration {
    let given = std::env::var("FILTERBLOCK_LATENCY").map(|number| number.parse().unwrap());
    Duration::from_millis(given.unwrap_or(20))
}

/// The number of tables, and whether time and memory are compared with their limits.
fn tables() -> (u64, bool) {
    match std::env::var("FILTERBLOCK_TABLES") {
        Ok(number) => (number.parse().unwrap(), true),
        Err(_) => (200, false),
    }
}

/// The processor time that the process has used so far.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<i64> =
        stat.rsplit(')').next().unwrap().split_whitespace().filter_map(|field| field.parse().ok()).collect();
    // User and system time, in hundredths of a second. The state, a letter, is not among the fields.
    Duration::from_millis(fields.get(10..12).map_or(0, |times| times.iter().sum::<i64>().unsigned_abs() * 10))
}

/// The peak of the process's memory so far, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or_default() / 1024
}

struct Measured {
    requests: f64,
    bytes: f64,
    a_second: f64,
    processor: Duration,
    busy: f64,
    /// The time that a request really took, in seconds. Timers are late.
    latency: f64,
}

fn measure(name: &str, depth: &str, in_flight: u32) -> Measured {
    let latency = latency();
    let (number, _) = tables();
    let mut store = Probe::default();
    store.latency = latency;
    store.one_for_all = Some(Path::from("one"));
    let store = known(name, store);
    store.place("one", table(20_000));
    (0..number).for_each(|at| store.place(&format!("t/{at:06}.ldb"), Vec::new()));
    let (start, before) = (Instant::now(), processor_time());
    let (in_flight_text, url) = (in_flight.to_string(), format!("memory://{name}/t/"));
    let found = run(["inspect", "--json", "--depth", depth, "--in-flight", &in_flight_text, &url]);
    let (elapsed, processor) = (start.elapsed(), processor_time() - before);
    assert_eq!(found.status, 0, "{}", found.err);
    let lines = found.all("table");
    assert_eq!(lines.len() as u64, number);
    let said: u64 = lines.iter().map(|line| line["requests"].as_u64().unwrap()).sum();
    assert_eq!(said, store.gets());
    let of_each = |sum: u64| sum as f64 / number as f64;
    let all = store.gets() + store.heads() + store.lists();
    let measured = Measured {
        requests: of_each(all),
        bytes: of_each(store.bytes()),
        a_second: number as f64 / elapsed.as_secs_f64(),
        processor: processor / number as u32,
        busy: processor.as_secs_f64() / elapsed.as_secs_f64(),
        latency: store.waited.load(std::sync::atomic::Ordering::SeqCst) as f64 / 1e6 / all as f64,
    };
    println!(
        "{depth}, {in_flight} in flight, {latency:?} a request: {:.3} requests and {:.0} bytes a table, {:.0} tables a \
         second ({:.0} % of in flight by latency, {:.0} % by that which requests had), {} listings, {:?} of a processor \
         each, {:.2} busy, peak {} MiB",
        measured.requests,
        measured.bytes,
        measured.a_second,
        measured.a_second * measured.requests * latency.as_secs_f64() / f64::from(in_flight) * 100.0,
        measured.a_second * measured.requests * measured.latency / f64::from(in_flight) * 100.0,
        store.lists(),
        measured.processor,
        measured.busy,
        peak()
    );
    measured
}

#[test]
fn a_tail_takes_little() {
    let measured = measure("bars-tail", "tail", 256);
    assert!(measured.requests <= 1.05 && measured.bytes <= 65_536.0);
    if tables().1 {
        assert!(measured.processor <= Duration::from_micros(500));
        assert!(peak() <= 96, "{} MiB", peak());
    }
}

#[test]
fn a_sample_takes_little() {
    let measured = measure("bars-sample", "sample", 64);
    assert!(measured.requests <= 4.05 && measured.bytes <= 200_000.0);
}

#[test]
fn requests_overlap() {
    for in_flight in [8, 64] {
        let measured = measure(&format!("bars-{in_flight}"), "tail", in_flight);
        let possible = f64::from(in_flight) / measured.latency;
        if tables().1 {
            assert!(measured.a_second >= 0.9 * possible || measured.busy >= 0.9, "of {possible} a second");
        }
    }
}
