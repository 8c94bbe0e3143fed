//! Aggregations without buckets.

use rand::{Rng, RngExt};
use serde_json::{Value, json};

use super::{is_column, is_date, is_number};
use crate::random::asked::generate::Generator;
use crate::random::documents::one_of;
use crate::random::schema::{Diet, Field, Kind};
use crate::random::truth::table::Scalar;

const METRICS: [&str; 12] = [
    "avg",
    "sum",
    "min",
    "max",
    "value_count",
    "stats",
    "extended_stats",
    "weighted_avg",
    "percentiles",
    "percentile_ranks",
    "median_absolute_deviation",
    "cardinality",
];

impl<R: Rng> Generator<'_, R> {
    pub(super) fn metric(&mut self) -> Option<Value> {
        match self.rng.random_range(0..20) {
            0..2 => return self.top_hits(),
            2 => return self.top_metrics(),
            3 => return self.string_stats(),
            _ => {}
        }
        let kind = *one_of(&mut self.rng, &METRICS);
        let is_any = ["value_count", "cardinality"].contains(&kind);
        let is_mapped_date =
            |field: &Field| is_column(field) && matches!(field.kind, Kind::Date { .. });
        if kind == "weighted_avg" {
            let mut part = || -> Option<Value> {
                let mut part = json!({ "field": self.path(is_number)? });
                if self.flip(0.3) {
                    part["missing"] =
                        one_of(&mut self.rng, &[json!(1), json!(0.1), json!(-2)]).clone();
                }
                Some(part)
            };
            return Some(json!({ kind: { "value": part()?, "weight": part()? } }));
        }
        let path = match is_any {
            true => self.path(is_column)?,
            false => self.path(|field| is_number(field) || is_mapped_date(field))?,
        };
        let mut body = json!({ "field": path });
        if is_any {
            self.missing_term(&mut body, &path);
        } else if self.flip(0.2) {
            let numbers = [
                json!(0),
                json!(-7),
                json!(0.1),
                json!(u64::MAX),
                json!(1e200),
            ];
            body["missing"] = one_of(&mut self.rng, &numbers).clone();
        }
        match kind {
            "percentiles" if self.flip(0.5) => body["percents"] = json!([0, 12.5, 50, 99.9, 100]),
            "percentile_ranks" => {
                let value = self
                    .value_of(&path)
                    .as_ref()
                    .and_then(number_of)
                    .unwrap_or(3.0);
                body["values"] = json!([-1.5, value, 1e9]);
            }
            "extended_stats" if self.flip(0.3) => {
                body["sigma"] = json!(one_of(&mut self.rng, &[0.0, 3.0, 0.5]))
            }
            _ => {}
        }
        if kind.starts_with("percentile") && self.flip(0.3) {
            body["keyed"] = json!(self.flip(0.3));
        }
        Some(json!({ kind: body }))
    }

    fn top_metrics(&mut self) -> Option<Value> {
        let by = self.path(|field| is_number(field) || is_date(field))?;
        let mut fields: Vec<String> = Vec::new();
        for _ in 0..self.rng.random_range(1..4) {
            let path = self.path(is_column)?;
            if !fields.contains(&path) {
                fields.push(path);
            }
        }
        let metrics: Vec<Value> = fields
            .iter()
            .map(|field| json!({ "field": field }))
            .collect();
        let mut body = json!({ "sort": { by: self.asc() }, "metrics": metrics });
        if self.flip(0.5) {
            body["size"] = json!(self.rng.random_range(1..6));
        }
        Some(json!({ "top_metrics": body }))
    }

    fn string_stats(&mut self) -> Option<Value> {
        let is_text = |field: &Field| {
            let has_texts = matches!(field.diet, Diet::Texts | Diet::Mixed);
            is_column(field) && (has_texts || matches!(field.kind, Kind::Text { .. }))
        };
        let mut body = json!({ "field": self.path(is_text)? });
        if self.flip(0.3) {
            body["missing"] = json!(one_of(&mut self.rng, &["N/A", "time", ""]));
        }
        if self.flip(0.5) {
            body["show_distribution"] = json!(true);
        }
        Some(json!({ "string_stats": body }))
    }

    pub(super) fn top_hits(&mut self) -> Option<Value> {
        let mut sort: Vec<Value> = Vec::new();
        for _ in 0..self.rng.random_range(1..3) {
            let path = self.path(|field| is_number(field) || is_date(field))?;
            sort.push(json!({ path: self.asc() }));
        }
        let mut fields: Vec<String> = Vec::new();
        for _ in 0..self.rng.random_range(0..3) {
            let path = self.path(|field| is_column(field) && field.diet != Diet::Mixed)?;
            if !fields.contains(&path) {
                fields.push(path);
            }
        }
        let mut body = json!({ "sort": sort, "docvalue_fields": fields });
        if self.flip(0.5) {
            body["size"] = json!(self.rng.random_range(1..6));
        }
        if self.flip(0.2) {
            body["from"] = json!(self.rng.random_range(0..3));
        }
        Some(json!({ "top_hits": body }))
    }
}

fn number_of(value: &Scalar) -> Option<f64> {
    match value {
        Scalar::Date(nanos) => Some(*nanos as f64 / 1e6),
        value => value.as_f64(),
    }
}
