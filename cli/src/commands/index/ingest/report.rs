//! The report of an ingest as text.

use std::collections::BTreeMap;
use std::time::Duration;

use canter_index_builder::{IndexStore, IngestReport, LeftOut};

use crate::render::{clean_text, numbers};

/// Returns the result of an ingest as text.
pub(super) fn text_of(
    report: &IngestReport,
    left_out: &LeftOut,
    store: &IndexStore,
    elapsed: Duration,
) -> String {
    let mut lines = vec![line_of_counts(report)];
    if report.num_resumed_docs > 0 {
        lines.push(format!(
            "{} of them were in splits already, which an interrupted run of this ingest had made",
            numbers::count(report.num_resumed_docs)
        ));
    }
    lines.extend(text_of_found(report, left_out));
    lines.extend(text_of_formats(report));
    lines.extend(texts_of_times(report));
    lines.extend(texts_of_inputs(report));
    lines.extend(lines_of_set_aside(report));
    lines.extend(lines_of_sizes(report, elapsed));
    lines.extend(lines_of_rejects(report));
    let warnings = report.warnings.iter();
    lines.extend(warnings.map(|warning| format!("warning: {}", warning.message)));
    lines.push(match report.num_published_splits {
        0 => format!("{} is as it was", store.uri()),
        _ => format!("published to {}", store.uri()),
    });
    lines.push(String::new());
    lines.join("\n")
}

/// Returns the sum of documents that equals the number of lines.
fn line_of_counts(report: &IngestReport) -> String {
    let (known, dropped) = (report.num_known_docs, report.num_dropped_docs);
    let blank = report.num_blank_lines;
    let counts = [
        ("ingested", report.num_ingested_docs, true),
        ("published before", known, known > 0),
        ("dropped", dropped, dropped > 0),
        ("blank", blank, blank > 0),
        ("rejected", report.num_rejected_docs, true),
    ];
    let told = counts.iter().filter(|(_, _, is_told)| *is_told);
    let names: Vec<&str> = told.clone().map(|(name, ..)| *name).collect();
    let numbers: Vec<String> = told.map(|(_, num, _)| num.to_string()).collect();
    format!(
        "{} = lines read: {} = {}",
        names.join(" + "),
        numbers.join(" + "),
        report.num_lines
    )
}

/// Returns the notes on documents that are kept as text or dropped.
fn lines_of_set_aside(report: &IngestReport) -> Vec<String> {
    let mut lines = Vec::new();
    if report.num_kept_docs > 0 {
        let reasons = counted_reasons(&report.kept_by_reason);
        lines.push(format!(
            "{} of the documents are only kept, for something is wrong with them ({}); the query \
             `_parse_error:*` finds them",
            numbers::count(report.num_kept_docs),
            reasons
        ));
    }
    if report.num_dropped_docs > 0 {
        lines.push(format!(
            "dropped by the transform: {}",
            counted_reasons(&report.dropped_by_reason)
        ));
    }
    lines
}

/// Minimum size of an input that its splits are compared with.
const MIN_COMPARED_BYTES: u64 = 256 << 10;

/// Returns the speed, and the sizes of the input and of its splits.
fn lines_of_sizes(report: &IngestReport, elapsed: Duration) -> Vec<String> {
    let num_docs = report.num_ingested_docs + report.num_known_docs;
    let speed = format!(
        "{} in {}: {}",
        numbers::counted(num_docs, "document"),
        numbers::duration(elapsed),
        numbers::rate(num_docs, elapsed, "documents"),
    );
    let input = numbers::bytes(report.num_raw_bytes);
    // Of a small input, most of a split is what every split has.
    let share = match report.num_raw_bytes {
        ..MIN_COMPARED_BYTES => None,
        num_bytes => numbers::share(report.num_split_bytes, num_bytes),
    };
    let share = share.map_or_else(String::new, |share| format!(": {share} of its size"));
    let sizes = match report.splits.len() as u64 {
        0 => format!("{input} of input became no split"),
        num_splits => format!(
            "{input} of input became {} in {}{share}",
            numbers::bytes(report.num_split_bytes),
            numbers::counted(num_splits, "split"),
        ),
    };
    let mut lines = vec![speed, sizes];
    if report.num_known_splits > 0 {
        lines.push(format!(
            "{} of them had been published before and stay as they are",
            numbers::count(report.num_known_splits)
        ));
    }
    lines
}

