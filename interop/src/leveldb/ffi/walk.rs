//! The functions of `shim/walk.cc`.

use std::ffi::{CString, c_char};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

use anyhow::{Result, anyhow};

use super::{Bytes, Sink, check, collect};
use crate::leveldb::Script;

#[repr(C)]
struct RawWalk {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn fb_walk_table(contents: Bytes, internal_keys: u8, verify: u8, error: Sink) -> *mut RawWalk;
    fn fb_walk_database(path: *const c_char, error: Sink) -> *mut RawWalk;
    fn fb_walk_run(walk: *mut RawWalk, steps: Bytes, renew: u8, answers: Sink);
    fn fb_walk_offset_of(walk: *const RawWalk, key: Bytes) -> u64;
    fn fb_walk_free(walk: *mut RawWalk);
}

pub(in crate::leveldb) struct Walk(NonNull<RawWalk>);

impl Walk {
    pub(in crate::leveldb) fn table(contents: &[u8], internal_keys: bool, verify: bool) -> Result<Self> {
        Self::new(|error| {
            // SAFETY: the contents are copied, the sink is used only during the call.
            unsafe { fb_walk_table(Bytes::new(contents), internal_keys.into(), verify.into(), error) }
        })
    }

    pub(in crate::leveldb) fn database(folder: &Path) -> Result<Self> {
        let path = CString::new(folder.as_os_str().as_bytes())?;
        // SAFETY: the path is copied, the sink is used only during the call.
        Self::new(|error| unsafe { fb_walk_database(path.as_ptr(), error) })
    }

    fn new(open: impl FnOnce(Sink) -> *mut RawWalk) -> Result<Self> {
        let mut raw = None;
        check(|error| {
            raw = NonNull::new(open(error));
            raw.is_some().into()
        })?;
        raw.map(Self).ok_or_else(|| anyhow!("no walk and no error"))
    }

    pub(in crate::leveldb) fn run(&mut self, steps: &Script, renew: bool) -> Vec<u8> {
        // SAFETY: the walk is ours; the script holds whole steps; the sink is used only during the call.
        collect(|answers| unsafe {
            fb_walk_run(self.0.as_ptr(), Bytes::new(steps.as_slice()), renew.into(), answers);
        })
    }

    pub(in crate::leveldb) fn offset_of(&self, key: &[u8]) -> u64 {
        // SAFETY: the walk is ours, and is one over a table.
        unsafe { fb_walk_offset_of(self.0.as_ptr(), Bytes::new(key)) }
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        // SAFETY: it came from `new` and is freed once.
        unsafe { fb_walk_free(self.0.as_ptr()) }
    }
}

impl fmt::Debug for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Walk")
    }
}
