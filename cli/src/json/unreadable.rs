//! A path that could not be looked at as a JSON object.

use std::io;

use serde::Serialize;

use crate::io::console::Console;
use filterblock_engine::report::frame::Frame;
use filterblock_engine::report::line::write_line;
use filterblock_engine::report::subject::Subject;
use filterblock_engine::walk::input::PathError;

#[derive(Serialize)]
struct JsonUnreadable<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    status: &'static str,
    error: String,
}

pub(super) fn write(subject: Subject<'_>, error: &PathError, console: &mut Console) -> io::Result<()> {
    console.remarks(subject.remarks);
    console.message_about(subject.path, error);
    let frame = Frame::new("unreadable", &subject, Some(error.kind()));
    write_line(&mut *console, &JsonUnreadable { frame, status: "error", error: error.to_string() })
}
