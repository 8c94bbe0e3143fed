//! Sketch in its two forms, and the union of sketches.

use std::hash::Hash;

use super::estimate::estimate;
use super::{Coupon, Error, HllType};

/// Maximum number of distinct coupons that are counted; sketches with more have registers. As
/// coupons, they take as much memory as the 2,048 registers of tantivy's sketches.
pub const MAX_COUPONS: usize = 512;
/// Number of slots in the smallest table of coupons; a table is never more than half full.
const MIN_TABLE: usize = 16;

/// Counter of distinct values: exact for few values, and with a standard error of about 1.04 /
/// sqrt(2^lg_k) for more.
#[derive(Clone, Debug)]
pub struct HllSketch {
    pub(super) lg_k: u8,
    pub(super) form: Form,
}

#[derive(Clone, Debug)]
pub(super) enum Form {
    Coupons(Coupons),
    Registers(Box<[u8]>),
}

impl HllSketch {
    /// Creates an empty sketch that will have 2^`lg_k` registers, `lg_k` from 4 to 21.
    pub fn new(lg_k: u8, _registers: HllType) -> Result<Self, Error> {
        match lg_k {
            4..=21 => Ok(Self {
                lg_k,
                form: Form::Coupons(Coupons::default()),
            }),
            _ => Err(Error::Size(lg_k)),
        }
    }

    /// Adds a value.
    pub fn update<T: Hash>(&mut self, value: T) {
        self.update_with_coupon(Coupon::from_value(value));
    }

    /// Adds the value with this coupon.
    pub fn update_with_coupon(&mut self, coupon: Coupon) {
        match &mut self.form {
            Form::Registers(registers) => raise(registers, self.lg_k, coupon),
            Form::Coupons(coupons) => {
                coupons.insert(coupon);
                if coupons.len > MAX_COUPONS {
                    self.promote();
                }
            }
        }
    }

    /// Returns the number of distinct values, not rounded.
    pub fn estimate(&self) -> f64 {
        match &self.form {
            Form::Coupons(coupons) => coupons.len as f64,
            Form::Registers(registers) => estimate(registers),
        }
    }

    fn promote(&mut self) {
        if let Form::Coupons(coupons) = &self.form {
            let mut registers = vec![0; 1 << self.lg_k].into_boxed_slice();
            for coupon in coupons.iter() {
                raise(&mut registers, self.lg_k, coupon);
            }
            self.form = Form::Registers(registers);
        }
    }

    fn merge(&mut self, other: &Self) {
        match &other.form {
            Form::Coupons(coupons) => {
                for coupon in coupons.iter() {
                    self.update_with_coupon(coupon);
                }
            }
            Form::Registers(others) => {
                self.promote();
                let Form::Registers(registers) = &mut self.form else {
                    return;
                };
                // One register of the smaller sketch stands for several of the larger one.
                for (at, rank) in others.iter().enumerate() {
                    let own = &mut registers[at % (1 << self.lg_k)];
                    *own = (*own).max(*rank);
                }
            }
        }
    }
}

fn raise(registers: &mut [u8], lg_k: u8, coupon: Coupon) {
    let register = &mut registers[coupon.slot(lg_k)];
    *register = (*register).max(coupon.rank());
}

/// Union of sketches, equal to one sketch of all their values.
#[derive(Clone, Debug)]
pub struct HllUnion {
    sketch: HllSketch,
}

impl HllUnion {
    /// Creates an empty union with at most 2^`lg_k` registers.
    pub fn new(lg_k: u8) -> Result<Self, Error> {
        let sketch = HllSketch::new(lg_k, HllType::Hll8)?;
        Ok(Self { sketch })
    }

    /// Adds the values of a sketch. The union has no more registers than the smallest sketch with
    /// registers.
    pub fn update(&mut self, other: &HllSketch) {
        if matches!(other.form, Form::Registers(_)) && other.lg_k < self.sketch.lg_k {
            let mut smaller = HllSketch {
                lg_k: other.lg_k,
                form: Form::Coupons(Coupons::default()),
            };
            smaller.merge(&self.sketch);
            self.sketch = smaller;
        }
        self.sketch.merge(other);
    }

