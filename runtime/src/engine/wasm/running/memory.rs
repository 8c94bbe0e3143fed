//! Linear memory of instances, in large pages of the processor if the system supports them.
//!
//! The first access of a guest to each page is a page fault in the kernel. In a search of a few
//! milliseconds there are hundreds of them, and they take more time than copying the supplies into
//! the pages. With large pages there are few.
//!
//! ```text
//!   guard │ stack  │ data, heap ──▶ grows, a large page at a time │ reserved │ guard
//!         └ from a large page on    ╰ large pages                 └ no access: what compiled code need not test
//! ```
//!
//! Only a few places of a stack are used, so its pages are small.

use std::ptr::NonNull;
use std::sync::Arc;

use wasmtime::{LinearMemory, MemoryCreator, MemoryType};

use super::stop::StopPage;

/// Length of a large page on x86-64, and on ARM with small pages of 4 KiB.
const LARGE_PAGE_LEN: usize = 2 << 20;

/// Length of the guest's stack in small pages: all but its near end (`.cargo/config.toml`). If the
/// stack is shorter, some small pages could be large.
const STACK_LEN: usize = 2 << 20;

/// Creates memories in large pages.
pub(in super::super) struct LargePages;

// SAFETY: a memory has the requested reservation and guard for itself, and is filled with zeros.
#[allow(
    unsafe_code,
    reason = "a promise to wasmtime, whose compiled code tests no bounds"
)]
unsafe impl MemoryCreator for LargePages {
    fn new_memory(
        &self,
        _: MemoryType,
        minimum: usize,
        _: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let reserved = reserved.ok_or("a memory that could move")?;
        let mut memory = Memory::reserve(reserved, guard).ok_or("there is no such memory")?;
        let grown = memory.grow_to(minimum);
        grown.map_err(|error| error.to_string())?;
        Ok(Box::new(memory))
    }
}

/// Memory with the addresses around it.
struct Memory {
    mapping: NonNull<u8>,
    mapping_len: usize,
    /// Start of the memory, aligned to a large page.
    base: NonNull<u8>,
    len: usize,
    capacity: usize,
    stop_page: Arc<StopPage>,
}

// SAFETY: the pages belong to the owner of this value, on any thread.
#[allow(unsafe_code, reason = "a pointer is not sent otherwise")]
unsafe impl Send for Memory {}
// SAFETY: as above; no method writes to them.
#[allow(unsafe_code, reason = "a pointer is not shared otherwise")]
unsafe impl Sync for Memory {}

impl Memory {
    /// Reserves addresses for `capacity` inaccessible bytes, with `guard` bytes before and after
    /// them.
    fn reserve(capacity: usize, guard: usize) -> Option<Self> {
        let around = guard.checked_mul(2)?.checked_add(LARGE_PAGE_LEN)?;
        let mapping_len = capacity.checked_add(around)?;
        // SAFETY: the kernel chooses the address, and existing mappings are not affected.
        #[allow(unsafe_code, reason = "the standard library maps nothing")]
        let mapping = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapping_len,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if mapping == libc::MAP_FAILED {
            return None;
        }
        let mapping = NonNull::new(mapping.cast::<u8>())?;
        let first = mapping.addr().get().checked_add(guard)?;
        let skipped = first.checked_next_multiple_of(LARGE_PAGE_LEN)? - mapping.addr().get();
        // SAFETY: the offset is less than a guard and a large page, and thus inside of the mapping.
        #[allow(unsafe_code, reason = "a place inside of the mapping")]
        let base = unsafe { mapping.add(skipped) };
        let memory = Self {
            mapping,
            mapping_len,
            base,
            len: 0,
            capacity,
            stop_page: StopPage::of_memory(base),
        };
        memory.ask_for_large_pages();
        Some(memory)
    }

