//! The lines of JSON that the program writes.

use std::io::{self, Write};

use filterblock_engine::report::{EndData, EntryData, FaultData, ScanLine, Tuned, Verified, write_line};
use filterblock_engine::{Engine, Inputs, ScanRequest, TuneRequest};
use serde::Serialize;

/// Writes a line. `to` always has the same type, because each type that is serialized is compiled anew for every type
/// that is written to.
pub(crate) fn put(to: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    write_line(to, value)
}

/// Returns `value` as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, String> {
    let mut text = Vec::new();
    put(&mut text, value).map_err(|error| error.to_string())?;
    String::from_utf8(text).map_err(|error| error.to_string())
}

/// Writes what the program writes for `filterblock COMMAND --json`. `all`: every version of each key is shown by
/// `scan`.
///
/// # Errors
///
/// Those of `to`, and a message if there is no such command.
pub fn write(
    command: &str,
    engine: &Engine,
    inputs: Inputs,
    all: bool,
    to: &mut (dyn Write + Send),
) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    match command {
        "verify" => {
            let mut show = |verified: Verified| put(to, &verified.data());
            engine.verify(inputs, &mut show).map_err(text)?;
        }
        "tune" => {
            let mut show = |tuned: Tuned| tuned.write_json(&mut *to);
            engine.tune(inputs, &TuneRequest::default(), &mut show).map_err(text)?;
        }
        "scan" => {
            let request = ScanRequest { all, ..ScanRequest::default() };
            let show = |line: ScanLine<'_>| match line {
                ScanLine::Entry(input, row) => put(to, &EntryData::new(input, &row, true)),
                ScanLine::Fault(subject, fault) | ScanLine::State(subject, _, fault) => {
                    put(to, &FaultData::new(subject, fault))
                }
                ScanLine::End(subject, entries) => put(to, &EndData::new(subject, entries)),
            };
            engine.scan(inputs, request).for_each(show).map_err(text)?;
        }
        other => return Err(format!("there is no command {other}")),
    }
    Ok(())
}
