//! Reusable memory for reads of ranges.
//!
//! A search reads megabytes and drops them soon after. Fresh memory for each read costs several
//! times as much as copying a file from the system's cache: every 4 KiB is a page fault and is
//! zeroed first. Allocators return large allocations to the system, so they are pooled here, up to
//! 32 MiB. Long buffers use huge pages.

mod memory;
mod pages;

use std::io::{self, Read};
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use memory::Memory;

/// Minimum length of a pooled buffer. Allocators recycle shorter ones themselves.
const MIN_LEN: usize = 64 << 10;

/// Maximum size of idle memory in the process.
const MAX_IDLE_BYTES: usize = 32 << 20;

static IDLE: Mutex<Idle> = Mutex::new(Idle::new(MAX_IDLE_BYTES));

/// Growable bytes whose memory returns to the pool when the last reference is dropped.
#[derive(Debug, Default)]
pub struct Buffer(Memory);

impl Buffer {
    /// Creates an empty buffer with room for `len` bytes.
    pub fn with_capacity(len: usize) -> Self {
        let idle = match len < MIN_LEN {
            true => None,
            false => IDLE
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(len),
        };
        Self(idle.unwrap_or_else(|| Memory::with_capacity(len)))
    }

    /// Concatenates `parts`. A single part is not copied.
    pub fn joined(parts: &[Bytes]) -> Bytes {
        if let [only] = parts {
            return only.clone();
        }
        let mut all = Self::with_capacity(parts.iter().map(Bytes::len).sum());
        parts.iter().for_each(|part| all.extend_from_slice(part));
        all.into_bytes()
    }

    /// Appends bytes.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// Appends the next `len` bytes of `from`, or all if it ends earlier, and returns their number.
    ///
    /// # Errors
    /// Reading fails; the bytes before the error stay appended.
    pub fn read_from(&mut self, from: impl Read, len: usize) -> io::Result<usize> {
        self.reserve(len);
        self.0.read_from(from, len)
    }

    /// Shortens the buffer to its first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Splits off the bytes after the first `at`, which stay in this buffer.
    pub fn split_off(&mut self, at: usize) -> Self {
        let behind = self.get(at..).unwrap_or_default();
        let mut other = Self::with_capacity(behind.len());
        other.extend_from_slice(behind);
        self.truncate(at);
        other
    }

    /// Converts the buffer into bytes that can be shared and sliced without a copy.
    pub fn into_bytes(mut self) -> Bytes {
        match std::mem::take(&mut self.0) {
            Memory::Heap(bytes) if bytes.capacity() < MIN_LEN => bytes.into(),
            memory => Bytes::from_owner(Self(memory)),
        }
    }

    fn reserve(&mut self, num_more: usize) {
        let len = self.len().saturating_add(num_more);
        if len > self.0.capacity() {
            let room = len.max(self.0.capacity().saturating_mul(2));
            let mut larger = Self::with_capacity(if self.is_empty() { len } else { room });
            larger.0.extend_from_slice(self);
            *self = larger;
        }
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Memory::Heap(bytes))
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.0.capacity() >= MIN_LEN {
            let memory = std::mem::take(&mut self.0);
            IDLE.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .keep(memory);
        }
    }
}

/// Pool of idle memory.
#[derive(Debug)]
struct Idle {
    /// Idle allocations, the most recently dropped last.
    pieces: Vec<Memory>,
    num_bytes: usize,
    max_bytes: usize,
}

impl Idle {
    const fn new(max_bytes: usize) -> Self {
        Self {
            pieces: Vec::new(),
            num_bytes: 0,
            max_bytes,
        }
    }

    /// Takes the smallest allocation with room for `len` bytes. Much larger ones are left for
    /// longer ranges: a few retained bytes would retain the whole allocation.
    fn take(&mut self, len: usize) -> Option<Memory> {
        let fits = |capacity: usize| capacity >= len && capacity <= len.saturating_add(len / 4);
        let fitting = self.pieces.iter().enumerate();
        let fitting = fitting.filter(|(_, piece)| fits(piece.capacity()));
        let (place, _) = fitting.min_by_key(|(_, piece)| piece.capacity())?;
        let piece = self.pieces.swap_remove(place);
        self.num_bytes -= piece.capacity();
        Some(piece)
    }

    /// Adds an allocation to the pool, and frees others if the pool exceeds its limit.
    fn keep(&mut self, mut piece: Memory) {
        if piece.capacity() > self.max_bytes / 4 {
            return;
        }
        piece.truncate(0);
        self.num_bytes += piece.capacity();
        self.pieces.push(piece);
        while self.num_bytes > self.max_bytes {
            self.num_bytes -= self.pieces.remove(0).capacity();
        }
    }
}

#[cfg(test)]
mod tests;
