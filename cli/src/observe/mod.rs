//! Observability for operators of this program: log lines, metrics, traces. Answers are separate.

mod log;
mod metrics;
#[cfg_attr(not(feature = "otlp"), path = "no_otlp.rs")]
mod otlp;
mod writer;

pub(crate) use log::LogArgs;
pub(crate) use metrics::MetricsArg;
#[cfg(feature = "serve")]
pub(crate) use otlp::follow_trace;
