//! Alphabet: symbols with frequencies that add up to 2^14.

use super::coder::{Decoder, Encoder, PROBABILITY_BITS, TOTAL};
use crate::FormatError;
use crate::codec::{Reader, put_varint};

/// Units of [`Alphabet::cost`] in a bit.
pub(super) const COST_OF_BIT: u64 = 256;

/// Returns a sum of frequencies, which is at most 2^14, in 16 bits.
fn short(sum: u32) -> u16 {
    u16::try_from(sum).unwrap_or(u16::MAX)
}

/// Frequencies of symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alphabet {
    /// Sum of the frequencies before each symbol, followed by that of all.
    starts: Vec<u16>,
}

impl Alphabet {
    /// Distributes the frequencies in proportion to counts, of which there is at least one; each
    /// symbol has some.
    pub(super) fn of_counts(counts: &[u64]) -> Self {
        let num = counts.len() as u64;
        let spare = u64::from(TOTAL).saturating_sub(num);
        let sum = counts.iter().sum::<u64>().max(1);
        let mut starts = vec![0_u16];
        let (mut before, mut counted) = (0_u64, 0_u64);
        for (nth, count) in (1_u64..).zip(counts) {
            counted += count;
            // The last symbol gets what rounding has left.
            before = match nth == num {
                true => u64::from(TOTAL),
                false => nth + counted * spare / sum,
            };
            starts.push(u16::try_from(before).unwrap_or(u16::MAX));
        }
        debug_assert_eq!(before, u64::from(TOTAL));
        Self { starts }
    }

    /// Appends all frequencies but the last.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let num = self.num_symbols();
        put_varint(out, num as u64);
        for symbol in 0..num.saturating_sub(1) {
            put_varint(out, u64::from(self.interval(symbol).1));
        }
    }

    /// Reads an alphabet of at least `min_num_symbols`.
    ///
    /// # Errors
    /// A symbol has no frequency, or there are too few symbols.
    pub(super) fn read(
        reader: &mut Reader<'_>,
        min_num_symbols: usize,
    ) -> Result<Self, FormatError> {
        let wrong = |reader: &Reader<'_>| reader.error("frequencies do not add up");
        // The last frequency takes no byte.
        let num = reader.varint_u32()? as usize;
        if num < min_num_symbols.max(1) || num > reader.remaining() + 1 {
            return Err(wrong(reader));
        }
        let mut starts = Vec::with_capacity(num + 1);
        let mut start = 0_u32;
        starts.push(0);
        for _ in 1..num {
            let frequency = reader.varint_u32()?;
            start = start.saturating_add(frequency);
            if frequency == 0 || start >= TOTAL {
                return Err(wrong(reader));
            }
            starts.push(short(start));
        }
        starts.push(short(TOTAL));
        Ok(Self { starts })
    }

    pub(super) fn num_symbols(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns start and frequency of a symbol; those of no symbol have no frequency.
    fn interval(&self, symbol: usize) -> (u32, u32) {
        match self.starts.get(symbol..) {
            Some([start, end, ..]) => (u32::from(*start), u32::from(end - start)),
            _ => (0, 0),
        }
    }

    /// Appends a symbol, which must be one of the alphabet's.
    pub(super) fn encode(&self, symbol: usize, encoder: &mut Encoder) {
        let (start, frequency) = self.interval(symbol);
        encoder.symbol(start, frequency.max(1));
    }

    /// Takes the next symbol off a decoder.
    pub(super) fn decode(&self, block: &[u8], decoder: &mut Decoder) -> usize {
        let low = short(decoder.peek());
        let next = self.starts.partition_point(|start| *start <= low);
        let symbol = next.saturating_sub(1);
        let (start, frequency) = self.interval(symbol);
        decoder.pass(block, start, frequency);
        symbol
    }

    /// Returns what a symbol costs, in 256ths of a bit. It is the same on every machine.
    pub(super) fn cost(&self, symbol: usize) -> u64 {
        let (_, frequency) = self.interval(symbol);
        u64::from(PROBABILITY_BITS) * COST_OF_BIT - logarithm(u64::from(frequency.max(1)))
    }
}

/// Returns the logarithm of a number to the base 2, in 256ths, to within three of these.
pub(super) fn logarithm(number: u64) -> u64 {
    let number = number.max(1);
    let whole = u64::from(u64::BITS - 1 - number.leading_zeros());
    // The mantissa's first eight bits, bent toward the logarithm's curve.
    let mantissa = (number << number.leading_zeros() << 1) >> 56;
    let bend = mantissa * (256 - mantissa) * 88 / 65_536;
    whole * COST_OF_BIT + mantissa + bend
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_has_a_frequency_in_proportion() {
        let check = |counts: &[u64]| {
            let alphabet = Alphabet::of_counts(counts);
            let mut bytes = Vec::new();
            alphabet.write(&mut bytes);
            let mut reader = Reader::new("test", &bytes);
            assert_eq!(Alphabet::read(&mut reader, 1).as_ref(), Ok(&alphabet));
            assert!(reader.is_empty());
            let sum = counts.iter().sum::<u64>().max(1);
            let mut total = 0;
            for (symbol, count) in counts.iter().enumerate() {
                let (start, frequency) = alphabet.interval(symbol);
                assert!(frequency > 0 && start == total);
                total += frequency;
                let ideal = (count * u64::from(TOTAL) / sum) as u32;
                assert!(
                    frequency.abs_diff(ideal) <= 2 + counts.len() as u32,
                    "{counts:?}"
                );
            }
            assert_eq!(total, TOTAL);
        };
        check(&[1]);
        check(&[0, 0, 5]);
        check(&[1, 1_000_000, 3]);
        check(&[1; 1_000]);
        check(&(0..2_000).collect::<Vec<_>>());
    }

    #[test]
    fn logarithms_are_near() {
        for number in [1, 2, 3, 5, 7, 100, 1_000, 16_384, 999_999, u64::MAX] {
            let exact = (number as f64).log2() * 256.0;
            let found = logarithm(number) as f64;
            assert!(
                (found - exact).abs() <= 3.0,
                "{number}: {found} for {exact}"
            );
        }
    }
}
