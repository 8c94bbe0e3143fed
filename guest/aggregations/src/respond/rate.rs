//! `rate`: quantity in each unit of time.

use serde_json::{Value, json};

use super::Writer;
use super::keys::float;
use crate::calendar::Span;
use crate::partial::{Metric, Metrics};
use crate::request::{Rate, RateOf};

/// Parent bucket of the current level.
#[derive(Clone, Copy, Default)]
pub(super) struct Around {
    pub(super) doc_count: u64,
    /// Length of the nearest date bucket.
    pub(super) span: Option<Span>,
}

impl Writer<'_> {
    /// Computes a rate; null outside of date buckets: a composite has a bucket for documents
    /// without a date.
    pub(super) fn rate(&self, rate: &Rate, found: Option<(&Metric, usize)>) -> Value {
        let Around { doc_count, span } = self.around.get();
        let states = found.map(|(metric, place)| (&metric.states, place));
        let amount = match (rate.of, states) {
            (RateOf::Documents, _) => doc_count as f64,
            (_, Some((Metrics::Stats(list), place))) => {
                list.get(place).map_or(0.0, |stats| stats.sum().to_f64())
            }
            (_, Some((Metrics::Counts(list), place))) => {
                list.get(place).copied().unwrap_or_default() as f64
            }
            _ => 0.0,
        };
        let num_units = match rate.unit {
            None => Some(1.0),
            Some(unit) => span.and_then(|span| span.num_units(unit)),
        };
        let value = num_units.map_or(Value::Null, |num_units| float(amount / num_units));
        json!({ "value": value })
    }
}
