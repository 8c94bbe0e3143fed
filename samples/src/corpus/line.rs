//! Writing one line without allocating: a byte buffer with text and decimal numbers.

/// Appends to a line. All text in the corpora is plain ASCII without quotes or backslashes, so
/// nothing needs JSON escaping.
pub(crate) trait LineExt {
    /// Appends text unchanged.
    fn text(&mut self, text: &str) -> &mut Self;
    /// Appends a decimal number.
    fn num(&mut self, value: u64) -> &mut Self;
    /// Appends a decimal number with at least `width` digits.
    fn padded(&mut self, value: u64, width: usize) -> &mut Self;
    /// Appends 16 hexadecimal digits.
    fn hex(&mut self, value: u64) -> &mut Self;
}

impl LineExt for Vec<u8> {
    fn text(&mut self, text: &str) -> &mut Self {
        self.extend_from_slice(text.as_bytes());
        self
    }

    fn num(&mut self, value: u64) -> &mut Self {
        self.padded(value, 1)
    }

    fn padded(&mut self, mut value: u64, width: usize) -> &mut Self {
        let mut digits = [b'0'; 20];
        let mut start = digits.len();
        while value > 0 {
            start -= 1;
            digits[start] = b'0' + (value % 10) as u8;
            value /= 10;
        }
        self.extend_from_slice(&digits[start.min(digits.len() - width)..]);
        self
    }

    fn hex(&mut self, value: u64) -> &mut Self {
        let digits: [u8; 16] =
            std::array::from_fn(|ord| b"0123456789abcdef"[(value >> (60 - 4 * ord)) as usize & 15]);
        self.extend_from_slice(&digits);
        self
    }
}
