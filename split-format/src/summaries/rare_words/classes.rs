//! Which bytes words may have, in eight bits: enough to tell that no identifier of digits contains `timeout`.

/// First and last byte of each class.
const CLASSES: [(u8, u8); 7] = [
    (b'0', b'9'),
    (b'a', b'f'),
    (b'g', b'l'),
    (b'm', b'r'),
    (b's', b'z'),
    (0x80, 0xff),
    (b'A', b'Z'),
];

/// Bit of the bytes of no class: the rest of ASCII.
const OTHERS: u8 = 1 << 7;

/// Set of bytes, of which a class is in it as a whole or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteClasses(u8);

impl ByteClasses {
    /// All bytes.
    pub const ALL: Self = Self(u8::MAX);

    /// Returns the set with these bits.
    pub(super) fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Returns the bits of the set.
    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// Returns the classes of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(0, |all, byte| all | class_of(*byte)))
    }

    /// Returns the classes of both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether all bytes of `other` are in this set.
    pub fn has_all(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Returns all bytes of the set, ascending.
    pub fn bytes(self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(move |byte| self.0 & class_of(*byte) != 0)
    }
}

/// Returns the bit of a byte's class.
fn class_of(byte: u8) -> u8 {
    let place = CLASSES
        .iter()
        .position(|(first, last)| (*first..=*last).contains(&byte));
    place.map_or(OTHERS, |place| 1 << place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_one_class() {
        let sets = (0..8).map(|bit| ByteClasses::from_bits(1 << bit));
        let mut all: Vec<u8> = sets.flat_map(ByteClasses::bytes).collect();
        all.sort_unstable();
        assert_eq!(all, (0..=u8::MAX).collect::<Vec<u8>>());
    }

    #[test]
    fn a_set_has_the_bytes_that_it_was_made_of() {
        let digits = ByteClasses::of(b"1073741825");
        assert_eq!(digits.bytes().collect::<Vec<u8>>(), b"0123456789");
        let hex = digits.with(ByteClasses::of(b"beef"));
        assert!(hex.has_all(digits) && !digits.has_all(hex));
        for byte in *b"timout" {
            assert!(!hex.bytes().any(|known| known == byte));
        }
        assert_eq!(ByteClasses::of(b"").bytes().count(), 0);
        assert!(
            ByteClasses::of("é_".as_bytes())
                .bytes()
                .any(|byte| byte == b'_')
        );
    }
}
