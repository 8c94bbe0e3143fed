//! `histogram` and `date_histogram`: rows of buckets of equal width.

use serde_json::Value;

use super::super::body::{Body, number_of};
use super::super::bounds::{Bounds, MAX_BUCKET_PLACE};
use super::super::terms::{number_source, source};
use super::super::types::{DateHistogram, Histogram, HistogramOrder, Row, Source};
use crate::Result;
use crate::calendar::{
    CalendarUnit, DateFormat, DateMath, Rounding, Zone, fixed_interval_ns, offset_ns,
};
use crate::key::Key;
use crate::pipeline::Format;

pub(crate) const HISTOGRAM: [&str; 10] = [
    "field",
    "format",
    "interval",
    "offset",
    "min_doc_count",
    "hard_bounds",
    "extended_bounds",
    "keyed",
    "missing",
    "order",
];
pub(crate) const DATE_HISTOGRAM: [&str; 13] = [
    "field",
    "interval",
    "fixed_interval",
    "calendar_interval",
    "time_zone",
    "format",
    "offset",
    "min_doc_count",
    "hard_bounds",
    "extended_bounds",
    "keyed",
    "missing",
    "order",
];

pub(crate) fn histogram(body: &Body<'_>, bounds: &Bounds) -> Result<Histogram> {
    let source = number_source(body)?;
    let interval = body.number("interval")?.filter(|interval| *interval > 0.0);
    let Some(interval) = interval else {
        return Err(body.invalid("interval", "this must be a number above 0"));
    };
    let offset = body.number("offset")?.unwrap_or(0.0);
    if (offset / interval).abs() > MAX_BUCKET_PLACE {
        return Err(body.too_large("offset", "the offset is too far for this interval"));
    }
    let read_end = |body: &Body<'_>, name: &str, value: &Value| match number_of(value) {
        Some(end) if (end / interval).abs() > MAX_BUCKET_PLACE => {
            Err(body.too_large(name, "this is too far from 0 for this interval"))
        }
        Some(end) => Ok(end),
        None => Err(body.invalid(name, "this must be a number")),
    };
    let row = row(body, read_end)?;
    if let Some((first, last)) = row.extended_bounds {
        let num_buckets = (last - first) / interval;
        check_num_buckets(body, bounds, num_buckets > f64::from(bounds.max_buckets))?;
    }
    let format = match body.text("format")? {
        None => None,
        Some(pattern) => {
            let format = Format::parse(pattern);
            Some(format.map_err(|what| body.invalid("format", &what))?)
        }
    };
    Ok(Histogram {
        source,
        interval,
        offset,
        format,
        row,
    })
}

pub(crate) fn date_histogram(body: &Body<'_>, bounds: &Bounds) -> Result<DateHistogram> {
    let zone = zone(body)?;
    let format = format(body)?;
    let rounding = rounding(body, &zone)?;
    let row = row(body, |body: &Body<'_>, name: &str, value: &Value| {
        time(body, name, value, format.as_ref(), &zone)
    })?;
    if let Some((first, last)) = row.extended_bounds {
        let most = usize::try_from(bounds.max_buckets).unwrap_or(usize::MAX);
        let num_buckets = rounding
            .boundaries(first, last)
            .take(most.saturating_add(1))
            .count();
        check_num_buckets(body, bounds, num_buckets > most)?;
    }
    Ok(DateHistogram {
        source: date_source(body, format.as_ref(), &zone)?,
        rounding,
        format,
        zone,
        row,
    })
}

fn check_num_buckets(body: &Body<'_>, bounds: &Bounds, are_too_many: bool) -> Result<()> {
    match are_too_many {
        true => {
            let most = bounds.max_buckets;
            let what = format!("these make more buckets than the limit of {most}");
            Err(body.too_large("extended_bounds", &what))
        }
        false => Ok(()),
    }
}

/// Reads a date field; the substitute for missing values is a date too.
pub(crate) fn date_source(
    body: &Body<'_>,
    format: Option<&DateFormat>,
    zone: &Zone,
) -> Result<Source> {
    let mut source = match body.get("missing") {
        Some(Value::Number(_)) | None => number_source(body)?,
        Some(_) => source(body)?,
    };
    source.missing = match body.get("missing") {
        None => None,
        Some(value) => Some(Key::Date(time(body, "missing", value, format, zone)?)),
    };
    Ok(source)
}

/// Reads `fixed_interval` or `calendar_interval`, with zone and offset.
pub(crate) fn rounding(body: &Body<'_>, zone: &Zone) -> Result<Rounding> {
    let offset = match body.text("offset")? {
        None => 0,
        Some(offset) => offset_ns(offset).map_err(|what| body.invalid("offset", &what))?,
    };
    let (mut fixed, mut calendar) = (
        body.text("fixed_interval")?,
        body.text("calendar_interval")?,
    );
    // Elasticsearch's name until version 7 for either, of which units of the calendar go before.
    if let Some(interval) = body.text("interval")? {
        if fixed.is_some() || calendar.is_some() {
            let what = "this stands for fixed_interval or calendar_interval, and not beside one";
            return Err(body.invalid("interval", what));
        }
        match CalendarUnit::parse(interval) {
            Ok(_) => calendar = Some(interval),
            Err(_) => fixed = Some(interval),
        }
    }
    match (fixed, calendar) {
        (Some(interval), None) => {
            let interval = fixed_interval_ns(interval);
            let interval_ns = interval.map_err(|what| body.invalid("fixed_interval", &what))?;
            Ok(Rounding::fixed(interval_ns, offset, zone.clone()))
        }
        (None, Some(unit)) => {
            let unit = CalendarUnit::parse(unit);
            let unit = unit.map_err(|what| body.invalid("calendar_interval", &what))?;
            Ok(Rounding::calendar(unit, offset, zone.clone()))
        }
        _ => Err(body.invalid(
            "fixed_interval",
            "there must be one of fixed_interval and calendar_interval",
        )),
    }
}

