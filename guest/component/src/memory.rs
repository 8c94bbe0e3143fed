//! Where the guest's memory comes from: dlmalloc, as in the standard library, but grown by whole large pages.
//!
//! A page of memory that is touched for the first time is what costs most in a search that lives for milliseconds: a
//! processor's large page of 2 MiB costs no more than three of its small ones. A host can only give one where all of
//! it is the guest's, and at once. So memory begins with the large page that data ends in (`build.rs`), and from there
//! on grows to the end of another one.
//!
//! Memory that is the guest's and not yet touched takes no room, on any host.

use std::alloc::{GlobalAlloc, Layout};
use std::arch::wasm32::{memory_grow, memory_size};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use dlmalloc::{Allocator, Dlmalloc};

const PAGE_LEN: usize = 64 << 10;

/// Memory ends at a multiple of this, unless the host has no more.
const LARGE_PAGES: usize = (2 << 20) / PAGE_LEN;

#[global_allocator]
static MEMORY: Memory = Memory(UnsafeCell::new(Dlmalloc::new_with_allocator(LargePages {
    has_begun: AtomicBool::new(false),
})));

/// What dlmalloc takes its memory from.
struct LargePages {
    has_begun: AtomicBool,
}

impl LargePages {
    /// What is behind the data from the beginning on, once.
    fn rest_of_first(&self, num_bytes: usize) -> Option<(*mut u8, usize)> {
        unsafe extern "C" {
            static __heap_base: u8;
        }
        if self.has_begun.swap(true, Ordering::Relaxed) {
            return None;
        }
        // The linker's name for an address.
        let start = (&raw const __heap_base).cast_mut();
        let end = memory_size::<0>() * PAGE_LEN;
        let len = end.checked_sub(start.addr())?;
        (len >= num_bytes).then_some((start, len))
    }
}

// SAFETY: regions are the end of memory, which was never given away before, or what the linker leaves free.
unsafe impl Allocator for LargePages {
    fn alloc(&self, num_bytes: usize) -> (*mut u8, usize, u32) {
        if let Some((start, len)) = self.rest_of_first(num_bytes) {
            return (start, len, 0);
        }
        let num_pages = num_bytes.div_ceil(PAGE_LEN);
        let before = memory_size::<0>();
        let end = (before + num_pages).next_multiple_of(LARGE_PAGES);
        for num_pages in [end - before, num_pages] {
            let first = memory_grow::<0>(num_pages);
            // The last of 65,536 pages would end where no address is.
            if first != usize::MAX && first + num_pages < usize::MAX / PAGE_LEN {
                return (
                    std::ptr::without_provenance_mut(first * PAGE_LEN),
                    num_pages * PAGE_LEN,
                    0,
                );
            }
        }
        (std::ptr::null_mut(), 0, 0)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        std::ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        PAGE_LEN
    }
}

/// The allocator of the whole component.
struct Memory(UnsafeCell<Dlmalloc<LargePages>>);

// SAFETY: the component has one thread, and dlmalloc calls nothing that allocates.
unsafe impl Sync for Memory {}

// SAFETY: dlmalloc keeps these promises; there is one thread, so nobody else is inside of it.
unsafe impl GlobalAlloc for Memory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above, and as the caller promises.
        unsafe { (*self.0.get()).malloc(layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above, and as the caller promises.
        unsafe { (*self.0.get()).calloc(layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above, and as the caller promises.
        unsafe { (*self.0.get()).free(block, layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_len: usize) -> *mut u8 {
        // SAFETY: as above, and as the caller promises.
        unsafe { (*self.0.get()).realloc(block, layout.size(), layout.align(), new_len) }
    }
}
