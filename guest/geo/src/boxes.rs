//! The notations of boxes in requests:
//!
//! ```text
//!   {"top_left": point, "bottom_right": point}     {"top_right": point, "bottom_left": point}
//!   {"top": 40.73, "left": -74.1, "bottom": 40.01, "right": -71.12}
//!   {"wkt": "BBOX (-74.1, -71.12, 40.73, 40.01)"}
//! ```
//!
//! A corner that is a geohash is that corner of its cell.

use serde_json::{Map, Value};

use crate::cells::geohash_box;
use crate::notation::{read_point, read_wkt_box};
use crate::point::Point;
use crate::region::GeoBox;

/// Reads a box.
///
/// # Errors
/// The problem with it.
pub fn read_box(value: &Value) -> Result<GeoBox, String> {
    let Value::Object(map) = value else {
        return Err("this must be an object with the corners of a box".to_owned());
    };
    let mut names: Vec<&str> = map.keys().map(String::as_str).collect();
    names.sort_unstable();
    match names.as_slice() {
        ["wkt"] => match map.get("wkt") {
            Some(Value::String(text)) => read_wkt_box(text),
            _ => Err("wkt must be text".to_owned()),
        },
        ["bottom_right", "top_left"] => {
            let top_left = corner(map, "top_left")?;
            let bottom_right = corner(map, "bottom_right")?;
            GeoBox::new(top_left, bottom_right)
        }
        ["bottom_left", "top_right"] => {
            let top_right = corner(map, "top_right")?;
            let bottom_left = corner(map, "bottom_left")?;
            GeoBox::new(
                Point::new(top_right.lat, bottom_left.lon)?,
                Point::new(bottom_left.lat, top_right.lon)?,
            )
        }
        ["bottom", "left", "right", "top"] => GeoBox::new(
            Point::new(side(map, "top")?, side(map, "left")?)?,
            Point::new(side(map, "bottom")?, side(map, "right")?)?,
        ),
        _ => Err(
            "a box is top_left and bottom_right, or top_right and bottom_left, or top, left, bottom and right, or wkt"
                .to_owned(),
        ),
    }
}

fn side(map: &Map<String, Value>, name: &str) -> Result<f64, String> {
    let number = match map.get(name) {
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(value) => value.as_f64(),
        None => None,
    };
    number.ok_or_else(|| format!("{name} must be a number"))
}

fn corner(map: &Map<String, Value>, name: &str) -> Result<Point, String> {
    let value = map.get(name).unwrap_or(&Value::Null);
    if let Some(own) = value.as_str().and_then(|text| geohash_box(text.trim())) {
        let lat = match name.starts_with("top") {
            true => own.top,
            false => own.bottom,
        };
        let lon = match name.ends_with("left") {
            true => own.left,
            false => own.right,
        };
        return Point::new(lat, lon);
    }
    read_point(value).map_err(|problem| format!("{name}: {problem}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_notations_are_the_same_box() {
        let check = |value: Value| {
            let own = read_box(&value).unwrap();
            let sides = (own.top, own.left, own.bottom, own.right);
            assert_eq!(sides, (40.73, -74.1, 40.01, -71.12), "{value}");
        };
        check(json!({"top_left": {"lat": 40.73, "lon": -74.1}, "bottom_right": [-71.12, 40.01]}));
        check(json!({"top_right": "40.73,-71.12", "bottom_left": "POINT (-74.1 40.01)"}));
        check(json!({"top": 40.73, "left": -74.1, "bottom": 40.01, "right": "-71.12"}));
        check(json!({"wkt": "BBOX (-74.1, -71.12, 40.73, 40.01)"}));
        // A cell of a geohash.
        let cell = read_box(&json!({"top_left": "u0", "bottom_right": "u0"})).unwrap();
        assert_eq!(cell, geohash_box("u0").unwrap());
        for value in [
            json!(1),
            json!({}),
            json!({"top_left": [0, 0]}),
            json!({"top": 1, "left": 1, "bottom": 2, "right": 2}),
            json!({"top": "x", "left": 1, "bottom": 0, "right": 2}),
            json!({"wkt": 1}),
        ] {
            assert!(read_box(&value).is_err(), "{value}");
        }
    }
}
