//! Entropy coder with given probabilities: rANS with a state of 32 bits and words of 16.
//!
//! A state `x` is at least 2^16. A symbol with the frequencies `start..start + frequency` out of
//! 2^14 is taken off it, and a word is appended to its low end if it gets smaller:
//!
//! ```text
//!   decode   low = x mod 2^14, which names the symbol;  x = frequency · ⌊x / 2^14⌋ + low - start
//!   bits     value = x mod 2^n;                         x = ⌊x / 2^n⌋
//!   then     if x < 2^16: x = x · 2^16 + next word
//! ```
//!
//! The encoder does the reverse, from the last symbol to the first, beginning with a state of 2^16.

/// Probabilities are multiples of 2^-14.
pub(super) const PROBABILITY_BITS: u32 = 14;

/// Sum of the frequencies of an alphabet.
pub(super) const TOTAL: u32 = 1 << PROBABILITY_BITS;

/// Minimum of a state, and the state of which nothing is left.
const LOW: u32 = 1 << WORD_BITS;
const WORD_BITS: u32 = 16;

/// Maximum number of bits of one step.
const MAX_STEP_BITS: u32 = 16;

/// Length of a group's state.
const STATE_NUM_BYTES: usize = 4;

/// Length of a word.
pub(super) const WORD_NUM_BYTES: usize = 2;

/// Interval of frequencies, or bits as they are.
#[derive(Clone, Copy, Debug)]
struct Step {
    start: u32,
    frequency: u32,
    /// Logarithm of the sum of frequencies.
    total_bits: u32,
}

/// Steps of a group, in the order of decoding.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    steps: Vec<Step>,
    words: Vec<u16>,
}

impl Encoder {
    /// Appends a symbol.
    pub(super) fn symbol(&mut self, start: u32, frequency: u32) {
        self.steps.push(Step {
            start,
            frequency,
            total_bits: PROBABILITY_BITS,
        });
    }

    /// Appends the low `num_bits` bits of a number.
    pub(super) fn bits(&mut self, mut value: u64, mut num_bits: u32) {
        while num_bits > 0 {
            let num = num_bits.min(MAX_STEP_BITS);
            let low = value & ((1 << num) - 1);
            self.steps.push(Step {
                start: u32::try_from(low).unwrap_or(0),
                frequency: 1,
                total_bits: num,
            });
            value >>= num;
            num_bits -= num;
        }
    }

    /// Appends the group to `out`, and starts the next.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        let mut state = u64::from(LOW);
        let low_bytes = |state: u64| {
            let [first, second, third, fourth, ..] = state.to_le_bytes();
            [first, second, third, fourth]
        };
        self.words.clear();
        for step in self.steps.drain(..).rev() {
            let frequency = u64::from(step.frequency);
            // The state must stay below 2^32.
            if state >= frequency << (u32::BITS - step.total_bits) {
                let [low, high, ..] = state.to_le_bytes();
                self.words.push(u16::from_le_bytes([low, high]));
                state >>= WORD_BITS;
            }
            state = ((state / frequency) << step.total_bits)
                + state % frequency
                + u64::from(step.start);
        }
        out.extend_from_slice(&low_bytes(state));
        for word in self.words.iter().rev() {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}

/// Decoder of a group. What lies beyond its end reads as zeros, and [`Decoder::is_sound`] becomes
/// false.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder {
    state: u32,
    /// Next word in the block.
    at: usize,
    end: usize,
    is_sound: bool,
}

impl Decoder {
    /// Starts to decode a group at `at..end` of a block.
    pub(super) fn new(block: &[u8], at: usize, end: usize) -> Option<Self> {
        let state = block.get(at..end)?.first_chunk::<STATE_NUM_BYTES>()?;
        Some(Self {
            state: u32::from_le_bytes(*state),
            at: at + STATE_NUM_BYTES,
            end,
            is_sound: true,
        })
    }

    /// Returns the place of the next symbol among the frequencies.
    pub(super) fn peek(&self) -> u32 {
        self.state & (TOTAL - 1)
    }

