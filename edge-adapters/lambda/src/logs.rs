//! Log lines on standard error, which Lambda stores: text, or JSON if the function is configured
//! so.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

use crate::env::{ConfigError, Environment};

/// Log level in Lambda's own settings, for the targets of Canter.
const LEVEL: &str = "AWS_LAMBDA_LOG_LEVEL";
/// `JSON` or `Text`, from the same settings.
const FORMAT: &str = "AWS_LAMBDA_LOG_FORMAT";
/// Filter that overrides the level, such as `canter=debug,hyper=warn`.
const FILTER: &str = "CANTER_LOG";

/// Starts logging for the lifetime of the process.
pub(crate) fn start(env: &Environment) -> Result<(), ConfigError> {
    let level = match env.get(LEVEL) {
        // CloudWatch supports this level.
        Some("FATAL") => LevelFilter::ERROR,
        _ => env
            .parse(LEVEL, "TRACE, DEBUG, INFO, WARN or ERROR")?
            .unwrap_or(LevelFilter::INFO),
    };
    let expect = "a filter such as canter=debug,hyper=warn";
    let filter = env
        .parse::<Targets>(FILTER, expect)?
        .unwrap_or_else(|| Targets::new().with_target("canter", level));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false);
    let registry = Registry::default();
    let is_json = env
        .get(FORMAT)
        .is_some_and(|format| format.eq_ignore_ascii_case("json"));
    let result = match is_json {
        true => {
            tracing::subscriber::set_global_default(registry.with(lines.json().with_filter(filter)))
        }
        // Lambda adds the time to each line.
        false => tracing::subscriber::set_global_default(
            registry.with(lines.without_time().with_filter(filter)),
        ),
    };
    result.map_err(|error| ConfigError(format!("cannot start the log: {error}")))
}
