//! The costs of one run of the program, over all its threads: reads, time, and the bytes read, decoded, allocated,
//! held at the peak and printed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use filterblock::table::Meter;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn hold(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    ALLOCATED.fetch_add(bytes, Relaxed);
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(held, Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        hold(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // A buffer that grows counts once at the peak: large ones are moved by their pages.
        HELD.fetch_sub(layout.size(), Relaxed);
        hold(size);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The costs of one run, in bytes unless a field says otherwise, and its exit status.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// The number of reads of tables.
    pub(crate) reads: usize,
    pub(crate) read: usize,
    pub(crate) decoded: usize,
    /// All bytes that were allocated, also those that were freed again.
    pub(crate) allocated: usize,
    /// The number of allocations.
    pub(crate) allocations: usize,
    pub(crate) peak: usize,
    pub(crate) printed: usize,
    /// Only shown, never judged: other work on the machine changes it.
    pub(crate) nanoseconds: usize,
    pub(crate) status: u8,
}

/// Counts the bytes written to it.
#[derive(Clone, Default)]
struct Sink(Rc<Cell<usize>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Held by each test, since the allocator counts for all threads together.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `filterblock` with these arguments. Nothing else may run in this process meanwhile.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> Taken {
    let sink = Sink::default();
    let allocations = ALLOCATIONS.load(Relaxed);
    let (allocated, held, start) = (ALLOCATED.load(Relaxed), HELD.load(Relaxed), Instant::now());
    PEAK.store(held, Relaxed);
    let arguments = std::iter::once("filterblock".into()).chain(arguments);
    let meter = Arc::new(Meter::default());
    let status = filterblock_cli::run_metered(arguments, sink.clone(), sink.clone(), Arc::clone(&meter));
    Taken {
        reads: meter.reads() as usize,
        read: meter.bytes_read() as usize,
        decoded: meter.bytes_decoded() as usize,
        allocated: ALLOCATED.load(Relaxed) - allocated,
        allocations: ALLOCATIONS.load(Relaxed) - allocations,
        peak: PEAK.load(Relaxed) - held,
        printed: sink.0.get(),
        nanoseconds: start.elapsed().as_nanos() as usize,
        status,
    }
}
