//! The linear memory of instances, in large pages of the processor where the system has them.
//!
//! Every page that a guest touches for the first time is a visit to the kernel. In a search of a few milliseconds they
//! are hundreds, and take more time than copying into them what the guest asked for. Of large pages there are few.
//!
//! ```text
//!   guard │ stack  │ data, heap ──▶ grows, a large page at a time │ nobody's │ guard
//!         └ from a large page on    ╰ large pages                 └ no access: what compiled code need not test
//! ```
//!
//! A stack is touched in few places, so its pages are small.

use std::ptr::NonNull;
use std::sync::Arc;

use wasmtime::{LinearMemory, MemoryCreator, MemoryType};

use super::stop::StopPage;

/// A large page of x86-64, and of ARM with small pages of 4 KiB.
const LARGE_PAGE_LEN: usize = 2 << 20;

/// Pages of the guest's stack that are small: all but its near end (`.cargo/config.toml`). If it is shorter, some are small
/// that could be large.
const STACK_LEN: usize = 2 << 20;

/// Makes memories in large pages.
pub(in super::super) struct LargePages;

// SAFETY: a memory has the reservation and the guard that it is asked for, which nobody else has, and is made of zeros.
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

/// One memory, and the addresses around it.
struct Memory {
    mapping: NonNull<u8>,
    mapping_len: usize,
    /// Begins a large page.
    base: NonNull<u8>,
    len: usize,
    capacity: usize,
    stop_page: Arc<StopPage>,
}

// SAFETY: the pages belong to whoever has this, on whatever thread.
#[allow(unsafe_code, reason = "a pointer is not sent otherwise")]
unsafe impl Send for Memory {}
// SAFETY: as above; nothing here writes to them.
#[allow(unsafe_code, reason = "a pointer is not shared otherwise")]
unsafe impl Sync for Memory {}

impl Memory {
    /// Addresses for `capacity` bytes, none of which is there yet, with `guard` before and behind them.
    fn reserve(capacity: usize, guard: usize) -> Option<Self> {
        let around = guard.checked_mul(2)?.checked_add(LARGE_PAGE_LEN)?;
        let mapping_len = capacity.checked_add(around)?;
        // SAFETY: the kernel chooses where; nothing that exists is touched.
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
        // SAFETY: less than a guard and a large page behind the beginning, which is inside.
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

    /// Where there are none, pages are small, and nothing else is different.
    fn ask_for_large_pages(&self) {
        let Some(len) = self.capacity.checked_sub(STACK_LEN) else {
            return;
        };
        // SAFETY: these pages are ours, and what is in them stays.
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

// SAFETY: the base never moves, the first `len` bytes are there, and those behind them are not.
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

    /// Pages of WebAssembly are whole pages of the system.
    fn grow_to(&mut self, new_len: usize) -> wasmtime::Result<()> {
        if new_len > self.capacity {
            return Err(wasmtime::Error::msg("more memory than is reserved"));
        }
        let Some(more) = new_len.checked_sub(self.len).filter(|more| *more > 0) else {
            return Ok(());
        };
        // SAFETY: these pages are ours, inside of the reservation, and nobody has had access to them before.
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
        // SAFETY: this mapping was made by `reserve`, and wasmtime has let go of it.
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
            // SAFETY: `len` bytes are there.
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

    /// The kernel refuses to write from where nothing is.
    fn is_readable(page: *const u8) -> bool {
        use std::os::fd::AsRawFd;
        let (_reader, writer) = std::io::pipe().unwrap();
        // SAFETY: the kernel reads one byte, and says so if it cannot.
        #[allow(unsafe_code, reason = "asks the kernel for a byte")]
        let written = unsafe { libc::write(writer.as_raw_fd(), page.cast(), 1) };
        written == 1
    }
}
