//! Aggregations without buckets: one number, several numbers, or hits.

use serde_json::Value;

use super::super::body::{Body, invalid, number_of};
use super::super::bounds::MAX_PRECISION_THRESHOLD;
use super::super::histograms::format;
use super::super::terms::{number_source, source};
use super::super::types::{Metric, MetricOf, Source};
use super::rate::{RATE, rate};
use super::top::{TOP_HITS, top_hits, top_metrics};
use crate::{Result, pipeline};

const KINDS: &str = "terms, multi_terms, rare_terms, significant_terms, significant_text, categorize_text, histogram, date_histogram, auto_date_histogram, range, date_range, \
     ip_range, ip_prefix, geo_distance, geohash_grid, geotile_grid, filter, filters, adjacency_matrix, missing, nested, reverse_nested, \
     composite, avg, sum, min, max, value_count, stats, \
     extended_stats, weighted_avg, median_absolute_deviation, boxplot, percentiles, percentile_ranks, cardinality, \
     top_hits, top_metrics, rate, string_stats, geo_bounds, geo_centroid";

const DEFAULT_PERCENTS: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];

/// Default and maximum number of significant digits of a histogram with a high dynamic range.
const DEFAULT_DIGITS: u8 = 3;
const MAX_DIGITS: u8 = 5;

/// Default number of standard deviations between the average and its bounds.
const DEFAULT_SIGMA: f64 = 2.0;

pub(crate) fn metric(path: &str, kind: &str, value: &Value) -> Result<Metric> {
    let read = |known: &[&str]| Body::read(path.to_owned(), value, known);
    let simple = |what: MetricOf| -> Result<Metric> {
        let body = read(&["field", "missing", "format"])?;
        Ok(Metric {
            source: number_source(&body)?,
            what,
            format: format(&body)?,
        })
    };
    match kind {
        "avg" => simple(MetricOf::Avg),
        "sum" => simple(MetricOf::Sum),
        "min" => simple(MetricOf::Min),
        "max" => simple(MetricOf::Max),
        "stats" => simple(MetricOf::Stats),
        "value_count" => of_source(&read(&["field", "missing"])?, MetricOf::ValueCount),
        "extended_stats" => {
            let body = read(&["field", "missing", "sigma", "format"])?;
            let sigma = sigma(&body)?;
            Ok(Metric {
                source: number_source(&body)?,
                what: MetricOf::ExtendedStats { sigma },
                format: format(&body)?,
            })
        }
        "weighted_avg" => weighted_avg(&read(&["value", "weight", "format"])?),
        "median_absolute_deviation" => {
            let body = read(&[
                "field",
                "missing",
                "compression",
                "execution_hint",
                "format",
            ])?;
            compression(&body)?;
            of_numbers(&body, MetricOf::MedianAbsoluteDeviation)
        }
        "boxplot" => {
            let body = read(&["field", "missing", "compression", "execution_hint"])?;
            compression(&body)?;
            of_numbers(&body, MetricOf::Boxplot)
        }
        "percentiles" => percentiles(&read(&[
            "field", "missing", "percents", "keyed", "tdigest", "hdr",
        ])?),
        "percentile_ranks" => percentile_ranks(&read(&[
            "field", "missing", "values", "keyed", "tdigest", "hdr",
        ])?),
        "cardinality" => cardinality(&read(&[
            "field",
            "missing",
            "precision_threshold",
            "execution_hint",
        ])?),
        "top_hits" => top_hits(&read(&TOP_HITS)?),
        "top_metrics" => top_metrics(&read(&["metrics", "sort", "size"])?),
        "rate" => rate(&read(&RATE)?),
        "string_stats" => string_stats(&read(&["field", "missing", "show_distribution"])?),
        "geo_bounds" => geo_bounds(&read(&["field", "wrap_longitude"])?),
        "geo_centroid" => of_places(&read(&["field"])?, MetricOf::GeoCentroid),
        _ => Err(invalid(
            path,
            &format!(
                "the aggregation {kind:?} is not supported; there are {KINDS}, {}",
                pipeline::KINDS.join(", ")
            ),
        )),
    }
}

/// Checks the compression of a median absolute deviation. One sketch serves all of them.
fn compression(body: &Body<'_>) -> Result<()> {
    match body.number("compression")? {
        Some(given) if given <= 0.0 => {
            let name = body.name();
            let what =
                format!("[compression] must be greater than 0. Found [{given:?}] in [{name}]");
            Err(body.invalid("compression", &what))
        }
        _ => Ok(()),
    }
}

fn cardinality(body: &Body<'_>) -> Result<Metric> {
    // All of Elasticsearch's ways lead to the same answer.
    body.text("execution_hint")?;
    if let Some(given) = body
        .number("precision_threshold")?
        .filter(|given| *given < 0.0)
    {
        let name = body.name();
        let what = format!(
            "[precisionThreshold] must be greater than or equal to 0. Found [{given}] in [{name}]"
        );
        return Err(body.invalid("precision_threshold", &what));
    }
    // Counts have the same accuracy whatever this says.
    body.count("precision_threshold", 0, MAX_PRECISION_THRESHOLD)?;
    of_source(body, MetricOf::Cardinality)
}

fn of_numbers(body: &Body<'_>, what: MetricOf) -> Result<Metric> {
    Ok(Metric {
        source: number_source(body)?,
        what,
        format: None,
    })
}

