//! An allocator that counts allocations and the bytes held, also at the peak, and that can refuse large allocations.
//! Each thread counts for itself.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn hold(bytes: isize) {
    HELD.with(|held| {
        held.set(held.get() + bytes);
        PEAK.with(|peak| peak.set(peak.get().max(held.get())));
    });
}

// SAFETY: every call is refused, or goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MOST.with(Cell::get) {
            return null_mut();
        }
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        hold(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    // Memory that the system has zeroed is not written to.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MOST.with(Cell::get) {
            return null_mut();
        }
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        hold(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > MOST.with(Cell::get) {
            return null_mut();
        }
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        hold(size as isize - layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `work`. Returns the number of allocations that it makes, and its result.
pub(crate) fn allocations<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = ALLOCATIONS.with(Cell::get);
    let result = work();
    (ALLOCATIONS.with(Cell::get) - before, result)
}

/// The number of bytes that this thread has allocated, less those that it has freed.
pub(crate) fn held() -> isize {
    HELD.with(Cell::get)
}

/// Runs `work`. Returns the number of bytes that it holds at its peak, beyond those held before, and its result. A
/// buffer that grows counts once, since the system moves large ones by their pages.
pub(crate) fn peak<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = HELD.with(Cell::get);
    PEAK.with(|peak| peak.set(before));
    let result = work();
    (usize::try_from(PEAK.with(Cell::get) - before).unwrap(), result)
}

/// Runs `work` while every allocation of more than `most` bytes fails.
pub(crate) fn with_at_most<T>(most: usize, work: impl FnOnce() -> T) -> T {
    MOST.with(|limit| limit.set(most));
    let result = work();
    MOST.with(|limit| limit.set(usize::MAX));
    result
}
