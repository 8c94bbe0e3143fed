//! Regions of the Earth: boxes, circles and polygons.

use serde::{Deserialize, Serialize};

use crate::distance::{Distance, MAX_DISTANCE_M, Metric, angle_of};
use crate::point::{CodeBox, Point, lat_code, lon_code};

/// Box between two parallels and two meridians. One whose left side is east of its right side crosses the
/// date line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeoBox {
    /// Greatest latitude.
    pub top: f64,
    /// Longitude of the western side.
    pub left: f64,
    /// Least latitude.
    pub bottom: f64,
    /// Longitude of the eastern side.
    pub right: f64,
}

/// Region that a query looks in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Region {
    /// Points in a box or on its sides, as precise as codes are.
    Box(GeoBox),
    /// Points at most this far from a center.
    Circle(Point, Distance),
    /// Points in a simple polygon or on its edges, which are straight between latitudes and longitudes. The
    /// first vertex follows the last one.
    Polygon(Vec<Point>),
}

/// Margin in degrees, more than computing loses.
const MARGIN: f64 = 1e-6;

impl GeoBox {
    /// Creates a box.
    ///
    /// # Errors
    /// A coordinate lies outside its range, or the top is below the bottom.
    pub fn new(top_left: Point, bottom_right: Point) -> Result<Self, String> {
        let (top, bottom) = (top_left.lat, bottom_right.lat);
        match top < bottom {
            true => Err(format!(
                "top is below bottom corner: {top:?} vs. {bottom:?}"
            )),
            false => Ok(Self {
                top,
                left: top_left.lon,
                bottom,
                right: bottom_right.lon,
            }),
        }
    }

    /// Returns the ranges of codes; two if the box crosses the date line.
    pub fn codes(&self) -> Vec<CodeBox> {
        let lat = lat_code(self.bottom)..=lat_code(self.top);
        let (left, right) = (lon_code(self.left), lon_code(self.right));
        let lons = match self.left <= self.right {
            true => vec![left..=right],
            false => vec![0..=right, left..=u32::MAX],
        };
        let of_lon = |lon| CodeBox {
            lat: lat.clone(),
            lon,
        };
        lons.into_iter().map(of_lon).collect()
    }

    /// Returns whether the point with a code is in the box.
    pub fn contains(&self, code: u64) -> bool {
        let (lat, lon) = crate::point::halves(code);
        let boxes = self.codes();
        boxes
            .iter()
            .any(|own| own.lat.contains(&lat) && own.lon.contains(&lon))
    }
}

impl Region {
    /// Returns boxes that have every point of the region.
    pub fn boxes(&self) -> Vec<CodeBox> {
        match self {
            Self::Box(own) => own.codes(),
            Self::Circle(center, radius) => around(*center, *radius).codes(),
            Self::Polygon(points) => {
                let lats = || points.iter().map(|point| point.lat);
                let lons = || points.iter().map(|point| point.lon);
                let own = GeoBox {
                    top: lats().fold(-90.0, f64::max),
                    bottom: lats().fold(90.0, f64::min),
                    left: lons().fold(180.0, f64::min),
                    right: lons().fold(-180.0, f64::max),
                };
                match points.is_empty() {
                    true => Vec::new(),
                    false => own.codes(),
                }
            }
        }
    }

    /// Returns a test for codes of points, which says whether the region has the point.
    pub fn test(&self) -> impl Fn(u64) -> bool + Send + Sync + use<> {
        let boxes = self.boxes();
        let region = self.clone();
        move |code| {
            let (lat, lon) = crate::point::halves(code);
            let is_near = boxes
                .iter()
                .any(|own| own.lat.contains(&lat) && own.lon.contains(&lon));
            is_near
                && match &region {
                    Region::Box(_) => true,
                    Region::Circle(center, radius) => {
                        Metric::Arc.between(*center, Point::of_code(code)) <= radius.0
                    }
                    Region::Polygon(points) => is_inside(points, Point::of_code(code)),
                }
        }
    }
}

