//! Storage of a buffer: the heap, or pages of its own.

use std::io::{self, Read};

use super::pages::Pages;

/// Bytes with spare capacity.
#[derive(Debug)]
pub(super) enum Memory {
    Heap(Vec<u8>),
    Pages(Pages),
}

impl Default for Memory {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

impl Memory {
    pub(super) fn with_capacity(len: usize) -> Self {
        match Pages::with_capacity(len) {
            Some(pages) => Self::Pages(pages),
            None => Self::Heap(Vec::with_capacity(len)),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(pages) => pages.bytes(),
        }
    }

    pub(super) fn capacity(&self) -> usize {
        match self {
            Self::Heap(bytes) => bytes.capacity(),
            Self::Pages(pages) => pages.capacity(),
        }
    }

    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Self::Heap(bytes) => bytes.truncate(len),
            Self::Pages(pages) => pages.truncate(len),
        }
    }

    /// Appends bytes. The capacity must suffice.
    pub(super) fn extend_from_slice(&mut self, more: &[u8]) {
        match self {
            Self::Heap(bytes) => bytes.extend_from_slice(more),
            Self::Pages(pages) => pages.extend_from_slice(more),
        }
    }

    /// Appends the next `len` bytes of `from`, or all if it ends earlier. The capacity must
    /// suffice.
    pub(super) fn read_from(&mut self, from: impl Read, len: usize) -> io::Result<usize> {
        match self {
            Self::Heap(bytes) => from.take(len as u64).read_to_end(bytes),
            Self::Pages(pages) => pages.read_from(from, len),
        }
    }
}
