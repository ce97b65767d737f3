//! A file that is being written.

use std::io::{self, Read as _, Write};
use std::{fs::File, sync::Arc};

use super::session::{Operation, Session};
use super::status;

/// A file that is being written. On Unix, only its owner may read it until it is given other permissions.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    session: Arc<Session>,
}

impl NewFile {
    pub(super) const fn new(file: File, session: Arc<Session>) -> Self {
        Self { file, session }
    }

    /// Copies at most `most` bytes from the position of `source` with one [`io::copy`], which may share storage.
    pub(crate) fn copy_from(&mut self, mut source: &File, most: u64) -> io::Result<u64> {
        let Self { file, session } = self;
        session.perform(Operation::Write { file }, || {
            // Without `take`, a whole file can be shared, whatever its size.
            if most == u64::MAX {
                io::copy(&mut source, &mut &*file)
            } else {
                io::copy(&mut source.take(most), &mut &*file)
            }
        })
    }

    /// On Unix, gives the file the owner, group, mode and attributes of `like`; elsewhere, its permissions.
    pub(crate) fn copy_rights(&self, like: &File) -> io::Result<()> {
        let operation = Operation::Attributes { file: &self.file };
        self.session.perform(operation, || status::copy(&self.file, like, &self.session))
    }

    /// Like [`copy_rights`](Self::copy_rights), and also gives the file the times of `like`.
    pub(crate) fn copy_attributes(&self, like: &File) -> io::Result<()> {
        self.copy_rights(like)?;
        let like = like.metadata()?;
        let times = std::fs::FileTimes::new().set_accessed(like.accessed()?).set_modified(like.modified()?);
        self.session.perform(Operation::Attributes { file: &self.file }, || self.file.set_times(times))
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.session.perform(Operation::Sync { file: &self.file }, || self.file.sync_all())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { file, session } = self;
        session.perform(Operation::Write { file }, || (&*file).write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
