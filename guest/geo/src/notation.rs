//! The notations of points in documents and requests:
//!
//! ```text
//!   {"lat": 41.12, "lon": -71.34}        "41.12,-71.34"        [-71.34, 41.12]
//!   {"type": "Point", "coordinates": [-71.34, 41.12]}          "POINT (-71.34 41.12)"
//!   {"geohash": "drm3btev3e86"}          "drm3btev3e86"
//! ```
//!
//! A third coordinate, the altitude, is ignored.

use serde_json::{Map, Value};

use crate::cells::geohash_box;
use crate::point::Point;
use crate::region::GeoBox;

type Result<T> = std::result::Result<T, String>;

/// Reads one point or an array of points.
///
/// # Errors
/// The problem with a point.
pub fn read_points(value: &Value, take: &mut dyn FnMut(Point)) -> Result<()> {
    match value {
        Value::Array(items) if !items.first().is_some_and(Value::is_number) => {
            let points = items.iter().filter(|item| !item.is_null());
            points.map(read_point).try_for_each(|point| {
                take(point?);
                Ok(())
            })
        }
        value => {
            take(read_point(value)?);
            Ok(())
        }
    }
}

/// Reads one point.
///
/// # Errors
/// The problem with it.
pub fn read_point(value: &Value) -> Result<Point> {
    match value {
        Value::Object(map) => of_object(map),
        Value::String(text) => of_text(text),
        Value::Array(items) => of_coordinates(items),
        other => Err(format!("geo_point expected, and not {other}")),
    }
}

/// Reads the box of a text such as `BBOX (-74.1, -71.12, 40.73, 40.01)`: left, right, top, bottom.
///
/// # Errors
/// It is none.
pub(crate) fn read_wkt_box(text: &str) -> Result<GeoBox> {
    let wrong = || format!("failed to parse WKT bounding box [{text}]");
    let trimmed = text.trim();
    let name = trimmed.get(..4).ok_or_else(wrong)?;
    if !matches!(name.to_ascii_uppercase().as_str(), "BBOX" | "ENVE") {
        return Err(wrong());
    }
    let (_, inner) = trimmed.split_once('(').ok_or_else(wrong)?;
    let inner = inner.strip_suffix(')').ok_or_else(wrong)?;
    let sides: Vec<f64> = inner
        .split(',')
        .map(|side| side.trim().parse().map_err(|_| wrong()))
        .collect::<Result<_>>()?;
    let [left, right, top, bottom] = sides.as_slice() else {
        return Err(wrong());
    };
    GeoBox::new(Point::new(*top, *left)?, Point::new(*bottom, *right)?)
}

fn of_object(map: &Map<String, Value>) -> Result<Point> {
    if let Some(coordinates) = map.get("coordinates") {
        let is_point = map
            .get("type")
            .and_then(Value::as_str)
            .is_some_and(|kind| kind.eq_ignore_ascii_case("point"));
        return match coordinates {
            Value::Array(items) if is_point && map.len() == 2 => of_coordinates(items),
            _ => Err("[type] for geo_point can only be 'point', with [coordinates]".to_owned()),
        };
    }
    if let Some(hash) = map.get("geohash") {
        return match hash {
            Value::String(hash) if map.len() == 1 => of_geohash(hash),
            _ => Err("field must be either lat/lon or geohash".to_owned()),
        };
    }
    let known = |key: &String| matches!(key.as_str(), "lat" | "lon" | "z");
    if let Some(other) = map.keys().find(|key| !known(key)) {
        return Err(format!(
            "field must be either [lat], [lon], [geohash], [type] or [coordinates], and not [{other}]"
        ));
    }
    let side = |name: &str| match map.get(name) {
        Some(Value::Null) | None => Err(format!("field [{name}] missing")),
        Some(value) => {
            number(value).ok_or_else(|| format!("[{name}] must be a valid double value"))
        }
    };
    Point::new(side("lat")?, side("lon")?)
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_f64(),
    }
}

fn of_coordinates(items: &[Value]) -> Result<Point> {
    let numbers: Option<Vec<f64>> = items.iter().map(Value::as_f64).collect();
    match numbers.as_deref() {
        Some([lon, lat] | [lon, lat, _]) => Point::new(*lat, *lon),
        _ => Err("[geo_point] field type takes two or three numbers in an array".to_owned()),
    }
}

