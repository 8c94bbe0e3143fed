//! Input and output of a loop.

use std::hint::black_box;

use bitpacking::{BitPacker, BitPacker1x, BitPacker4x};

use crate::kernels::{self, Tally};
use crate::matching;
use crate::vectors;

/// One of the loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Unpacks a block of 128 numbers.
    Block,
    /// Unpacks a block of differences.
    SortedBlock,
    /// Unpacks a block of differences minus one, as in postings.
    StrictlySortedBlock,
    /// Unpacks a block of 32 numbers.
    ShortBlock,
    /// Packs a block of 128 numbers.
    PackedBlock,
    /// Unpacks rows to 32-bit numbers.
    Unpack32,
    /// Unpacks rows to 64-bit numbers.
    Unpack64,
    /// Selects 32-bit numbers within a range.
    Within32,
    /// Selects 64-bit numbers within a range.
    Within64,
    /// Selects packed rows within a range.
    Select,
    /// Gathers every seventh row.
    Gather,
    /// Counts codes of up to 4 bits.
    CountNarrow,
    /// Counts codes of 5 to 8 bits.
    CountBytes,
    /// Counts unpacked codes.
    Tally,
    /// Converts ascending documents to bits.
    Mark,
    /// Converts bits to documents.
    List,
    /// Selects a block's documents whose bits are set.
    Among,
    /// Replaces a block's numbers by the values of bytes that they index.
    LookUp,
    /// Inner products and distances of vectors of floating-point numbers.
    FloatVectors,
    /// Inner products and distances of vectors of bytes, and differing bits.
    ByteVectors,
    /// Rotates a vector.
    Rotation,
    /// Estimates how close vectors are by their codes.
    Codes,
}

impl Kernel {
    /// All loops; a module identifies each by its index.
    pub const ALL: [Self; 22] = [
        Self::Block,
        Self::SortedBlock,
        Self::StrictlySortedBlock,
        Self::ShortBlock,
        Self::PackedBlock,
        Self::Unpack32,
        Self::Unpack64,
        Self::Within32,
        Self::Within64,
        Self::Select,
        Self::Gather,
        Self::CountNarrow,
        Self::CountBytes,
        Self::Tally,
        Self::Mark,
        Self::List,
        Self::Among,
        Self::LookUp,
        Self::FloatVectors,
        Self::ByteVectors,
        Self::Rotation,
        Self::Codes,
    ];

    /// Returns the maximum width of rows.
    pub fn max_width(self) -> u8 {
        match self {
            Self::Unpack64 | Self::Within64 => 56,
            Self::CountNarrow => 4,
            Self::CountBytes => 8,
            Self::Tally => 16,
            Self::Mark | Self::List | Self::Among => 8,
            Self::LookUp => 7,
            Self::FloatVectors | Self::ByteVectors | Self::Rotation => 1,
            Self::Codes => 4,
            _ => 32,
        }
    }
}

/// Parameters of a loop, besides the bytes.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// Loop to run.
    pub kernel: Kernel,
    /// Width in bits of a row, or of a number in a block.
    pub width: u8,
    /// First row, less than eight; the initial value of sorted blocks.
    pub first: u32,
    /// Range to select: the minimum, and the distance to the maximum.
    pub range: [u64; 2],
    /// Number of rows.
    pub num_rows: u32,
    /// Number of repetitions, for benches.
    pub repeats: u32,
}

impl Job {
    /// Runs the job, and returns the result as numbers.
    pub fn run(&self, data: &[u8]) -> Vec<u64> {
        for _ in 0..self.repeats {
            black_box(self.once(black_box(data)));
        }
        self.once(data)
    }

    fn once(&self, data: &[u8]) -> Vec<u64> {
        let len = self.num_rows as usize;
        match self.kernel {
            Kernel::Block
            | Kernel::SortedBlock
            | Kernel::StrictlySortedBlock
            | Kernel::ShortBlock => self.unpack_block(data),
            Kernel::PackedBlock => self.pack(data),
            Kernel::Unpack32 => self.numbers(data).into_iter().map(u64::from).collect(),
            Kernel::Unpack64 | Kernel::Within64 => self.wide(data),
            Kernel::Within32 => {
                let mut words = vec![0; len.div_ceil(64)];
                let [least, span] = self.narrow_range();
                kernels::within(&self.numbers(data), least, span, &mut words);
                words
            }
            Kernel::Select => {
                let mut words = vec![0; len / 64];
                let range = self.narrow_range();
                let num_done = kernels::select(data, self.width, self.first % 8, range, &mut words);
                words.truncate(num_done);
                words
            }
            Kernel::Gather => {
                let rows: Vec<u32> = (0..self.num_rows).step_by(7).collect();
                let mut out = vec![0u32; rows.len()];
                kernels::gather(data, self.width, self.num_rows, &rows, &mut out);
                out.into_iter().map(u64::from).collect()
            }
            Kernel::CountNarrow => {
                kernels::count_narrow(data, self.width, self.first % 8, self.num_rows).to_vec()
            }
            Kernel::CountBytes => {
                let mut counts = vec![0; 256];
                let (num_done, is_inside) =
                    kernels::count_bytes(data, self.width, self.num_rows, &mut counts);
                counts.extend([u64::from(num_done), u64::from(is_inside)]);
                counts
            }
            Kernel::Tally => {
                let mut counts = vec![0; 1 << self.width];
                let numbers = self.numbers(data);
                let mut tally = Tally::new(&mut counts, self.width, numbers.len());
                tally.add(&numbers);
                tally.finish();
                counts
            }
            Kernel::Mark | Kernel::List | Kernel::Among | Kernel::LookUp => self.match_docs(data),
            Kernel::FloatVectors => vectors::float_vectors(data, len),
            Kernel::ByteVectors => vectors::byte_vectors(data, len),
            Kernel::Rotation => vectors::rotate(data, len, self.first.into()),
            Kernel::Codes => vectors::estimate(data, len, self.width),
        }
    }

