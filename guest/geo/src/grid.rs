//! Grids over the Earth, whose cells are buckets.

use std::ops::RangeInclusive;

use crate::cells::{geohash, geotile, geotile_code};
use crate::distance::Distance;
use crate::point::{Point, halves, lat_code, lat_of, lon_code, lon_of};
use crate::region::GeoBox;

/// Grid of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// Geohashes of so many letters, 1 to 12.
    Geohash(u32),
    /// Tiles of a map at a zoom, 0 to 29.
    Tile(u32),
}

/// Cells that are counted: ranges of their places from the west and from the south (geohashes) or the north
/// (tiles).
#[derive(Clone, Debug)]
pub struct CellBounds {
    columns: Vec<RangeInclusive<u32>>,
    rows: RangeInclusive<u32>,
}

/// Bits of a letter of a geohash.
const LETTER_BITS: u32 = 5;
/// Bits of the place of a tile in its key.
const TILE_BITS: u32 = 29;

impl Grid {
    /// Returns the cell that contains the point with a code.
    pub fn cell(self, code: u64) -> u64 {
        match self {
            Self::Geohash(letters) => code >> self.free_bits(letters),
            Self::Tile(zoom) => geotile_code(Point::of_code(code), zoom),
        }
    }

    fn free_bits(self, letters: u32) -> u32 {
        u64::BITS - LETTER_BITS * letters.clamp(1, 12)
    }

    /// Returns the column and the row of a cell.
    fn place(self, cell: u64) -> (u32, u32) {
        match self {
            Self::Geohash(letters) => {
                let (lat, lon) = halves(cell << self.free_bits(letters));
                let (lat_shift, lon_shift) = shifts(letters);
                (lon >> lon_shift, lat >> lat_shift)
            }
            Self::Tile(_) => {
                let (y, x) = halves(cell);
                (x, y)
            }
        }
    }

    /// Returns the number that stands for a cell in Elasticsearch, by which equal counts are ordered.
    pub fn number(self, cell: u64) -> i64 {
        match self {
            Self::Geohash(letters) => (cell << 4 | u64::from(letters)).cast_signed(),
            Self::Tile(zoom) => {
                let (x, y) = self.place(cell);
                let key =
                    u64::from(zoom) << (2 * TILE_BITS) | u64::from(x) << TILE_BITS | u64::from(y);
                key.cast_signed()
            }
        }
    }

    /// Returns the key of the cell with a number: a geohash, or `zoom/x/y`.
    pub fn key(self, number: i64) -> String {
        let number = number.cast_unsigned();
        match self {
            Self::Geohash(letters) => {
                let code = number >> 4 << self.free_bits(letters);
                geohash(code, usize::try_from(letters).unwrap_or_default())
            }
            Self::Tile(zoom) => {
                let part = |shift: u32| number >> shift & ((1 << TILE_BITS) - 1);
                format!("{zoom}/{}/{}", part(TILE_BITS), part(0))
            }
        }
    }

    /// Returns the cells that a box meets.
    pub fn bounds(self, own: &GeoBox) -> CellBounds {
        // A cell that only touches a side of the box is outside.
        let end = |start: u32, end: u32, is_touched: bool| match is_touched {
            true => end.saturating_sub(1).max(start),
            false => end,
        };
        let (left, right, first_row, last_row, last) = match self {
            Self::Geohash(letters) => {
                let (lat_shift, lon_shift) = shifts(letters);
                let (left, right) = (lon_code(own.left), lon_code(own.right));
                let (bottom, top) = (lat_code(own.bottom), lat_code(own.top));
                let starts = |code: u32, shift: u32| code & ((1_u64 << shift) - 1) as u32 == 0;
                let touches_right = starts(right, lon_shift) && same(lon_of(right), own.right);
                let touches_top = starts(top, lat_shift) && same(lat_of(top), own.top);
                let left = left >> lon_shift;
                let bottom = bottom >> lat_shift;
                (
                    left,
                    end(left, right >> lon_shift, touches_right),
                    bottom,
                    end(bottom, top >> lat_shift, touches_top),
                    u32::MAX >> lon_shift,
                )
            }
            Self::Tile(zoom) => {
                let at = |lat: f64, lon: f64| geotile(Point { lat, lon }, zoom);
                let (left, top) = at(own.top, own.left);
                let (right, bottom) = at(own.bottom, own.right);
                let num_tiles = f64::from(1_u32 << zoom.min(30));
                let edge = f64::from(right) / num_tiles * 360.0 - 180.0;
                let last = (1_u32 << zoom.min(30)) - 1;
                (
                    left,
                    end(left, right, same(edge, own.right)),
                    top,
                    bottom,
                    last,
                )
            }
        };
        let columns = match own.left <= own.right {
            true => vec![left..=right],
            false => vec![0..=right, left..=last],
        };
        CellBounds {
            columns,
            rows: first_row..=last_row,
        }
    }

