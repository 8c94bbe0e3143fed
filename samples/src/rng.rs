//! Our own random numbers: SplitMix64, so that no dependency's release changes the data.

/// SplitMix64. Good enough for sample data, not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Returns a number in `0..bound`, by multiplication (the bias is below 2^-32 for small bounds).
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number in `low..=high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Returns a number in `0..bound`, as a remainder; 0 if `bound` is 0.
    pub(crate) fn modulo(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    /// Returns true `num` times out of `out_of`.
    pub(crate) fn chance(&mut self, num: u64, out_of: u64) -> bool {
        self.below(out_of) < num
    }
}

/// Returns the finalizer of SplitMix64: a hash of one number.
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}
