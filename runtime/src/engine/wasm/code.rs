//! Location of compiled code: in memory, or in pages of a file, which are executed in place.
//!
//! ```text
//!   a part of this program   begins a page of the executable   ┐ executed in place: not copied, and unused
//!   a file                   mapped, read-only                 ┘ parts are never read
//!   bytes in memory          copied by wasmtime
//! ```
//!
//! Code that is executed in place is never writable: its pages change from "read" to "read and
//! execute". On systems that may only refuse this when the code is called, all code is copied.

use std::fs::File;
use std::ops::Deref;

/// Bytes of a precompiled component.
#[derive(Debug)]
pub(super) enum Code {
    /// In pages of this program's own file that contain nothing else.
    #[cfg_attr(
        not(canter_embed_guest),
        allow(dead_code, reason = "no guest is embedded")
    )]
    Inside(&'static [u8]),
    /// In pages of another file.
    #[cfg(target_os = "linux")]
    Mapped(Mapping),
    /// Anywhere in memory.
    InMemory(Vec<u8>),
}

impl Code {
    /// Returns the bytes of an open file: mapped if possible, read otherwise.
    pub(super) fn of_file(mut file: File) -> std::io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(mapping) = Mapping::of(&file) {
            return Ok(Self::Mapped(mapping));
        }
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(Self::InMemory(bytes))
    }

    /// Returns whether these are pages that can be executed in place.
    #[cfg(target_os = "linux")]
    pub(super) fn is_in_pages(&self) -> bool {
        match self {
            Self::Inside(_) | Self::Mapped(_) => self.as_ptr().addr().is_multiple_of(page_len()),
            Self::InMemory(_) => false,
        }
    }
}

impl Deref for Code {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Inside(bytes) => bytes,
            #[cfg(target_os = "linux")]
            Self::Mapped(mapping) => mapping.bytes(),
            Self::InMemory(bytes) => bytes,
        }
    }
}

#[cfg(target_os = "linux")]
use in_place::page_len;
#[cfg(target_os = "linux")]
pub(super) use in_place::{InPlace, Mapping};

#[cfg(target_os = "linux")]
mod in_place {
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::ptr::NonNull;

    use super::Code;

    /// Read-only mapping of a file, removed on drop.
    #[derive(Debug)]
    pub(in super::super) struct Mapping {
        start: NonNull<u8>,
        len: usize,
    }

    // SAFETY: the pages are only read and executed, from any thread, until they are dropped.
    #[allow(unsafe_code, reason = "a pointer is not sent otherwise")]
    unsafe impl Send for Mapping {}
    // SAFETY: as above.
    #[allow(unsafe_code, reason = "a pointer is not shared otherwise")]
    unsafe impl Sync for Mapping {}

    impl Mapping {
        /// Maps a whole file, or returns `None` if it is empty or cannot be mapped. The file must
        /// not be written to while it is mapped: files are replaced by renaming.
        pub(super) fn of(file: &File) -> Option<Self> {
            let len = usize::try_from(file.metadata().ok()?.len()).ok()?;
            if len == 0 {
                return None;
            }
            // SAFETY: the kernel chooses the address, and existing mappings are not affected.
            #[allow(unsafe_code, reason = "the standard library maps no files")]
            let start = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    len,
                    libc::PROT_READ,
                    libc::MAP_PRIVATE,
                    file.as_raw_fd(),
                    0,
                )
            };
            if start == libc::MAP_FAILED {
                return None;
            }
            let start = NonNull::new(start.cast::<u8>())?;
            Some(Self { start, len })
        }

        pub(super) fn bytes(&self) -> &[u8] {
            // SAFETY: these pages are mapped, readable and `len` bytes long until `self` is dropped.
            #[allow(unsafe_code, reason = "the bytes of a mapping")]
            unsafe {
                std::slice::from_raw_parts(self.start.as_ptr(), self.len)
            }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: this mapping was made by `of`, and its bytes are not used any more.
            #[allow(unsafe_code, reason = "the standard library unmaps nothing")]
            unsafe {
                libc::munmap(self.start.as_ptr().cast(), self.len);
            }
        }
    }

    /// Lets wasmtime execute code in place. wasmtime keeps this value as long as any of the code is
    /// in use, so the pages stay mapped.
    pub(in super::super) struct InPlace(Code);

    impl InPlace {
        pub(in super::super) fn new(code: Code) -> Self {
            Self(code)
        }

        pub(in super::super) fn code(&self) -> &Code {
            &self.0
        }

        /// Sets the protection of a part of the code.
        fn protect(
            &self,
            start: *const u8,
            len: usize,
            protection: libc::c_int,
        ) -> wasmtime::Result<()> {
            let ours = self.0.as_ptr_range();
            let is_ours = ours.contains(&start) && len <= ours.end.addr() - start.addr();
            if !is_ours {
                return Err(wasmtime::Error::msg("code outside of what is run in place"));
            }
            // SAFETY: the pages belong to this mapping, contain only code and its data, and stay
            // readable.
            #[allow(unsafe_code, reason = "the standard library protects no pages")]
            let failed = unsafe { libc::mprotect(start.cast_mut().cast(), len, protection) };
            match failed {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error().into()),
            }
        }
    }

    impl wasmtime::CustomCodeMemory for InPlace {
        fn required_alignment(&self) -> usize {
            page_len()
        }

        fn publish_executable(&self, start: *const u8, len: usize) -> wasmtime::Result<()> {
            self.protect(start, len, libc::PROT_READ | libc::PROT_EXEC)
        }

        /// Restores the protection from before, which was not writable.
        fn unpublish_executable(&self, start: *const u8, len: usize) -> wasmtime::Result<()> {
            self.protect(start, len, libc::PROT_READ)
        }
    }

    pub(super) fn page_len() -> usize {
        // SAFETY: the call only returns a number.
        #[allow(unsafe_code, reason = "the standard library does not tell it")]
        let len = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(len).unwrap_or(usize::MAX).max(1)
    }
}
