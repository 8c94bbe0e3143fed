//! Operations on blocks.

/// Packer of blocks of one length.
///
/// A block has [`BLOCK_LEN`](Self::BLOCK_LEN) numbers. Longer slices are used up to that length;
/// missing input counts as zeros, and output beyond a slice is dropped. Widths are 0 to 32 bits;
/// larger ones count as 32.
pub trait BitPacker: Sized + Clone + Copy {
    /// Number of numbers in a block.
    const BLOCK_LEN: usize;

    /// Creates a packer, which needs no preparation.
    fn new() -> Self;

    /// Packs a block of numbers with at most `num_bits` bits. Returns the number of bytes written.
    fn compress(&self, decompressed: &[u32], compressed: &mut [u8], num_bits: u8) -> usize;

    /// Packs a sorted block as differences, the first of them from `initial`.
    fn compress_sorted(
        &self,
        initial: u32,
        decompressed: &[u32],
        compressed: &mut [u8],
        num_bits: u8,
    ) -> usize;

    /// Packs a strictly sorted block as differences minus one, the first of them from `initial`;
    /// without it, the first number is stored unchanged.
    fn compress_strictly_sorted(
        &self,
        initial: Option<u32>,
        decompressed: &[u32],
        compressed: &mut [u8],
        num_bits: u8,
    ) -> usize;

    /// Unpacks a block. Returns the number of bytes read.
    fn decompress(&self, compressed: &[u8], decompressed: &mut [u32], num_bits: u8) -> usize;

    /// Unpacks the output of [`compress_sorted`](Self::compress_sorted).
    fn decompress_sorted(
        &self,
        initial: u32,
        compressed: &[u8],
        decompressed: &mut [u32],
        num_bits: u8,
    ) -> usize;

    /// Unpacks the output of [`compress_strictly_sorted`](Self::compress_strictly_sorted).
    fn decompress_strictly_sorted(
        &self,
        initial: Option<u32>,
        compressed: &[u8],
        decompressed: &mut [u32],
        num_bits: u8,
    ) -> usize;

    /// Returns the width in bits of the largest number in a block.
    fn num_bits(&self, decompressed: &[u32]) -> u8;

    /// Returns the width in bits of the largest difference in a sorted block.
    fn num_bits_sorted(&self, initial: u32, decompressed: &[u32]) -> u8;

    /// Returns the width in bits of the largest difference minus one in a strictly sorted block.
    fn num_bits_strictly_sorted(&self, initial: Option<u32>, decompressed: &[u32]) -> u8;

    /// Returns the size of a packed block in bytes.
    #[must_use]
    fn compressed_block_size(num_bits: u8) -> usize {
        Self::BLOCK_LEN.saturating_mul(usize::from(num_bits)) / 8
    }
}
