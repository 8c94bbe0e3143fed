//! Documents for each second of CPU time, by format and compared with NDJSON: parsing alone
//! (splitting and building JSON objects), and a whole ingest with the format's preset. `cargo bench
//! --profile dev --bench formats`.
//!
//! Each format has `CANTER_BENCH_DOCS` (50,000) documents. The rate of NDJSON is that of its own
//! documents: the last column compares an ingest with one of the same documents as NDJSON.
//!
//! A second table has the same ingests with a transform: an empty one, and the one for the layout
//! in `examples/transforms`.

use std::io::Cursor;
use std::sync::Arc;

use anyhow::{Context, Result};
use canter_benches::process_cpu_seconds;
use canter_doc_mapper::IndexConfig;
use canter_formats::presets::preset_of;
use canter_formats::{Cut, Cutter, Directive, Failure, Format, Hints, Layout, Recognised};
use canter_index_builder::{IngestOptions, Source, Transform, create_index, ingest};
use canter_samples::{LAYOUTS, sample};

/// Programs of `examples/transforms`.
const TRANSFORMS: [(Format, &str); 6] = [
    (
        Format::AccessLog,
        include_str!("../../examples/transforms/access-log.vrl"),
    ),
    (
        Format::Alb,
        include_str!("../../examples/transforms/alb.vrl"),
    ),
    (
        Format::CloudTrail,
        include_str!("../../examples/transforms/cloudtrail.vrl"),
    ),
    (
        Format::OtlpJson,
        include_str!("../../examples/transforms/otel-logs.vrl"),
    ),
    (
        Format::Syslog,
        include_str!("../../examples/transforms/syslog.vrl"),
    ),
    (
        Format::VpcFlow,
        include_str!("../../examples/transforms/vpc-flow.vrl"),
    ),
];

fn main() -> Result<()> {
    let num_docs: u64 = match std::env::var("CANTER_BENCH_DOCS") {
        Ok(text) => text.parse().context("CANTER_BENCH_DOCS")?,
        Err(_) => 50_000,
    };
    println!("{num_docs} documents of each format");
    println!(
        "{:16} {:>8} {:>14} {:>14} {:>16} {:>10}",
        "format", "MB", "read docs/s", "read MB/s", "ingest docs/s", "to NDJSON"
    );
    for format in LAYOUTS {
        let sample = sample(format, num_docs, 1);
        let num_bytes = sample.bytes.len() as f64;
        let (reading, num_read) = reading(format, &sample.bytes)?;
        anyhow::ensure!(num_read == num_docs, "{format}: {num_read} documents");
        let lines: String = sample.docs.iter().map(|doc| format!("{doc}\n")).collect();
        let building = building(format, sample.bytes, num_docs, format, None)?;
        let as_ndjson = building_ndjson(format, lines.into_bytes(), num_docs)?;
        println!(
            "{:16} {:>8.1} {:>14.0} {:>14.1} {:>16.0} {:>9.0}%",
            format.name(),
            num_bytes / 1e6,
            num_docs as f64 / reading,
            num_bytes / 1e6 / reading,
            num_docs as f64 / building,
            as_ndjson / building * 100.0,
        );
    }
    transforms(num_docs)
}

/// Prints the rates of ingests with transforms.
fn transforms(num_docs: u64) -> Result<()> {
    println!(
        "\n{:16} {:>16} {:>16} {:>16}",
        "format", "none docs/s", "`.` docs/s", "example docs/s"
    );
    for (format, program) in TRANSFORMS {
        let bytes = sample(format, num_docs, 1).bytes;
        let rate = |program: Option<&str>| {
            let transform = program.map(|text| Transform::compile("bench.vrl", text));
            let seconds = building(
                format,
                bytes.clone(),
                num_docs,
                format,
                transform.transpose()?,
            )?;
            anyhow::Ok(num_docs as f64 / seconds)
        };
        let (none, nothing, example) = (rate(None)?, rate(Some("."))?, rate(Some(program))?);
        println!(
            "{:16} {none:>16.0} {nothing:>11.0} {:>3.0}% {example:>11.0} {:>3.0}%",
            format.name(),
            nothing / none * 100.0,
            example / none * 100.0,
        );
    }
    Ok(())
}