fn string_stats(body: &Body<'_>) -> Result<Metric> {
    let has_distribution = body.flag("show_distribution")?;
    of_source(body, MetricOf::StringStats { has_distribution })
}

fn geo_bounds(body: &Body<'_>) -> Result<Metric> {
    let may_wrap = body.get("wrap_longitude").is_none() || body.flag("wrap_longitude")?;
    of_places(body, MetricOf::GeoBounds { may_wrap })
}

fn of_places(body: &Body<'_>, what: MetricOf) -> Result<Metric> {
    Ok(Metric {
        source: Source {
            field: body.field("field")?.to_owned(),
            missing: None,
        },
        what,
        format: None,
    })
}

fn of_source(body: &Body<'_>, what: MetricOf) -> Result<Metric> {
    Ok(Metric {
        source: source(body)?,
        what,
        format: None,
    })
}

fn weighted_avg(body: &Body<'_>) -> Result<Metric> {
    let part = |name: &str| {
        let value = body.get(name).unwrap_or(&Value::Null);
        let path = format!("{}.{name}", body.path);
        number_source(&Body::read(path, value, &["field", "missing"])?)
    };
    Ok(Metric {
        source: part("value")?,
        what: MetricOf::WeightedAvg {
            weight: part("weight")?,
        },
        format: format(body)?,
    })
}

/// Reads the number of standard deviations between the average and its bounds.
pub(crate) fn sigma(body: &Body<'_>) -> Result<f64> {
    let sigma = body.number("sigma")?.unwrap_or(DEFAULT_SIGMA);
    match sigma < 0.0 {
        true => {
            let name = body.name();
            let what = format!(
                "[sigma] must be greater than or equal to 0. Found [{sigma:?}] in [{name}]"
            );
            Err(body.invalid("sigma", &what))
        }
        false => Ok(sigma),
    }
}

/// Reads the list of percentiles.
pub(crate) fn percents(body: &Body<'_>) -> Result<Vec<f64>> {
    let mut percents = Vec::new();
    let given = body.list("percents")?;
    if given.is_some_and(<[Value]>::is_empty) || body.is_null("percents") {
        return Err(body.invalid("percents", "[percents] must not be empty"));
    }
    for percent in given.into_iter().flatten() {
        let percent = number_of(percent).filter(|percent| (0.0..=100.0).contains(percent));
        let Some(percent) = percent else {
            return Err(body.invalid("percents", "each must be a number from 0 to 100"));
        };
        percents.push(percent);
    }
    if percents.is_empty() {
        percents = DEFAULT_PERCENTS.to_vec();
    }
    Ok(percents)
}

fn percentiles(body: &Body<'_>) -> Result<Metric> {
    let percents = percents(body)?;
    let (is_keyed, hdr) = (is_keyed(body)?, hdr(body)?);
    of_numbers(
        body,
        MetricOf::Percentiles {
            percents,
            is_keyed,
            hdr,
        },
    )
}

fn percentile_ranks(body: &Body<'_>) -> Result<Metric> {
    let values = body.list("values")?.unwrap_or_default();
    let values: Option<Vec<f64>> = values.iter().map(number_of).collect();
    let Some(values) = values.filter(|values| !values.is_empty()) else {
        return Err(body.invalid("values", "a list of numbers is missing"));
    };
    let (is_keyed, hdr) = (is_keyed(body)?, hdr(body)?);
    of_numbers(
        body,
        MetricOf::PercentileRanks {
            values,
            is_keyed,
            hdr,
        },
    )
}

/// Returns whether results are named, which is the default.
fn is_keyed(body: &Body<'_>) -> Result<bool> {
    // One sketch serves all these settings.
    if let Some(value) = body.get("tdigest") {
        let path = format!("{}.tdigest", body.path);
        let digest = Body::read(path, value, &["compression", "execution_hint"])?;
        if let Some(given) = digest.number("compression")?.filter(|given| *given < 0.0) {
            let what =
                format!("[compression] must be greater than or equal to 0. Found [{given:?}]");
            return Err(digest.invalid("compression", &what));
        }
    }
    match body.get("keyed") {
        None => Ok(true),
        Some(_) => body.flag("keyed"),
    }
}

/// Returns the number of significant digits of a histogram with a high dynamic range, if that is
/// asked for.
fn hdr(body: &Body<'_>) -> Result<Option<u8>> {
    const DIGITS: &str = "number_of_significant_value_digits";
    let Some(value) = body.get("hdr") else {
        return Ok(None);
    };
    if body.get("tdigest").is_some() {
        return Err(body.invalid(
            "hdr",
            "there are both tdigest and hdr: only one method can be chosen",
        ));
    }
    let hdr = Body::read(format!("{}.hdr", body.path), value, &[DIGITS])?;
    let given = hdr.number(DIGITS)?;
    let digits = match given {
        None if hdr.is_null(DIGITS) => None,
        None => Some(DEFAULT_DIGITS),
        Some(given) => (0..=MAX_DIGITS).find(|digits| f64::from(*digits) == given),
    };
    match digits {
        Some(digits) => Ok(Some(digits)),
        None => Err(hdr.invalid(
            DIGITS,
            "[numberOfSignificantValueDigits] must be between 0 and 5",
        )),
    }
}
