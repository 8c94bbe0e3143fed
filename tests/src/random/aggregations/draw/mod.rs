//! Generator of aggregations that fit the documents.

mod metrics;
mod rows;
mod terms;

use rand::{Rng, RngExt};
use serde_json::{Map, Value, json};

use super::scan::{Filters, shown};
use crate::random::asked::generate::Generator;
use crate::random::asked::query::Node;
use crate::random::documents::one_of;
use crate::random::schema::{Diet, Field, Kind};
use crate::random::truth::table::Scalar;

/// Maximum number of aggregations in a request.
const MAX_AGGS: usize = 14;
const MAX_DEPTH: usize = 4;

fn is_column(field: &Field) -> bool {
    field.fast.is_some() && field.kind != Kind::Object && field.kind != Kind::Bytes
}

fn is_date(field: &Field) -> bool {
    is_column(field) && (matches!(field.kind, Kind::Date { .. }) || field.diet == Diet::Dates)
}

fn is_number(field: &Field) -> bool {
    is_column(field)
        && (matches!(field.kind, Kind::I64 | Kind::U64 | Kind::F64)
            || matches!(field.diet, Diet::Numbers | Diet::Big | Diet::Bools))
}

impl<R: Rng> Generator<'_, R> {
    /// Draws aggregations, and the queries in them.
    pub(in crate::random) fn aggs(&mut self) -> (Map<String, Value>, Filters) {
        let mut filters = Filters::new();
        let mut left = self.rng.random_range(1..MAX_AGGS);
        let aggs = match self.rng.random_bool(0.1) {
            true => {
                let composite = self.composite(&mut left, &mut filters);
                composite
                    .map(|composite| ("pages".to_owned(), composite))
                    .into_iter()
                    .collect()
            }
            false => self.level(1, &mut left, &mut filters),
        };
        (aggs, filters)
    }

    fn level(
        &mut self,
        depth: usize,
        left: &mut usize,
        filters: &mut Filters,
    ) -> Map<String, Value> {
        let mut aggs = Map::new();
        for nth in 0..self.rng.random_range(1..4) {
            if *left == 0 {
                break;
            }
            *left -= 1;
            let name = format!(
                "{}{nth}",
                ["z", "a", "b.", "c"][self.rng.random_range(0..4)]
            );
            if let Some(agg) = self.one(depth, left, filters) {
                aggs.insert(name, agg);
            }
        }
        aggs
    }

    fn one(&mut self, depth: usize, left: &mut usize, filters: &mut Filters) -> Option<Value> {
        if depth >= MAX_DEPTH || self.rng.random_bool(0.25) {
            return self.metric();
        }
        let inside = match self.rng.random_bool(0.6) {
            true => self.level(depth + 1, left, filters),
            false => Map::new(),
        };
        let (kind, body) = match self.rng.random_range(0..19) {
            0..4 => ("terms", self.terms(depth, &inside)?),
            4 => ("multi_terms", self.multi_terms(depth, &inside)?),
            5 => ("rare_terms", self.rare_terms()?),
            6..8 => ("histogram", self.histogram()?),
            8..11 => ("date_histogram", self.date_histogram(depth)?),
            11 => self.ranges()?,
            12 => self.ranges()?,
            13 => ("filter", self.query(filters)),
            14 => ("filters", self.filters(filters)),
            15 => ("auto_date_histogram", self.auto_date_histogram()?),
            16 => ("adjacency_matrix", self.adjacency_matrix(filters)),
            17 => ("ip_prefix", self.ip_prefix()?),
            _ => ("missing", json!({ "field": self.path(is_column)? })),
        };
        let mut agg = json!({ kind: body });
        if !inside.is_empty() {
            agg["aggs"] = Value::Object(inside);
        }
        Some(agg)
    }

    /// Draws a field that satisfies a predicate; if any field is allowed, sometimes one that no
    /// document has.
    fn path(&mut self, wanted: impl Fn(&Field) -> bool) -> Option<String> {
        if self.table.setup.is_dynamic && self.rng.random_bool(0.03) {
            return Some("nowhere.at_all".to_owned());
        }
        let field = self.field(wanted)?;
        Some(self.table.setup.fields[field].path.to_owned())
    }

    fn flip(&mut self, share: f64) -> bool {
        self.rng.random_bool(share)
    }

    fn asc(&mut self) -> &'static str {
        if self.flip(0.5) { "asc" } else { "desc" }
    }

    fn value_of(&mut self, path: &str) -> Option<Scalar> {
        let field = self
            .table
            .setup
            .fields
            .iter()
            .position(|field| field.path == path)?;
        let doc = self.rng.random_range(0..self.table.docs.len());
        let values = self.table.column(doc, field);
        (!values.is_empty()).then(|| one_of(&mut self.rng, &values).clone())
    }

    /// Draws a value for terms of a field.
    fn term(&mut self, path: &str) -> Option<Value> {
        let value = self.value_of(path)?;
        Some(match &value {
            Scalar::Text(text) if text.len() > 1_000 => return None,
            // An integer in a field of floats, sometimes written as an integer.
            Scalar::Float(float)
                if float.fract() == 0.0 && float.abs() < 1e15 && self.flip(0.5) =>
            {
                json!(*float as i64)
            }
            Scalar::Bool(_) | Scalar::Date(_) => {
                json!(crate::random::aggregations::scan::words(&value))
            }
            value => shown(value).0,
        })
    }

    fn query(&mut self, filters: &mut Filters) -> Value {
        let leaf = Node::Leaf(self.leaf());
        let node = match self.rng.random_range(0..4) {
            0 => Node::Not(Box::new(leaf)),
            1 => Node::Or(vec![leaf, Node::Leaf(self.leaf())]),
            2 => Node::And(vec![leaf, Node::Leaf(self.leaf())]),
            _ => leaf,
        };
        let paths: Vec<&str> = self
            .table
            .setup
            .fields
            .iter()
            .map(|field| field.path)
            .collect();
        let text = node.text(&paths);
        filters.insert(text.clone(), node);
        json!(text)
    }

    fn filters(&mut self, filters: &mut Filters) -> Value {
        let num = self.rng.random_range(1..4);
        let queries: Vec<Value> = (0..num).map(|_| self.query(filters)).collect();
        let mut body = match self.flip(0.5) {
            true => json!({ "filters": queries }),
            false => {
                let named = queries.into_iter().enumerate();
                let named = named.map(|(nth, query)| (format!("q{}", num - nth), query));
                json!({ "filters": named.collect::<Map<String, Value>>() })
            }
        };
        match self.rng.random_range(0..4) {
            0 => body["other_bucket"] = json!(true),
            1 => body["other_bucket_key"] = json!("rest"),
            _ => {}
        }
        body
    }

    fn adjacency_matrix(&mut self, filters: &mut Filters) -> Value {
        let num = self.rng.random_range(2..5);
        let named = (0..num).map(|nth| (format!("q{}", num - nth), self.query(filters)));
        let named: Map<String, Value> = named.collect();
        let mut body = json!({ "filters": named });
        if self.flip(0.3) {
            body["separator"] = json!(one_of(&mut self.rng, &["|", " and ", ""]));
        }
        if self.flip(0.2) {
            body["show_only_intersecting"] = json!(true);
        }
        body
    }

    fn ip_prefix(&mut self) -> Option<Value> {
        let path = self.path(|field| is_column(field) && field.kind == Kind::Ip)?;
        let is_ipv6 = self.flip(0.4);
        let len = match is_ipv6 {
            true => self.rng.random_range(0..129),
            false => self.rng.random_range(0..33),
        };
        let mut body = json!({ "field": path, "prefix_length": len, "is_ipv6": is_ipv6 });
        if self.flip(0.3) {
            body["append_prefix_length"] = json!(true);
        }
        if self.flip(0.3) {
            body["keyed"] = json!(true);
        }
        if self.flip(0.3) {
            body["min_doc_count"] = json!(self.rng.random_range(1..4));
        }
        Some(body)
    }
}
