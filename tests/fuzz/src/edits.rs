//! A fuzzer's input as changes to bytes that are good: most of them then get past the first check.

/// Applies `input`, four bytes an edit: where (two bytes), what, and a value.
pub(crate) fn apply(bytes: &mut Vec<u8>, input: &[u8]) {
    for edit in input.chunks_exact(4) {
        let [low, high, what, value] = *edit else {
            return;
        };
        let place = usize::from(u16::from_le_bytes([low, high]));
        if bytes.is_empty() {
            return;
        }
        // Sixteen bits reach all of a small index; what is longer is reached by multiples.
        let place = place * bytes.len().div_ceil(1 << 16) % bytes.len();
        match what % 4 {
            0 => bytes[place] ^= value | 1,
            1 => bytes[place] = value,
            2 => drop(bytes.drain(place..(place + usize::from(value)).min(bytes.len()))),
            _ => drop(bytes.splice(
                place..place,
                std::iter::repeat_n(value, usize::from(what / 4)),
            )),
        }
    }
}
