//! `terms`, similar aggregations, and `composite`.

use rand::{Rng, RngExt};
use serde_json::{Map, Value, json};

use super::super::scan::Filters;
use super::super::terms::PATTERNS;
use super::{is_column, is_date, is_number};
use crate::random::asked::generate::Generator;
use crate::random::documents::one_of;
use crate::random::schema::{Diet, Kind};

impl<R: Rng> Generator<'_, R> {
    pub(super) fn terms(&mut self, depth: usize, inside: &Map<String, Value>) -> Option<Value> {
        let path = self.path(is_column)?;
        let mut body = json!({ "field": path });
        self.choices(&mut body, &path);
        self.missing_term(&mut body, &path);
        self.sizes(&mut body, depth, inside);
        Some(body)
    }

    pub(super) fn sizes(&mut self, body: &mut Value, depth: usize, inside: &Map<String, Value>) {
        if self.flip(0.7) {
            let sizes: &[usize] = if depth > 1 {
                &[1, 2, 3, 5, 20]
            } else {
                &[1, 3, 7, 1_000]
            };
            body["size"] = json!(one_of(&mut self.rng, sizes));
        }
        if self.flip(0.2) {
            body["min_doc_count"] = json!(self.rng.random_range(1..5));
        }
        if self.flip(0.5) {
            let mut order = self.order(inside);
            if self.flip(0.2) {
                order = json!([order, self.order(inside)]);
            }
            body["order"] = order;
        }
    }

    pub(super) fn order(&mut self, inside: &Map<String, Value>) -> Value {
        let mut paths = vec!["_count".to_owned(), "_key".to_owned()];
        add_metric_paths(inside, "", &mut paths);
        // Preferably by a metric.
        let from = if paths.len() > 2 && self.flip(0.7) {
            2
        } else {
            0
        };
        let path = one_of(&mut self.rng, &paths[from..]).clone();
        json!({ path: self.asc() })
    }

    pub(super) fn choices(&mut self, body: &mut Value, path: &str) {
        for name in ["include", "exclude"] {
            if !self.flip(0.1) {
                continue;
            }
            body[name] = match self.flip(0.5) {
                true => json!(one_of(&mut self.rng, &PATTERNS).0),
                false => (0..self.rng.random_range(1..5))
                    .filter_map(|_| self.term(path))
                    .collect(),
            };
        }
    }

    pub(super) fn missing_term(&mut self, body: &mut Value, path: &str) {
        let mut fields = self.table.setup.fields.iter();
        let field = fields.find(|field| field.path == path);
        let is_text =
            field.is_some_and(|f| matches!(f.kind, Kind::Text { .. }) || f.diet == Diet::Texts);
        let is_number = field.is_some_and(is_number);
        if self.flip(0.2) && is_text {
            body["missing"] = json!(one_of(&mut self.rng, &["N/A", "time", "beta"]));
        } else if self.flip(0.2) && is_number {
            body["missing"] =
                one_of(&mut self.rng, &[json!(0), json!(-7), json!(2.5), json!(3)]).clone();
        }
    }

    pub(super) fn multi_terms(
        &mut self,
        depth: usize,
        inside: &Map<String, Value>,
    ) -> Option<Value> {
        let mut terms = Vec::new();
        for _ in 0..self.rng.random_range(2..4) {
            let path = self.path(is_column)?;
            let mut source = json!({ "field": path });
            self.missing_term(&mut source, &path);
            terms.push(source);
        }
        let mut body = json!({ "terms": terms });
        self.sizes(&mut body, depth, inside);
        Some(body)
    }

    pub(super) fn rare_terms(&mut self) -> Option<Value> {
        let path = self.path(is_column)?;
        let mut body = json!({ "field": path });
        self.choices(&mut body, &path);
        self.missing_term(&mut body, &path);
        if self.flip(0.7) {
            body["max_doc_count"] = json!(self.rng.random_range(1..6));
        }
        Some(body)
    }

    pub(super) fn composite(&mut self, left: &mut usize, filters: &mut Filters) -> Option<Value> {
        let mut sources = Vec::new();
        for nth in 0..self.rng.random_range(1..4) {
            let mut source = Value::Null;
            let kind = match self.rng.random_range(0..4) {
                0..2 => {
                    source["field"] = json!(self.path(is_column)?);
                    "terms"
                }
                2 => {
                    source["field"] = json!(self.path(|field| is_number(field) && field.is_small)?);
                    source["interval"] = json!(one_of(&mut self.rng, &[0.5, 1.0, 5.0, 0.1]));
                    "histogram"
                }
                _ => {
                    source["field"] = json!(self.path(is_date)?);
                    self.interval(&mut source);
                    "date_histogram"
                }
            };
            if self.flip(0.5) {
                source["order"] = json!(self.asc());
            }
            if self.flip(0.4) {
                source["missing_bucket"] = json!(true);
                if self.flip(0.5) {
                    source["missing_order"] =
                        json!(one_of(&mut self.rng, &["first", "last", "default"]));
                }
            }
            sources.push(json!({ format!("s{nth}"): { kind: source } }));
        }
        let size = *one_of(&mut self.rng, &[60, 100, 200, 1_000]);
        let mut agg = json!({ "composite": { "sources": sources, "size": size } });
        if self.flip(0.5) {
            let inside = self.level(3, left, filters);
            if !inside.is_empty() {
                agg["aggs"] = Value::Object(inside);
            }
        }
        Some(agg)
    }
}

/// Collects the paths to numbers by which terms can be ordered.
fn add_metric_paths(inside: &Map<String, Value>, before: &str, paths: &mut Vec<String>) {
    for (name, agg) in inside {
        let (kind, _) = crate::random::aggregations::scan::kind_of(agg);
        // A path cannot continue after a name with a dot.
        let is_plain = !name.contains('.');
        match kind {
            "avg" | "sum" | "min" | "max" | "value_count" | "weighted_avg" => {
                paths.push(format!("{before}{name}"))
            }
            "stats" if is_plain => {
                paths.extend(
                    ["count", "sum", "min", "max", "avg"].map(|p| format!("{before}{name}.{p}")),
                );
            }
            "extended_stats" if is_plain => {
                paths.extend(["variance", "sum_of_squares"].map(|p| format!("{before}{name}.{p}")));
            }
            "filter" | "missing" => {
                paths.push(format!("{before}{name}>_count"));
                if let Some(inside) = agg["aggs"].as_object() {
                    add_metric_paths(inside, &format!("{before}{name}>"), paths);
                }
            }
            _ => {}
        }
    }
}
