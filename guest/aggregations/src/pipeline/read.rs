//! Parser of pipelines from JSON.

use serde_json::Value;

use super::format::Format;
use super::inputs::{Input, bucket_sort, named, one, script};
use super::order::ordered;
use super::paths::{Scope, Written};
use super::types::{BucketsPath, GapPolicy, Method, Pipeline, PipelineOf};
use crate::Result;
use crate::calendar::{CalendarUnit, fixed_interval_ns};
use crate::request::{Aggregation, Body, percents, sigma};

/// All kinds, for error messages.
pub(crate) const KINDS: [&str; 15] = [
    "derivative",
    "cumulative_sum",
    "serial_diff",
    "moving_fn",
    "normalize",
    "bucket_script",
    "bucket_selector",
    "bucket_sort",
    "max_bucket",
    "min_bucket",
    "avg_bucket",
    "sum_bucket",
    "stats_bucket",
    "extended_stats_bucket",
    "percentiles_bucket",
];

/// Maximum window of a `moving_fn` and lag of a `serial_diff`, which bound the time for an answer.
const MAX_WINDOW: u64 = 1_000;

pub(crate) fn is_kind(kind: &str) -> bool {
    KINDS.contains(&kind)
}

/// Pipeline in a request, before its paths are resolved.
pub(crate) struct Draft<'a> {
    pub(crate) name: &'a str,
    /// Location in the request, which ends with the kind.
    pub(crate) path: String,
    pub(crate) kind: &'a str,
    pub(crate) value: &'a Value,
}

/// Reads the pipelines of a level with these aggregations.
///
/// # Errors
/// A pipeline is invalid. The message begins with its location in the request.
pub(crate) fn read_level(
    drafts: &[Draft<'_>],
    aggregations: &[Aggregation],
) -> Result<Vec<Pipeline>> {
    let mut pipelines = Vec::with_capacity(drafts.len());
    let mut inputs = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let (pipeline, written) = read(draft)?;
        pipelines.push(pipeline);
        inputs.push(written);
    }
    let scope = Scope {
        aggregations,
        pipelines: &pipelines,
    };
    let mut found = Vec::with_capacity(inputs.len());
    for (pipeline, inputs) in pipelines.iter().zip(&inputs) {
        let paths = inputs.iter().map(|input| {
            let Input { place, text, .. } = input;
            let written = Written { place, text };
            match pipeline.what.is_sibling() {
                true => written.of_level(scope),
                false => written.of_bucket(text, scope),
            }
        });
        found.push(paths.collect::<Result<Vec<BucketsPath>>>()?);
    }
    for (pipeline, inputs) in pipelines.iter_mut().zip(found) {
        pipeline.inputs = inputs;
    }
    ordered(pipelines)
}

fn read<'a>(draft: &Draft<'a>) -> Result<(Pipeline, Vec<Input<'a>>)> {
    let body = |own: &[&str]| {
        let mut known = vec!["buckets_path", "gap_policy"];
        known.extend(Some("format").filter(|_| draft.kind != "bucket_selector"));
        known.extend(own);
        Body::read(draft.path.clone(), draft.value, &known)
    };
    let ungapped = |own: &[&str]| Body::read(draft.path.clone(), draft.value, own);
    let plain = |body: Body<'a>, what| Ok((what, one(&body)?, body));
    let (what, inputs, body) = match draft.kind {
        "derivative" => {
            let body = body(&["unit"])?;
            let unit_ms = unit_ms(&body)?;
            plain(body, PipelineOf::Derivative { unit_ms })
        }
        "cumulative_sum" => plain(
            ungapped(&["buckets_path", "format"])?,
            PipelineOf::CumulativeSum,
        ),
        "serial_diff" => {
            let body = body(&["lag"])?;
            let lag = to_usize(body.count("lag", 1, MAX_WINDOW)?.unwrap_or(1));
            plain(body, PipelineOf::SerialDiff { lag })
        }
        "moving_fn" => {
            let body = body(&["script", "window", "shift"])?;
            let what = moving_fn(&body)?;
            plain(body, what)
        }
        "normalize" => {
            let body = ungapped(&["buckets_path", "method", "format"])?;
            let what = PipelineOf::Normalize(method(&body)?);
            plain(body, what)
        }
        "bucket_script" => {
            let body = body(&["script"])?;
            let inputs = named(&body)?;
            let script = script(&body, &inputs, false)?;
            match script.is_truth() {
                true => Err(body.invalid("script", "this comes to true or false, not to a number")),
                false => Ok((PipelineOf::BucketScript(script), inputs, body)),
            }
        }
        "bucket_selector" => {
            let body = body(&["script"])?;
            let inputs = named(&body)?;
            let script = script(&body, &inputs, false)?;
            match script.is_truth() {
                true => Ok((PipelineOf::BucketSelector(script), inputs, body)),
                false => {
                    Err(body.invalid("script", "this comes to a number, not to true or false"))
                }
            }
        }
        "bucket_sort" => {
            let body = ungapped(&["sort", "from", "size", "gap_policy"])?;
            let (what, inputs) = bucket_sort(&body)?;
            Ok((what, inputs, body))
        }
        "max_bucket" => plain(body(&[])?, PipelineOf::MaxBucket),
        "min_bucket" => plain(body(&[])?, PipelineOf::MinBucket),
        "avg_bucket" => plain(body(&[])?, PipelineOf::AvgBucket),
        "sum_bucket" => plain(body(&[])?, PipelineOf::SumBucket),
        "stats_bucket" => plain(body(&[])?, PipelineOf::StatsBucket),
        "extended_stats_bucket" => {
            let body = body(&["sigma"])?;
            let sigma = sigma(&body)?;
            plain(body, PipelineOf::ExtendedStatsBucket { sigma })
        }
        _ => {
            let body = body(&["percents", "keyed"])?;
            let percents = percents(&body)?;
            let is_keyed = body.get("keyed").is_none() || body.flag("keyed")?;
            plain(body, PipelineOf::PercentilesBucket { percents, is_keyed })
        }
    }?;
    let pipeline = Pipeline {
        name: draft.name.to_owned(),
        path: draft.path.clone(),
        gaps: gaps(&body, &what)?,
        format: match body.text("format")? {
            None => None,
            Some(pattern) => {
                let format = Format::parse(pattern);
                Some(format.map_err(|what| body.invalid("format", &what))?)
            }
        },
        what,
        inputs: Vec::new(),
    };
    Ok((pipeline, inputs))
}

