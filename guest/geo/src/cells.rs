//! Cells of grids: geohashes, and the tiles of maps in Mercator's projection.

use std::f64::consts::PI;

use crate::point::{Point, interleaved, lat_of, lon_of};
use crate::region::GeoBox;

const LETTERS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// Bits of a letter of a geohash.
const LETTER_BITS: u32 = 5;

/// Maximum number of letters of a geohash.
pub(crate) const MAX_LETTERS: usize = 12;

/// Greatest latitude of a map.
const MAX_MAP_LAT: f64 = 85.051_128_779_806_59;

/// Returns the geohash of the cell with this code, of so many letters.
pub(crate) fn geohash(code: u64, num_letters: usize) -> String {
    let letter = |place: usize| {
        let shift = u64::BITS.checked_sub(LETTER_BITS * (u32::try_from(place).ok()? + 1))?;
        let letter = usize::try_from(code >> shift & 31).ok()?;
        LETTERS.get(letter).copied().map(char::from)
    };
    (0..num_letters.min(MAX_LETTERS))
        .filter_map(letter)
        .collect()
}

/// Returns the box of a geohash; `None` if the text is no geohash.
pub(crate) fn geohash_box(text: &str) -> Option<GeoBox> {
    if text.is_empty() || text.len() > MAX_LETTERS {
        return None;
    }
    let mut code = 0_u64;
    let mut free_bits = u64::BITS;
    for letter in text.bytes() {
        let letter = letter.to_ascii_lowercase();
        let number = LETTERS.iter().position(|own| *own == letter)? as u64;
        free_bits -= LETTER_BITS;
        code |= number << free_bits;
    }
    let first = Point::of_code(code);
    let last = code | u64::MAX >> (u64::BITS - free_bits);
    let (lat, lon) = crate::point::halves(last);
    let behind = |code: u32, of: fn(u32) -> f64, max: f64| code.checked_add(1).map_or(max, of);
    Some(GeoBox {
        top: behind(lat, lat_of, 90.0),
        left: first.lon,
        bottom: first.lat,
        right: behind(lon, lon_of, 180.0),
    })
}

/// Returns the place of the tile that contains a point: from the west, and from the north.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number of a tile is brought into the range"
)]
pub(crate) fn geotile(point: Point, zoom: u32) -> (u32, u32) {
    let num_tiles = f64::from(1_u32 << zoom.min(30));
    let x = (point.lon + 180.0) / 360.0 * num_tiles;
    let lat = point.lat.clamp(-MAX_MAP_LAT, MAX_MAP_LAT);
    let sine = libm::sin(lat.to_radians());
    let y = (0.5 - libm::log((1.0 + sine) / (1.0 - sine)) / (4.0 * PI)) * num_tiles;
    let tile = |place: f64| place.floor().clamp(0.0, num_tiles - 1.0) as u32;
    (tile(x), tile(y))
}

/// Returns a code for the tile that contains a point, which [`geotile_box`] takes.
pub(crate) fn geotile_code(point: Point, zoom: u32) -> u64 {
    let (x, y) = geotile(point, zoom);
    interleaved(y, x)
}

/// Returns the place of the tile with a code, and its box.
#[cfg(test)]
pub(crate) fn geotile_box(code: u64, zoom: u32) -> ((u32, u32), GeoBox) {
    let (y, x) = crate::point::halves(code);
    let num_tiles = f64::from(1_u32 << zoom.min(30));
    let lon = |x: f64| x / num_tiles * 360.0 - 180.0;
    let lat = |y: f64| {
        let n = PI - 2.0 * PI * y / num_tiles;
        libm::atan(libm::sinh(n)).to_degrees()
    };
    let (left, top) = (f64::from(x), f64::from(y));
    let bounds = GeoBox {
        top: lat(top),
        left: lon(left),
        bottom: lat(top + 1.0),
        right: lon(left + 1.0),
    };
    ((x, y), bounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).unwrap()
    }

    #[test]
    fn geohashes_are_those_of_others() {
        let check = |lat: f64, lon: f64, expected: &str| {
            assert_eq!(geohash(at(lat, lon).code(), expected.len()), expected);
            let own = geohash_box(expected).unwrap();
            assert!(own.bottom <= lat && lat <= own.top && own.left <= lon && lon <= own.right);
        };
        check(57.649_11, 10.407_44, "u4pruydqqvj");
        check(42.605, -5.603, "ezs42");
        check(-25.382_708, -49.265_506, "6gkzwgjzn820");
        check(48.860_600, 2.337_600, "u09tv");
        check(90.0, 180.0, "zzzz");
        check(-90.0, -180.0, "0000");
        assert!(geohash_box("").is_none() && geohash_box("a").is_none());
        assert_eq!(
            geohash_box("z").unwrap(),
            GeoBox {
                top: 90.0,
                left: 135.0,
                bottom: 45.0,
                right: 180.0
            }
        );
    }

    #[test]
    fn tiles_are_those_of_others() {
        let check = |lat: f64, lon: f64, zoom: u32, expected: (u32, u32)| {
            assert_eq!(geotile(at(lat, lon), zoom), expected);
            let (tile, own) = geotile_box(geotile_code(at(lat, lon), zoom), zoom);
            assert_eq!(tile, expected);
            assert!(own.left <= lon && lon <= own.right, "{own:?}");
            let lat = lat.clamp(-MAX_MAP_LAT, MAX_MAP_LAT);
            assert!(own.bottom <= lat + 1e-9 && lat <= own.top + 1e-9, "{own:?}");
        };
        // From Elasticsearch's documentation and tests.
        check(52.374_081, 4.912_350, 8, (131, 84));
        check(48.861_111, 2.336_389, 8, (129, 88));
        check(51.222_900, 4.405_200, 8, (131, 85));
        check(0.0, 0.0, 0, (0, 0));
        check(90.0, 180.0, 3, (7, 0));
        check(-90.0, -180.0, 3, (0, 7));
    }
}
