//! Lines of key and value, read from a file.

use std::io::BufRead;

use crate::command::keys::{unhex, without_end};

#[derive(Debug)]
pub(super) struct KeyValue {
    pub(super) key: Vec<u8>,
    pub(super) line: u64,
    pub(super) value: Vec<u8>,
}

/// Reads lines of a key, a tab and a value; without a tab, the value is empty. Lines end with LF or CR LF; the last
/// line may also end in CR alone, or without a line break.
pub(super) struct Lines<R> {
    input: R,
    name: String,
    hex: bool,
    line: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// `name`: the input's name in messages. `hex`: keys and values are in hexadecimal, or escaped as in results.
    pub(super) fn new(input: R, name: String, hex: bool) -> Self {
        Self { input, name, hex, line: 0, buffer: Vec::new() }
    }

    fn about_line(&self, message: &str) -> String {
        format!("{}: line {}: {message}", self.name, self.line)
    }

    fn read(&mut self) -> Result<Option<KeyValue>, String> {
        self.buffer.clear();
        let read = self.input.read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|error| format!("{}: {error}", self.name))?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        let line = without_end(&self.buffer);
        if line.is_empty() {
            return Err(self.about_line("expected a key, a tab and a value, found an empty line"));
        }
        let mut parts = line.splitn(2, |&byte| byte == b'\t').map(|text| match self.hex {
            true => unhex(text).map_err(|error| self.about_line(&error)),
            false => Ok(text.to_vec()),
        });
        let mut part = || parts.next().unwrap_or_else(|| Ok(Vec::new()));
        Ok(Some(KeyValue { key: part()?, line: self.line, value: part()? }))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<KeyValue, String>;

    /// Reads the next line. An empty line is an error.
    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pair = (Vec<u8>, Vec<u8>);

    fn read(input: &[u8], hex: bool) -> Result<Vec<Pair>, String> {
        let mut entries = Vec::new();
        for line in Lines::new(input, "pairs".to_owned(), hex) {
            let KeyValue { key, value, line } = line?;
            entries.push((key, value));
            assert_eq!(line, entries.len() as u64);
        }
        Ok(entries)
    }

    #[test]
    fn lines_end_in_lf_or_cr_lf_whatever_is_on_them() {
        let contents = [
            ("61", "61", ""),
            ("61\t", "61", ""),
            ("61\t62", "61", "62"),
            ("\t62", "", "62"),
            ("\t", "", ""),
        ];
        let unhex = |text: &str| u8::from_str_radix(text, 16).into_iter().collect::<Vec<_>>();
        for (line, key, value) in contents {
            for end in ["\n", "\r\n", "\r", ""] {
                // As the last line, and before another one.
                for (next, behind) in [("", None), ("63\t64", Some(("63", "64")))] {
                    if behind.is_some() && !end.ends_with('\n') {
                        continue;
                    }
                    let input = format!("{line}{end}{next}");
                    let expected = [(key, value)].into_iter().chain(behind);
                    let text =
                        expected.clone().map(|(key, value)| (key.as_bytes().into(), value.as_bytes().into()));
                    assert_eq!(read(input.as_bytes(), false), Ok(text.collect()), "{input:?}");
                    let bytes = expected.map(|(key, value)| (unhex(key), unhex(value)));
                    assert_eq!(read(input.as_bytes(), true), Ok(bytes.collect()), "{input:?} in hexadecimal");
                }
            }
        }
    }

    #[test]
    fn only_one_cr_before_the_end_of_a_line_is_of_the_end() {
        let entry = |key: &str, value: &str| vec![(key.as_bytes().to_vec(), value.as_bytes().to_vec())];
        assert_eq!(read(b"a\r\r\n", false), Ok(entry("a\r", "")));
        assert_eq!(read(b"a\tb\r\r\n", false), Ok(entry("a", "b\r")));
        assert_eq!(read(b"a\r\tb\n", false), Ok(entry("a\r", "b")));
        assert_eq!(read(b"a\tb\rc\n", false), Ok(entry("a", "b\rc")));
        assert!(read(b"61\r\t62\n", true).is_err());
        assert!(read(b"61\r\r\n", true).is_err());
    }

    #[test]
    fn an_empty_line_is_an_error_however_it_ends() {
        for hex in [false, true] {
            for (input, number) in [("\n", 1), ("\r\n", 1), ("\r", 1), ("61\n\r\n62\n", 2), ("61\r\n\n", 2)] {
                let expected =
                    format!("pairs: line {number}: expected a key, a tab and a value, found an empty line");
                assert_eq!(read(input.as_bytes(), hex), Err(expected), "{input:?} {hex}");
            }
        }
        assert_eq!(read(b"", false), Ok(vec![]));
    }
}
