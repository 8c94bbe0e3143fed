//! Hash of a value: XXH3 of the bytes that its `Hash` writes, with 64-bit lengths on every machine.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Length of a piece: enough for numbers with a salt and for most texts; longer values are hashed
/// in pieces.
const PIECE: usize = 64;

pub(super) fn hash(value: impl Hash) -> u64 {
    let mut hasher = Pieces {
        hash: 0,
        piece: [0; PIECE],
        len: 0,
    };
    value.hash(&mut hasher);
    hasher.finish()
}

/// Buffer of written bytes, because XXH3 is fastest on contiguous bytes.
struct Pieces {
    /// Hash of the previous pieces, the seed of the next one.
    hash: u64,
    piece: [u8; PIECE],
    len: usize,
}

impl Hasher for Pieces {
    fn write(&mut self, bytes: &[u8]) {
        if self.len + bytes.len() > PIECE {
            self.hash = self.finish();
            self.len = 0;
        }
        if bytes.len() > PIECE {
            self.hash = xxh3_64_with_seed(bytes, self.hash);
            return;
        }
        self.piece[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn write_u16(&mut self, value: u16) {
        self.write(&value.to_le_bytes());
    }

    fn write_u32(&mut self, value: u32) {
        self.write(&value.to_le_bytes());
    }

    fn write_u64(&mut self, value: u64) {
        self.write(&value.to_le_bytes());
    }

    fn write_u128(&mut self, value: u128) {
        self.write(&value.to_le_bytes());
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        xxh3_64_with_seed(&self.piece[..self.len], self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::hash;

    /// Compares with another implementation of XXH3, on the bytes that tantivy writes for texts and
    /// numbers. The answers of every host show that wasm32 gives the same.
    #[test]
    fn values_have_fixed_hashes() {
        assert_eq!(hash((0u8, 7u64)), 0xe58e_df1d_b21c_a0b8);
        assert_eq!(hash(b"terma".as_slice()), 0x7aeb_e2ad_ba8a_5ef3);
        assert_eq!(hash("terma"), 0xbeaa_d634_68c9_05c5);
        assert_eq!(hash([7u8; 64].as_slice()), 0xae32_989f_61d6_3349);
        assert_eq!(hash([7u8; 65].as_slice()), 0xad86_5a81_76a3_a390);
        let numbers = (1usize, -1isize, 2u16, 3u32, 4u128);
        assert_eq!(hash(numbers), 0x26df_0f2d_90f2_ae03);
    }

    #[test]
    fn a_length_is_part_of_a_hash() {
        assert_ne!(hash(b"a".as_slice()), hash(b"a\0".as_slice()));
        assert_ne!(hash([7u8; 65].as_slice()), hash([7u8; 66].as_slice()));
        assert_ne!(hash(("ab", "c")), hash(("a", "bc")));
    }
}
