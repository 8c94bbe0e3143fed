//! `range`, `date_range`, `ip_range` and `geo_distance`: buckets with the given ends.

use std::net::{IpAddr, Ipv6Addr};

use canter_geo::{Metric, Unit, read_point};
use serde_json::Value;

use super::body::Body;
use super::histograms::{date_source, format, time, zone};
use super::terms::{number_source, source};
use super::types::{IpPrefix, OneRange, Origin, Range, RangeOf, Source};
use crate::Result;
use crate::calendar::Zone;
use crate::key::Key;
use crate::numbers::Number;

pub(super) const RANGE: [&str; 4] = ["field", "ranges", "keyed", "missing"];
pub(super) const IP_PREFIX: [&str; 6] = [
    "field",
    "prefix_length",
    "is_ipv6",
    "append_prefix_length",
    "keyed",
    "min_doc_count",
];
pub(super) const GEO_DISTANCE: [&str; 6] = [
    "field",
    "origin",
    "unit",
    "distance_type",
    "ranges",
    "keyed",
];
pub(super) const DATE_RANGE: [&str; 6] =
    ["field", "ranges", "keyed", "missing", "format", "time_zone"];

pub(super) fn range(body: &Body<'_>) -> Result<Range> {
    let ranges = read_ranges(body, &["key", "from", "to"], |range| {
        let end = |end: f64| Key::Number(Number::from(end));
        Ok((range.number("from")?.map(end), range.number("to")?.map(end)))
    })?;
    Ok(Range {
        source: number_source(body)?,
        what: RangeOf::Numbers,
        ranges,
        is_keyed: body.flag("keyed")?,
        format: None,
        zone: Zone::utc(),
    })
}

pub(super) fn date_range(body: &Body<'_>) -> Result<Range> {
    let zone = zone(body)?;
    let format = format(body)?;
    let ranges = read_ranges(body, &["key", "from", "to"], |range| {
        let end = |name: &str| match range.get(name) {
            None => Ok(None),
            Some(value) => {
                time(range, name, value, format.as_ref(), &zone).map(|time| Some(Key::Date(time)))
            }
        };
        Ok((end("from")?, end("to")?))
    })?;
    Ok(Range {
        source: date_source(body, format.as_ref(), &zone)?,
        what: RangeOf::Dates,
        ranges,
        is_keyed: body.flag("keyed")?,
        format,
        zone,
    })
}

pub(super) fn ip_range(body: &Body<'_>) -> Result<Range> {
    let mut source = source(body)?;
    if let Some(missing) = &source.missing {
        let address = match missing {
            Key::Text(text) => address(text),
            _ => None,
        };
        let address = address.ok_or_else(|| body.invalid("missing", "this is no address"))?;
        source.missing = Some(Key::Address(address));
    }
    let mut ranges = read_ranges(body, &["key", "from", "to", "mask"], |range| {
        if let Some(mask) = range.text("mask")? {
            let (from, to) = masked(mask).ok_or_else(|| {
                range.invalid("mask", "this is no mask of addresses, such as 10.0.0.0/8")
            })?;
            return Ok((Some(Key::Address(from)), to.map(Key::Address)));
        }
        let end = |name: &str| match range.text(name)? {
            None => Ok(None),
            Some(text) => match address(text) {
                Some(address) => Ok(Some(Key::Address(address))),
                None => Err(range.invalid(name, "this is no address")),
            },
        };
        Ok((end("from")?, end("to")?))
    })?;
    let given = body.list("ranges")?.unwrap_or_default();
    for (range, given) in ranges.iter_mut().zip(given) {
        range.mask = given.get("mask").and_then(Value::as_str).map(str::to_owned);
    }
    Ok(Range {
        source,
        what: RangeOf::Addresses,
        ranges,
        is_keyed: body.flag("keyed")?,
        format: None,
        zone: Zone::utc(),
    })
}