pub(crate) fn zone(body: &Body<'_>) -> Result<Zone> {
    match body.text("time_zone")? {
        None => Ok(Zone::utc()),
        Some(name) => Zone::parse(name).map_err(|what| body.invalid("time_zone", &what)),
    }
}

pub(crate) fn format(body: &Body<'_>) -> Result<Option<DateFormat>> {
    body.date_format("format")
}

/// Reads a time: milliseconds since 1970, or a text in the format, by default that of queries.
pub(crate) fn time(
    body: &Body<'_>,
    name: &str,
    value: &Value,
    format: Option<&DateFormat>,
    zone: &Zone,
) -> Result<i64> {
    match value {
        Value::Number(_) => from_milliseconds(value)
            .ok_or_else(|| body.too_large(name, "this is outside of the years 1678 to 2262")),
        Value::String(text) => {
            if text.starts_with("now") {
                return Err(body.invalid(
                    name,
                    "this host does not say what time it is, so there is no now: write the time, a date with || and what is \
                     added to it, or give now_ms with the request",
                ));
            }
            let default = DateFormat::default();
            let math = DateMath {
                format: format.unwrap_or(&default),
                zone,
                now_ns: 0,
            };
            let found = math.resolve(text, false);
            let literal = || canter_doc_mapper::parse_datetime_literal(text);
            match (found, format) {
                (Ok(time_ns), _) => Ok(time_ns),
                (Err(what), Some(_)) => Err(body.invalid(name, &what)),
                // Also accepts the notation of queries.
                (Err(what), None) => literal()
                    .map(|time| time.into_timestamp_nanos())
                    .ok_or_else(|| body.invalid(name, &what)),
            }
        }
        _ => Err(body.invalid(name, "this must be a time")),
    }
}

/// Converts milliseconds to nanoseconds; integers exactly, unlike a floating-point product.
fn from_milliseconds(value: &Value) -> Option<i64> {
    const MILLISECOND_NS: i64 = 1_000_000;
    if let Some(ms) = value.as_i64() {
        return ms.checked_mul(MILLISECOND_NS);
    }
    let ms = number_of(value).filter(|ms| ms.abs() < 9.2e12)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it was checked to be within the range"
    )]
    let (whole, rest) = (ms as i64, (ms.fract() * 1e6).round() as i64);
    whole.checked_mul(MILLISECOND_NS)?.checked_add(rest)
}

/// Reads the parameters of all histograms about their rows of buckets.
fn row<T: Copy + PartialOrd>(
    body: &Body<'_>,
    read_end: impl Fn(&Body<'_>, &str, &Value) -> Result<T>,
) -> Result<Row<T>> {
    let min_doc_count = body.count("min_doc_count", 0, u64::MAX)?.unwrap_or(0);
    let read = |name: &str| -> Result<Option<(T, T)>> {
        let Some(value) = body.get(name) else {
            return Ok(None);
        };
        let ends = Body::read(format!("{}.{name}", body.path), value, &["min", "max"])?;
        let end = |end: &str| match ends.get(end) {
            Some(value) => read_end(&ends, end, value),
            None => Err(ends.invalid(end, "this is missing")),
        };
        let (min, max) = (end("min")?, end("max")?);
        match min > max {
            true => Err(body.invalid(name, "min is above max")),
            false => Ok(Some((min, max))),
        }
    };
    let hard_bounds = read("hard_bounds")?;
    // With a minimum count, these bounds have no effect, because the buckets that they add are
    // empty.
    let extended_bounds = read("extended_bounds")?.filter(|_| min_doc_count == 0);
    if let (Some((first, last)), Some((least, most))) = (extended_bounds, hard_bounds)
        && (first < least || last > most)
    {
        return Err(body.invalid("extended_bounds", "these must lie within hard_bounds"));
    }
    Ok(Row {
        min_doc_count,
        hard_bounds,
        extended_bounds,
        is_keyed: body.flag("keyed")?,
        order: order(body)?,
    })
}

fn order(body: &Body<'_>) -> Result<HistogramOrder> {
    let Some(order) = body.get("order") else {
        return Ok(HistogramOrder::Key {
            is_descending: false,
        });
    };
    let by = order.as_object().filter(|by| by.len() == 1);
    let by = by.and_then(|by| by.iter().next());
    let is_descending = match by.and_then(|(_, direction)| direction.as_str()) {
        Some("asc") => false,
        Some("desc") => true,
        _ => return Err(body.invalid("order", "this must be such as {\"_key\": \"desc\"}")),
    };
    match by.map(|(target, _)| target.as_str()) {
        // The other names are older ones.
        Some("_key" | "_time" | "_term") => Ok(HistogramOrder::Key { is_descending }),
        Some("_count") => Ok(HistogramOrder::Count { is_descending }),
        _ => Err(body.invalid("order", "a histogram is ordered by _key or _count")),
    }
}
