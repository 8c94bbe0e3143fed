//! `--log`: spans and events as lines on standard error.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

use super::otlp::Traces;
use super::writer::RedactedStderr;

pub(super) type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Canter's own targets: `canter::query`, `canter::wave`, `canter::request`, ….
pub(super) const TARGET: &str = "canter";

/// Arguments of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Log")]
pub(crate) struct LogArgs {
    /// Log to standard error: `info` writes a line for each query, `debug` also for each wave and request. A filter
    /// such as `canter::request=debug,hyper=warn` is accepted too.
    #[arg(
        long = "log",
        global = true,
        value_name = "LEVEL|FILTER",
        env = "CANTER_LOG"
    )]
    #[arg(value_parser = parse_filter, display_order = 910)]
    log_filter: Option<Targets>,

    /// Format of log lines.
    #[arg(
        long = "log-format",
        global = true,
        value_name = "FORMAT",
        default_value = "text"
    )]
    #[arg(display_order = 911)]
    log_format: LogFormat,
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// Readable text.
    Text,
    /// One JSON object per line.
    Json,
}

/// Guard that ends the export of traces when it is dropped.
#[derive(Debug)]
pub(crate) struct Observing {
    _traces: Option<Traces>,
}

impl LogArgs {
    /// Starts logging for the lifetime of the process. Without `--log` there is no subscriber, unless
    /// traces are exported.
    pub(crate) fn start(&self) -> Result<Observing> {
        let mut layers: Vec<BoxedLayer> = self.layer().into_iter().collect();
        let traces = Traces::start()?.map(|(traces, layer)| {
            layers.push(layer);
            traces
        });
        if !layers.is_empty() {
            tracing::subscriber::set_global_default(Registry::default().with(layers))
                .context("cannot start the log")?;
        }
        Ok(Observing { _traces: traces })
    }

    fn layer(&self) -> Option<BoxedLayer> {
        let filter = self.log_filter.clone()?;
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(RedactedStderr)
            .with_ansi(false)
            // The results of a span are known at its end.
            .with_span_events(FmtSpan::CLOSE);
        Some(match self.log_format {
            LogFormat::Text => lines.with_filter(filter).boxed(),
            LogFormat::Json => lines.json().with_filter(filter).boxed(),
        })
    }
}

/// Parses a level, which applies only to Canter, or a filter by targets.
fn parse_filter(text: &str) -> Result<Targets, String> {
    if let Ok(level) = text.trim().parse::<LevelFilter>() {
        return Ok(Targets::new().with_target(TARGET, level));
    }
    let not_a_filter = || {
        "neither a level (off, error, warn, info, debug, trace) nor a filter such as \
         canter::request=debug,hyper=warn"
            .to_owned()
    };
    // A single word would be a target all of whose events are logged.
    let is_directive =
        |part: &str| part.contains('=') || part.trim().parse::<LevelFilter>().is_ok();
    if !text.split(',').all(is_directive) {
        return Err(not_a_filter());
    }
    text.parse().map_err(|_| not_a_filter())
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn a_level_is_canters_and_a_filter_anybodys() {
        let check = |text: &str, target: &str, level: Level, expect: bool| {
            let filter = parse_filter(text).unwrap();
            assert_eq!(
                filter.would_enable(target, &level),
                expect,
                "{text} {target}"
            );
        };
        check("info", "canter::query", Level::INFO, true);
        check("info", "canter::wave", Level::DEBUG, false);
        check("DEBUG", "canter::request", Level::DEBUG, true);
        check("debug", "hyper::client", Level::ERROR, false);
        check("off", "canter::query", Level::ERROR, false);
        check(
            "canter::request=debug",
            "canter::query",
            Level::ERROR,
            false,
        );
        check(
            "canter::request=debug,hyper=warn",
            "hyper",
            Level::WARN,
            true,
        );
    }

    #[test]
    fn what_is_no_filter_is_refused_with_what_is_one() {
        for text in ["canter=loud", "=debug=", "loudly, please"] {
            let error = parse_filter(text).unwrap_err();
            assert!(error.contains("canter::request=debug"), "{error}");
        }
    }
}
