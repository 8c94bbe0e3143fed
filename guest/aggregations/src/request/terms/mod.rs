//! `terms`, `multi_terms`, `rare_terms` and `significant_terms`: one bucket for each value.

mod listed;

use canter_doc_mapper::check_classes;
use serde_json::Value;

use crate::Result;
use crate::calendar::{DateFormat, Zone};
use crate::key::Key;
use crate::numbers::{BOXPLOT, Number};
use crate::pipeline::has_one_bucket;
use crate::request::body::{Body, number_of};
use crate::request::bounds::{Bounds, MAX_KEY_FIELDS, MAX_PATTERN_BYTES, MAX_RARE_DOC_COUNT};
use crate::request::types::{
    Aggregation, Choice, Comparison, Heuristic, Kind, MetricOf, MultiTerms, OrderBy, RareTerms,
    Significant, Source, Terms, TermsOrder,
};

pub(in crate::request) const TERMS: [&str; 14] = [
    "field",
    "collect_mode",
    "execution_hint",
    "size",
    "segment_size",
    "shard_size",
    "split_size",
    "show_term_doc_count_error",
    "min_doc_count",
    "order",
    "missing",
    "include",
    "exclude",
    "format",
];
pub(in crate::request) const MULTI_TERMS: [&str; 9] = [
    "terms",
    "collect_mode",
    "size",
    "segment_size",
    "shard_size",
    "split_size",
    "show_term_doc_count_error",
    "min_doc_count",
    "order",
];
pub(in crate::request) const RARE_TERMS: [&str; 6] = [
    "field",
    "max_doc_count",
    "missing",
    "include",
    "exclude",
    "precision",
];

/// Default number of buckets.
const DEFAULT_SIZE: usize = 10;

pub(in crate::request) fn terms(
    body: &Body<'_>,
    inside: &[Aggregation],
    bounds: &Bounds,
) -> Result<Terms> {
    let sizes = Sizes::read(body, bounds)?;
    Ok(Terms {
        source: source(body)?,
        size: sizes.size,
        order: order(body, inside)?,
        min_doc_count: sizes.min_doc_count,
        include: choice(body, "include")?,
        exclude: choice(body, "exclude")?,
        format: body.date_format("format")?,
    })
}

pub(in crate::request) fn multi_terms(
    body: &Body<'_>,
    inside: &[Aggregation],
    bounds: &Bounds,
) -> Result<MultiTerms> {
    let terms = body.list("terms")?.unwrap_or_default();
    if terms.len() < 2 {
        return Err(body.invalid("terms", "a list of two or more fields is missing"));
    }
    if terms.len() > MAX_KEY_FIELDS {
        let what = format!("at most {MAX_KEY_FIELDS} fields are taken together");
        return Err(body.too_large("terms", &what));
    }
    let mut sources = Vec::with_capacity(terms.len());
    for (place, entry) in terms.iter().enumerate() {
        let path = format!("{}.terms.{place}", body.path);
        sources.push(source(&Body::read(path, entry, &["field", "missing"])?)?);
    }
    let sizes = Sizes::read(body, bounds)?;
    Ok(MultiTerms {
        sources,
        size: sizes.size,
        order: order(body, inside)?,
        min_doc_count: sizes.min_doc_count,
    })
}

pub(in crate::request) fn rare_terms(body: &Body<'_>) -> Result<RareTerms> {
    let max_doc_count = body.count("max_doc_count", 1, MAX_RARE_DOC_COUNT)?;
    // Counts are exact.
    body.number("precision")?;
    Ok(RareTerms {
        source: source(body)?,
        max_doc_count: max_doc_count.unwrap_or(1),
        include: choice(body, "include")?,
        exclude: choice(body, "exclude")?,
    })
}

/// Reads a field, and a text or number that replaces missing values.
pub(in crate::request) fn source(body: &Body<'_>) -> Result<Source> {
    let is_date = body.text("value_type")? == Some("date");
    let time_of = |text: &str| DateFormat::usual().read(text, &Zone::utc(), false).ok();
    let missing = match body.get("missing") {
        None => None,
        Some(Value::String(text)) if is_date => {
            Some(time_of(text).map_or_else(|| Key::Text(text.clone()), Key::Date))
        }
        Some(Value::String(text)) => Some(Key::Text(text.clone())),
        Some(Value::Bool(flag)) => Some(Key::Bool(*flag)),
        Some(value) => match exact_number(value) {
            Some(number) => Some(Key::Number(number)),
            None => return Err(body.invalid("missing", "this must be a text or a number")),
        },
    };
    Ok(Source {
        field: body.field("field")?.to_owned(),
        missing,
    })
}

