//! Points, and their codes of 64 bits.
//!
//! ```text
//!   latitude    -90 … 90    as a number of 32 bits, rounded down     a0 a1 … a31
//!   longitude  -180 … 180   as a number of 32 bits, rounded down     o0 o1 … o31
//!   code        o0 a0 o1 a1 … o31 a31                                (Morton order)
//! ```
//!
//! A cell has a side of at most 1 cm. The first `5 n` bits of a code are a geohash of `n` letters.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// Point, in degrees.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Latitude, -90 to 90.
    pub lat: f64,
    /// Longitude, -180 to 180.
    pub lon: f64,
}

/// Ranges of the codes of latitude and longitude.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBox {
    /// Codes of latitudes.
    pub lat: RangeInclusive<u32>,
    /// Codes of longitudes.
    pub lon: RangeInclusive<u32>,
}

/// Number of cells between the least latitude and the greatest.
const CELLS: f64 = 4_294_967_296.0;
const LAT_STEP: f64 = 180.0 / CELLS;
const LON_STEP: f64 = 360.0 / CELLS;
const HALF: i64 = 1 << 31;

impl Point {
    /// Creates a point.
    ///
    /// # Errors
    /// A coordinate lies outside its range.
    pub fn new(lat: f64, lon: f64) -> Result<Self, String> {
        if !(-90.0..=90.0).contains(&lat) {
            return Err(format!("illegal latitude value [{lat}]"));
        }
        if !(-180.0..=180.0).contains(&lon) {
            return Err(format!("illegal longitude value [{lon}]"));
        }
        // Zero has no sign.
        Ok(Self {
            lat: lat + 0.0,
            lon: lon + 0.0,
        })
    }

    /// Returns the code of the cell that contains the point.
    pub fn code(self) -> u64 {
        interleaved(lat_code(self.lat), lon_code(self.lon))
    }

    /// Returns the codes of latitude and longitude in a code.
    pub fn halves(code: u64) -> (u32, u32) {
        halves(code)
    }

    /// Returns the point with these codes of latitude and longitude.
    pub fn of_halves(lat: u32, lon: u32) -> Self {
        Self {
            lat: lat_of(lat),
            lon: lon_of(lon),
        }
    }

    /// Returns the point with these codes, which may have fractions.
    pub fn of_cells(lat: f64, lon: f64) -> Self {
        Self {
            lat: (lat - CELLS / 2.0) * LAT_STEP,
            lon: (lon - CELLS / 2.0) * LON_STEP,
        }
    }

    /// Returns whether the code of a longitude is one west of the prime meridian.
    pub fn is_west(lon: u32) -> bool {
        i64::from(lon) < HALF
    }

    /// Returns the corner of a cell with the least latitude and longitude.
    pub fn of_code(code: u64) -> Self {
        let (lat, lon) = halves(code);
        Self::of_halves(lat, lon)
    }
}

/// Returns the code of a latitude.
pub(crate) fn lat_code(lat: f64) -> u32 {
    code_of(lat / LAT_STEP)
}

/// Returns the code of a longitude.
pub(crate) fn lon_code(lon: f64) -> u32 {
    code_of(lon / LON_STEP)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the number of a cell has at most 33 bits, and is brought into the range"
)]
fn code_of(cells: f64) -> u32 {
    let cell = cells.floor() as i64 + HALF;
    cell.clamp(0, i64::from(u32::MAX)) as u32
}

#[allow(
    clippy::cast_precision_loss,
    reason = "numbers of 32 bits are exact as floating-point numbers"
)]
fn number_of(code: u32) -> f64 {
    (i64::from(code) - HALF) as f64
}

/// Returns the least latitude of a cell.
pub(crate) fn lat_of(code: u32) -> f64 {
    number_of(code) * LAT_STEP
}

/// Returns the least longitude of a cell.
pub(crate) fn lon_of(code: u32) -> f64 {
    number_of(code) * LON_STEP
}

/// Returns the code of a cell.
pub(crate) fn interleaved(lat: u32, lon: u32) -> u64 {
    spread(lon) << 1 | spread(lat)
}

/// Returns the codes of latitude and longitude.
pub(crate) fn halves(code: u64) -> (u32, u32) {
    (gathered(code), gathered(code >> 1))
}

/// Masks of groups of 16, 8, 4, 2 and 1 bits, each followed by as many others.
const GROUPS: [(u32, u64); 5] = [
    (16, 0x0000_ffff_0000_ffff),
    (8, 0x00ff_00ff_00ff_00ff),
    (4, 0x0f0f_0f0f_0f0f_0f0f),
    (2, 0x3333_3333_3333_3333),
    (1, 0x5555_5555_5555_5555),
];

fn spread(half: u32) -> u64 {
    let bits = u64::from(half);
    let apart = |bits: u64, (shift, mask): &(u32, u64)| (bits | bits << shift) & mask;
    GROUPS.iter().fold(bits, apart)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "only the lower 32 bits are set"
)]
fn gathered(code: u64) -> u32 {
    let [a, b, c, d, e] = GROUPS;
    let mut bits = code & e.1;
    for ((shift, _), (_, mask)) in [(e, d), (d, c), (c, b), (b, a)] {
        bits = (bits | bits >> shift) & mask;
    }
    (bits | bits >> a.0) as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_code_is_as_elasticsearch_rounds_a_point() {
        let check = |lat: f64, lon: f64, expected: (f64, f64)| {
            let back = Point::of_code(Point::new(lat, lon).unwrap().code());
            assert_eq!((back.lat, back.lon), expected);
        };
        check(
            41.12,
            -71.34,
            (41.119_999_964_721_5, -71.340_000_042_691_83),
        );
        check(0.0, 0.0, (0.0, 0.0));
        check(-90.0, -180.0, (-90.0, -180.0));
        let north = Point::of_code(Point::new(90.0, 180.0).unwrap().code());
        assert!(north.lat < 90.0 && north.lat > 89.999_999_9);
        assert!(north.lon < 180.0 && north.lon > 179.999_999_9);
        assert!(Point::new(90.1, 0.0).is_err() && Point::new(0.0, -180.1).is_err());
        assert!(Point::new(f64::NAN, 0.0).is_err());
    }

    proptest! {
        #[test]
        fn halves_of_a_code_are_those_it_was_made_of(lat: u32, lon: u32) {
            prop_assert_eq!(halves(interleaved(lat, lon)), (lat, lon));
        }

        #[test]
        fn a_point_lies_in_its_cell(lat in -90.0..=90.0, lon in -180.0..=180.0) {
            let code = Point::new(lat, lon).unwrap().code();
            let corner = Point::of_code(code);
            prop_assert!(corner.lat <= lat && lat - corner.lat < 1e-7);
            prop_assert!(corner.lon <= lon && lon - corner.lon < 1e-6);
            prop_assert_eq!(corner.code(), code);
        }
    }
}
