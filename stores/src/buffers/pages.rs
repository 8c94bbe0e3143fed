//! Memory in huge pages of 2 MiB: one page fault instead of 512.
//!
//! Filling fresh memory once takes a third of the time that it takes in pages of 4 KiB (measured
//! with 21 MB from the system's cache: 9.2 ms in small pages, 3.4 ms in huge pages, 0.7 ms into
//! reused memory). Most systems give huge pages on request only. Memory is allocated even if the
//! request is refused.

use std::io::{self, ErrorKind, Read};

use memmap2::MmapMut;

/// Length of a huge page.
const HUGE_LEN: usize = 2 << 20;

/// Zeroed memory from the system, of which the first `len` bytes are in use.
#[derive(Debug)]
pub(super) struct Pages {
    map: MmapMut,
    len: usize,
    /// Usable capacity. Memory past it only lets the system find whole huge pages, and is never
    /// touched.
    capacity: usize,
}

impl Pages {
    /// Allocates memory, or returns `None` if the capacity is too small for a huge page or the
    /// system refuses.
    pub(super) fn with_capacity(capacity: usize) -> Option<Self> {
        // A last page that is at least half used is huge too: it is faster, and wastes at most as
        // much again.
        let num_huge = capacity.saturating_add(HUGE_LEN / 2) / HUGE_LEN;
        if num_huge == 0 || !cfg!(target_os = "linux") {
            return None;
        }
        // The system aligns a mapping to huge pages if its length is a multiple of them.
        let map = MmapMut::map_anon(capacity.checked_next_multiple_of(HUGE_LEN)?).ok()?;
        // The system may lack huge pages, or refuse them; small pages serve as well.
        #[cfg(target_os = "linux")]
        let _ = map.advise_range(memmap2::Advice::HugePage, 0, num_huge * HUGE_LEN);
        Some(Self {
            map,
            len: 0,
            capacity,
        })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.map[..self.len]
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(super) fn extend_from_slice(&mut self, more: &[u8]) {
        let end = self.len + more.len();
        self.map[self.len..end].copy_from_slice(more);
        self.len = end;
    }

    pub(super) fn read_from(&mut self, mut from: impl Read, len: usize) -> io::Result<usize> {
        let (start, end) = (self.len, self.len + len);
        while self.len < end {
            match from.read(&mut self.map[self.len..end]) {
                Ok(0) => break,
                Ok(num_bytes) => self.len += num_bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.len - start)
    }
}
