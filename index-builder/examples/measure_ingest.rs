//! Measures building: documents per CPU-second and the peak of memory.
//!
//! ```text
//! cargo run --release -p canter-index-builder --example measure_ingest -- 1000000 8 [FOLDER] [hdfs | http]
//! ```
//!
//! Generates that many lines on the fly, builds that many splits of them, however long these get, and prints one
//! JSON object, with the bytes of each file of the splits. The generator's own time (about 0.2 µs a line) is part of
//! the figures, unless `CANTER_MEASURE_INPUT` names a file that has the lines. `CANTER_MEASURE_CONFIG` names another
//! config than the one of these lines, and `CANTER_MEASURE_FORMAT` the format, which is detected otherwise.

use canter_index_builder::{IngestOptions, Source, create_index, ingest};
use canter_samples::{CorpusReader, HDFS_LOGS_YAML, HTTP_LOGS_YAML, HdfsLogs, HttpLogs};
use canter_split_format::{Head, head_len_of, split_object};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let num_docs: u64 = args.next().unwrap_or_else(|| "1000000".into()).parse()?;
    let num_splits: u64 = args.next().unwrap_or_else(|| "8".into()).parse()?;
    let folder = args.next().map_or_else(
        || std::env::temp_dir().join(format!("canter-measure-{}", std::process::id())),
        Into::into,
    );
    let uri = folder.to_str().ok_or("the folder's name is not UTF-8")?;
    let is_http = args.next().is_some_and(|kind| kind == "http");
    let yaml = if is_http {
        HTTP_LOGS_YAML
    } else {
        HDFS_LOGS_YAML
    };
    let yaml = match std::env::var_os("CANTER_MEASURE_CONFIG") {
        Some(file) => std::fs::read_to_string(file)?,
        None => yaml.to_owned(),
    };
    let config = canter_doc_mapper::IndexConfig::from_yaml(&yaml, |_| None)?;
    let store = create_index(uri, &config)?;
    let options = IngestOptions {
        split_num_docs_target: Some(num_docs.div_ceil(num_splits)),
        max_split_raw_num_bytes: u64::MAX,
        format: match std::env::var("CANTER_MEASURE_FORMAT") {
            Ok(name) if !name.is_empty() => Some(name.parse()?),
            _ => None,
        },
        ..IngestOptions::default()
    };
    let started = Instant::now();
    let source = match (std::env::var_os("CANTER_MEASURE_INPUT"), is_http) {
        (Some(file), _) => Source::file(file),
        (None, true) => generated("http 42", CorpusReader::new(HttpLogs::new(num_docs, 42))),
        (None, false) => generated("hdfs 42", CorpusReader::new(HdfsLogs::new(num_docs, 42))),
    };
    let report = ingest(&store, &options, vec![source], &())?;
    let elapsed_s = started.elapsed().as_secs_f64();
    let cpu_s = cpu_s()?;
    let peak_memory_mib = peak_memory_kib()? / 1024;
    let mut files = BTreeMap::new();
    for split in &report.splits {
        add_files(&folder.join(split_object(&split.id)), &mut files)?;
    }
    let result = serde_json::json!({
        "num_docs": report.num_ingested_docs,
        "num_splits": report.splits.len(),
        "elapsed_s": elapsed_s,
        "cpu_s": cpu_s,
        "docs_per_cpu_s": (num_docs as f64 / cpu_s).round(),
        "peak_memory_mib": peak_memory_mib,
        "num_raw_bytes": report.num_raw_bytes,
        "num_split_bytes": report.num_split_bytes,
        "num_head_bytes": report.splits.iter().map(|split| split.num_head_bytes).sum::<u64>(),
        "size_on_disk_to_raw": report.num_split_bytes as f64 / report.num_raw_bytes as f64,
        "num_file_bytes": files,
    });
    println!("{result:#}");
    Ok(())
}

fn generated(name: &str, lines: impl Read + Send + 'static) -> Source {
    Source::reader(name, lines).with_id(name)
}

/// Adds the bytes of each file of a split, by name.
fn add_files(
    split: &Path,
    files: &mut BTreeMap<String, u64>,
) -> Result<(), Box<dyn std::error::Error>> {
    let split = std::fs::read(split)?;
    let head_len = usize::try_from(head_len_of(&split)?)?;
    let head = Head::open(
        split
            .get(..head_len)
            .ok_or("a split is shorter than its head")?,
    )?;
    for file in head.files.files() {
        *files.entry(file.name.clone()).or_default() += file.len;
    }
    Ok(())
}

/// User and system time of this process, from Linux's `/proc`.
fn cpu_s() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = stat
        .rsplit_once(')')
        .ok_or("/proc/self/stat has no name")?
        .1;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    Ok(ticks as f64 / 100.0)
}

fn peak_memory_kib() -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .ok_or("no VmHWM")?;
    Ok(line
        .split_whitespace()
        .nth(1)
        .ok_or("VmHWM has no value")?
        .parse()?)
}