    /// Passes the symbol to which the place belongs that [`Decoder::peek`] returned.
    pub(super) fn pass(&mut self, block: &[u8], start: u32, frequency: u32) {
        let low = self.peek();
        // At most (2^32 - 1) in all for a valid interval; an invalid one cannot be opened.
        self.state = frequency
            .wrapping_mul(self.state >> PROBABILITY_BITS)
            .wrapping_add(low.wrapping_sub(start));
        self.refill(block);
    }

    /// Returns the next `num_bits` bits, at most 64.
    pub(super) fn bits(&mut self, block: &[u8], num_bits: u32) -> u64 {
        let (mut value, mut done) = (0, 0);
        while done < num_bits.min(u64::BITS) {
            let num = (num_bits - done).min(MAX_STEP_BITS);
            value |= u64::from(self.state & ((1 << num) - 1)) << done;
            self.state >>= num;
            done += num;
            self.refill(block);
        }
        value
    }

    fn refill(&mut self, block: &[u8]) {
        if self.state >= LOW {
            return;
        }
        let word = match self.at < self.end {
            true => block
                .get(self.at..)
                .and_then(<[u8]>::first_chunk::<WORD_NUM_BYTES>),
            false => None,
        };
        self.is_sound &= word.is_some();
        let word = u16::from_le_bytes(*word.unwrap_or(&[0; WORD_NUM_BYTES]));
        self.state = (self.state << WORD_BITS) | u32::from(word);
        self.at += WORD_NUM_BYTES;
    }

    /// Returns whether nothing beyond the end was read.
    pub(super) fn is_sound(&self) -> bool {
        self.is_sound
    }

    /// Returns whether the group ends here.
    pub(super) fn is_at_end(&self) -> bool {
        self.is_sound && self.at == self.end && self.state == LOW
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Value {
        Symbol(u32, u32),
        Bits(u64, u32),
    }

    fn value() -> impl Strategy<Value = Value> {
        let symbol = (0..TOTAL).prop_flat_map(|start| {
            (1..=TOTAL - start).prop_map(move |frequency| Value::Symbol(start, frequency))
        });
        let bits = (0_u32..=64, any::<u64>()).prop_map(|(num, bits)| {
            let mask = u64::MAX.checked_shr(64 - num).unwrap_or(0);
            Value::Bits(bits & mask, num)
        });
        prop_oneof![symbol, bits]
    }

    proptest! {
        #[test]
        fn any_symbols_and_bits_come_back(values in prop::collection::vec(value(), 0..200)) {
            let mut encoder = Encoder::default();
            for value in &values {
                match *value {
                    Value::Symbol(start, frequency) => encoder.symbol(start, frequency),
                    Value::Bits(bits, num) => encoder.bits(bits, num),
                }
            }
            let mut bytes = vec![9];
            encoder.finish(&mut bytes);
            let mut decoder = Decoder::new(&bytes, 1, bytes.len()).unwrap();
            for value in values {
                match value {
                    Value::Symbol(start, frequency) => {
                        prop_assert!((start..start + frequency).contains(&decoder.peek()));
                        decoder.pass(&bytes, start, frequency);
                    }
                    Value::Bits(bits, num) => prop_assert_eq!(decoder.bits(&bytes, num), bits),
                }
            }
            prop_assert!(decoder.is_at_end());
            decoder.bits(&bytes, 64);
            prop_assert!(!decoder.is_sound());
        }
    }

    #[test]
    fn a_symbol_costs_what_its_probability_says() {
        let mut encoder = Encoder::default();
        for _ in 0..8_000 {
            encoder.symbol(0, TOTAL / 2);
        }
        let mut bytes = Vec::new();
        encoder.finish(&mut bytes);
        assert!((1_000..1_010).contains(&bytes.len()), "{}", bytes.len());
        for _ in 0..8_000 {
            encoder.symbol(0, TOTAL);
        }
        bytes.clear();
        encoder.finish(&mut bytes);
        assert_eq!(bytes.len(), STATE_NUM_BYTES);
    }
}
