//! The two files that a person edits: the faults, and the tests that are likely to notice them.

use std::path::Path;

/// One fault of `faults.txt`.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// The fault in words.
    pub(crate) name: String,
    /// The file, from the project's root.
    pub(crate) path: String,
    /// The line of `faults.txt` that names the file.
    pub(crate) path_line: usize,
    /// The text that is searched for in the file. It holds the part that is switched.
    pub(crate) context: String,
    /// The range in `context` of the part that is switched, in bytes.
    pub(crate) part: std::ops::Range<usize>,
    /// The text that takes the place of that part.
    pub(crate) replacement: String,
    /// The tests to run before those of `tests.txt`.
    pub(crate) tests: Vec<Selection>,
}

/// Reads `faults.txt`.
pub(crate) fn faults(text: &str) -> Result<Vec<Fault>, String> {
    let mut faults = Vec::new();
    let mut entry: Option<Entry> = None;
    for (index, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("faults.txt, line {}: {what}: {line}", index + 1);
        if let Some(name) = line.strip_prefix("== ") {
            faults.extend(entry.take().map(Entry::finish).transpose()?);
            entry = Some(Entry { name: name.to_owned(), line: index, ..Entry::default() });
        } else if line.is_empty() || line.starts_with('#') {
        } else if let Some(entry) = &mut entry {
            if let Some(part) = text_of(line, '-') {
                entry.context.push(part);
            } else if let Some(part) = text_of(line, '+') {
                entry.replacement.push(part);
            } else if let Some(tests) = text_of(line, '?') {
                entry.tests = parse_tests(tests).map_err(wrong)?.tests;
            } else if entry.path.is_empty() {
                (entry.path, entry.line) = (line.to_owned(), index);
            } else {
                return Err(wrong("expected -, + or ?"));
            }
        } else {
            return Err(wrong("expected =="));
        }
    }
    faults.extend(entry.map(Entry::finish).transpose()?);
    Ok(faults)
}

/// The text after a mark at the start of a line.
fn text_of(line: &str, mark: char) -> Option<&str> {
    let rest = line.strip_prefix(mark)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix(' ') }
}

/// The lines of one fault.
#[derive(Default)]
struct Entry<'a> {
    name: String,
    path: String,
    line: usize,
    context: Vec<&'a str>,
    replacement: Vec<&'a str>,
    tests: Vec<Selection>,
}

impl Entry<'_> {
    fn finish(self) -> Result<Fault, String> {
        let Self { name, path, line, tests, .. } = self;
        if path.is_empty() || self.context.is_empty() || self.replacement.is_empty() {
            return Err(format!("faults.txt: expected a file, - and + under \"{name}\""));
        }
        let (context, replacement) = (self.context.join("\n"), self.replacement.join("\n"));
        let (context, part) = match (context.split_once('«'), context.split_once('»')) {
            (Some((before, rest)), Some(_)) => match rest.split_once('»') {
                Some((part, after)) => {
                    let at = before.len()..before.len() + part.len();
                    (format!("{before}{part}{after}"), at)
                }
                None => return Err(format!("faults.txt: expected « before » under \"{name}\"")),
            },
            (None, None) => {
                let all = 0..context.len();
                (context, all)
            }
            _ => return Err(format!("faults.txt: expected « with » under \"{name}\"")),
        };
        Ok(Fault { name, path, path_line: line, context, part, replacement, tests })
    }
}

/// A line of `tests.txt`: a path and its tests.
#[derive(Debug)]
pub(crate) struct Row {
    /// A file or a folder, from the project's root.
    pub(crate) path: String,
    /// The CPU that the code with the faults needs.
    pub(crate) cpu: Cpu,
    /// The tests that are likely to notice the faults, the likeliest first.
    pub(crate) tests: Vec<Selection>,
}

/// The CPU that some code needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cpu {
    Any,
    Avx2,
    Avx512,
}

