//! Tables that are read while entries are merged. There may be more tables than a process can have open.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use bytes::Bytes;
use filterblock::table::ReadAt;

use super::input::Input;

/// The maximum number of files that stay open between two reads. Other files are opened for each read.
const MOST: usize = 200;

/// The number of files that stay open.
pub(super) type OpenFiles = Rc<Cell<usize>>;

/// A file that is opened when it is read.
pub(super) struct OpenFile<'i> {
    input: &'i dyn Input,
    name: &'i str,
    file: RefCell<Option<Box<dyn ReadAt>>>,
    all: OpenFiles,
}

impl<'i> OpenFile<'i> {
    pub(super) fn new(input: &'i dyn Input, name: &'i str, all: &OpenFiles) -> Self {
        Self { input, name, file: RefCell::new(None), all: Rc::clone(all) }
    }

    fn with<T>(&self, read: impl FnOnce(&dyn ReadAt) -> io::Result<T>) -> io::Result<T> {
        let mut file = self.file.borrow_mut();
        if let Some(file) = &*file {
            return read(file);
        }
        let opened = self.input.open(self.name)?;
        let result = read(&opened);
        if self.all.get() < MOST {
            self.all.set(self.all.get().saturating_add(1));
            *file = Some(opened);
        }
        result
    }
}

impl ReadAt for OpenFile<'_> {
    fn len(&self) -> io::Result<u64> {
        self.with(|file| file.len())
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.with(|file| file.read_at(offset, len))
    }
}

impl Drop for OpenFile<'_> {
    fn drop(&mut self) {
        if self.file.borrow().is_some() {
            self.all.set(self.all.get().saturating_sub(1));
        }
    }
}
