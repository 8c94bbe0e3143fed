//! Serialization of sketches, little-endian. Equal sketches have equal bytes.
//!
//! ```text
//!   u8 version (1)   u8 lg_k   u8 form
//!   form 0: the coupons, ascending, u32 each      form 1: 2^lg_k registers, u8 each
//! ```

use super::sketch::{Coupons, Form};
use super::{Coupon, Error, HllSketch, HllType, MAX_COUPONS, MAX_RANK};

const VERSION: u8 = 1;
const COUPONS: u8 = 0;
const REGISTERS: u8 = 1;

impl HllSketch {
    /// Serializes the sketch.
    pub fn serialize(&self) -> Vec<u8> {
        match &self.form {
            Form::Coupons(coupons) => {
                let mut sorted: Vec<Coupon> = coupons.iter().collect();
                sorted.sort_unstable();
                let bytes = sorted.iter().flat_map(|coupon| coupon.0.to_le_bytes());
                [VERSION, self.lg_k, COUPONS]
                    .into_iter()
                    .chain(bytes)
                    .collect()
            }
            Form::Registers(registers) => {
                [&[VERSION, self.lg_k, REGISTERS], &registers[..]].concat()
            }
        }
    }

    /// Deserializes a sketch.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] and [`Error::Damaged`] for bytes that are no sketch.
    pub fn deserialize(bytes: &[u8]) -> Result<Self, Error> {
        let [VERSION, lg_k, form, bytes @ ..] = bytes else {
            return Err(Error::Damaged);
        };
        let mut sketch = Self::new(*lg_k, HllType::Hll8)?;
        sketch.form = match *form {
            COUPONS => Form::Coupons(coupons_of(bytes).ok_or(Error::Damaged)?),
            REGISTERS if bytes.len() == 1 << lg_k && bytes.iter().all(|rank| *rank <= MAX_RANK) => {
                Form::Registers(bytes.into())
            }
            _ => return Err(Error::Damaged),
        };
        Ok(sketch)
    }
}

fn coupons_of(bytes: &[u8]) -> Option<Coupons> {
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() || words.len() > MAX_COUPONS {
        return None;
    }
    let mut coupons = Coupons::default();
    for word in words {
        coupons.insert(Coupon::from_bits(u32::from_le_bytes(*word))?);
    }
    (coupons.len() == words.len()).then_some(coupons)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_sketch_survives(num in 0u64..2_000) {
            let mut sketch = HllSketch::new(11, HllType::Hll8).unwrap();
            (0..num).for_each(|value| sketch.update(value));
            let bytes = sketch.serialize();
            let mut read = HllSketch::deserialize(&bytes).unwrap();
            prop_assert_eq!(read.serialize(), bytes);
            read.update(num);
            sketch.update(num);
            prop_assert_eq!(read.estimate().to_bits(), sketch.estimate().to_bits());
        }

        #[test]
        fn no_bytes_are_a_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300), lg_k in 3u8..9) {
            let _ = HllSketch::deserialize(&bytes);
            if let [version, size, form, ..] = &mut bytes[..] {
                (*version, *size, *form) = (VERSION, lg_k, *form % 3);
            }
            if let Ok(mut sketch) = HllSketch::deserialize(&bytes) {
                sketch.update(1u64);
                prop_assert!(sketch.estimate() > 0.0);
            }
        }
    }

    #[test]
    fn damage_is_told() {
        let damaged: [&[u8]; 8] = [
            &[],
            &[VERSION, 11],
            &[VERSION + 1, 11, COUPONS],
            &[VERSION, 11, 2],
            &[VERSION, 11, COUPONS, 1, 0, 0],
            // A rank of 0, and a repeated coupon.
            &[VERSION, 11, COUPONS, 1, 0, 0, 0],
            &[VERSION, 11, COUPONS, 1, 0, 0, 8, 1, 0, 0, 8],
            &[VERSION, 4, REGISTERS, 0, 0, 0],
        ];
        for bytes in damaged {
            assert_eq!(HllSketch::deserialize(bytes).unwrap_err(), Error::Damaged);
        }
        let high = [&[VERSION, 4, REGISTERS][..], &[MAX_RANK + 1; 16]].concat();
        assert!(HllSketch::deserialize(&high).is_err());
        assert_eq!(
            HllSketch::deserialize(&[VERSION, 30, COUPONS]).unwrap_err(),
            Error::Size(30)
        );
    }
}
