//! A file as a source that reads ahead, so that reading it in order takes few reads.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use bytes::Bytes;
use filterblock::table::ReadAt;

/// The number of bytes to read in one piece.
const WINDOW: usize = 256 << 10;

/// A file that is read a window at a time once [`go_ahead`](Self::go_ahead) has been called.
pub(crate) struct ReadAhead {
    file: File,
    len: u64,
    ahead: Cell<bool>,
    /// The window: its offset in the file, and its bytes.
    window: RefCell<(u64, Bytes)>,
}

impl ReadAhead {
    /// A source that, at first, reads just what it is asked for.
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file, len, ahead: Cell::new(false), window: RefCell::default() })
    }

    fn read_exact(&self, offset: u64, to: &mut [u8]) -> io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(to)
    }

    /// Reads ahead from now on. To be called before the file is read from its start to its end.
    pub(crate) fn go_ahead(&self) {
        self.ahead.set(true);
    }
}

impl ReadAt for ReadAhead {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let ahead = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(WINDOW).min(WINDOW);
        if !self.ahead.get() || len > ahead {
            return self.file.read_at(offset, len);
        }
        let mut window = self.window.borrow_mut();
        if let Some(bytes) = part(&window, offset, len) {
            return Ok(bytes);
        }
        // The window only moves forward, so it passes over the file at most once, whatever the order of reads.
        if offset < window.0 {
            return self.file.read_at(offset, len);
        }
        // The memory is reused if no block refers to it any longer.
        let (_, before) = std::mem::replace(&mut *window, (offset, Bytes::new()));
        let mut buffer = before.try_into_mut().unwrap_or_default();
        buffer.resize(ahead, 0);
        match self.read_exact(offset, &mut buffer) {
            Ok(()) => *window = (offset, buffer.freeze()),
            // A part of the window that cannot be read must not hide the part asked for.
            Err(_) => return self.file.read_at(offset, len),
        }
        part(&window, offset, len).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// The bytes at `offset`, if they are all in a window, which is given by its offset and its bytes.
pub(crate) fn part((start, bytes): &(u64, Bytes), offset: u64, len: usize) -> Option<Bytes> {
    let start = usize::try_from(offset.checked_sub(*start)?).ok()?;
    let end = start.checked_add(len).filter(|&end| end <= bytes.len())?;
    Some(bytes.slice(start..end))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_window_never_moves_back() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 4 * WINDOW]).unwrap();
        let source = ReadAhead::new(file).unwrap();
        source.go_ahead();
        let start = || source.window.borrow().0;
        for (offset, expected) in [(10, 10), (2 * WINDOW, 2 * WINDOW), (WINDOW, 2 * WINDOW), (0, 2 * WINDOW)]
        {
            assert_eq!(source.read_at(offset as u64, 9).unwrap(), [7; 9][..]);
            assert_eq!(start(), expected as u64);
        }
        // A read that straddles the window's end begins a new window.
        source.read_at(3 * WINDOW as u64 - 5, 9).unwrap();
        assert_eq!(start(), 3 * WINDOW as u64 - 5);
        // A failure to read a window does not move it back either.
        assert!(source.read_at(4 * WINDOW as u64 - 1, 2).is_err());
        assert!(source.read_at(5, 2).is_ok() && start() >= 3 * WINDOW as u64 - 5);
    }

    #[test]
    fn every_range_is_what_the_file_holds() {
        let contents: Vec<u8> = (0..3 * WINDOW + 1000).map(|at| (at / 7 % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&contents).unwrap();
        let source = ReadAhead::new(file).unwrap();
        assert_eq!(ReadAt::len(&source).unwrap(), contents.len() as u64);
        for ahead in [false, true] {
            if ahead {
                source.go_ahead();
            }
            let n = contents.len();
            for (offset, len) in [
                (0, 10),
                (10, 20),
                (5, WINDOW - 5),
                (WINDOW - 3, 6),
                (WINDOW, 2 * WINDOW),
                (3, 0),
                (n - 48, 48),
                (n - 47, 48),
                (2 * WINDOW, WINDOW),
                (n, 0),
                (n, 1),
                (usize::MAX, 1),
            ] {
                let read = source.read_at(offset as u64, len).ok();
                let expected = offset.checked_add(len).and_then(|end| contents.get(offset..end));
                assert_eq!(read.as_deref(), expected, "{offset} {len}");
            }
        }
    }
}