/// One of the two builds of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// The library without features: no tables, and only code that runs on any processor.
    Portable,
    /// Library and tool with all features of the library.
    Full,
}

/// The tests of one program whose names contain `filter`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) build: Build,
    pub(crate) program: String,
    pub(crate) filter: String,
}

impl std::fmt::Display for Selection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.build == Build::Portable {
            f.write_str("portable ")?;
        }
        f.write_str(&self.program)?;
        if self.filter.is_empty() { Ok(()) } else { write!(f, "::{}", self.filter) }
    }
}

/// Reads `tests.txt`.
pub(crate) fn rows(text: &str) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (path, tests) = line.split_once(' ').unwrap_or((line, ""));
        let tests =
            parse_tests(tests).map_err(|what| format!("tests.txt, line {}: {what}: {line}", index + 1))?;
        rows.push(Row { path: path.to_owned(), ..tests });
    }
    Ok(rows)
}

/// Reads the names of tests, each after the build that it is for. The row gets no path.
fn parse_tests(text: &str) -> Result<Row, &'static str> {
    let (mut build, mut cpu, mut tests) = (None, Cpu::Any, Vec::new());
    for word in text.split_whitespace() {
        match (word, build) {
            ("portable", _) => build = Some(Build::Portable),
            ("full", _) => build = Some(Build::Full),
            ("avx2", _) => (build, cpu) = (Some(Build::Full), Cpu::Avx2),
            ("avx512", _) => (build, cpu) = (Some(Build::Full), Cpu::Avx512),
            (_, Some(build)) => tests.push(selection(build, word)),
            (_, None) => return Err("expected portable, full, avx2 or avx512 before a test"),
        }
    }
    if tests.is_empty() { Err("expected tests") } else { Ok(Row { path: String::new(), cpu, tests }) }
}

fn selection(build: Build, word: &str) -> Selection {
    let (program, filter) = word.split_once("::").unwrap_or((word, ""));
    Selection { build, program: program.to_owned(), filter: filter.to_owned() }
}

/// The row that holds for a file: its own, or that of the nearest folder above it.
pub(crate) fn row<'a>(rows: &'a [Row], path: &str) -> Option<&'a Row> {
    rows.iter().filter(|row| Path::new(path).starts_with(&row.path)).max_by_key(|row| row.path.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_a_file_a_text_and_what_a_part_of_it_becomes() {
        let text = "# why\n\n== wrong\nsrc/a.rs\n- if «a < b» {\n-     c\n+ a <= b\n? full c::d\n\n== gone\nsrc/b.rs\n- d();\n+\n";
        let faults = faults(text).unwrap();
        assert_eq!((faults.len(), faults[0].path_line, &*faults[1].path), (2, 3, "src/b.rs"));
        assert_eq!(faults[0].context, "if a < b {\n    c");
        assert_eq!(&faults[0].context[faults[0].part.clone()], "a < b");
        assert_eq!((faults[0].tests[0].to_string(), faults[1].tests.len()), ("c::d".to_owned(), 0));
        assert_eq!((&*faults[1].replacement, faults[1].part.clone()), ("", 0..4));
    }

    #[test]
    fn what_is_incomplete_is_refused() {
        for text in [
            "a",
            "== x\na\n- b",
            "== x\na\n+ b",
            "== x\n- a\n+ b",
            "== x\na\nb\n",
            "== x\na\n- «b\n+ c",
            "== x\na\n- b\n+ c\n? d",
        ] {
            assert!(faults(text).is_err(), "{text}");
        }
        for text in ["src/ full", "src/ some tests"] {
            assert!(rows(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_nearest_folder_decides() {
        let rows = rows("src portable a\nsrc/table full b::c\n").unwrap();
        let found = |path| row(&rows, path).map(|row| row.tests[0].to_string());
        assert_eq!(found("src/table/x.rs").as_deref(), Some("b::c"));
        assert_eq!(found("src/tables.rs").as_deref(), Some("portable a"));
        assert_eq!(found("cli/src/x.rs"), None);
    }
}
