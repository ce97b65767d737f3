//! Puts faults into a source text, each behind a switch.

use std::ops::Range;

use crate::catalogue::Fault;

/// A fault's number, the range of its part in the source, and the text that replaces it.
pub(crate) type Switch<'a> = (usize, Range<usize>, &'a str);

/// The range of a fault's part in `source`.
pub(crate) fn place(source: &str, fault: &Fault) -> Result<Range<usize>, &'static str> {
    let mut found = source.match_indices(&fault.context);
    match (found.next(), found.next()) {
        (Some((at, _)), None) => Ok(at + fault.part.start..at + fault.part.end),
        (Some(_), Some(_)) => Err("there more than once"),
        (None, _) => Err("not there"),
    }
}

/// A range of the source, and the numbers and replacements of the faults in exactly this range.
struct Part<'a> {
    range: Range<usize>,
    faults: Vec<(usize, &'a str)>,
    inner: Vec<Part<'a>>,
}

/// Returns the source with all faults in it. One part may lie within another. If two parts overlap otherwise, returns
/// the numbers of their faults.
pub(crate) fn apply(source: &str, faults: &[Switch<'_>]) -> Result<String, (usize, usize)> {
    let mut sorted: Vec<_> = faults.iter().collect();
    // A range comes before those within it.
    sorted.sort_by_key(|(number, range, _)| (range.start, usize::MAX - range.end, *number));
    let mut top = Vec::new();
    for (number, range, replacement) in sorted {
        insert(&mut top, *number, range.clone(), replacement)?;
    }
    let mut switched = String::new();
    render(source, 0..source.len(), &top, &mut switched);
    Ok(switched)
}

fn insert<'a>(
    parts: &mut Vec<Part<'a>>,
    number: usize,
    range: Range<usize>,
    replacement: &'a str,
) -> Result<(), (usize, usize)> {
    if let Some(last) = parts.last_mut().filter(|last| range.start < last.range.end) {
        if last.range == range {
            last.faults.push((number, replacement));
            return Ok(());
        }
        if range.end > last.range.end {
            return Err((last.faults[0].0, number));
        }
        return insert(&mut last.inner, number, range, replacement);
    }
    parts.push(Part { range, faults: vec![(number, replacement)], inner: Vec::new() });
    Ok(())
}

fn render(source: &str, range: Range<usize>, parts: &[Part<'_>], to: &mut String) {
    let mut at = range.start;
    for part in parts {
        to.push_str(&source[at..part.range.start]);
        let original = source[part.range.clone()].trim_end();
        // A part that ends like this is a statement. Any other is an expression, which may need parentheses where it
        // stands.
        let (open, close) = if original.ends_with([';', '}']) { ("", "") } else { ("(", ")") };
        to.push_str(open);
        for (number, replacement) in &part.faults {
            to.push_str(&format!("if crate::fault::on({number}) {{ {replacement} }} else "));
        }
        to.push_str("{ ");
        render(source, part.range.clone(), &part.inner, to);
        to.push_str(" }");
        to.push_str(close);
        at = part.range.end;
    }
    to.push_str(&source[at..range.end]);
}

/// The module that is added to the library. Its function `on` returns true if the fault with this number is switched
/// on.
pub(crate) const MODULE: &str = r#"//! Which fault is on.
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static ON: AtomicUsize = AtomicUsize::new(usize::MAX);

#[inline(always)]
pub fn on(number: usize) -> bool {
    let on = ON.load(Relaxed);
    (if on == usize::MAX { read() } else { on }) == number
}

#[cold]
#[inline(never)]
fn read() -> usize {
    let on = std::env::var("FILTERBLOCK_FAULT").ok().and_then(|number| number.parse().ok()).unwrap_or(0);
    ON.store(on, Relaxed);
    on
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    fn switched(source: &str, faults: &[(&str, &str)]) -> Result<String, (usize, usize)> {
        let place = |part: &str| source.find(part).map(|at| at..at + part.len()).unwrap();
        let faults: Vec<_> =
            (1..).zip(faults).map(|(number, (from, to))| (number, place(from), *to)).collect();
        apply(source, &faults)
    }

    #[test]
    fn expressions_and_statements_are_switched() {
        assert_eq!(
            switched("x = a + b; c();", &[("a + b", "a - b"), ("c();", "")]).unwrap(),
            "x = (if crate::fault::on(1) { a - b } else { a + b }); if crate::fault::on(2) {  } else { c(); }"
        );
    }

    #[test]
    fn two_faults_in_one_place_and_one_within_another() {
        assert_eq!(
            switched("f(a);", &[("a", "b"), ("f(a)", "g(a)"), ("a", "c")]).unwrap(),
            "(if crate::fault::on(2) { g(a) } else { \
             f((if crate::fault::on(1) { b } else if crate::fault::on(3) { c } else { a })) });"
        );
    }

    #[test]
    fn faults_that_overlap_are_refused() {
        assert_eq!(switched("a + b + c", &[("b + c", "d"), ("a + b", "e")]), Err((2, 1)));
    }
}
