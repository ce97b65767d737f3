//! Escaping of bytes that come from a file, for display on a terminal or in a log.

use std::fmt;
use std::path::Path;

/// The greatest number of bytes of a name or key that a message quotes.
const MAX_QUOTED: usize = 48;

/// Shows `bytes` as text that no terminal acts on, fit to stand between double quotes.
///
/// Text in UTF-8 stays as it is. A quote or a backslash gets a backslash before it. Control
/// characters, line and paragraph separators, marks that change the direction of text, and bytes
/// that are not UTF-8 are shown as `\xNN`, byte by byte. The escaping is reversible.
///
/// ```
/// assert_eq!(filterblock::escape("schlüssel 世界".as_bytes()).to_string(), "schlüssel 世界");
/// assert_eq!(filterblock::escape(b"a\"\\\x1b[m\xff").to_string(), r#"a\"\\\x1b[m\xff"#);
/// ```
pub fn escape(bytes: &[u8]) -> Escaped<'_> {
    Escaped { bytes, quoted: true }
}

/// Shows a path as text that no terminal acts on, like [`escape`], but leaves quotes and
/// backslashes as they are, so the escaping is not always reversible.
///
/// ```
/// assert_eq!(filterblock::escape_path(r"C:\jürgen\世界.ldb").to_string(), r"C:\jürgen\世界.ldb");
/// assert_eq!(filterblock::escape_path("a\n.ldb").to_string(), r"a\x0a.ldb");
/// ```
pub fn escape_path<P: AsRef<Path> + ?Sized>(path: &P) -> Escaped<'_> {
    Escaped { bytes: path.as_ref().as_os_str().as_encoded_bytes(), quoted: false }
}

/// Displays bytes escaped, as [`escape`] and [`escape_path`] describe.
#[derive(Clone, Copy)]
pub struct Escaped<'a> {
    bytes: &'a [u8],
    /// Set if quotes and backslashes are escaped too.
    quoted: bool,
}

/// Returns `true` if a terminal or an editor would act on `c` instead of showing it.
fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // The separators of lines and paragraphs.
            '\u{2028}' | '\u{2029}'
            // The marks, embeddings, overrides and isolates of the Unicode Bidirectional Algorithm,
            // and their deprecated relatives.
            | '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |f: &mut fmt::Formatter<'_>, bytes: &[u8]| {
            bytes.iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))
        };
        for chunk in self.bytes.utf8_chunks() {
            // Characters that stay as they are, up to the next special character, are written together.
            let mut rest = chunk.valid();
            let is_special = |c: char| is_active(c) || self.quoted && matches!(c, '"' | '\\');
            while let Some((plain, special)) = rest.find(is_special).and_then(|at| rest.split_at_checked(at))
            {
                f.write_str(plain)?;
                let mut chars = special.chars();
                match chars.next() {
                    Some(c @ ('"' | '\\')) => write!(f, "\\{c}")?,
                    Some(c) => hex(f, c.encode_utf8(&mut [0; 4]).as_bytes())?,
                    None => {}
                }
                rest = chars.as_str();
            }
            f.write_str(rest)?;
            hex(f, chunk.invalid())?;
        }
        Ok(())
    }
}

/// Shows `bytes` in quotes, [escaped](escape). Of more than 48 bytes, at most the first 48 are
/// shown, followed by the total number of bytes: names and keys in a file can have any length, but a
/// message has to stay short.
///
/// ```
/// assert_eq!(filterblock::quote(b"key\n").to_string(), r#""key\x0a""#);
/// assert!(filterblock::quote(&[b'x'; 100]).to_string().ends_with(r#"xxx"... (100 bytes)"#));
/// ```
pub fn quote(bytes: &[u8]) -> Quoted<'_> {
    Quoted(bytes)
}

/// Displays bytes in quotes, as [`quote`] describes.
#[derive(Clone, Copy)]
pub struct Quoted<'a>(&'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Cuts at the end of a character, not inside it.
        let is_inside = |at: &usize| self.0.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let end = (MAX_QUOTED.saturating_sub(3)..=MAX_QUOTED).rev().find(|at| !is_inside(at));
        match self.0.split_at_checked(end.unwrap_or(MAX_QUOTED)) {
            Some((start, [_, ..])) => write!(f, "\"{}\"... ({} bytes)", escape(start), self.0.len()),
            _ => write!(f, "\"{}\"", escape(self.0)),
        }
    }
}

impl fmt::Debug for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Debug for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns escaped text back into bytes.
    fn unescape(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((&first, behind)) = rest.split_first() {
            rest = match (first, behind) {
                (b'\\', [b'x', digits @ ..]) => {
                    let digits = str::from_utf8(&digits[..2]).unwrap();
                    bytes.push(u8::from_str_radix(digits, 16).unwrap());
                    &behind[3..]
                }
                (b'\\', [escaped, behind @ ..]) => {
                    bytes.push(*escaped);
                    behind
                }
                _ => {
                    bytes.push(first);
                    behind
                }
            };
        }
        bytes
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn every_character_can_be_read_back_and_none_is_acted_on() {
        let text: String = (0..=0x11_ffff).filter_map(char::from_u32).collect();
        let escaped = escape(text.as_bytes()).to_string();
        assert_eq!(unescape(&escaped), text.as_bytes());
        assert!(!escaped.chars().any(char::is_control));
        // The characters of the property Bidi_Control, Unicode 16.
        for c in
            "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}"
                .chars()
        {
            assert!(!escaped.contains(c), "{:x}", c as u32);
        }
        // Joiners are needed for Persian text and emoji.
        assert!(escaped.contains("\u{200c}\u{200d}") && "é世🙂".chars().all(|c| escaped.contains(c)));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn every_pair_of_bytes_can_be_read_back() {
        for pair in 0..=u16::MAX {
            let bytes = [&b"a"[..], &pair.to_be_bytes(), b"\xc3"].concat();
            assert_eq!(unescape(&escape(&bytes).to_string()), bytes);
        }
    }

    #[test]
    fn only_what_is_between_quotes_has_them_escaped() {
        assert_eq!(escape(b"\"\\\n").to_string(), r#"\"\\\x0a"#);
        assert_eq!(escape_path("\"\\\n").to_string(), r#""\\x0a"#);
        assert_eq!(format!("{:?} {:?}", escape(b"a\""), quote(b"\n")), r#""a\"" "\x0a""#);
    }

    #[test]
    fn quotes_are_not_cut_within_a_character() {
        for (before, shown) in [("", 24), ("a", 23)] {
            let text = before.to_owned() + &"é".repeat(30);
            let expected = format!("\"{before}{}\"... ({} bytes)", "é".repeat(shown), text.len());
            assert_eq!(quote(text.as_bytes()).to_string(), expected);
        }
        let emoji = "🙂".repeat(13);
        for cut in 0..4 {
            let shown = quote(&emoji.as_bytes()[4 - cut..]).to_string();
            assert_eq!(shown.matches("\\x").count(), cut, "{shown}");
        }
        // Continuation bytes without a first byte.
        assert!(quote(&[0x80; 49]).to_string().ends_with(r#"\x80"... (49 bytes)"#));
    }

    #[test]
    fn quotes_are_cut_behind_48_bytes() {
        for len in [0, 1, 47, 48] {
            assert_eq!(quote(&vec![b'k'; len]).to_string(), format!("\"{}\"", "k".repeat(len)));
        }
        for len in [49, 50, 1 << 20] {
            let expected = format!("\"{}\"... ({len} bytes)", "\\xff".repeat(48));
            assert_eq!(quote(&vec![0xff; len]).to_string(), expected);
        }
    }
}
