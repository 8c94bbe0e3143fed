//! `--metrics`: the metrics of a run, as a file for Prometheus' node exporter.

use std::fs;
use std::path::{Path, PathBuf};

use canter_runtime::Metrics;
use clap::Args;

use crate::exit::warn;

/// The argument of commands that search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Log")]
pub(crate) struct MetricsArg {
    /// Write the run's metrics to FILE as OpenMetrics text when the run ends, also after a failure. FILE is replaced
    /// atomically, so that a collector never reads half of it.
    #[arg(long = "metrics", value_name = "FILE", display_order = 912)]
    metrics_file: Option<PathBuf>,
}

impl MetricsArg {
    /// Writes `metrics`, if requested. A file that cannot be written costs a warning and not the
    /// answer.
    pub(crate) fn write(&self, metrics: &Metrics) {
        let Some(file) = &self.metrics_file else {
            return;
        };
        if let Err(error) = replace(file, &metrics.encode()) {
            let file = file.display();
            warn(format_args!("cannot write metrics to `{file}`: {error}"));
        }
    }
}

/// Writes a file next to `file` and renames it. Its name ends in the process's id, because the
/// collector reads only `*.prom`.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let beside = file.with_file_name(name);
    let replaced = fs::write(&beside, text).and_then(|()| fs::rename(&beside, file));
    if replaced.is_err() {
        // Best effort: the returned error describes the failure.
        let _ = fs::remove_file(&beside);
    }
    replaced
}
