//! Distances between points, and their units.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use crate::point::Point;

/// Mean radius of the Earth in meters, as Elasticsearch takes it.
const EARTH_RADIUS_M: f64 = 6_371_008.771_4;

/// Half of the Earth's girth in meters: no two points are farther apart.
pub(crate) const MAX_DISTANCE_M: f64 = EARTH_RADIUS_M * PI;

/// Way to measure a distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Metric {
    /// On a sphere.
    #[default]
    Arc,
    /// On a plane: faster, and wrong over long distances and near the poles.
    Plane,
}

/// Distance in meters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distance(pub f64);

/// Unit of length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// Length in meters.
    pub meters: f64,
}

/// Units by their names.
const UNITS: [(&str, f64); 20] = [
    ("mm", 0.001),
    ("millimeters", 0.001),
    ("cm", 0.01),
    ("centimeters", 0.01),
    ("nmi", 1_852.0),
    ("nauticalmiles", 1_852.0),
    ("NM", 1_852.0),
    ("km", 1_000.0),
    ("kilometers", 1_000.0),
    ("mi", 1_609.344),
    ("miles", 1_609.344),
    ("yd", 0.914_4),
    ("yards", 0.914_4),
    ("ft", 0.304_8),
    ("feet", 0.304_8),
    ("in", 0.025_4),
    ("inch", 0.025_4),
    ("m", 1.0),
    ("meters", 1.0),
    ("metres", 1.0),
];

impl Unit {
    /// Meter.
    pub const METER: Self = Self { meters: 1.0 };

    /// Returns the unit with a name.
    ///
    /// # Errors
    /// There is none.
    pub fn parse(name: &str) -> Result<Self, String> {
        let found = UNITS.iter().find(|(own, _)| *own == name);
        match found {
            Some((_, meters)) => Ok(Self { meters: *meters }),
            None => Err(format!("No matching unit found in [{name}]")),
        }
    }
}

impl Distance {
    /// Parses a number and a unit, such as `12km`. Without a unit it is in `default`.
    ///
    /// # Errors
    /// There is no finite number before the unit, or it is negative.
    pub fn parse(text: &str, default: Unit) -> Result<Self, String> {
        let text = text.trim();
        let ending = UNITS.iter().filter(|(name, _)| text.ends_with(name));
        // Of `m` and `km`, the longer is meant.
        let unit = ending.max_by_key(|(name, _)| name.len());
        let (number, meters) = match unit {
            Some((name, meters)) => (text.strip_suffix(name).unwrap_or(text), *meters),
            None => (text, default.meters),
        };
        let number: f64 = number
            .trim()
            .parse()
            .map_err(|_| format!("failed to parse the distance [{text}]"))?;
        Self::of(number, Unit { meters })
    }

    /// Returns a distance of so many units.
    ///
    /// # Errors
    /// The number is negative or not finite.
    pub fn of(number: f64, unit: Unit) -> Result<Self, String> {
        match number.is_finite() && number >= 0.0 {
            true => Ok(Self(number * unit.meters)),
            false => Err(format!("the distance [{number}] is negative or not finite")),
        }
    }
}

impl Metric {
    /// Returns the distance of two points in meters.
    pub fn between(self, one: Point, other: Point) -> f64 {
        let (lat, lon) = (other.lat - one.lat, other.lon - one.lon);
        match self {
            Self::Arc => {
                let half_lat = libm::sin(lat.to_radians() / 2.0);
                let half_lon = libm::sin(lon.to_radians() / 2.0);
                let cosines = libm::cos(one.lat.to_radians()) * libm::cos(other.lat.to_radians());
                let haversine = half_lat * half_lat + cosines * half_lon * half_lon;
                2.0 * EARTH_RADIUS_M * libm::asin(libm::sqrt(haversine).min(1.0))
            }
            Self::Plane => {
                let middle = (one.lat + other.lat).to_radians() / 2.0;
                let x = lon.to_radians() * libm::cos(middle);
                let y = lat.to_radians();
                libm::sqrt(x * x + y * y) * EARTH_RADIUS_M
            }
        }
    }

    /// Returns the name in requests.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "arc" => Some(Self::Arc),
            "plane" => Some(Self::Plane),
            _ => None,
        }
    }
}

/// Returns the angle in radians that a distance takes on the Earth.
pub(crate) fn angle_of(distance: Distance) -> f64 {
    distance.0 / EARTH_RADIUS_M
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_is_elasticsearchs_to_a_meter() {
        let check = |one: (f64, f64), other: (f64, f64), expected: f64| {
            let point = |(lat, lon)| Point::new(lat, lon).unwrap();
            let found = Metric::Arc.between(point(one), point(other));
            assert!((found - expected).abs() < 1.0, "{found} {expected}");
        };
        // Lucene's tests of `SloppyMath.haversinMeters`.
        check((0.0, 0.0), (0.0, 1.0), 111_195.079_7);
        check((0.0, 0.0), (0.0, 180.0), 20_015_114.351_7);
        check((0.0, -180.0), (0.0, 180.0), 0.0);
        check((90.0, 0.0), (90.0, 180.0), 0.0);
        check(
            (40.714_352_8, -74.005_973_1),
            (40.759_011, -73.984_472_2),
            5_285.89,
        );
    }

    #[test]
    fn distances_have_units() {
        let check = |text: &str, expected: Option<f64>| {
            let found = Distance::parse(text, Unit::METER).ok();
            assert_eq!(found.map(|distance| distance.0), expected, "{text}");
        };
        check("12km", Some(12_000.0));
        check("1.5 mi", Some(2_414.016));
        check("7", Some(7.0));
        check("3nmi", Some(5_556.0));
        check("4in", Some(0.101_6));
        check("2miles", Some(3_218.688));
        check("5 parsecs", None);
        check("-1m", None);
        check("", None);
        assert!(Unit::parse("furlong").is_err());
    }
}