    /// Returns the union as a sketch.
    pub fn to_sketch(&self, _registers: HllType) -> HllSketch {
        self.sketch.clone()
    }
}

/// Set of coupons: a table with linear probing, in which 0 is an empty slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Coupons {
    table: Vec<u32>,
    len: usize,
}

impl Coupons {
    pub(super) fn iter(&self) -> impl Iterator<Item = Coupon> {
        self.table
            .iter()
            .filter_map(|bits| Coupon::from_bits(*bits))
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn insert(&mut self, coupon: Coupon) {
        if (self.len + 1) * 2 > self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut at = coupon.0 as usize & mask;
        while self.table[at] != 0 {
            if self.table[at] == coupon.0 {
                return;
            }
            at = (at + 1) & mask;
        }
        self.table[at] = coupon.0;
        self.len += 1;
    }

    fn grow(&mut self) {
        let larger = vec![0; (self.table.len() * 2).max(MIN_TABLE)];
        let smaller = std::mem::replace(&mut self.table, larger);
        self.len = 0;
        for coupon in smaller.into_iter().filter_map(Coupon::from_bits) {
            self.insert(coupon);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LG_K: u8 = 11;

    fn sketch_of(values: impl IntoIterator<Item = u64>) -> HllSketch {
        let mut sketch = HllSketch::new(LG_K, HllType::Hll8).unwrap();
        for value in values {
            sketch.update(value);
        }
        sketch
    }

    #[test]
    fn few_values_are_counted() {
        for num in [0, 1, 2, 17, 511, 512] {
            let twice = (0..num).chain(0..num);
            assert_eq!(sketch_of(twice).estimate(), num as f64);
        }
    }

    /// The standard error is 1.04 / sqrt(2048) = 2.3 %. Each error must be within four of these,
    /// and their mean within half of one.
    #[test]
    fn many_values_are_estimated() {
        for num in [513u64, 600, 1_000, 3_000, 5_000, 20_000, 300_000] {
            let rounds = 40;
            let errors = (0..rounds).map(|round| {
                let values = (0..num).map(|value| value + round * 1_000_000_007);
                let error = sketch_of(values).estimate() / num as f64 - 1.0;
                assert!(error.abs() < 0.092, "{num} values: {error}");
                error
            });
            let mean = errors.sum::<f64>() / rounds as f64;
            assert!(mean.abs() < 0.0115, "{num} values: {mean} in the mean");
        }
    }

    #[test]
    fn sizes_have_bounds() {
        for lg_k in [0, 3, 22, 255] {
            assert_eq!(
                HllSketch::new(lg_k, HllType::Hll8).unwrap_err(),
                Error::Size(lg_k)
            );
            assert!(HllUnion::new(lg_k).is_err());
        }
    }

    #[test]
    fn a_union_takes_the_size_of_the_smallest() {
        let mut small = HllSketch::new(8, HllType::Hll8).unwrap();
        (0..2_000u64).for_each(|value| small.update(value));
        let large = sketch_of(1_000..4_000);
        let mut union = HllUnion::new(LG_K).unwrap();
        union.update(&large);
        union.update(&small);
        let mut all = HllSketch::new(8, HllType::Hll8).unwrap();
        (0..4_000u64).for_each(|value| all.update(value));
        let union = union.to_sketch(HllType::Hll8);
        assert_eq!(union.serialize(), all.serialize());
    }

    proptest! {
        /// However values are divided, ordered and repeated, the union equals the sketch of all.
        #[test]
        fn a_union_is_the_sketch_of_all(
            parts in prop::collection::vec(prop::collection::vec(0u64..2_000, 0..700), 0..6),
            seed in any::<u64>(),
        ) {
            let all = sketch_of(parts.iter().flatten().rev().copied());
            let mut union = HllUnion::new(LG_K).unwrap();
            for at in 0..parts.len() {
                let part = &parts[(at + (seed % 7) as usize) % parts.len()];
                union.update(&sketch_of(part.iter().copied()));
            }
            let union = union.to_sketch(HllType::Hll8);
            prop_assert_eq!(union.serialize(), all.serialize());
            prop_assert_eq!(union.estimate().to_bits(), all.estimate().to_bits());
        }
    }
}
