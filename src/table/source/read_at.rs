//! The source of a table's bytes, and opening files without waiting for pipes or reading devices.

use std::fs::{self, File, Metadata};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::IoAction;
use crate::{Error, Result};

/// A source of bytes that can be read at any offset and has no position of its own (LevelDB's
/// `RandomAccessFile`, `include/leveldb/env.h`).
///
/// The contents must not change while a table is open on them. If they do,
/// [`Table`](crate::table::Table) returns errors or, if checksums are not verified or fit the new
/// contents, wrong answers.
///
/// Files, bytes in memory and [`FetchedRanges`](crate::table::FetchedRanges) are sources, as are
/// references and smart pointers to any source, including `dyn` ones. [`Bytes::from_owner`] turns a
/// memory map into a source without copying it.
///
/// [`Bytes::from_owner`]: https://docs.rs/bytes/1/bytes/struct.Bytes.html#method.from_owner
///
/// ```
/// use filterblock::table::ReadAt;
/// let source = b"abcdef".as_slice();
/// assert_eq!(ReadAt::len(&source)?, 6);
/// assert_eq!(source.read_at(2, 3)?, "cde");
/// assert!(source.read_at(4, 3).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[expect(
    clippy::len_without_is_empty,
    reason = "an empty source is an error to whoever reads it, not a question to ask"
)]
pub trait ReadAt {
    /// The length of the source, in bytes.
    ///
    /// # Errors
    ///
    /// Any error of the underlying system.
    fn len(&self) -> io::Result<u64>;

    /// Returns exactly the `len` bytes that start at `offset`.
    ///
    /// A source that already holds them can return [`Bytes`] without a copy.
    ///
    /// [`Bytes`]: https://docs.rs/bytes/1/bytes/struct.Bytes.html
    ///
    /// A source that cannot answer yet returns [`Error::NeedRange`](crate::Error::NeedRange) inside
    /// [`io::Error::other`]. The table's methods return this error, with the path of the file if it
    /// is known.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::UnexpectedEof`] if the source ends before these bytes do, or any error of
    /// the underlying system.
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes>;

    /// Reads the bytes from `offset` on into all of `buffer`, which saves memory for each read where it is used again. After
    /// an error, the buffer may hold anything. By default, the bytes of [`read_at`](Self::read_at) are copied.
    ///
    /// # Errors
    ///
    /// Those of `read_at`.
    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let bytes = self.read_at(offset, buffer.len())?;
        let is_exact = bytes.len() == buffer.len();
        let fault = || io::Error::other(format!("expected {} bytes, found {}", buffer.len(), bytes.len()));
        is_exact.then_some(()).ok_or_else(fault)?;
        buffer.copy_from_slice(&bytes);
        Ok(())
    }

    /// The same bytes as [`read_at`](Self::read_at) returns, if the source has them in memory. Default: `None`.
    ///
    /// Most lookups then search an uncompressed block in place, and read nothing but the value that they find. A
    /// source that passes reads on to another source should pass these calls on, too.
    #[inline]
    fn slice_at(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let _ = (offset, len);
        None
    }

    /// Announces to the source that these ranges will be read soon, in any order, so that it can fetch them at the same
    /// time. [`Table::get_many`](crate::table::Table::get_many), for example, announces the blocks that it goes on to
    /// search.
    ///
    /// This does nothing by default. A source that passes reads on to another source should pass these calls on, too.
    /// Faults are reported by the reads themselves.
    #[inline]
    fn will_need(&self, ranges: &[Range<u64>]) {
        let _ = ranges;
    }
}

/// The error for a range that ends beyond the source.
pub(in crate::table) fn beyond_end(offset: u64, len: usize, source_len: u64) -> io::Error {
    let message = format!("{len} bytes at offset {offset} reach beyond the end, at {source_len}");
    io::Error::new(io::ErrorKind::UnexpectedEof, message)
}

/// The range `offset..offset + len`, as indices into `source_len` bytes in memory.
fn range_in(offset: u64, len: usize, source_len: usize) -> io::Result<Range<usize>> {
    usize::try_from(offset)
        .ok()
        .and_then(|start| Some(start..start.checked_add(len)?))
        .filter(|range| range.end <= source_len)
        .ok_or_else(|| beyond_end(offset, len, source_len as u64))
}

/// Each read copies. Most lookups do not read an uncompressed block, but search it in place, and copy only the
/// value.
impl ReadAt for [u8] {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let range = range_in(offset, len, self.len())?;
        let bytes = self.get(range).ok_or_else(|| beyond_end(offset, len, self.len() as u64))?;
        Ok(Bytes::copy_from_slice(bytes))
    }

    #[inline]
    fn slice_at(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.get(range_in(offset, len, self.len()).ok()?)
    }
}

