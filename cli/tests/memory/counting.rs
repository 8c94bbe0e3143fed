//! A counting allocator: the memory that a test uses, and its peak. It passes everything on to the system's allocator,
//! and does not see allocations of C libraries.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static NUM_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Meant as the global allocator of a test in a process of its own.
#[derive(Debug)]
pub(crate) struct CountingAllocator;

impl CountingAllocator {
    /// Resets the peak; returns the number of bytes in use.
    pub(crate) fn begin() -> usize {
        let num_bytes = NUM_BYTES.load(Relaxed);
        PEAK.store(num_bytes, Relaxed);
        num_bytes
    }

    /// Returns the peak number of bytes since the last [`CountingAllocator::begin`].
    pub(crate) fn peak() -> usize {
        PEAK.load(Relaxed)
    }
}

fn add(num_bytes: usize) {
    let now = NUM_BYTES.fetch_add(num_bytes, Relaxed) + num_bytes;
    PEAK.fetch_max(now, Relaxed);
}

fn subtract(num_bytes: usize) {
    NUM_BYTES.fetch_sub(num_bytes, Relaxed);
}

#[expect(
    unsafe_code,
    reason = "an allocator can be nothing else; all calls are the system's"
)]
// SAFETY: each call is passed on to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        subtract(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Both may exist while one is copied to the other.
        add(new_size);
        subtract(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, new_size) }
    }
}
