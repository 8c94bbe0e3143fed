//! Numbers drawn from a seed: SplitMix64.

/// Generator of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number less than `end`, which is at least 1.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * end.max(1) as u128;
        (wide >> 64) as usize
    }

    /// Returns `num` different numbers less than `end`, ascending; all of them if there are no more.
    pub(crate) fn distinct(&mut self, num: usize, end: usize) -> Vec<usize> {
        // Floyd's algorithm: one draw for each number.
        let mut drawn = std::collections::BTreeSet::new();
        for last in end.saturating_sub(num)..end {
            let place = self.below(last + 1);
            if !drawn.insert(place) {
                drawn.insert(last);
            }
        }
        drawn.into_iter().collect()
    }
}