fn of_text(text: &str) -> Result<Point> {
    let trimmed = text.trim();
    if trimmed
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case("point"))
    {
        return of_wkt(trimmed);
    }
    if !trimmed.contains(',') {
        return of_geohash(trimmed);
    }
    let sides: Vec<&str> = trimmed.split(',').map(str::trim).collect();
    let side = |name: &str, text: &str| {
        text.parse::<f64>()
            .map_err(|_| format!("{name} must be a number, and not [{text}]"))
    };
    match sides.as_slice() {
        [lat, lon] | [lat, lon, _] => Point::new(side("latitude", lat)?, side("longitude", lon)?),
        _ => Err(format!(
            "failed to parse [{text}], expected 2 or 3 coordinates but found: [{}]",
            sides.len()
        )),
    }
}

fn of_wkt(text: &str) -> Result<Point> {
    let wrong = || format!("failed to parse [{text}]: expected [POINT (lon lat)]");
    let inner = text.get(5..).map(str::trim_start);
    let inner = inner.map(|inner| inner.strip_prefix(['Z', 'z']).unwrap_or(inner).trim_start());
    let inner = inner.and_then(|inner| inner.strip_prefix('(')?.strip_suffix(')'));
    let sides: Option<Vec<f64>> = inner
        .ok_or_else(wrong)?
        .split_whitespace()
        .map(|side| side.parse().ok())
        .collect();
    match sides.as_deref() {
        Some([lon, lat] | [lon, lat, _]) => Point::new(*lat, *lon),
        _ => Err(wrong()),
    }
}

fn of_geohash(text: &str) -> Result<Point> {
    match geohash_box(text) {
        Some(own) => Point::new(own.bottom, own.left),
        None => Err(format!("unsupported geohash or point [{text}]")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_notations_are_the_same_point() {
        let check = |value: Value| {
            let found = read_point(&value).unwrap();
            assert!((found.lat - 41.12).abs() < 1e-6, "{value} {found:?}");
            assert!((found.lon + 71.34).abs() < 1e-6, "{value} {found:?}");
        };
        check(json!({"lat": 41.12, "lon": -71.34}));
        check(json!({"lat": "41.12", "lon": "-71.34", "z": 3}));
        check(json!("41.12,-71.34"));
        check(json!(" 41.12 , -71.34, 100"));
        check(json!([-71.34, 41.12]));
        check(json!([-71.34, 41.12, 7]));
        check(json!("POINT (-71.34 41.12)"));
        check(json!("point(-71.34 41.12 8.5)"));
        check(json!("POINT Z (-71.34 41.12 8.5)"));
        check(json!({"type": "Point", "coordinates": [-71.34, 41.12]}));
        check(json!("drm3btev3e86"));
        check(json!({"geohash": "drm3btev3e86"}));
    }

    #[test]
    fn anything_else_is_refused() {
        for value in [
            json!(null),
            json!(1),
            json!(true),
            json!({}),
            json!({"lat": 1}),
            json!({"lat": 1, "lon": 2, "x": 3}),
            json!({"lat": 91, "lon": 2}),
            json!({"lat": 1, "lon": "x"}),
            json!([1]),
            json!([1, 2, 3, 4]),
            json!([1, 91]),
            json!("1,2,3,4"),
            json!("a,b"),
            json!("POINT (1)"),
            json!("POINT (1 2"),
            json!("pointé"),
            json!(""),
            json!("drm3btev3e861"),
            json!({"type": "LineString", "coordinates": [1, 2]}),
        ] {
            assert!(read_point(&value).is_err(), "{value}");
        }
    }

    #[test]
    fn points_come_alone_or_in_arrays() {
        let check = |value: Value, expected: usize| {
            let mut num = 0;
            let read = read_points(&value, &mut |_| num += 1);
            assert!(read.is_ok() && num == expected, "{value} {num}");
        };
        check(json!([1, 2]), 1);
        check(json!([[1, 2], "3,4", {"lat": 1, "lon": 2}]), 3);
        check(json!([]), 0);
        check(json!([null, "1,2"]), 1);
    }

    #[test]
    fn a_box_is_read_from_its_text() {
        let own = read_wkt_box("BBOX (-74.1, -71.12, 40.73, 40.01)").unwrap();
        assert_eq!((own.left, own.right), (-74.1, -71.12));
        assert_eq!((own.top, own.bottom), (40.73, 40.01));
        for text in [
            "",
            "BBOX",
            "BBOX (1,2,3)",
            "POINT (1 2)",
            "BBOX (1, 2, 3, 4)",
        ] {
            assert!(read_wkt_box(text).is_err(), "{text}");
        }
    }
}