/// Reads a field, and a number that replaces missing values.
pub(in crate::request) fn number_source(body: &Body<'_>) -> Result<Source> {
    body.number("missing")?;
    let missing = body.get("missing").and_then(|value| match value {
        Value::String(_) => number_of(value).map(Number::from),
        value => exact_number(value),
    });
    Ok(Source {
        field: body.field("field")?.to_owned(),
        missing: missing.map(Key::Number),
    })
}

/// Returns a JSON number; integers exactly.
pub(crate) fn exact_number(value: &Value) -> Option<Number> {
    let integer = value
        .as_i64()
        .map(i128::from)
        .or(value.as_u64().map(i128::from));
    match integer {
        Some(integer) => Some(Number::Integer(integer)),
        None if value.is_number() => number_of(value).map(Number::from),
        None => None,
    }
}

/// Reads `include` or `exclude`.
pub(in crate::request) fn choice(body: &Body<'_>, name: &str) -> Result<Option<Choice>> {
    match body.get(name) {
        None => Ok(None),
        Some(Value::String(pattern)) if pattern.len() > MAX_PATTERN_BYTES => {
            let what = format!("a pattern has at most {MAX_PATTERN_BYTES} bytes");
            Err(body.too_large(name, &what))
        }
        Some(Value::String(pattern)) if check_classes(pattern).is_err() => {
            let what = check_classes(pattern).err().unwrap_or_default();
            Err(body.invalid(name, &format!("the pattern {what}")))
        }
        Some(Value::String(pattern)) => match tantivy_fst::Regex::new(pattern) {
            Ok(_) => Ok(Some(Choice::Pattern(pattern.clone()))),
            Err(error) => {
                // The last line describes the problem; the lines before it mark the position.
                let error = error.to_string();
                let what = error.lines().last().unwrap_or_default();
                Err(body.invalid(name, &format!("this is no pattern: {what}")))
            }
        },
        Some(Value::Array(_)) => {
            let values = body.list(name)?.unwrap_or_default();
            let keys = values.iter().map(|value| match value {
                Value::String(text) => Some(Key::Text(text.clone())),
                Value::Bool(flag) => Some(Key::Text(flag.to_string())),
                value => exact_number(value).map(Key::Number),
            });
            match keys.collect() {
                Some(keys) => Ok(Some(Choice::Values(keys))),
                None => Err(body.invalid(name, "each entry must be a text or a number")),
            }
        }
        Some(parts @ Value::Object(_)) if name == "include" => {
            let path = format!("{}.{name}", body.path);
            let parts = Body::read(path, parts, &["partition", "num_partitions"])?;
            let most = u64::from(u32::MAX);
            let number = |name: &str, least: u64| match parts.count(name, least, most)? {
                Some(number) => Ok(u32::try_from(number).unwrap_or(u32::MAX)),
                None => Err(parts.invalid(name, "this is missing")),
            };
            let num_partitions = number("num_partitions", 1)?;
            let partition = number("partition", 0)?;
            match partition < num_partitions {
                true => Ok(Some(Choice::Partition {
                    partition,
                    num_partitions,
                })),
                false => Err(parts.invalid("partition", "this must be below num_partitions")),
            }
        }
        Some(_) => Err(body.invalid(name, "this must be a pattern or a list of values")),
    }
}

/// Greatest number of terms that may be asked for: that of Elasticsearch.
const MAX_SIZE: u64 = i32::MAX as u64;

/// Parameters that `terms` and `multi_terms` share.
struct Sizes {
    size: usize,
    min_doc_count: u64,
}

impl Sizes {
    fn read(body: &Body<'_>, bounds: &Bounds) -> Result<Self> {
        // How many there are is limited, and not how many are asked for: clients ask for all with the greatest number.
        let size = body.count("size", 1, MAX_SIZE)?;
        // Counts have the same accuracy whatever these say.
        for name in ["segment_size", "shard_size", "split_size"] {
            body.count(name, 1, MAX_SIZE)?;
        }
        body.flag("show_term_doc_count_error")?;
        // Ways to the same answer.
        body.one_of("collect_mode", &["breadth_first", "depth_first"])?;
        body.one_of("execution_hint", &["map", "global_ordinals"])?;
        let min_doc_count = body.count("min_doc_count", 0, u64::MAX)?;
        // The terms without documents are all other terms in a split's dictionary.
        if bounds.is_filtered && min_doc_count == Some(0) {
            return Err(body.invalid(
                "min_doc_count",
                "a min_doc_count of 0 is not allowed here: it would list terms of documents that may not be \
                 searched; give 1 or more",
            ));
        }
        Ok(Self {
            size: size.map_or(DEFAULT_SIZE, |size| {
                usize::try_from(size).unwrap_or(usize::MAX)
            }),
            min_doc_count: min_doc_count.unwrap_or(1),
        })
    }
}