fn lines_of_rejects(report: &IngestReport) -> Vec<String> {
    let mut lines = Vec::new();
    if report.num_rejected_docs > 0 {
        let reasons = counted_reasons(&report.rejects_by_reason);
        let place = match &report.rejects_path {
            Some(path) => format!("; see {}", path.display()),
            None => String::new(),
        };
        lines.push(format!("rejected lines by reason: {reasons}{place}"));
        if report.num_unwritten_rejects > 0 {
            lines.push(format!(
                "{} of them are not in that file, because it is full (--max-rejects-bytes)",
                numbers::count(report.num_unwritten_rejects)
            ));
        }
    }
    lines
}

fn counted_reasons(by_reason: &BTreeMap<String, u64>) -> String {
    let counted = by_reason
        .iter()
        .map(|(reason, num)| format!("{}: {}", clean_text(reason), numbers::count(*num)));
    counted.collect::<Vec<_>>().join(", ")
}

/// Returns the number of inputs, if not all of them were read.
fn text_of_found(report: &IngestReport, left_out: &LeftOut) -> Option<String> {
    let num_read = report.inputs.len() as u64;
    let counts = [
        (report.num_known_inputs, "known and not read again"),
        (left_out.num_too_old, "of before --since"),
        (left_out.num_too_new, "not of before --until"),
        (left_out.num_empty, "empty"),
        (left_out.num_hidden, "hidden"),
        (left_out.num_of_index, "of the index itself"),
        (
            left_out.num_links_outside,
            "behind links out of the folder (--follow-links)",
        ),
        (left_out.num_dead_links, "links to nothing"),
        (left_out.num_repeated_links, "links to other inputs"),
        (left_out.num_special, "pipes, sockets or devices"),
        (report.num_gone_inputs, "gone by now"),
    ];
    let num_others: u64 = counts.iter().map(|(num, _)| num).sum();
    if num_others == 0 {
        return None;
    }
    let counts = counts.iter().filter(|(num, _)| *num > 0);
    let parts: Vec<String> = counts
        .map(|(num, what)| format!("{} {what}", numbers::count(*num)))
        .chain([format!("{} read", numbers::count(num_read))])
        .collect();
    let found = numbers::counted(num_others + num_read, "input");
    Some(format!("{found} found: {}", parts.join(", ")))
}

/// Returns the notes on assumed times: each sentence once, with the first input that it applies to.
fn texts_of_times(report: &IngestReport) -> Vec<String> {
    let mut by_text: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
    for input in &report.inputs {
        if let Some(times) = &input.times {
            by_text.entry(times).or_insert((&input.name, 0)).1 += 1;
        }
    }
    let texts = by_text.into_iter().map(|(times, (name, num))| match num {
        1 => format!("{}: {times}", clean_text(name)),
        num => format!(
            "{} and {} more: {times}",
            clean_text(name),
            numbers::count(num - 1)
        ),
    });
    texts.collect()
}

/// Maximum number of inputs with individual notes.
const MAX_SHOWN: usize = 10;

/// Returns the notes on changed and waiting inputs.
fn texts_of_inputs(report: &IngestReport) -> Vec<String> {
    let said = report.inputs.iter().flat_map(|input| {
        let all = [&input.note, &input.waiting].into_iter().flatten();
        all.map(move |text| format!("{}: {text}", clean_text(&input.name)))
    });
    let mut texts: Vec<String> = said.collect();
    let num_others = texts.len().saturating_sub(MAX_SHOWN) as u64;
    if num_others > 0 {
        texts.truncate(MAX_SHOWN);
        let others = numbers::counted(num_others, "other line");
        texts.push(format!("and {others} of this kind (--format json has all)"));
    }
    texts
}

fn text_of_formats(report: &IngestReport) -> Option<String> {
    let mut by_format: BTreeMap<&str, u64> = BTreeMap::new();
    for input in &report.inputs {
        *by_format.entry(input.format).or_default() += 1;
    }
    let formats: Vec<String> = match (&report.inputs[..], by_format.len()) {
        ([input], _) => vec![format!("read as {}", input.format)],
        (_, 1) => by_format
            .keys()
            .map(|format| format!("all read as {format}"))
            .collect(),
        _ => by_format
            .iter()
            .map(|(format, num)| format!("{} as {format}", numbers::count(*num)))
            .collect(),
    };
    let inputs = numbers::counted(report.inputs.len() as u64, "input");
    (!formats.is_empty()).then(|| format!("{inputs}, {}", formats.join(", ")))
}
