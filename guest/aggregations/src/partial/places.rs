//! States of metrics of places. All numbers are integers, so that the order of merging does not matter.

use canter_geo::{GeoBox, Point};
use serde::{Deserialize, Serialize};

/// Ends of the codes of some places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Ends {
    least: u32,
    most: u32,
}

impl Ends {
    fn of(code: u32) -> Self {
        Self {
            least: code,
            most: code,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

fn joined(one: Option<Ends>, other: Option<Ends>) -> Option<Ends> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(other)),
        (one, other) => one.or(other),
    }
}

/// Box around places: latitudes, and longitudes west and east of the prime meridian.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlaceBounds {
    lat: Option<Ends>,
    west: Option<Ends>,
    east: Option<Ends>,
}

impl PlaceBounds {
    pub(crate) fn add(&mut self, code: u64) {
        let (lat, lon) = Point::halves(code);
        self.lat = joined(self.lat, Some(Ends::of(lat)));
        let side = match Point::is_west(lon) {
            true => &mut self.west,
            false => &mut self.east,
        };
        *side = joined(*side, Some(Ends::of(lon)));
    }

    /// Adds the places of another state.
    pub(super) fn merge(&mut self, other: &Self) {
        self.lat = joined(self.lat, other.lat);
        self.west = joined(self.west, other.west);
        self.east = joined(self.east, other.east);
    }

    /// Returns the box, the narrower of two if it may cross the date line; `None` without places.
    pub(crate) fn bounds(&self, may_wrap: bool) -> Option<GeoBox> {
        let lat = self.lat?;
        let (left, right) = match (self.west, self.east) {
            (Some(west), Some(east)) => {
                let unwrapped = east.most.wrapping_sub(west.least);
                let wrapped = west.most.wrapping_sub(east.least);
                match may_wrap && wrapped < unwrapped {
                    true => (east.least, west.most),
                    false => (west.least, east.most),
                }
            }
            (Some(only), None) | (None, Some(only)) => (only.least, only.most),
            (None, None) => return None,
        };
        let first = Point::of_halves(lat.most, left);
        let last = Point::of_halves(lat.least, right);
        Some(GeoBox {
            top: first.lat,
            left: first.lon,
            bottom: last.lat,
            right: last.lon,
        })
    }
}

/// Sums of the codes of places.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlaceSum {
    pub(crate) count: u64,
    lat: u128,
    lon: u128,
}

impl PlaceSum {
    pub(crate) fn add(&mut self, code: u64) {
        let (lat, lon) = Point::halves(code);
        self.count = self.count.saturating_add(1);
        self.lat = self.lat.saturating_add(u128::from(lat));
        self.lon = self.lon.saturating_add(u128::from(lon));
    }

    /// Adds the places of another state.
    pub(super) fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.lat = self.lat.saturating_add(other.lat);
        self.lon = self.lon.saturating_add(other.lon);
    }

    /// Returns the mean of latitudes and longitudes; `None` without places.
    pub(crate) fn center(&self) -> Option<Point> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "the remainder is less than the count, and cells are smaller than a centimeter"
        )]
        let mean = |sum: u128| {
            let count = u128::from(self.count);
            (sum / count) as f64 + (sum % count) as f64 / count as f64
        };
        (self.count > 0).then(|| Point::of_cells(mean(self.lat), mean(self.lon)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(lat: f64, lon: f64) -> u64 {
        Point::new(lat, lon).unwrap().code()
    }

    #[test]
    fn bounds_are_the_narrower_way_around() {
        let check = |lons: &[f64], may_wrap: bool, expected: (f64, f64)| {
            let (first, last) = lons.split_at(lons.len() / 2);
            let mut sum = PlaceBounds::default();
            let mut other = PlaceBounds::default();
            first.iter().for_each(|lon| sum.add(code(*lon / 4.0, *lon)));
            last.iter()
                .for_each(|lon| other.add(code(*lon / 4.0, *lon)));
            sum.merge(&other);
            let found = sum.bounds(may_wrap).unwrap();
            assert!((found.left - expected.0).abs() < 1e-6, "{found:?}");
            assert!((found.right - expected.1).abs() < 1e-6, "{found:?}");
        };
        check(&[10.0, 20.0], true, (10.0, 20.0));
        check(&[-10.0, 20.0], true, (-10.0, 20.0));
        check(&[-170.0, 170.0, 175.0], true, (170.0, -170.0));
        check(&[-170.0, 170.0, 175.0], false, (-170.0, 175.0));
        check(&[-5.0, -7.0], true, (-7.0, -5.0));
        assert!(PlaceBounds::default().bounds(true).is_none());
    }

    #[test]
    fn a_center_is_the_mean() {
        let mut sum = PlaceSum::default();
        assert!(sum.center().is_none());
        sum.add(code(10.0, -20.0));
        sum.add(code(20.0, 40.0));
        let center = sum.center().unwrap();
        assert!((center.lat - 15.0).abs() < 1e-6 && (center.lon - 10.0).abs() < 1e-6);
    }
}