fn building_ndjson(preset: Format, bytes: Vec<u8>, num_docs: u64) -> Result<f64> {
    building(preset, bytes, num_docs, Format::Ndjson, None)
}

/// Measures the CPU seconds of parsing, as the mean of enough rounds for the resolution of the
/// clock, and the number of documents.
fn reading(format: Format, bytes: &[u8]) -> Result<(f64, u64)> {
    const MIN_SECONDS: f64 = 0.5;
    let before = process_cpu_seconds()?;
    let mut num_rounds = 0;
    loop {
        let num_docs = read_once(format, bytes);
        num_rounds += 1;
        let seconds = process_cpu_seconds()? - before;
        if seconds >= MIN_SECONDS {
            return Ok((seconds / f64::from(num_rounds), num_docs));
        }
    }
}

fn read_once(format: Format, bytes: &[u8]) -> u64 {
    let beginning = &bytes[..bytes.len().min(65_536)];
    let recognised = Recognised::forced(format, beginning, false);
    let mut cutter = Cutter::new(format, recognised.dialect);
    let mut layout = Layout::of(recognised, beginning, false, Arc::new(Hints::default()));
    let (mut start, mut place, mut num_docs) = (0, 0, 0);
    let (mut scratch, mut lines) = (Vec::new(), Vec::new());
    while place < bytes.len() {
        match cutter.cut(&bytes[place..]) {
            Cut::Drop(len) => {
                place += len;
                start = place;
                continue;
            }
            Cut::End(len) => place += len,
            Cut::More => place = bytes.len(),
        }
        let record = bytes[start..place].trim_ascii_end();
        start = place;
        if layout.may_be_directive(record) && layout.take_directive(record) == Directive::Taken {
            continue;
        }
        let mut count = |parsed: Result<&[u8], Failure>| num_docs += u64::from(parsed.is_ok());
        if !layout.has_continuations() {
            layout.parse(record, &mut scratch, &mut count);
            continue;
        }
        if !lines.is_empty() && !layout.continues(&lines, record) {
            layout.parse(&lines, &mut scratch, &mut count);
            lines.clear();
        }
        if !lines.is_empty() {
            lines.push(b'\n');
        }
        lines.extend_from_slice(record);
    }
    if !lines.is_empty() {
        layout.parse(&lines, &mut scratch, &mut |parsed| {
            num_docs += u64::from(parsed.is_ok())
        });
    }
    num_docs
}

/// Measures the CPU seconds of an ingest.
fn building(
    preset: Format,
    bytes: Vec<u8>,
    num_docs: u64,
    format: Format,
    transform: Option<Transform>,
) -> Result<f64> {
    let preset = preset_of(preset).context("each format has a preset")?;
    let config = IndexConfig::from_yaml(preset.yaml, |_| None)?;
    let folder = tempfile::tempdir()?;
    let store = create_index(folder.path().to_str().context("UTF-8")?, &config)?;
    let options = IngestOptions {
        format: Some(format),
        year: Some(2024),
        transform,
        ..IngestOptions::default()
    };
    let source = Source::reader("sample", Cursor::new(bytes)).with_id("sample");
    let before = process_cpu_seconds()?;
    let report = ingest(&store, &options, vec![source], &())?;
    let seconds = process_cpu_seconds()? - before;
    let is_whole = options.transform.is_some() || report.num_ingested_docs == num_docs;
    anyhow::ensure!(
        is_whole && report.num_rejected_docs == 0,
        "{format}: {report:?}"
    );
    Ok(seconds)
}
