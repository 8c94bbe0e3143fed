//! `rate`: documents, or values of a field, for each unit of time in the parent bucket.

use super::super::body::{Body, invalid};
use super::super::terms::number_source;
use super::super::types::{Aggregation, CompositeBy, Kind, Metric, MetricOf, Rate, RateOf, Source};
use crate::Result;
use crate::calendar::{CalendarUnit, Rounding};

pub(crate) const RATE: [&str; 4] = ["field", "missing", "unit", "mode"];

pub(crate) fn rate(body: &Body<'_>) -> Result<Metric> {
    let unit = match body.text("unit")? {
        None => None,
        Some(unit) => {
            let unit = CalendarUnit::parse(unit);
            Some(unit.map_err(|what| body.invalid("unit", &what))?)
        }
    };
    let mode = body.text("mode")?;
    let of = match (body.get("field").is_some(), mode) {
        (false, None) => RateOf::Documents,
        (false, Some(_)) => {
            return Err(body.invalid("mode", "this is about a field: name one, or leave it out"));
        }
        (true, None | Some("sum")) => RateOf::Sum,
        (true, Some("value_count")) => RateOf::Values,
        (true, Some(_)) => return Err(body.invalid("mode", "this must be sum or value_count")),
    };
    let source = match of {
        RateOf::Documents => Source {
            field: String::new(),
            missing: None,
        },
        _ => number_source(body)?,
    };
    Ok(Metric {
        source,
        what: MetricOf::Rate(Rate { of, unit }),
        format: None,
    })
}

/// Checks that each rate is inside date buckets whose length is a number of its units. `dates` are
/// the buckets around `list`.
pub(crate) fn check_rates(list: &[Aggregation], dates: Option<&Rounding>) -> Result<()> {
    for aggregation in list {
        if let Kind::Metric(metric) = &aggregation.kind
            && let MetricOf::Rate(rate) = &metric.what
        {
            let Some(rounding) = dates else {
                let what = "a rate is of the buckets of a date_histogram, or of a composite with one date_histogram \
                            among its sources: put it inside of one";
                return Err(invalid(&aggregation.path, what));
            };
            let unit = rate.unit;
            if unit.is_some_and(|unit| rounding.span(0).num_units(unit).is_none()) {
                let what = "a month, a quarter and a year have no fixed length: the buckets around must be of a \
                            calendar_interval of month, quarter or year; else a unit is second, minute, hour, day or week";
                return Err(invalid(&format!("{}.unit", aggregation.path), what));
            }
        }
        let own = match &aggregation.kind {
            Kind::DateHistogram(histogram) => Some(&histogram.rounding),
            Kind::Composite(composite) => {
                let sources = composite.sources.iter();
                let mut dates = sources.filter_map(|source| match &source.by {
                    CompositeBy::Dates { rounding, .. } => Some(rounding),
                    _ => None,
                });
                dates.next().filter(|_| dates.next().is_none())
            }
            _ => None,
        };
        check_rates(&aggregation.inside, own.or(dates))?;
    }
    Ok(())
}