/// Reads an order by count, by key, or by a metric in each bucket, or a list of orders.
fn order(body: &Body<'_>, inside: &[Aggregation]) -> Result<Vec<TermsOrder>> {
    let orders = match body.get("order") {
        None => return Ok(Vec::new()),
        Some(Value::Array(_)) => body.list("order")?.unwrap_or_default(),
        Some(order) => std::slice::from_ref(order),
    };
    orders
        .iter()
        .map(|order| one_order(body, order, inside))
        .collect()
}

fn one_order(body: &Body<'_>, order: &Value, inside: &[Aggregation]) -> Result<TermsOrder> {
    let by = order.as_object().filter(|by| by.len() == 1);
    let Some((target, direction)) = by.and_then(|by| by.iter().next()) else {
        return Err(body.invalid("order", "this must be such as {\"_count\": \"desc\"}"));
    };
    let is_descending = match direction.as_str() {
        Some("asc") => false,
        Some("desc") => true,
        _ => return Err(body.invalid("order", "an order is \"asc\" or \"desc\"")),
    };
    let by = match target.as_str() {
        "_count" => OrderBy::Count,
        "_key" | "_term" | "_time" => OrderBy::Key,
        _ => metric_order(body, target, inside)?,
    };
    Ok(TermsOrder { by, is_descending })
}

/// Reads `metric`, `metric.property`, `filter>metric` and so on, through single-bucket
/// aggregations.
fn metric_order(body: &Body<'_>, target: &str, inside: &[Aggregation]) -> Result<OrderBy> {
    let none_such = |name: &str| {
        let what = format!("{name:?} is none of _count, _key and the aggregations inside");
        body.invalid("order", &what)
    };
    let not_one = || {
        let what = format!("{target:?} is not one number of each bucket");
        body.invalid("order", &what)
    };
    let mut path = Vec::new();
    let mut level = inside;
    let mut rest = target;
    while let Some((name, next)) = rest.split_once('>') {
        let place = level
            .iter()
            .position(|aggregation| aggregation.name == name);
        let found = place.and_then(|place| level.get(place).map(|found| (place, found)));
        let (place, found) = found.ok_or_else(|| none_such(name))?;
        if !has_one_bucket(&found.kind) {
            return Err(not_one());
        }
        path.push(place);
        level = &found.inside;
        rest = next;
    }
    if matches!(rest, "_count" | "doc_count") && !path.is_empty() {
        return Ok(OrderBy::Metric {
            path,
            property: "_count".to_owned(),
        });
    }
    // `metric[property]` is equivalent to `metric.property`.
    let dotted = rest
        .strip_suffix(']')
        .map(|rest| rest.replacen('[', ".", 1));
    let rest = dotted.as_deref().unwrap_or(rest);
    // A name may contain dots.
    let whole = level
        .iter()
        .position(|aggregation| aggregation.name == rest);
    let (place, property) = match whole {
        Some(place) => (place, ""),
        None => {
            let (name, property) = rest.split_once('.').unwrap_or((rest, ""));
            let place = level
                .iter()
                .position(|aggregation| aggregation.name == name);
            (place.ok_or_else(|| none_such(name))?, property)
        }
    };
    path.push(place);
    match level
        .get(place)
        .is_some_and(|metric| is_ordered_by(&metric.kind, property))
    {
        true => Ok(OrderBy::Metric {
            path,
            property: property.to_owned(),
        }),
        false => Err(not_one()),
    }
}