    /// Requests large pages. If there are none, small pages are used, with no other effect.
    fn ask_for_large_pages(&self) {
        let Some(len) = self.capacity.checked_sub(STACK_LEN) else {
            return;
        };
        // SAFETY: these pages belong to this memory, and their content stays.
        #[allow(unsafe_code, reason = "the standard library advises nobody")]
        unsafe {
            libc::madvise(
                self.base.add(STACK_LEN).as_ptr().cast(),
                len,
                libc::MADV_HUGEPAGE,
            );
        }
    }
}

// SAFETY: the base never moves, and exactly the first `len` bytes are accessible.
#[allow(
    unsafe_code,
    reason = "a promise to wasmtime, whose compiled code tests no bounds"
)]
unsafe impl LinearMemory for Memory {
    fn byte_size(&self) -> usize {
        self.len
    }

    fn byte_capacity(&self) -> usize {
        self.capacity
    }

    /// Pages of WebAssembly consist of whole pages of the system.
    fn grow_to(&mut self, new_len: usize) -> wasmtime::Result<()> {
        if new_len > self.capacity {
            return Err(wasmtime::Error::msg("more memory than is reserved"));
        }
        let Some(more) = new_len.checked_sub(self.len).filter(|more| *more > 0) else {
            return Ok(());
        };
        // SAFETY: these pages belong to this memory and are inside of the reservation, and they
        // were not accessible before.
        #[allow(unsafe_code, reason = "the standard library protects no pages")]
        let failed = unsafe {
            libc::mprotect(
                self.base.add(self.len).as_ptr().cast(),
                more,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        if failed != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        self.len = new_len;
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        self.base.as_ptr()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.stop_page.forget();
        // SAFETY: this mapping was made by `reserve`, and wasmtime does not use it any more.
        #[allow(unsafe_code, reason = "the standard library unmaps nothing")]
        unsafe {
            libc::munmap(self.mapping.as_ptr().cast(), self.mapping_len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LARGE_PAGE_LEN, LargePages, Memory};
    use wasmtime::{LinearMemory, MemoryCreator, MemoryType};

    #[test]
    fn memory_begins_a_large_page_grows_in_place_and_is_zeros() {
        let mut memory = Memory::reserve(1 << 32, 32 << 20).unwrap();
        assert!(memory.as_ptr().addr().is_multiple_of(LARGE_PAGE_LEN));
        let base = memory.as_ptr();
        for len in [1 << 16, 4 << 20, 4 << 20, (6 << 20) + (1 << 16)] {
            let before = memory.byte_size();
            memory.grow_to(len).unwrap();
            assert_eq!((memory.byte_size(), memory.as_ptr()), (len, base));
            // SAFETY: `len` bytes are accessible.
            #[allow(unsafe_code, reason = "looks at the memory")]
            let bytes = unsafe { std::slice::from_raw_parts_mut(base, len) };
            assert!(bytes[..before].iter().all(|byte| *byte == 7));
            assert!(bytes[before..].iter().all(|byte| *byte == 0));
            bytes.fill(7);
        }
        assert!(memory.grow_to((1 << 32) + 1).is_err());
    }

    #[test]
    fn what_was_not_grown_to_is_not_there() {
        let ty = MemoryType::new(1, None);
        let memory = LargePages
            .new_memory(ty, 1 << 16, None, Some(1 << 32), 32 << 20)
            .unwrap();
        assert_eq!(memory.byte_size(), 1 << 16);
        assert_eq!(memory.byte_capacity(), 1 << 32);
        for (at, is_there) in [(0, true), (1 << 16, false), ((1 << 32) + 4096, false)] {
            let page = memory.as_ptr().wrapping_add(at);
            assert_eq!(is_readable(page), is_there, "{at}");
        }
    }

    /// Returns whether a byte can be read: the kernel refuses to write from inaccessible memory.
    fn is_readable(page: *const u8) -> bool {
        use std::os::fd::AsRawFd;
        let (_reader, writer) = std::io::pipe().unwrap();
        // SAFETY: the kernel reads one byte, and returns an error if it cannot.
        #[allow(unsafe_code, reason = "asks the kernel for a byte")]
        let written = unsafe { libc::write(writer.as_raw_fd(), page.cast(), 1) };
        written == 1
    }
}
