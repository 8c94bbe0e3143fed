//! Packers of the two block lengths.

use crate::BitPacker;
use crate::deltas::{add_up, differences, width};
use crate::lanes::Four;
use crate::pack::pack;
use crate::unpack::{ROUNDS, unpack};

/// Packer of blocks of 128 numbers in four lanes, for postings and positions.
#[derive(Clone, Copy, Debug)]
pub struct BitPacker4x;

/// Packer of blocks of 32 numbers in one lane.
#[derive(Clone, Copy, Debug)]
pub struct BitPacker1x;

/// Copies a slice into a block, padded with zeros.
#[inline(always)]
fn block<const L: usize>(numbers: &[u32]) -> [[u32; L]; ROUNDS] {
    let mut block = [[0; L]; ROUNDS];
    for (to, from) in block.as_flattened_mut().iter_mut().zip(numbers) {
        *to = *from;
    }
    block
}

/// Returns the number before the first; without `initial`, a strictly sorted block counts from -1.
fn before_first(initial: Option<u32>) -> u32 {
    initial.unwrap_or(u32::MAX)
}

macro_rules! implement {
    ($packer:ty, $num_lanes:literal, $lanes:ty) => {
        impl $packer {
            /// Unpacks a block, and then applies `then` in place. Damaged bytes become zeros.
            #[inline(always)]
            fn unpack(
                compressed: &[u8],
                decompressed: &mut [u32],
                num_bits: u8,
                then: impl Fn(&mut [[u32; $num_lanes]; ROUNDS]),
            ) -> usize {
                let unpack_into = |block: &mut [[u32; $num_lanes]; ROUNDS]| {
                    if !unpack::<$num_lanes, $lanes>(compressed, num_bits, block) {
                        *block = [[0; $num_lanes]; ROUNDS];
                    }
                    then(block);
                };
                let rounds = decompressed.as_chunks_mut::<$num_lanes>().0;
                if let Some(block) = rounds.first_chunk_mut::<ROUNDS>() {
                    unpack_into(block);
                } else {
                    let mut room = [[0; $num_lanes]; ROUNDS];
                    unpack_into(&mut room);
                    for (to, from) in decompressed.iter_mut().zip(room.as_flattened()) {
                        *to = *from;
                    }
                }
                Self::compressed_block_size(num_bits)
            }
        }

        impl BitPacker for $packer {
            const BLOCK_LEN: usize = $num_lanes * ROUNDS;

            fn new() -> Self {
                Self
            }

            fn compress(&self, decompressed: &[u32], compressed: &mut [u8], num_bits: u8) -> usize {
                pack::<$num_lanes>(&block(decompressed), num_bits, compressed);
                Self::compressed_block_size(num_bits)
            }

            fn compress_sorted(
                &self,
                initial: u32,
                decompressed: &[u32],
                compressed: &mut [u8],
                num_bits: u8,
            ) -> usize {
                let differences = differences::<$num_lanes>(&block(decompressed), initial, 0);
                pack(&differences, num_bits, compressed);
                Self::compressed_block_size(num_bits)
            }

            fn compress_strictly_sorted(
                &self,
                initial: Option<u32>,
                decompressed: &[u32],
                compressed: &mut [u8],
                num_bits: u8,
            ) -> usize {
                let before = before_first(initial);
                let differences = differences::<$num_lanes>(&block(decompressed), before, 1);
                pack(&differences, num_bits, compressed);
                Self::compressed_block_size(num_bits)
            }

            fn decompress(
                &self,
                compressed: &[u8],
                decompressed: &mut [u32],
                num_bits: u8,
            ) -> usize {
                Self::unpack(compressed, decompressed, num_bits, |_| ())
            }

            fn decompress_sorted(
                &self,
                initial: u32,
                compressed: &[u8],
                decompressed: &mut [u32],
                num_bits: u8,
            ) -> usize {
                Self::unpack(compressed, decompressed, num_bits, |block| {
                    add_up::<$num_lanes, $lanes>(block, initial, 0);
                })
            }

            fn decompress_strictly_sorted(
                &self,
                initial: Option<u32>,
                compressed: &[u8],
                decompressed: &mut [u32],
                num_bits: u8,
            ) -> usize {
                let before = before_first(initial);
                Self::unpack(compressed, decompressed, num_bits, |block| {
                    add_up::<$num_lanes, $lanes>(block, before, 1);
                })
            }

            fn num_bits(&self, decompressed: &[u32]) -> u8 {
                width::<$num_lanes>(&block(decompressed))
            }

            fn num_bits_sorted(&self, initial: u32, decompressed: &[u32]) -> u8 {
                width(&differences::<$num_lanes>(&block(decompressed), initial, 0))
            }

            fn num_bits_strictly_sorted(&self, initial: Option<u32>, decompressed: &[u32]) -> u8 {
                let before = before_first(initial);
                width(&differences::<$num_lanes>(&block(decompressed), before, 1))
            }
        }
    };
}

implement!(BitPacker4x, 4, Four);
implement!(BitPacker1x, 1, u32);