/// Each read copies. Most lookups do not read an uncompressed block, but search it in place, and copy only the
/// value. Turn the vector into [`Bytes`] to avoid all copies.
///
/// [`Bytes`]: https://docs.rs/bytes/1/bytes/struct.Bytes.html
impl ReadAt for Vec<u8> {
    fn len(&self) -> io::Result<u64> {
        ReadAt::len(self.as_slice())
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.as_slice().read_at(offset, len)
    }

    #[inline]
    fn slice_at(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.as_slice().slice_at(offset, len)
    }
}

/// Each read is a view: nothing is copied.
impl ReadAt for Bytes {
    fn len(&self) -> io::Result<u64> {
        Ok(Bytes::len(self) as u64)
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        Ok(self.slice(range_in(offset, len, Bytes::len(self))?))
    }

    #[inline]
    fn slice_at(&self, offset: u64, len: usize) -> Option<&[u8]> {
        (**self).slice_at(offset, len)
    }
}

/// Each read is one system call, or more if the system returns fewer bytes than requested. Reads may run on many
/// threads at the same time.
///
/// With the feature `advise`, on Linux, Android and FreeBSD, the system starts to read the ranges that
/// [will be needed](ReadAt::will_need). This takes a system call for each range, which pays if the file is not in the
/// system's cache.
///
/// On Windows, reads move the file's position. On systems that can read only at the file's own
/// position, as under WASI, each read takes two system calls, and reads run one at a time.
impl ReadAt for std::fs::File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        read_all(offset, len, |buf, at| read_some(self, buf, at))
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        fill(offset, buffer, |buf, at| read_some(self, buf, at))
    }

    #[cfg(all(feature = "advise", any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    fn will_need(&self, ranges: &[Range<u64>]) {
        use rustix::fs::{Advice, fadvise};
        for range in ranges {
            let len = std::num::NonZeroU64::new(range.end.saturating_sub(range.start));
            // Advice may fail: the read that follows reports the error.
            let _ = len.map(|len| fadvise(self, range.start, Some(len), Advice::WillNeed));
        }
    }
}

/// Calls `read` until it has read all `len` bytes. A call may read fewer bytes or be interrupted,
/// and reads no bytes only at the end of the source.
fn read_all(
    offset: u64,
    len: usize,
    read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    bytes.resize(len, 0);
    fill(offset, &mut bytes, read)?;
    Ok(bytes.into())
}

fn fill(
    offset: u64,
    mut rest: &mut [u8],
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<()> {
    let (len, mut at) = (rest.len(), offset);
    while !rest.is_empty() {
        match read(rest, at) {
            Ok(0) => return Err(beyond_end(offset, len, at)),
            Ok(read) => {
                let room = rest.len();
                rest = rest.get_mut(read..).ok_or_else(|| {
                    io::Error::other(format!("the source said it read {read} bytes into {room}"))
                })?;
                at = at.saturating_add(read as u64);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_some(file: &std::fs::File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, offset)
}

#[cfg(windows)]
fn read_some(file: &std::fs::File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, offset)
}

#[cfg(not(any(unix, windows)))]
fn read_some(mut file: &std::fs::File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::io::{Read as _, Seek as _};
    use std::sync::{Mutex, PoisonError};
    // Several handles may share a file's position, so one lock guards all files.
    static READING: Mutex<()> = Mutex::new(());
    let _reading = READING.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(io::SeekFrom::Start(offset))?;
    file.read(buf)
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T: ReadAt + ?Sized> ReadAt for $pointer {
            #[inline]
            fn len(&self) -> io::Result<u64> {
                (**self).len()
            }
            #[inline]
            fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
                (**self).read_at(offset, len)
            }
            #[inline]
            fn read_into(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
                (**self).read_into(offset, buffer)
            }
            #[inline]
            fn slice_at(&self, offset: u64, len: usize) -> Option<&[u8]> {
                (**self).slice_at(offset, len)
            }
            #[inline]
            fn will_need(&self, ranges: &[Range<u64>]) {
                (**self).will_need(ranges);
            }
        }
    )*};
}

forward!(&T, Box<T>, Rc<T>, Arc<T>);

/// Opens the regular file at `path`, following links, for reading only and without a lock.
///
/// # Errors
///
/// [`Error::Io`], without the path, if `path` does not lead to a regular file, or if the file
/// cannot be opened.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    try_open(path).map_err(|error| Error::io(IoAction::Open, 0, error))
}

