//! Replaces `now` in the dates of a request by a fixed time.
//!
//! This happens once, before anything else reads the request: all leaves and the root of a
//! distributed search use the same time, which is also part of the cache key of an answer (only its
//! day, if the request rounds to days).

use serde_json::Value;

use super::body::invalid;
use crate::Result;
use crate::calendar::{DateFormat, DateMath, Zone};

const MILLISECOND_NS: i64 = 1_000_000;

/// Replaces all date math that begins with `now` by milliseconds since 1970. `now_ms` is the time
/// of the request, in milliseconds since 1970. Invalid aggregations are left to
/// [`super::Aggregations::parse`].
///
/// # Errors
/// The date math after `now` is invalid. The message begins with its location in the request.
pub fn resolve_now(aggregations: &mut Value, now_ms: i64) -> Result<()> {
    let now_ns = now_ms.saturating_mul(MILLISECOND_NS);
    resolve_level("aggs", aggregations, now_ns)
}

fn resolve_level(path: &str, aggregations: &mut Value, now_ns: i64) -> Result<()> {
    let Value::Object(aggregations) = aggregations else {
        return Ok(());
    };
    for (name, aggregation) in aggregations {
        let Value::Object(parts) = aggregation else {
            continue;
        };
        let path = format!("{path}.{name}");
        for (part, value) in parts {
            let place = format!("{path}.{part}");
            match part.as_str() {
                "aggs" | "aggregations" => resolve_level(&place, value, now_ns)?,
                "date_range" | "date_histogram" | "auto_date_histogram" => {
                    resolve_dates(&place, value, now_ns)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Replaces the dates of one aggregation: `missing`, the ends of its ranges, and its bounds.
fn resolve_dates(path: &str, body: &mut Value, now_ns: i64) -> Result<()> {
    let zone = body.get("time_zone").and_then(Value::as_str);
    let zone = zone.and_then(|name| Zone::parse(name).ok());
    let zone = zone.unwrap_or_else(Zone::utc);
    let math = DateMath {
        format: &DateFormat::default(),
        zone: &zone,
        now_ns,
    };
    let resolve = |path: &str, holder: &mut Value, name: &str| -> Result<()> {
        let Some(value) = holder.get_mut(name) else {
            return Ok(());
        };
        let Some(text) = value.as_str().filter(|text| text.starts_with("now")) else {
            return Ok(());
        };
        let time_ns = math.resolve(text, false);
        let time_ns = time_ns.map_err(|what| invalid(&format!("{path}.{name}"), &what))?;
        *value = time_ns.div_euclid(MILLISECOND_NS).into();
        Ok(())
    };
    resolve(path, body, "missing")?;
    if let Some(Value::Array(ranges)) = body.get_mut("ranges") {
        for (place, range) in ranges.iter_mut().enumerate() {
            let path = format!("{path}.ranges.{place}");
            resolve(&path, range, "from")?;
            resolve(&path, range, "to")?;
        }
    }
    for name in ["hard_bounds", "extended_bounds"] {
        if let Some(bounds) = body.get_mut(name) {
            let path = format!("{path}.{name}");
            resolve(&path, bounds, "min")?;
            resolve(&path, bounds, "max")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::resolve_now;
    use serde_json::json;

    /// 2024-05-16T17:18:19.500Z.
    const NOW_MS: i64 = 1_715_879_899_500;
    const DAY_MS: i64 = 86_400_000;
    /// 2024-05-16T00:00:00Z.
    const MIDNIGHT_MS: i64 = 1_715_817_600_000;

    #[test]
    fn every_date_of_a_request_may_begin_with_now() {
        let mut aggs = json!({"all": {"terms": {"field": "now"}, "aggs": {
            "days": {"date_range": {"field": "t", "missing": "now", "format": "yyyy", "ranges": [
                {"key": "now", "from": "now-1d/d", "to": "now/d"}, {"to": "2020"}, {"from": NOW_MS}
            ]}},
            "hours": {"date_histogram": {"field": "t", "fixed_interval": "1h", "time_zone": "Europe/Berlin",
                "hard_bounds": {"min": "now/d", "max": "now"},
                "extended_bounds": {"min": "2024-05-16||/d", "max": "now-1h"}}}
        }}});
        resolve_now(&mut aggs, NOW_MS).unwrap();
        let expected = json!({"all": {"terms": {"field": "now"}, "aggs": {
            "days": {"date_range": {"field": "t", "missing": NOW_MS, "format": "yyyy", "ranges": [
                {"key": "now", "from": MIDNIGHT_MS - DAY_MS, "to": MIDNIGHT_MS}, {"to": "2020"}, {"from": NOW_MS}
            ]}},
            "hours": {"date_histogram": {"field": "t", "fixed_interval": "1h", "time_zone": "Europe/Berlin",
                "hard_bounds": {"min": MIDNIGHT_MS - 2 * 3_600_000, "max": NOW_MS},
                "extended_bounds": {"min": "2024-05-16||/d", "max": NOW_MS - 3_600_000}}}
        }}});
        assert_eq!(aggs, expected);
    }

    #[test]
    fn bad_arithmetic_is_refused_with_its_place() {
        let mut aggs = json!({"a": {"date_range": {"field": "t", "ranges": [{"to": "now-1x"}]}}});
        let error = resolve_now(&mut aggs, NOW_MS).unwrap_err().to_string();
        assert!(
            error.starts_with("aggs.a.date_range.ranges.0.to"),
            "{error}"
        );
    }

    #[test]
    fn times_out_of_range_and_odd_shapes_are_left_to_the_parser() {
        for mut aggs in [
            json!(null),
            json!([]),
            json!({"a": 1}),
            json!({"a": {"date_range": 1}}),
            json!({"a": {"date_range": {"ranges": [1, null, {"to": 7}]}}}),
        ] {
            let before = aggs.clone();
            resolve_now(&mut aggs, i64::MAX).unwrap();
            assert_eq!(aggs, before);
        }
        let mut aggs =
            json!({"a": {"date_range": {"field": "t", "ranges": [{"to": "now+999999y"}]}}});
        resolve_now(&mut aggs, NOW_MS).unwrap();
        let to = &aggs["a"]["date_range"]["ranges"][0]["to"];
        assert_eq!(*to, json!(i64::MAX / 1_000_000));
    }
}
