//! Memory of the guest: dlmalloc, as in the standard library, but grown by whole large pages.
//!
//! The first access to each page of memory is the largest cost of a search that takes milliseconds: a processor's
//! large page of 2 MiB costs no more than three of its small ones. A host can only provide one where all of it belongs
//! to the guest at once. Memory therefore begins with the large page that the data ends in (`build.rs`), and from
//! there on grows to the end of another one.
//!
//! Memory that the guest owns but has not touched takes no room, on any host.

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

/// Source of dlmalloc's memory.
struct LargePages {
    has_begun: AtomicBool,
}

impl LargePages {
    /// Returns the memory after the initial data, once.
    fn rest_of_first(&self, num_bytes: usize) -> Option<(*mut u8, usize)> {
        unsafe extern "C" {
            static __heap_base: u8;
        }
        if self.has_begun.swap(true, Ordering::Relaxed) {
            return None;
        }
        // An address, named by the linker.
        let start = (&raw const __heap_base).cast_mut();
        let end = memory_size::<0>() * PAGE_LEN;
        let len = end.checked_sub(start.addr())?;
        (len >= num_bytes).then_some((start, len))
    }
}

// SAFETY: regions are the end of memory, which was never given away before, or left free by the linker.
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
            // The last of 65,536 pages would end beyond the address space.
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

// SAFETY: dlmalloc keeps these promises; there is one thread, so no other call is inside it.
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
