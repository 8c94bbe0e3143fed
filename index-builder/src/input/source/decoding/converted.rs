//! Text that was converted to UTF-8 and waits to be read.

/// Characters as UTF-8, and how many of their bytes were read.
#[derive(Default)]
pub(super) struct Converted {
    bytes: Vec<u8>,
    place: usize,
}

impl Converted {
    /// Returns whether all of it was read.
    pub(super) fn is_read(&self) -> bool {
        self.place == self.bytes.len()
    }

    /// Forgets what was read.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.place = 0;
    }

    pub(super) fn push(&mut self, character: char) {
        let mut utf8 = [0; 4];
        let text = character.encode_utf8(&mut utf8);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(super) fn extend(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Copies as much as there is room for, and returns the number of bytes.
    pub(super) fn read(&mut self, out: &mut [u8]) -> usize {
        let rest = &self.bytes[self.place..];
        let len = rest.len().min(out.len());
        out[..len].copy_from_slice(&rest[..len]);
        self.place += len;
        len
    }
}