pub(super) fn ip_prefix(body: &Body<'_>) -> Result<IpPrefix> {
    let is_ipv6 = body.flag("is_ipv6")?;
    let most = if is_ipv6 { 128 } else { 32 };
    let len = body.count("prefix_length", 0, u64::MAX)?;
    let Some(len) = len
        .and_then(|len| u32::try_from(len).ok())
        .filter(|len| *len <= most)
    else {
        let what = format!("[prefix_length] must be in range [0, {most}]");
        return Err(body.invalid("prefix_length", &what));
    };
    Ok(IpPrefix {
        field: body.field("field")?.to_owned(),
        is_ipv6,
        prefix_len: len,
        shows_len: body.flag("append_prefix_length")?,
        is_keyed: body.flag("keyed")?,
        min_doc_count: body.count("min_doc_count", 1, u64::MAX)?.unwrap_or(1),
    })
}

pub(super) fn geo_distance(body: &Body<'_>) -> Result<Range> {
    let point = match body.get("origin") {
        Some(origin) => read_point(origin).map_err(|problem| body.invalid("origin", &problem))?,
        None => return Err(body.invalid("origin", "a point is missing")),
    };
    let unit = match body.text("unit")? {
        Some(name) => Unit::parse(name).map_err(|problem| body.invalid("unit", &problem))?,
        None => Unit::METER,
    };
    let metric = match body.text("distance_type")? {
        Some(name) => Metric::parse(name)
            .ok_or_else(|| body.invalid("distance_type", "this must be arc or plane"))?,
        None => Metric::Arc,
    };
    let ranges = read_ranges(body, &["key", "from", "to"], |range| {
        let end = |end: f64| Key::Number(Number::from(end));
        let from = range.number("from")?.unwrap_or(0.0);
        if from < 0.0 {
            return Err(range.invalid("from", "this must be 0 or more"));
        }
        // A range without a beginning begins at the origin, and says so.
        Ok((Some(end(from)), range.number("to")?.map(end)))
    })?;
    Ok(Range {
        source: Source {
            field: body.field("field")?.to_owned(),
            missing: None,
        },
        what: RangeOf::Distances(Origin {
            point,
            metric,
            unit,
        }),
        ranges,
        is_keyed: body.flag("keyed")?,
        format: None,
        zone: Zone::utc(),
    })
}

/// Ends of a range, as keys.
type Ends = (Option<Key>, Option<Key>);

fn read_ranges(
    body: &Body<'_>,
    known: &[&str],
    ends: impl Fn(&Body<'_>) -> Result<Ends>,
) -> Result<Vec<OneRange>> {
    let given = body.list("ranges")?.unwrap_or_default();
    if given.is_empty() {
        return Err(body.invalid("ranges", "a list with at least one range is missing"));
    }
    let mut ranges = Vec::with_capacity(given.len());
    for (place, range) in given.iter().enumerate() {
        let range = Body::read(format!("{}.ranges.{place}", body.path), range, known)?;
        let (from, to) = ends(&range)?;
        if let (Some(from), Some(to)) = (&from, &to)
            && from > to
        {
            return Err(range.invalid("to", "this must not be below from"));
        }
        ranges.push(OneRange {
            key: range.text("key")?.map(str::to_owned),
            from,
            to,
            mask: None,
        });
    }
    Ok(ranges)
}

/// Parses an IPv6 address, or the IPv6 form of an IPv4 address.
pub(crate) fn address(text: &str) -> Option<u128> {
    let address = match text.parse().ok()? {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    Some(u128::from(address))
}

/// Returns the first address of `a.b.c.d/bits`, and the one after its last, if there is one.
fn masked(text: &str) -> Option<(u128, Option<u128>)> {
    let (base, bits) = text.split_once('/')?;
    let bits: u32 = bits.parse().ok()?;
    let is_v4 = base.parse::<IpAddr>().ok()?.is_ipv4();
    let bits = match is_v4 {
        true if bits <= 32 => bits + 96,
        false if bits <= 128 => bits,
        _ => return None,
    };
    let span = 1u128.checked_shl(128 - bits).filter(|_| bits > 0);
    let first = match span {
        Some(span) => address(base)? & !(span - 1),
        None => u128::from(Ipv6Addr::UNSPECIFIED),
    };
    Some((first, span.and_then(|span| first.checked_add(span))))
}
