//! The hash of a value: XXH3 of what its `Hash` writes, with lengths as 64 bits on every machine.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Enough for numbers with a salt, and for most texts; what is longer is hashed in pieces.
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

/// Collects what is written, because XXH3 is fastest over bytes that are all there.
struct Pieces {
    /// Of the pieces before, which seeds that of the next.
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

    /// XXH3 as another implementation has it, of the bytes that tantivy's texts and numbers are written as;
    /// that wasm32 has the same is seen in the answers of every host.
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
