//! Words of a page: text from files made safe to read, and names of things.

use filterblock::escape_path;
use maud::{Markup, html};

use crate::report::{TableLevel, TableState};
use crate::text::count;

/// Bytes of a name to show.
const MOST: usize = 120;

/// A name of a file, or from one, safe to read: active characters as `\xNN`, and cut with its length if it is long.
pub(super) fn text(name: &[u8]) -> String {
    // Cuts at the end of a character, not inside it.
    let is_inside = |at: &usize| name.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let end = (MOST.saturating_sub(3)..=MOST).rev().find(|at| !is_inside(at)).unwrap_or(MOST);
    match name.split_at_checked(end) {
        Some((start, [_, ..])) => format!("{}… ({} bytes)", escaped(start), count(name.len() as u64)),
        _ => escaped(name),
    }
}

/// It has been escaped already. Its end is cut off if it is long.
pub(super) fn message(text: &str) -> String {
    const LONGEST: usize = 1000;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn escaped(name: &[u8]) -> String {
    // The encoded bytes of a path that is Unicode are its UTF-8.
    match std::str::from_utf8(name) {
        Ok(text) => escape_path(text).to_string(),
        Err(_) => filterblock::escape(name).to_string(),
    }
}

/// The direction of its text does not affect the text around it.
pub(super) fn name(bytes: &[u8]) -> Markup {
    html! { code { (text(bytes)) } }
}

pub(super) fn place(place: TableLevel) -> String {
    match place {
        TableLevel::Level(level) => format!("level {level}"),
        TableLevel::Unknown => "tables".to_owned(),
        TableLevel::NotLive => "unused".to_owned(),
    }
}

/// The same with a capital letter.
pub(super) fn place_title(at: TableLevel) -> String {
    match at {
        TableLevel::Level(level) => format!("Level {level}"),
        TableLevel::Unknown => "Tables".to_owned(),
        TableLevel::NotLive => "Unused".to_owned(),
    }
}

pub(super) const fn state(state: TableState) -> &'static str {
    match state {
        TableState::Filtered => "ok",
        TableState::NoFilter => "no filters",
        TableState::UnknownPolicy => "unknown filters",
        TableState::Unfinished => "incomplete",
        TableState::Damaged => "damaged",
        TableState::Missing => "no file",
        TableState::Unreadable => "not readable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_to_read() {
        assert_eq!(text("schlüssel 世界".as_bytes()), "schlüssel 世界");
        assert_eq!(text("a\u{202e}b\u{7}\n".as_bytes()), r"a\xe2\x80\xaeb\x07\x0a");
        assert_eq!(text(b"a\xffb"), r"a\xffb");
        // The page escapes what HTML would act on.
        assert_eq!(name(b"<script>&\"").into_string(), "<code>&lt;script&gt;&amp;&quot;</code>");
    }

    #[test]
    fn long_names_are_cut_and_their_length_is_said() {
        assert_eq!(text(&[b'x'; MOST]).len(), MOST);
        let long = text(&[b'x'; 10_000]);
        assert_eq!(long, format!("{}… (10,000 bytes)", "x".repeat(MOST)));
        let wide = text("世".repeat(1000).as_bytes());
        assert_eq!(wide, format!("{}… (3,000 bytes)", "世".repeat(MOST / 3)));
        assert_eq!(text("ü".repeat(MOST).as_bytes()), format!("{}… (240 bytes)", "ü".repeat(MOST / 2)));
        let off = format!("x{}", "世".repeat(1000));
        assert_eq!(text(off.as_bytes()), format!("x{}… (3,001 bytes)", "世".repeat((MOST - 1) / 3)));
        assert_eq!(message(&"é".repeat(2000)), format!("{}…", "é".repeat(1000)));
        assert_eq!(message("short"), "short");
    }
}
