//! Everything unsafe: the functions of `shim/abi.h`, owners for what they create, and, in this
//! file, the passing of bytes.

mod database;
mod policy;
pub mod speed;
mod store;
mod table;

use std::ffi::c_void;
use std::{ptr, slice};

use anyhow::{Result, anyhow};

pub(super) use database::{Database, repair};
pub(super) use policy::{bloom_create, bloom_match, build_filter_blocks, hash, query_filter_blocks};
pub(super) use store::{Store, repair as repair_store};
pub(super) use table::{Table, TableBuilder, Walk, compare, internal_key_debug_string, separator, successor};

pub(super) type SinkFn<'a> = dyn FnMut(&[u8]) + 'a;
pub(super) type SourceFn<'a> = dyn Fn(u64, &mut [u8]) -> bool + 'a;
pub(super) type EntryFn<'a> = dyn FnMut(&[u8], &[u8]) -> bool + 'a;

/// `fb_bytes`
#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes {
    data: *const u8,
    size: usize,
}

impl Bytes {
    fn new(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), size: bytes.len() }
    }

    /// # Safety
    ///
    /// Unless `self` is empty, the bytes that it points to must be valid and unchanged for `'a`.
    unsafe fn as_slice<'a>(self) -> &'a [u8] {
        if self.size == 0 {
            return &[]; // The pointer may be null.
        }
        // SAFETY: promised by the caller.
        unsafe { slice::from_raw_parts(self.data, self.size) }
    }
}

/// `fb_sink`, `fb_source` or `fb_entries`: a callback, and a pointer to the closure that it calls.
#[repr(C)]
struct Callback<F> {
    context: *mut c_void,
    function: F,
}

type Sink = Callback<extern "C" fn(*mut c_void, Bytes)>;
type Source = Callback<extern "C" fn(*mut c_void, u64, usize, *mut u8) -> u8>;
type EntrySink = Callback<extern "C" fn(*mut c_void, Bytes, Bytes) -> u8>;

/// Makes a sink that passes bytes to `to`. `to` must not move, and must not be used by others, while the sink is in
/// use.
fn sink(to: *mut Box<SinkFn<'_>>) -> Sink {
    extern "C" fn append(context: *mut c_void, piece: Bytes) {
        // SAFETY: `sink` made the context from such a box, which nobody else uses meanwhile.
        let to = unsafe { &mut *context.cast::<Box<SinkFn<'_>>>() };
        // SAFETY: the shim passes bytes that live through the call.
        to(unsafe { piece.as_slice() });
    }
    Sink { context: to.cast(), function: append }
}

/// Makes a source that reads by `from`. `from` must not move while the source is in use.
fn source(from: *mut Box<SourceFn<'_>>) -> Source {
    extern "C" fn read(context: *mut c_void, offset: u64, size: usize, to: *mut u8) -> u8 {
        // SAFETY: `source` made the context from such a box, which is only ever shared.
        let from = unsafe { &*context.cast::<Box<SourceFn<'_>>>() };
        // SAFETY: LevelDB passes a buffer of this size; zeroing it makes it a valid slice.
        let to = unsafe {
            ptr::write_bytes(to, 0, size);
            slice::from_raw_parts_mut(to, size)
        };
        from(offset, to).into()
    }
    Source { context: from.cast(), function: read }
}

/// Makes a sink that passes entries to `to`. `to` must not move, and must not be used by others, while the sink is in
/// use.
fn entry_sink(to: *mut &mut EntryFn<'_>) -> EntrySink {
    extern "C" fn entry(context: *mut c_void, key: Bytes, value: Bytes) -> u8 {
        // SAFETY: `entry_sink` made the context from such a reference, which nobody else uses
        // meanwhile.
        let to = unsafe { &mut *context.cast::<&mut EntryFn<'_>>() };
        // SAFETY: the shim passes keys and values that live through the call.
        let (key, value) = unsafe { (key.as_slice(), value.as_slice()) };
        to(key, value).into()
    }
    EntrySink { context: to.cast(), function: entry }
}

/// Calls a function that may fail, and returns its message as an error.
fn check(call: impl FnOnce(Sink) -> u8) -> Result<()> {
    let mut succeeded = 0;
    let message = collect(|error| succeeded = call(error));
    if succeeded != 0 { Ok(()) } else { Err(anyhow!("LevelDB: {}", String::from_utf8_lossy(&message))) }
}

/// Calls a function that returns bytes.
fn collect(call: impl FnOnce(Sink)) -> Vec<u8> {
    let mut bytes = Vec::new();
    with_sink(&mut |piece| bytes.extend_from_slice(piece), call);
    bytes
}

fn with_sink<R>(to: &mut SinkFn<'_>, call: impl FnOnce(Sink) -> R) -> R {
    let mut to: Box<SinkFn<'_>> = Box::new(to);
    call(sink(&raw mut to))
}

fn bits_per_key(bits: Option<u32>) -> i32 {
    bits.map_or(-1, |bits| i32::try_from(bits).expect("a small number of bits per key"))
}
