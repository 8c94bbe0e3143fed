//! Memory that ranges are read into, which is used again when nobody has their bytes any more.
//!
//! A search reads megabytes and is done with them a moment later. Fresh memory for each costs more than copying what the
//! system has of a file: every 4 KiB is a page fault, and is filled with zeros first. An allocator gives large pieces
//! back to the system, so these are kept here, up to 32 MiB of them.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

/// What is shorter, allocators have at hand.
const MIN_LEN: usize = 64 << 10;

/// Most memory that is kept, by the whole process.
const MAX_IDLE_BYTES: usize = 32 << 20;

static IDLE: Mutex<Idle> = Mutex::new(Idle::new(MAX_IDLE_BYTES));

/// A vector whose memory is kept when it is dropped, or when the last of its bytes are.
#[derive(Debug, Default)]
pub struct Buffer(Vec<u8>);

impl Buffer {
    /// An empty one with room for so many bytes.
    pub fn with_capacity(len: usize) -> Self {
        let idle = match len < MIN_LEN {
            true => None,
            false => IDLE
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(len),
        };
        Self(idle.unwrap_or_else(|| Vec::with_capacity(len)))
    }

    /// The bytes of all parts, one behind the other: copied only if they are several.
    pub fn joined(parts: &[Bytes]) -> Bytes {
        if let [only] = parts {
            return only.clone();
        }
        let mut all = Self::with_capacity(parts.iter().map(Bytes::len).sum());
        parts.iter().for_each(|part| all.extend_from_slice(part));
        all.into_bytes()
    }

    /// Its bytes, which may be shared and cut without a copy.
    pub fn into_bytes(mut self) -> Bytes {
        match self.0.capacity() < MIN_LEN {
            true => std::mem::take(&mut self.0).into(),
            false => Bytes::from_owner(self),
        }
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Deref for Buffer {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.0
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

/// Memory that nobody has.
#[derive(Debug)]
struct Idle {
    /// What was let go of last is the last.
    vectors: Vec<Vec<u8>>,
    num_bytes: usize,
    max_bytes: usize,
}

impl Idle {
    const fn new(max_bytes: usize) -> Self {
        Self {
            vectors: Vec::new(),
            num_bytes: 0,
            max_bytes,
        }
    }

    /// The least that has room for so many bytes. What is much larger is left for longer ranges: a few bytes that somebody
    /// keeps would keep all of it.
    fn take(&mut self, len: usize) -> Option<Vec<u8>> {
        let fits = |capacity: usize| capacity >= len && capacity <= len.saturating_add(len / 4);
        let fitting = self.vectors.iter().enumerate();
        let fitting = fitting.filter(|(_, vector)| fits(vector.capacity()));
        let (place, _) = fitting.min_by_key(|(_, vector)| vector.capacity())?;
        let vector = self.vectors.swap_remove(place);
        self.num_bytes -= vector.capacity();
        Some(vector)
    }

    /// Keeps one, and lets go of others if they are too many.
    fn keep(&mut self, mut vector: Vec<u8>) {
        if vector.capacity() > self.max_bytes / 4 {
            return;
        }
        vector.clear();
        self.num_bytes += vector.capacity();
        self.vectors.push(vector);
        while self.num_bytes > self.max_bytes {
            self.num_bytes -= self.vectors.remove(0).capacity();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_when_its_last_bytes_are_gone() {
        // Of a length that no other test has.
        let len = MIN_LEN * 7 + 3;
        let mut buffer = Buffer::with_capacity(len);
        buffer.extend_from_slice(b"some bytes");
        let place = buffer.as_ptr();
        let bytes = buffer.into_bytes();
        let part = bytes.slice(5..);
        drop(bytes);
        let other = Buffer::with_capacity(len);
        assert_ne!(other.as_ptr(), place, "somebody has them");
        assert_eq!(part, "bytes");
        drop(part);
        let again = Buffer::with_capacity(len - MIN_LEN);
        assert_eq!(again.as_ptr(), place);
        assert!(again.is_empty());
    }

    #[test]
    fn short_ones_are_plain() {
        let mut buffer = Buffer::with_capacity(10);
        buffer.push(7);
        assert_eq!(buffer.into_bytes(), &[7u8][..]);
        assert_eq!(Buffer::from(vec![1, 2]).into_bytes(), &[1u8, 2][..]);
    }

    #[test]
    fn parts_are_joined_and_a_single_one_is_not_copied() {
        let only = Bytes::from(vec![3; 100]);
        let same = Buffer::joined(std::slice::from_ref(&only));
        assert_eq!(same.as_ptr(), only.as_ptr());
        let long = Bytes::from(vec![4; MIN_LEN]);
        let both = Buffer::joined(&[only.clone(), long.clone()]);
        assert_eq!((&both[..100], &both[100..]), (&only[..], &long[..]));
        assert!(Buffer::joined(&[]).is_empty());
    }

    #[test]
    fn no_more_is_kept_than_may_be() {
        let mut idle = Idle::new(1000);
        for len in [100, 200, 250, 250, 240] {
            idle.keep(Vec::with_capacity(len));
        }
        // The first had to go, and what is too large never comes.
        assert_eq!(idle.num_bytes, 940);
        idle.keep(Vec::with_capacity(251));
        assert_eq!(idle.num_bytes, 940);
        assert!(idle.take(100).is_none(), "200 are more than a fourth more");
        assert_eq!(idle.take(235).unwrap().capacity(), 240);
        assert_eq!(idle.take(235).unwrap().capacity(), 250);
        assert_eq!(idle.take(200).unwrap().capacity(), 200);
        assert_eq!(idle.num_bytes, 250);
    }
}
