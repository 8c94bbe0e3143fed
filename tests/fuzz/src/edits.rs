//! Fuzzer input as changes to valid bytes: most of them then pass the first check.

/// Applies `input`, with four bytes for each edit: position (two bytes), kind, and value.
pub(crate) fn apply(bytes: &mut Vec<u8>, input: &[u8]) {
    for edit in input.chunks_exact(4) {
        let [low, high, what, value] = *edit else {
            return;
        };
        let place = usize::from(u16::from_le_bytes([low, high]));
        if bytes.is_empty() {
            return;
        }
        // Sixteen bits cover all of a small index; positions in longer data are multiples.
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