pub(super) fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn gaps(body: &Body<'_>, what: &PipelineOf) -> Result<GapPolicy> {
    if matches!(what, PipelineOf::CumulativeSum) {
        return Ok(GapPolicy::InsertZeros);
    }
    match body.text("gap_policy")? {
        None | Some("skip") => Ok(GapPolicy::Skip),
        Some("insert_zeros") => Ok(GapPolicy::InsertZeros),
        Some("keep_values") => Ok(GapPolicy::KeepValues),
        Some(_) => Err(body.invalid(
            "gap_policy",
            "this must be skip, insert_zeros or keep_values",
        )),
    }
}

/// Returns the length of `unit` in milliseconds; the average length for calendar units.
fn unit_ms(body: &Body<'_>) -> Result<Option<f64>> {
    const YEAR_MS: f64 = 31_556_952_000.0;
    let Some(text) = body.text("unit")? else {
        return Ok(None);
    };
    Ok(Some(match CalendarUnit::parse(text) {
        Ok(CalendarUnit::Second) => 1e3,
        Ok(CalendarUnit::Minute) => 60e3,
        Ok(CalendarUnit::Hour) => 3_600e3,
        Ok(CalendarUnit::Day) => 86_400e3,
        Ok(CalendarUnit::Week) => 7.0 * 86_400e3,
        Ok(CalendarUnit::Month) => YEAR_MS / 12.0,
        Ok(CalendarUnit::Quarter) => YEAR_MS / 4.0,
        Ok(CalendarUnit::Year) => YEAR_MS,
        Err(_) => {
            let length_ns = fixed_interval_ns(text).map_err(|what| body.invalid("unit", &what))?;
            length_ns as f64 / 1e6
        }
    }))
}

fn moving_fn(body: &Body<'_>) -> Result<PipelineOf> {
    let Some(window) = body.count("window", 1, MAX_WINDOW)? else {
        return Err(body.invalid("window", "the number of buckets is missing"));
    };
    let shift = match body.get("shift") {
        None => 0,
        Some(shift) => match shift
            .as_i64()
            .or_else(|| shift.as_str()?.trim().parse().ok())
        {
            Some(shift) => shift,
            None => return Err(body.invalid("shift", "this must be a whole number")),
        },
    };
    let script = script(body, &[], true)?;
    match script.is_truth() {
        true => Err(body.invalid("script", "this comes to true or false, not to a number")),
        false => Ok(PipelineOf::MovingFn {
            script,
            window: to_usize(window),
            shift,
        }),
    }
}

fn method(body: &Body<'_>) -> Result<Method> {
    Ok(match body.text("method")? {
        Some("rescale_0_1") => Method::Rescale01,
        Some("rescale_0_100") => Method::Rescale0100,
        Some("percent_of_sum") => Method::PercentOfSum,
        Some("mean") => Method::Mean,
        Some("z-score") => Method::ZScore,
        Some("softmax") => Method::Softmax,
        _ => {
            return Err(body.invalid(
                "method",
                "this must be rescale_0_1, rescale_0_100, percent_of_sum, mean, z-score or softmax",
            ));
        }
    })
}
