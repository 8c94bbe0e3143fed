//! Random rotation of vectors: from a seed, without a matrix, and the same on every machine.
//!
//! A rotation has four rounds. Each flips random signs and then mixes the numbers with a
//! Walsh-Hadamard transform, which takes `n log n` additions. The transform needs a power of two, so
//! it is applied to the beginning of a vector in even rounds and to its end in odd ones; the two
//! halves of the whole are mixed after each round.
//!
//! ```text
//!   384 numbers      ├───────── 256 ─────────┤           even rounds
//!                                ├───────── 256 ─────────┤   odd rounds
//!                    ├─── 192 ───┼─── 192 ───┤           sums and differences of the halves
//! ```

/// Number of rounds.
const NUM_ROUNDS: usize = 4;

/// Rotated vectors have a multiple of this many dimensions.
const STEP: usize = 64;

/// A rotation of vectors of some number of dimensions.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// Number of dimensions of a rotated vector.
    num_dims: usize,
    /// Number of dimensions that a transform mixes: a power of two.
    mixed: usize,
    /// Signs of each round, 1 or -1 for each dimension.
    signs: Vec<Vec<f32>>,
}

impl Rotation {
    /// Creates the rotation of a seed for vectors of `dims` dimensions.
    pub fn new(seed: u64, dims: usize) -> Self {
        let num_dims = Self::num_dims_of(dims);
        let mut state = seed;
        let signs = (0..NUM_ROUNDS).map(|_| {
            let words = (0..num_dims / STEP).map(|_| next_random(&mut state));
            let bits = words.flat_map(|word| (0..u64::BITS).map(move |bit| word >> bit & 1));
            bits.map(|bit| if bit == 1 { -1.0 } else { 1.0 }).collect()
        });
        Self {
            num_dims,
            mixed: 1 << num_dims.ilog2(),
            signs: signs.collect(),
        }
    }

    /// Returns the number of dimensions of rotated vectors: `dims` rounded up to a multiple of 64.
    pub fn num_dims_of(dims: usize) -> usize {
        dims.max(1).div_ceil(STEP).saturating_mul(STEP)
    }

    /// Returns the number of dimensions of a rotated vector.
    pub fn num_dims(&self) -> usize {
        self.num_dims
    }

    /// Returns the rotated vector, which has the same length as a vector up to rounding. Missing numbers
    /// count as 0.
    pub fn rotate(&self, vector: &[f32]) -> Vec<f32> {
        let mut numbers = vector.to_vec();
        numbers.resize(self.num_dims, 0.0);
        let scale = 1.0 / float_of(self.mixed).sqrt();
        for (round, signs) in self.signs.iter().enumerate() {
            flip(&mut numbers, signs);
            let from = self.mixed_from(round);
            let mixed = numbers.get_mut(from..).unwrap_or_default();
            transform(mixed.get_mut(..self.mixed).unwrap_or_default(), scale);
            if self.mixed < self.num_dims {
                mix_halves(&mut numbers);
            }
        }
        numbers
    }

    /// Returns the vector, of `num_dims` numbers, that [`rotate`](Self::rotate) makes `rotated` of, up to rounding.
    pub fn rotate_back(&self, rotated: &[f32]) -> Vec<f32> {
        let mut numbers = rotated.to_vec();
        numbers.resize(self.num_dims, 0.0);
        let scale = 1.0 / float_of(self.mixed).sqrt();
        // Each step of a round undoes itself.
        for (round, signs) in self.signs.iter().enumerate().rev() {
            if self.mixed < self.num_dims {
                mix_halves(&mut numbers);
            }
            let from = self.mixed_from(round);
            let mixed = numbers.get_mut(from..).unwrap_or_default();
            transform(mixed.get_mut(..self.mixed).unwrap_or_default(), scale);
            flip(&mut numbers, signs);
        }
        numbers
    }

    /// Returns the first number that a round's transform mixes.
    fn mixed_from(&self, round: usize) -> usize {
        match round % 2 {
            0 => 0,
            _ => self.num_dims - self.mixed,
        }
    }
}

/// Returns the next number of SplitMix64.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Returns a number of dimensions, which is far below 2^24, as a floating-point number.
#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of dimensions are small"
)]
fn float_of(num_dims: usize) -> f32 {
    num_dims as f32
}

fn flip(numbers: &mut [f32], signs: &[f32]) {
    for (number, sign) in numbers.iter_mut().zip(signs) {
        *number *= sign;
    }
}

/// Applies the Walsh-Hadamard transform, whose length is a power of two from 8 on, and multiplies with `scale`.
fn transform(numbers: &mut [f32], scale: f32) {
    for block in numbers.as_chunks_mut().0 {
        *block = transform_eight(*block);
    }
    let mut half = 8;
    while half < numbers.len() {
        for pair in numbers.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            add_and_subtract(low, high);
        }
        half *= 2;
    }
    for number in numbers {
        *number *= scale;
    }
}

/// Applies the first three steps, whose pairs are too near to each other for vectors.
fn transform_eight([a, b, c, d, e, f, g, h]: [f32; 8]) -> [f32; 8] {
    let [a, b, c, d, e, f, g, h] = [a + b, a - b, c + d, c - d, e + f, e - f, g + h, g - h];
    let [a, b, c, d, e, f, g, h] = [a + c, b + d, a - c, b - d, e + g, f + h, e - g, f - h];
    [a + e, b + f, c + g, d + h, a - e, b - f, c - g, d - h]
}

fn add_and_subtract(low: &mut [f32], high: &mut [f32]) {
    for (low, high) in low.iter_mut().zip(high) {
        (*low, *high) = (*low + *high, *low - *high);
    }
}

/// Replaces both halves by their sum and their difference, divided by the square root of 2.
fn mix_halves(numbers: &mut [f32]) {
    let (low, high) = numbers.split_at_mut(numbers.len() / 2);
    add_and_subtract(low, high);
    for number in numbers {
        *number *= std::f32::consts::FRAC_1_SQRT_2;
    }
}