    /// Decompresses a block of numbers.
    fn unpack_block(&self, data: &[u8]) -> Vec<u64> {
        let width = self.width;
        match self.kernel {
            Kernel::SortedBlock => block(BitPacker4x, |packer, out| {
                packer.decompress_sorted(self.first, data, out, width)
            }),
            Kernel::StrictlySortedBlock => block(BitPacker4x, |packer, out| {
                packer.decompress_strictly_sorted(Some(self.first), data, out, width)
            }),
            Kernel::ShortBlock => block(BitPacker1x, |packer, out| {
                packer.decompress(data, out, width)
            }),
            _ => block(BitPacker4x, |packer, out| {
                packer.decompress(data, out, width)
            }),
        }
    }

    /// Unpacks numbers of 64 bits, and for [`Kernel::Within64`] marks those in the range.
    fn wide(&self, data: &[u8]) -> Vec<u64> {
        let mut numbers = vec![0u64; self.num_rows as usize];
        kernels::unpack(data, self.width, &mut numbers);
        if self.kernel == Kernel::Unpack64 {
            return numbers;
        }
        let [least, span] = self.range;
        let mut words = vec![0; numbers.len().div_ceil(64)];
        kernels::within(&numbers, least, span, &mut words);
        words
    }

    /// Runs a kernel of matching.
    fn match_docs(&self, data: &[u8]) -> Vec<u64> {
        match self.kernel {
            Kernel::Mark => {
                let mut words = [0; matching::NUM_WORDS];
                matching::mark(&self.docs(data), self.first, &mut words);
                words.to_vec()
            }
            Kernel::List => {
                let len = self.num_rows as usize;
                let mut docs = vec![0; len.min(64 * matching::NUM_WORDS)];
                matching::list(&words(data), self.first, &mut docs);
                docs.into_iter().map(u64::from).collect()
            }
            Kernel::Among => {
                let (docs, words) = (self.docs(data), words(data));
                let mut ords = [0; 128];
                let blocks = docs.chunks(128).flat_map(|docs| {
                    let num_found = matching::select(docs, self.first, &words, &mut ords);
                    let ords = ords.iter().take(num_found);
                    ords.map(|ord| u64::from(*ord)).collect::<Vec<_>>()
                });
                blocks.collect()
            }
            _ => {
                let mut numbers = [0; 128];
                BitPacker4x.decompress(data, &mut numbers, self.width.min(7));
                let values = data.get(..1 << self.width.min(7)).unwrap_or(data);
                matching::look_up(values, &mut numbers);
                numbers.into_iter().map(u64::from).collect()
            }
        }
    }

    /// Returns ascending documents of a window, with distances given by the bytes.
    fn docs(&self, data: &[u8]) -> Vec<u32> {
        let greatest = (1u32 << self.width.min(8)) - 1;
        let places = data.iter().scan(0u32, |place, byte| {
            *place += 1 + (u32::from(*byte) & greatest);
            Some(*place - 1)
        });
        let places = places.take_while(|place| *place < 64 * matching::NUM_WORDS as u32);
        places.map(|place| self.first.wrapping_add(place)).collect()
    }

    fn numbers(&self, data: &[u8]) -> Vec<u32> {
        let mut numbers = vec![0u32; self.num_rows as usize];
        kernels::unpack(data, self.width, &mut numbers);
        numbers
    }

    /// Returns the range in 32 bits, limited to valid values.
    fn narrow_range(&self) -> [u32; 2] {
        let least = self.range[0] as u32;
        [least, (self.range[1] as u32).min(u32::MAX - least)]
    }

    /// Converts the bytes to 32-bit numbers, and packs them at the width of the largest and as
    /// differences.
    fn pack(&self, data: &[u8]) -> Vec<u64> {
        let numbers: Vec<u32> = data
            .as_chunks()
            .0
            .iter()
            .map(|bytes| u32::from_le_bytes(*bytes) & (u32::MAX >> (32 - self.width.clamp(1, 32))))
            .collect();
        let mut packed = vec![0; BitPacker4x::compressed_block_size(32) * 2];
        let (plain, sorted) = packed.split_at_mut(BitPacker4x::compressed_block_size(32));
        let width = BitPacker4x.num_bits(&numbers);
        BitPacker4x.compress(&numbers, plain, width);
        let width = BitPacker4x.num_bits_strictly_sorted(Some(self.first), &numbers);
        BitPacker4x.compress_strictly_sorted(Some(self.first), &numbers, sorted, width);
        packed.into_iter().map(u64::from).collect()
    }
}

/// Converts the bytes to the words of a window, padded with zeros.
fn words(data: &[u8]) -> [u64; matching::NUM_WORDS] {
    let mut words = [0; matching::NUM_WORDS];
    for (word, bytes) in words.iter_mut().zip(data.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// Unpacks a block, and returns its numbers and its length in bytes.
fn block<P: BitPacker>(packer: P, unpack: impl FnOnce(P, &mut [u32]) -> usize) -> Vec<u64> {
    let mut out = vec![0; P::BLOCK_LEN];
    let num_bytes = unpack(packer, &mut out) as u64;
    out.into_iter().map(u64::from).chain([num_bytes]).collect()
}