/// Like [`open_file`], but with the bare [`io::Error`].
pub(crate) fn try_open(path: &Path) -> io::Result<File> {
    let regular = |metadata: Metadata| {
        if metadata.is_file() { Ok(()) } else { Err(io::Error::other("not a regular file")) }
    };
    // Opening a pipe would wait for its other end, so the file's type is checked before opening. It
    // is checked again afterwards, since the file may have been replaced in between.
    regular(fs::metadata(path)?)?;
    let file = File::open(path)?;
    regular(file.metadata()?)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::*;

    /// Checks that a source returns the right bytes, or the right error, for every range in and
    /// around its contents.
    fn check(source: &dyn ReadAt, contents: &[u8]) {
        let n = contents.len();
        assert_eq!(source.len().unwrap(), n as u64);
        for start in 0..=n + 1 {
            for len in 0..=n + 1 {
                let answer = source.read_at(start as u64, len);
                let mut buffer = vec![0xa5; len];
                let into = source.read_into(start as u64, &mut buffer).map(|()| Bytes::from(buffer));
                let kind = |answer: &io::Result<Bytes>| answer.as_ref().map_err(io::Error::kind).cloned();
                assert_eq!(kind(&into), kind(&answer), "{start} + {len}");
                match contents.get(start..start + len) {
                    Some(expected) => assert_eq!(answer.unwrap(), expected, "{start} + {len}"),
                    None if len > 0 => {
                        let error = answer.expect_err("beyond the end");
                        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{start} + {len}");
                    }
                    // For an empty range beyond the end, both an answer and an error are right.
                    None => assert!(answer.is_ok_and(|bytes| bytes.is_empty()) || start > n),
                }
            }
        }
        for offset in [u64::MAX, u64::MAX - 3, 1 << 32, 1 << 63] {
            assert!(source.read_at(offset, 4).is_err(), "{offset}");
        }
        assert!(source.read_at(1, usize::MAX).is_err());
    }

    #[test]
    fn every_source_gives_the_range_or_an_error() {
        let contents = b"0123456789";
        let mut file: File = tempfile::tempfile().unwrap();
        file.write_all(contents).unwrap();
        check(&file, contents);
        check(&contents.as_slice(), contents);
        check(&contents.to_vec(), contents);
        check(&Bytes::from_static(contents), contents);
        check(&Bytes::new(), b"");
    }

    #[test]
    fn pointers_to_any_source_are_sources() {
        let contents = b"0123456789";
        check(&Box::new(contents.to_vec()), contents);
        let dynamic: Box<dyn ReadAt + Send + Sync> = Box::new(contents.to_vec());
        check(&dynamic, contents);
        let dynamic: Rc<dyn ReadAt> = Rc::new(contents.to_vec());
        check(&dynamic, contents);
        let unsized_slice: Arc<[u8]> = Arc::from(contents.as_slice());
        check(&unsized_slice, contents);
    }

    #[test]
    fn bytes_are_shared_not_copied() {
        let source = Bytes::from_static(b"0123456789");
        assert_eq!(source.read_at(3, 4).unwrap().as_ptr(), source.slice(3..).as_ptr());
    }

    #[test]
    fn short_and_interrupted_reads_are_gone_on_with() {
        let mut calls = 0;
        let bytes = read_all(100, 10, |buf, at| {
            calls += 1;
            if calls % 2 == 0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let read = buf.len().min(3);
            buf[..read].iter_mut().zip(at..).for_each(|(byte, at)| *byte = at as u8);
            Ok(read)
        });
        assert_eq!((bytes.unwrap(), calls), ((100..110).collect(), 7));

        let error = read_all(100, 10, |_, at| if at == 100 { Ok(4) } else { Ok(0) }).unwrap_err();
        assert_eq!(error.to_string(), "10 bytes at offset 100 reach beyond the end, at 104");
        let error = read_all(100, 10, |_, _| Err(io::Error::other("on fire"))).unwrap_err();
        assert_eq!(error.to_string(), "on fire");
        assert!(read_all(0, usize::MAX, |_, _| Ok(1)).is_err(), "more than can be had");
        let error = read_all(100, 10, |buf, _| Ok(if buf.len() == 10 { 4 } else { 7 })).unwrap_err();
        assert_eq!(error.to_string(), "the source said it read 7 bytes into 6");
    }

    #[test]
    fn a_file_that_ends_early_is_an_error() {
        let mut file: File = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        assert_eq!(file.read_at(8, 2).unwrap(), "89");
        file.set_len(9).unwrap();
        assert_eq!(file.read_at(8, 2).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
