//! Traces to a collector: OTLP over HTTP, as protobuf.
//!
//! Enabled if `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is set. The
//! other variables of the OpenTelemetry specification apply too: `…_HEADERS`, `…_TIMEOUT`,
//! `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_BSP_…`.

use anyhow::{Context, Result};
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};

use super::log::{BoxedLayer, TARGET};
use crate::exit::warn;

const ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
];

/// Exporter of traces; the rest is sent when this is dropped.
#[derive(Debug)]
pub(super) struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Starts exporting Canter's spans, including single requests, if an endpoint is set.
    pub(super) fn start() -> Result<Option<(Self, BoxedLayer)>> {
        if !ENDPOINTS.into_iter().any(is_set) {
            return Ok(None);
        }
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .build()
            .context("cannot send traces to OTEL_EXPORTER_OTLP_ENDPOINT")?;
        let resource = match is_set("OTEL_SERVICE_NAME") {
            true => Resource::builder(),
            false => Resource::builder().with_service_name("canter"),
        };
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .build();
        let layer = tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("canter"))
            .with_filter(Targets::new().with_target(TARGET, LevelFilter::DEBUG))
            .boxed();
        Ok(Some((Self { provider }, layer)))
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown() {
            warn(format_args!("not all traces were sent: {error}"));
        }
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Makes a span part of the trace in a request's headers.
#[cfg(feature = "serve")]
pub(crate) fn follow_trace(span: &Span, headers: &http::HeaderMap) {
    let parent = TraceContextPropagator::new().extract(&Headers(headers));
    // Without an exporter, there is no trace to join.
    let _ = span.set_parent(parent);
}

#[cfg(feature = "serve")]
struct Headers<'h>(&'h http::HeaderMap);

#[cfg(feature = "serve")]
impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(|name| name.as_str()).collect()
    }
}
