//! Bytes from a file, made fit for a terminal or a log.

use std::fmt::{self, Write as _};

/// Shows `bytes` so that no terminal acts on them: printable ASCII as is, a
/// backslash doubled, everything else as `\xNN`. Reversible.
///
/// ```
/// assert_eq!(filterblock::escape(b"a\\\x1b[m\xff").to_string(), r"a\\\x1b[m\xff");
/// ```
pub fn escape(bytes: &[u8]) -> Escaped<'_> {
    Escaped(bytes)
}

/// What [`escape`] returns.
#[derive(Clone, Copy)]
pub struct Escaped<'a>(&'a [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &byte in self.0 {
            match byte {
                b'\\' => f.write_str("\\\\")?,
                b' '..=b'~' => f.write_char(char::from(byte))?,
                _ => write!(f, "\\x{byte:02x}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}
