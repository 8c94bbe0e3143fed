//! The text format of Prometheus, and OpenMetrics, which writes times in seconds:
//! `https://prometheus.io/docs/instrumenting/exposition_formats/`, `https://prometheus.io/docs/specs/om/open_metrics_spec/`.
//!
//! ```text
//! # TYPE http_requests_total counter
//! http_requests_total{method="post",code="200"} 1027 1714557607000
//! ```

use super::super::Names;
use crate::json::Members;
use crate::log_line::time::{Reading, TimeForm, read};

/// A line with a value.
struct Sample<'t> {
    metric: &'t str,
    labels: &'t str,
    value: &'t str,
    time: Option<&'t str>,
}

fn is_name(name: &str) -> bool {
    let is_of = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
    name.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | ':'))
        && name.chars().all(is_of)
}

/// Returns where the labels in braces end: a brace outside quotes.
fn end_of_labels(text: &str) -> Option<usize> {
    let (mut in_quotes, mut is_escaped) = (false, false);
    for (place, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = in_quotes,
            '"' => in_quotes = !in_quotes,
            '}' if !in_quotes => return Some(place),
            _ => {}
        }
    }
    None
}

impl<'t> Sample<'t> {
    fn of(line: &'t str) -> Option<Sample<'t>> {
        let line = line.trim_end();
        let name_len = line.find([' ', '{'])?;
        let (metric, rest) = line.split_at_checked(name_len)?;
        is_name(metric).then_some(())?;
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(inside) => {
                let end = end_of_labels(inside)?;
                (inside.get(..end)?, inside.get(end + 1..)?)
            }
            None => ("", rest),
        };
        // An exemplar stands behind `#`.
        let rest = rest.split(" # ").next().unwrap_or_default();
        let mut words = rest.split_ascii_whitespace();
        let value = words.next()?;
        let time = words.next();
        let are_numbers = [Some(value), time]
            .iter()
            .flatten()
            .all(|n| n.parse::<f64>().is_ok());
        (are_numbers && words.next().is_none()).then_some(Sample {
            metric,
            labels,
            value,
            time,
        })
    }
}

/// Returns whether lines are metrics: the first one tells of a metric, and nearly all are of the format.
pub(in super::super) fn are_metrics(lines: &[&[u8]]) -> bool {
    let is_remark = |line: &[u8]| {
        [&b"# HELP "[..], b"# TYPE ", b"# UNIT "]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let is_sample =
        |line: &[u8]| std::str::from_utf8(line).is_ok_and(|line| Sample::of(line).is_some());
    let num = lines
        .iter()
        .filter(|line| line.starts_with(b"#") || is_sample(line))
        .count();
    lines.first().is_some_and(|line| is_remark(line))
        && num * 20 >= lines.len() * 19
        && lines.iter().any(|line| is_sample(line))
}

pub(in super::super) fn reading(record: &str) -> Option<Reading> {
    let time = Sample::of(record)?.time?;
    let (reading, end) = read(TimeForm::Epoch, time.as_bytes(), 0)?;
    (end == time.len()).then_some(reading)
}

/// Adds the name, the labels, the value and the message. Returns the text before the message, which is empty.
pub(in super::super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    let sample = Sample::of(record)?;
    let mut names = Names::default();
    members.string("metric", sample.metric);
    // `NaN` and `+Inf` are no numbers of JSON.
    if sample.value.parse::<f64>().is_ok_and(f64::is_finite) {
        members.number("value", sample.value);
    }
    ["metric", "value"].iter().for_each(|name| names.take(name));
    let mut rest = sample.labels;
    while let Some((name, after)) = rest.split_once("=\"") {
        let mut is_escaped = false;
        let end = after.find(|c: char| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        })?;
        let value = after.get(..end)?.replace("\\\"", "\"").replace("\\n", "\n");
        let value = value.replace("\\\\", "\\");
        let name = name.trim_matches([',', ' ']);
        members.string(&names.free(name), &value);
        rest = after.get(end + 1..)?;
    }
    members.string("message", record);
    Some("")
}