/// Returns whether an aggregation has one number with that name; an empty name means its only
/// number.
fn is_ordered_by(kind: &Kind, property: &str) -> bool {
    const STATS: [&str; 5] = ["count", "sum", "min", "max", "avg"];
    const EXTENDED: [&str; 7] = [
        "variance",
        "variance_sampling",
        "variance_population",
        "sum_of_squares",
        "std_deviation",
        "std_deviation_sampling",
        "std_deviation_population",
    ];
    const TEXTS: [&str; 5] = ["count", "min_length", "max_length", "avg_length", "entropy"];
    let Kind::Metric(metric) = kind else {
        return has_one_bucket(kind) && matches!(property, "_count" | "doc_count");
    };
    match &metric.what {
        MetricOf::Avg
        | MetricOf::Sum
        | MetricOf::Min
        | MetricOf::Max
        | MetricOf::ValueCount
        | MetricOf::WeightedAvg { .. }
        | MetricOf::MedianAbsoluteDeviation
        | MetricOf::Cardinality => property.is_empty() || property == "value",
        MetricOf::Stats => STATS.contains(&property),
        MetricOf::ExtendedStats { .. } => STATS.contains(&property) || EXTENDED.contains(&property),
        MetricOf::Percentiles { .. } => property
            .parse::<f64>()
            .is_ok_and(|percent| (0.0..=100.0).contains(&percent)),
        MetricOf::PercentileRanks { .. } => property.parse::<f64>().is_ok_and(f64::is_finite),
        MetricOf::StringStats { .. } => TEXTS.contains(&property),
        MetricOf::Boxplot => BOXPLOT.contains(&property),
        MetricOf::TopHits(_)
        | MetricOf::TopMetrics(_)
        | MetricOf::Rate(_)
        | MetricOf::GeoBounds { .. }
        | MetricOf::GeoCentroid => false,
    }
}

const SIGNIFICANT: [&str; 17] = [
    "field",
    "size",
    "shard_size",
    "min_doc_count",
    "shard_min_doc_count",
    "background_filter",
    "include",
    "exclude",
    "execution_hint",
    "jlh",
    "chi_square",
    "mutual_information",
    "gnd",
    "percentage",
    "filter_duplicate_text",
    "source_fields",
    "format",
];

/// Default number of documents that a significant term has.
const MIN_SIGNIFICANT: u64 = 3;

fn significant(body: &Body<'_>, bounds: &Bounds) -> Result<Significant> {
    let most = u64::from(bounds.max_buckets);
    // Counts have the same accuracy whatever these say.
    body.count("shard_size", 1, most)?;
    body.count("shard_min_doc_count", 0, u64::MAX)?;
    body.one_of("execution_hint", &["map", "global_ordinals"])?;
    if body.flag("filter_duplicate_text")? {
        let what = "this is not supported: which of two texts is the copy would depend on how documents are stored";
        return Err(body.invalid("filter_duplicate_text", what));
    }
    if body.get("source_fields").is_some() {
        return Err(body.invalid(
            "source_fields",
            "this is not supported: name the field itself",
        ));
    }
    let size = body.count("size", 1, most)?;
    Ok(Significant {
        source: source(body)?,
        size: size.map_or(DEFAULT_SIZE, |size| {
            usize::try_from(size).unwrap_or(usize::MAX)
        }),
        min_doc_count: body
            .count("min_doc_count", 1, u64::MAX)?
            .unwrap_or(MIN_SIGNIFICANT),
        heuristic: heuristic(body)?,
        background: body.get("background_filter").cloned(),
        include: choice(body, "include")?,
        exclude: choice(body, "exclude")?,
        words: None,
    })
}

fn heuristic(body: &Body<'_>) -> Result<Heuristic> {
    let names = [
        "jlh",
        "chi_square",
        "mutual_information",
        "gnd",
        "percentage",
    ];
    let mut given = names
        .into_iter()
        .filter_map(|name| Some((name, body.get(name)?)));
    let Some((name, value)) = given.next() else {
        return Ok(Heuristic::Jlh);
    };
    if let Some((other, _)) = given.next() {
        return Err(body.invalid(other, &format!("there is {name}, too: give one")));
    }
    let options = |known: &[&str]| Body::read(format!("{}.{name}", body.path), value, known);
    let is_superset = |options: &Body<'_>| match options.get("background_is_superset") {
        None => Ok(true),
        Some(_) => options.flag("background_is_superset"),
    };
    let comparison = |value: &Value| -> Result<Comparison> {
        let known = ["background_is_superset", "include_negatives"];
        let options = Body::read(format!("{}.{name}", body.path), value, &known)?;
        Ok(Comparison {
            is_superset: is_superset(&options)?,
            has_negatives: options.flag("include_negatives")?,
        })
    };
    Ok(match name {
        "chi_square" => Heuristic::ChiSquare(comparison(value)?),
        "mutual_information" => Heuristic::MutualInformation(comparison(value)?),
        "gnd" => Heuristic::Gnd {
            is_superset: is_superset(&options(&["background_is_superset"])?)?,
        },
        "percentage" => {
            options(&[])?;
            Heuristic::Percentage
        }
        _ => {
            options(&[])?;
            Heuristic::Jlh
        }
    })
}