    /// Returns whether a cell is among those that are counted.
    pub fn is_within(self, cell: u64, bounds: &CellBounds) -> bool {
        let (column, row) = self.place(cell);
        bounds.rows.contains(&row) && bounds.columns.iter().any(|range| range.contains(&column))
    }
}

#[allow(clippy::float_cmp, reason = "sides that differ at all do not touch")]
fn same(one: f64, other: f64) -> bool {
    one == other
}

/// Returns the bits of latitude and longitude that a geohash lacks.
fn shifts(letters: u32) -> (u32, u32) {
    let bits = LETTER_BITS * letters.clamp(1, 12);
    (32 - bits / 2, 32 - bits.div_ceil(2))
}

/// Returns the number of letters of geohashes whose cells are about so large.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the girth of the Earth in millimeters has 36 bits"
)]
pub fn letters_of(size: Distance) -> u32 {
    const GIRTH_M: f64 = std::f64::consts::TAU * 6_378_137.0;
    const POLE_TO_POLE_M: f64 = std::f64::consts::PI * 6_356_752.314_245;
    if size.0 <= 0.0 {
        return 12;
    }
    let ratio = 1.0 + POLE_TO_POLE_M / GIRTH_M;
    let width = libm::sqrt((size.0 * size.0) / (ratio * ratio));
    let num_cells = libm::ceil(GIRTH_M / width).min(1e18) as u64;
    let bits = u64::BITS - num_cells.saturating_sub(1).leading_zeros();
    let (full, left) = (bits / 5, bits % 5);
    full + u32::from(left > 0) + full + u32::from(left > 3)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cells::{geohash_box, geotile_box};

    proptest! {
        #[test]
        fn a_key_is_that_of_the_cell(
            lat in -90.0..=90.0, lon in -180.0..=180.0, letters in 1_u32..=12, zoom in 0_u32..=29,
        ) {
            let code = Point::new(lat, lon).unwrap().code();
            let grid = Grid::Geohash(letters);
            let key = grid.key(grid.number(grid.cell(code)));
            prop_assert_eq!(&key, &geohash(code, letters as usize));
            let grid = Grid::Tile(zoom);
            let key = grid.key(grid.number(grid.cell(code)));
            let (x, y) = geotile(Point::of_code(code), zoom);
            prop_assert_eq!(key, format!("{zoom}/{x}/{y}"));
        }

        #[test]
        fn bounds_have_the_cells_that_meet_them(
            lat in -85.0..=85.0, lon in -180.0..=180.0, letters in 1_u32..=6, zoom in 0_u32..=12,
            top in -85.0..85.0, height in 0.0..60.0, left in -180.0..180.0, right in -180.0..180.0,
        ) {
            let own = GeoBox { top, bottom: f64::max(top - height, -85.0), left, right };
            let code = Point::new(lat, lon).unwrap().code();
            for grid in [Grid::Geohash(letters), Grid::Tile(zoom)] {
                let cell = grid.cell(code);
                let around = match grid {
                    Grid::Geohash(letters) => geohash_box(&geohash(code, letters as usize)).unwrap(),
                    Grid::Tile(zoom) => geotile_box(cell, zoom).1,
                };
                let meets_lat = around.bottom < own.top && around.top > own.bottom;
                let meets_lon = match left <= right {
                    true => around.left < right && around.right > left,
                    false => around.left < right || around.right > left,
                };
                let found = grid.is_within(cell, &grid.bounds(&own));
                prop_assert_eq!(found, meets_lat && meets_lon, "{:?} {:?}", around, own);
            }
        }
    }

    #[test]
    fn a_size_in_meters_is_a_number_of_letters() {
        let check = |meters: f64, letters: u32| {
            assert_eq!(letters_of(Distance(meters)), letters, "{meters}");
        };
        check(1_000.0, 7);
        check(0.0, 12);
        check(5_000_000.0, 2);
    }
}
