//! What can be done with a block.

/// Packs and unpacks blocks of one length.
///
/// A block has [`BLOCK_LEN`](Self::BLOCK_LEN) numbers. Of slices that are longer, the beginning is taken; what a
/// shorter one lacks is zeros, or is not written. Widths are 0 to 32 bits; anything above counts as 32.
pub trait BitPacker: Sized + Clone + Copy {
    /// Numbers in a block.
    const BLOCK_LEN: usize;

    /// There is nothing to prepare.
    fn new() -> Self;

    /// Packs a block whose numbers have `num_bits` bits at most. Returns how many bytes that took.
    fn compress(&self, decompressed: &[u32], compressed: &mut [u8], num_bits: u8) -> usize;

    /// Packs a sorted block as differences, the first of them from `initial`.
    fn compress_sorted(
        &self,
        initial: u32,
        decompressed: &[u32],
        compressed: &mut [u8],
        num_bits: u8,
    ) -> usize;

    /// Packs a strictly sorted block as differences less one, the first of them from `initial`; without, the first
    /// number stands as it is.
    fn compress_strictly_sorted(
        &self,
        initial: Option<u32>,
        decompressed: &[u32],
        compressed: &mut [u8],
        num_bits: u8,
    ) -> usize;

    /// Unpacks a block. Returns how many bytes it took.
    fn decompress(&self, compressed: &[u8], decompressed: &mut [u32], num_bits: u8) -> usize;

    /// Unpacks what [`compress_sorted`](Self::compress_sorted) has packed.
    fn decompress_sorted(
        &self,
        initial: u32,
        compressed: &[u8],
        decompressed: &mut [u32],
        num_bits: u8,
    ) -> usize;

    /// Unpacks what [`compress_strictly_sorted`](Self::compress_strictly_sorted) has packed.
    fn decompress_strictly_sorted(
        &self,
        initial: Option<u32>,
        compressed: &[u8],
        decompressed: &mut [u32],
        num_bits: u8,
    ) -> usize;

    /// Bits of the greatest number of a block.
    fn num_bits(&self, decompressed: &[u32]) -> u8;

    /// Bits of the greatest difference in a sorted block.
    fn num_bits_sorted(&self, initial: u32, decompressed: &[u32]) -> u8;

    /// Bits of the greatest difference less one in a strictly sorted block.
    fn num_bits_strictly_sorted(&self, initial: Option<u32>, decompressed: &[u32]) -> u8;

    /// Bytes of a packed block.
    #[must_use]
    fn compressed_block_size(num_bits: u8) -> usize {
        Self::BLOCK_LEN.saturating_mul(usize::from(num_bits)) / 8
    }
}