/// Returns the box around a circle.
fn around(center: Point, radius: Distance) -> GeoBox {
    let angle = angle_of(radius) + MARGIN.to_radians();
    let reach = angle.to_degrees();
    let top = center.lat + reach;
    let bottom = center.lat - reach;
    let all = GeoBox {
        top: top.min(90.0),
        bottom: bottom.max(-90.0),
        left: -180.0,
        right: 180.0,
    };
    // A circle around a pole meets all meridians.
    let sine = libm::sin(angle) / libm::cos(center.lat.to_radians());
    if top >= 90.0 || bottom <= -90.0 || radius.0 >= MAX_DISTANCE_M / 2.0 || sine >= 1.0 {
        return all;
    }
    let reach = libm::asin(sine).to_degrees() + MARGIN;
    let wrapped = |lon: f64| match lon {
        lon if lon < -180.0 => lon + 360.0,
        lon if lon > 180.0 => lon - 360.0,
        lon => lon,
    };
    match reach >= 180.0 {
        true => all,
        false => {
            let (left, right) = (center.lon - reach, center.lon + reach);
            GeoBox {
                left: wrapped(left),
                right: wrapped(right),
                ..all
            }
        }
    }
}

/// Returns whether a polygon has a point, by the edges that a ray to the east crosses.
fn is_inside(polygon: &[Point], point: Point) -> bool {
    let Some(last) = polygon.last() else {
        return false;
    };
    let mut is_inside = false;
    let mut one = *last;
    for other in polygon {
        let side = (other.lon - one.lon) * (point.lat - one.lat)
            - (other.lat - one.lat) * (point.lon - one.lon);
        let is_between = |a: f64, b: f64, x: f64| a.min(b) <= x && x <= a.max(b);
        if side == 0.0
            && is_between(one.lat, other.lat, point.lat)
            && is_between(one.lon, other.lon, point.lon)
        {
            return true;
        }
        if (one.lat > point.lat) != (other.lat > point.lat) {
            let is_west = match other.lat > one.lat {
                true => side < 0.0,
                false => side > 0.0,
            };
            is_inside ^= is_west;
        }
        one = *other;
    }
    is_inside
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).unwrap()
    }

    #[test]
    fn a_box_may_cross_the_date_line() {
        let own = GeoBox::new(at(10.0, 170.0), at(-10.0, -170.0)).unwrap();
        let test = Region::Box(own).test();
        let check = |lat: f64, lon: f64, expected: bool| {
            assert_eq!(test(at(lat, lon).code()), expected, "{lat} {lon}");
            assert_eq!(own.contains(at(lat, lon).code()), expected, "{lat} {lon}");
        };
        check(0.0, 175.0, true);
        check(0.0, -175.0, true);
        check(0.0, 180.0, true);
        check(0.0, -180.0, true);
        check(0.0, 0.0, false);
        check(11.0, 175.0, false);
        check(10.0, 170.0, true);
        check(-10.0, -170.0, true);
        assert!(GeoBox::new(at(-10.0, 0.0), at(10.0, 1.0)).is_err());
    }

    #[test]
    fn a_polygon_has_its_inside_and_its_edges() {
        // A square with a dent from the east.
        let corners = [(0.0, 0.0), (0.0, 4.0), (2.0, 2.0), (4.0, 4.0), (4.0, 0.0)];
        let polygon = corners.map(|(lat, lon)| at(lat, lon));
        let check = |lat: f64, lon: f64, expected: bool| {
            assert_eq!(is_inside(&polygon, at(lat, lon)), expected, "{lat} {lon}");
        };
        check(2.0, 1.0, true);
        check(2.0, 3.0, false);
        check(1.0, 2.5, true);
        check(3.5, 3.0, true);
        check(2.0, 2.0, true);
        check(0.0, 3.0, true);
        check(4.0, 4.0, true);
        check(5.0, 1.0, false);
        check(2.0, -0.1, false);
    }

    proptest! {
        #[test]
        fn a_circle_lies_in_its_boxes(
            lat in -90.0..=90.0_f64, lon in -180.0..=180.0_f64, exponent in 0.0..7.4_f64,
            other_lat in -90.0..=90.0_f64, other_lon in -180.0..=180.0_f64, near in 0.0..1.0_f64,
        ) {
            let center = at(lat, lon);
            let radius = Distance(10_f64.powf(exponent));
            // Some of the points are close.
            let mixed = |one: f64, other: f64| one + (other - one) * near.powi(8);
            let point = at(mixed(lat, other_lat), mixed(lon, other_lon));
            let code = point.code();
            let is_in = Metric::Arc.between(center, Point::of_code(code)) <= radius.0;
            prop_assert_eq!(Region::Circle(center, radius).test()(code), is_in);
        }
    }
}
