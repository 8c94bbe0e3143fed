//! A reader whose bytes can be examined first, and given back.

use std::io::{self, BufRead, Read};

/// Reads the bytes that were given back, then the examined ones, then the rest.
pub(super) struct Replay {
    unread: Held,
    beginning: Held,
    /// True if either of them may have bytes left.
    is_held: bool,
    /// Error of reading the beginning; returned after its bytes.
    failure: Option<io::Error>,
    reader: Box<dyn BufRead + Send>,
    is_whole: bool,
}

#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    place: usize,
}

impl Held {
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.place..).unwrap_or_default()
    }
}

impl Replay {
    /// Reads the first `len` bytes ahead.
    pub(super) fn new(mut reader: Box<dyn BufRead + Send>, len: usize) -> Replay {
        let mut bytes = Vec::new();
        // One byte more shows whether there is more.
        let read = (&mut reader).take(len as u64 + 1).read_to_end(&mut bytes);
        Replay {
            unread: Held::default(),
            is_held: true,
            is_whole: read.is_ok() && bytes.len() <= len,
            beginning: Held { bytes, place: 0 },
            failure: read.err(),
            reader,
        }
    }

    /// Returns the beginning of the stream, and whether that is all of it.
    pub(super) fn beginning(&self) -> (&[u8], bool) {
        (self.beginning.rest(), self.is_whole)
    }

    /// Gives back the bytes that were read last.
    pub(super) fn unread(&mut self, mut bytes: Vec<u8>) {
        bytes.extend_from_slice(self.unread.rest());
        self.unread = Held { bytes, place: 0 };
        self.is_held = true;
    }
}

impl Read for Replay {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let len = available.len().min(out.len());
        out[..len].copy_from_slice(&available[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl BufRead for Replay {
    #[inline]
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.is_held && self.unread.rest().is_empty() && self.beginning.rest().is_empty() {
            self.is_held = false;
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
        }
        match self.is_held {
            false => self.reader.fill_buf(),
            true if !self.unread.rest().is_empty() => Ok(self.unread.rest()),
            true => Ok(self.beginning.rest()),
        }
    }

    #[inline]
    fn consume(&mut self, len: usize) {
        match self.is_held {
            false => self.reader.consume(len),
            true if !self.unread.rest().is_empty() => self.unread.place += len,
            true => self.beginning.place += len,
        }
    }
}
