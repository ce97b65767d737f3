//! A file of many gigabytes that takes little memory as long as most of it is zeros.

use std::collections::BTreeMap;
use std::io;

use bytes::Bytes;
use filterblock::table::ReadAt;

const PAGE: usize = 4096;

/// A file that grows at its end and can be read anywhere. Pages of zeros are not kept.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SparseFile {
    pages: BTreeMap<u64, Vec<u8>>,
    /// The bytes after the last full page.
    rest: Vec<u8>,
    len: u64,
}

impl SparseFile {
    /// An empty file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes at the end.
    pub fn append(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PAGE - self.rest.len()));
            self.rest.extend_from_slice(now);
            self.len += now.len() as u64;
            bytes = later;
            if self.rest.len() == PAGE {
                let number = self.len / PAGE as u64 - 1;
                if self.rest.iter().any(|&byte| byte != 0) {
                    self.pages.insert(number, self.rest.clone());
                }
                self.rest.clear();
            }
        }
    }

    /// The number of bytes.
    pub fn size(&self) -> u64 {
        self.len
    }

    /// Fills `to` from the offset on. Returns false if the file ends before `to` is full.
    pub fn read(&self, offset: u64, to: &mut [u8]) -> bool {
        let Some(end) = offset.checked_add(to.len() as u64).filter(|&end| end <= self.len) else {
            return false;
        };
        to.fill(0);
        let page = PAGE as u64;
        let rest = (self.len / page, &self.rest);
        let pages = self.pages.range(offset / page..end.div_ceil(page)).map(|(&number, page)| (number, page));
        for (number, contents) in pages.chain([rest]) {
            let start = number * page;
            let from = offset.max(start);
            let until = end.min(start + contents.len() as u64);
            if from < until {
                let source = &contents[(from - start) as usize..(until - start) as usize];
                to[(from - offset) as usize..(until - offset) as usize].copy_from_slice(source);
            }
        }
        true
    }
}

impl io::Write for SparseFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ReadAt for SparseFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let mut bytes = vec![0; len];
        if self.read(offset, &mut bytes) {
            Ok(bytes.into())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn it_gives_back_what_was_appended() {
        let mut random = Random::new(1);
        let mut file = SparseFile::new();
        let mut whole = Vec::new();
        for _ in 0..200 {
            let len = random.skewed(15) as usize;
            let piece = if random.one_in(2) { vec![0; len] } else { random.bytes(len) };
            file.append(&piece);
            whole.extend_from_slice(&piece);
        }
        assert_eq!(file.size(), whole.len() as u64);
        assert!(file.pages.len() < whole.len() / PAGE, "no page was left out");
        for _ in 0..2000 {
            let start = random.index(whole.len());
            let end = whole.len().min(start + random.skewed(15) as usize);
            let mut read = vec![1; end - start];
            assert!(file.read(start as u64, &mut read));
            assert_eq!(read, whole[start..end]);
        }
        assert!(!file.read(whole.len() as u64 - 1, &mut [0; 2]));
        assert!(!file.read(u64::MAX, &mut [0; 2]));
    }
}
