//! What this program tells those who run it: log lines, metrics, traces. Answers are no part of it.

mod log;
mod metrics;
#[cfg_attr(not(feature = "otlp"), path = "no_otlp.rs")]
mod otlp;
mod writer;

pub(crate) use log::LogArgs;
pub(crate) use metrics::MetricsArg;
#[cfg(feature = "serve")]
pub(crate) use otlp::follow_trace;
