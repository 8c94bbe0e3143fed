//! What a pipeline of each kind asks for.

use serde_json::Value;

use super::inputs::{Input, bucket_sort, named, one, script, to_usize};
use crate::Result;
use crate::calendar::{CalendarUnit, fixed_interval_ns};
use crate::pipeline::types::{Method, PipelineOf};
use crate::request::{Body, percents, sigma};

/// Maximum window of a `moving_fn` and lag of a `serial_diff`, which bound the time for an answer.
const MAX_WINDOW: u64 = 1_000;

/// Pipeline in a request, before its paths are resolved.
pub(crate) struct Draft<'a> {
    pub(crate) name: &'a str,
    /// Location in the request, which ends with the kind.
    pub(crate) path: String,
    pub(crate) kind: &'a str,
    pub(crate) value: &'a Value,
}

/// What a pipeline asks for.
pub(super) struct Asked<'a> {
    pub(super) what: PipelineOf,
    pub(super) inputs: Vec<Input<'a>>,
    /// The rest of what is given.
    pub(super) body: Body<'a>,
}

impl<'a> Draft<'a> {
    /// Reads the body of a kind with these keys.
    fn body(&self, known: &[&str]) -> Result<Body<'a>> {
        Body::read(self.path.clone(), self.value, known)
    }

    /// Reads the body of a kind with gaps and a path, and these keys of its own.
    fn gapped(&self, own: &[&str]) -> Result<Body<'a>> {
        let mut known = vec!["buckets_path", "gap_policy"];
        known.extend(Some("format").filter(|_| self.kind != "bucket_selector"));
        known.extend(own);
        self.body(&known)
    }
}

/// Returns what a pipeline with a single path asks for.
fn plain(body: Body<'_>, what: PipelineOf) -> Result<Asked<'_>> {
    Ok(Asked {
        what,
        inputs: one(&body)?,
        body,
    })
}

/// Returns what a pipeline asks for.
///
/// # Errors
/// It lacks something, or has too much. The message begins with its location in the request.
pub(super) fn asked<'a>(draft: &Draft<'a>) -> Result<Asked<'a>> {
    match draft.kind {
        "derivative" => {
            let body = draft.gapped(&["unit"])?;
            let unit_ms = unit_ms(&body)?;
            plain(body, PipelineOf::Derivative { unit_ms })
        }
        "cumulative_sum" => plain(
            draft.body(&["buckets_path", "format"])?,
            PipelineOf::CumulativeSum,
        ),
        "serial_diff" => {
            let body = draft.gapped(&["lag"])?;
            let lag = to_usize(body.count("lag", 1, MAX_WINDOW)?.unwrap_or(1));
            plain(body, PipelineOf::SerialDiff { lag })
        }
        "moving_fn" => {
            let body = draft.gapped(&["script", "window", "shift"])?;
            let what = moving_fn(&body)?;
            plain(body, what)
        }
        "normalize" => {
            let body = draft.body(&["buckets_path", "method", "format"])?;
            let what = PipelineOf::Normalize(method(&body)?);
            plain(body, what)
        }
        "bucket_script" | "bucket_selector" => scripted(draft),
        "bucket_sort" => {
            let body = draft.body(&["sort", "from", "size", "gap_policy"])?;
            let (what, inputs) = bucket_sort(&body)?;
            Ok(Asked { what, inputs, body })
        }
        "max_bucket" => plain(draft.gapped(&[])?, PipelineOf::MaxBucket),
        "min_bucket" => plain(draft.gapped(&[])?, PipelineOf::MinBucket),
        "avg_bucket" => plain(draft.gapped(&[])?, PipelineOf::AvgBucket),
        "sum_bucket" => plain(draft.gapped(&[])?, PipelineOf::SumBucket),
        "stats_bucket" => plain(draft.gapped(&[])?, PipelineOf::StatsBucket),
        "extended_stats_bucket" => {
            let body = draft.gapped(&["sigma"])?;
            let sigma = sigma(&body)?;
            plain(body, PipelineOf::ExtendedStatsBucket { sigma })
        }
        _ => {
            let body = draft.gapped(&["percents", "keyed"])?;
            let percents = percents(&body)?;
            let is_keyed = body.get("keyed").is_none() || body.flag("keyed")?;
            plain(body, PipelineOf::PercentilesBucket { percents, is_keyed })
        }
    }
}

/// Reads `bucket_script` or `bucket_selector`.
fn scripted<'a>(draft: &Draft<'a>) -> Result<Asked<'a>> {
    let body = draft.gapped(&["script"])?;
    let inputs = named(&body)?;
    let script = script(&body, &inputs, false)?;
    let what = match (draft.kind == "bucket_selector", script.is_truth()) {
        (false, false) => PipelineOf::BucketScript(script),
        (true, true) => PipelineOf::BucketSelector(script),
        (false, true) => {
            return Err(body.invalid("script", "this comes to true or false, not to a number"));
        }
        (true, false) => {
            return Err(body.invalid("script", "this comes to a number, not to true or false"));
        }
    };
    Ok(Asked { what, inputs, body })
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
    if body.number("window")?.is_some_and(|window| window < 1.0) {
        return Err(body.invalid("window", "[window] must be a positive, non-zero integer."));
    }
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
