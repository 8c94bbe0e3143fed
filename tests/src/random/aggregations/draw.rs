//! Aggregations that fit the documents.

use rand::{Rng, RngExt};
use serde_json::{Map, Value, json};

use super::expect::scalar;
use super::scan::{Filters, shown};
use super::terms::PATTERNS;
use super::zones::FORMATS;
use crate::random::dates;
use crate::random::documents::one_of;
use crate::random::generate::Generator;
use crate::random::query::Node;
use crate::random::request::literal;
use crate::random::schema::{Diet, Field, Kind};
use crate::random::table::Scalar;

/// Aggregations of one request at most.
const MAX_AGGS: usize = 14;
const MAX_DEPTH: usize = 4;

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
    /// Some aggregations, and the queries that stand in them.
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
        let (kind, body) = match self.rng.random_range(0..16) {
            0..4 => ("terms", self.terms(depth, &inside)?),
            4 => ("multi_terms", self.multi_terms(depth, &inside)?),
            5 => ("rare_terms", self.rare_terms()?),
            6..8 => ("histogram", self.histogram()?),
            8..11 => ("date_histogram", self.date_histogram(depth)?),
            11 => self.ranges()?,
            12 => self.ranges()?,
            13 => ("filter", self.query(filters)),
            14 => ("filters", self.filters(filters)),
            _ => ("missing", json!({ "field": self.path(is_column)? })),
        };
        let mut agg = json!({ kind: body });
        if !inside.is_empty() {
            agg["aggs"] = Value::Object(inside);
        }
        Some(agg)
    }

    /// A field for which it holds; where any field may be named, at times one that no document has.
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

    /// A value that terms of a field may be given.
    fn term(&mut self, path: &str) -> Option<Value> {
        let value = self.value_of(path)?;
        Some(match &value {
            Scalar::Text(text) if text.len() > 1_000 => return None,
            // A whole number of a field of floats, at times written as such.
            Scalar::Float(float)
                if float.fract() == 0.0 && float.abs() < 1e15 && self.flip(0.5) =>
            {
                json!(*float as i64)
            }
            Scalar::Bool(_) | Scalar::Date(_) => json!(super::scan::words(&value)),
            value => shown(value).0,
        })
    }

    fn terms(&mut self, depth: usize, inside: &Map<String, Value>) -> Option<Value> {
        let path = self.path(is_column)?;
        let mut body = json!({ "field": path });
        self.choices(&mut body, &path);
        self.missing_term(&mut body, &path);
        self.sizes(&mut body, depth, inside);
        Some(body)
    }

    fn sizes(&mut self, body: &mut Value, depth: usize, inside: &Map<String, Value>) {
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

    fn order(&mut self, inside: &Map<String, Value>) -> Value {
        let mut paths = vec!["_count".to_owned(), "_key".to_owned()];
        add_metric_paths(inside, "", &mut paths);
        // Rather by a metric than not.
        let from = if paths.len() > 2 && self.flip(0.7) {
            2
        } else {
            0
        };
        let path = one_of(&mut self.rng, &paths[from..]).clone();
        json!({ path: self.asc() })
    }

    fn choices(&mut self, body: &mut Value, path: &str) {
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

    fn missing_term(&mut self, body: &mut Value, path: &str) {
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

    fn multi_terms(&mut self, depth: usize, inside: &Map<String, Value>) -> Option<Value> {
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

    fn rare_terms(&mut self) -> Option<Value> {
        let path = self.path(is_column)?;
        let mut body = json!({ "field": path });
        self.choices(&mut body, &path);
        self.missing_term(&mut body, &path);
        if self.flip(0.7) {
            body["max_doc_count"] = json!(self.rng.random_range(1..6));
        }
        Some(body)
    }

    fn histogram(&mut self) -> Option<Value> {
        let path = self.path(|field| is_number(field) && field.is_small)?;
        let interval = *one_of(&mut self.rng, &[0.5, 1.0, 2.5, 10.0, 0.1, 3.0]);
        let mut body = json!({ "field": path, "interval": interval });
        if self.flip(0.3) {
            body["offset"] = json!(interval * *one_of(&mut self.rng, &[0.25, -0.5, 3.0, 0.7]));
        }
        if self.flip(0.2) {
            body["missing"] = one_of(
                &mut self.rng,
                &[json!(0), json!(-7), json!(2.5), json!(100)],
            )
            .clone();
        }
        let middle = f64::from(self.rng.random_range(-12..12)) / 2.0;
        if self.flip(0.2) {
            body["hard_bounds"] = json!({ "min": middle - 6.0, "max": middle + 6.0 });
        }
        if self.flip(0.2) {
            body["extended_bounds"] = json!({ "min": middle - 5.5, "max": middle + 5.0 });
        } else if self.flip(0.6) {
            body["min_doc_count"] = json!(self.rng.random_range(0..4));
        }
        self.row(&mut body);
        Some(body)
    }

    fn row(&mut self, body: &mut Value) {
        if self.flip(0.2) {
            body["keyed"] = json!(self.flip(0.8));
        }
        if self.flip(0.3) {
            let by = *one_of(&mut self.rng, &["_key", "_count"]);
            body["order"] = json!({ by: self.asc() });
        }
    }

    fn date(&mut self, path: &str) -> Value {
        let nanos = match self.value_of(path) {
            Some(Scalar::Date(nanos)) => nanos,
            _ => crate::random::documents::date(&mut self.rng),
        };
        let nanos = nanos.div_euclid(dates::MILLISECOND) * dates::MILLISECOND;
        match self.flip(0.5) {
            true => json!(dates::write(nanos)),
            false => json!(nanos / dates::MILLISECOND),
        }
    }

    fn zone(&mut self, body: &mut Value) {
        if self.flip(0.5) {
            let zones = [
                "Europe/Berlin",
                "America/New_York",
                "Australia/Lord_Howe",
                "Asia/Kathmandu",
                "+05:30",
                "-02:00",
                "America/Sao_Paulo",
                "Africa/Cairo",
            ];
            body["time_zone"] = json!(one_of(&mut self.rng, &zones));
        }
    }

    /// Interval, zone, offset and format; whether there may be very many buckets.
    fn interval(&mut self, body: &mut Value) -> bool {
        let (name, text, is_short) = *one_of(
            &mut self.rng,
            &[
                ("fixed_interval", "1ms", true),
                ("fixed_interval", "250ms", true),
                ("fixed_interval", "7s", true),
                ("fixed_interval", "30m", true),
                ("fixed_interval", "5h", true),
                ("fixed_interval", "1d", true),
                ("fixed_interval", "45d", false),
                ("fixed_interval", "3650d", false),
                ("calendar_interval", "1s", true),
                ("calendar_interval", "minute", true),
                ("calendar_interval", "1h", true),
                ("calendar_interval", "day", true),
                ("calendar_interval", "1w", true),
                ("calendar_interval", "month", false),
                ("calendar_interval", "1q", false),
                ("calendar_interval", "year", false),
                ("calendar_interval", "1y", false),
            ],
        );
        body[name] = json!(text);
        self.zone(body);
        if self.flip(0.3) {
            body["offset"] = json!(one_of(&mut self.rng, &["6h", "-1d", "30m", "-90s", "1ms"]));
        }
        is_short
    }

    fn date_histogram(&mut self, depth: usize) -> Option<Value> {
        let path = self.path(is_date)?;
        let mut body = json!({ "field": path });
        let is_short = self.interval(&mut body);
        if self.flip(0.3) {
            body["format"] = json!(one_of(&mut self.rng, &FORMATS));
        }
        let can_read = !body["format"].is_string();
        if self.flip(0.2) && can_read {
            body["missing"] = self.date(&path);
        }
        if self.flip(0.2) && can_read {
            let mut ends = [self.date(&path), self.date(&path)];
            ends.sort_by_key(nanos_of);
            let [min, max] = ends;
            body["hard_bounds"] = json!({ "min": min, "max": max });
        }
        if !is_short && depth == 1 && self.flip(0.3) && can_read && body["hard_bounds"].is_null() {
            let mut ends = [self.date(&path), self.date(&path)];
            ends.sort_by_key(nanos_of);
            let [min, max] = ends;
            body["extended_bounds"] = json!({ "min": min, "max": max });
        } else if is_short || depth > 1 || self.flip(0.5) {
            body["min_doc_count"] = json!(self.rng.random_range(1..4));
        }
        self.row(&mut body);
        // Names that are not distinct are none.
        if body["format"].is_string() {
            body["keyed"] = json!(false);
        }
        Some(body)
    }

    fn ranges(&mut self) -> Option<(&'static str, Value)> {
        let kind = *one_of(&mut self.rng, &["range", "date_range", "ip_range", "range"]);
        let path = match kind {
            "range" => self.path(is_number),
            "date_range" => self.path(is_date),
            _ => self.path(|field| is_column(field) && field.kind == Kind::Ip),
        }?;
        let mut body = json!({ "field": path });
        let mut ranges = Vec::new();
        for nth in 0..self.rng.random_range(1..5) {
            let mut ends = [self.end(kind, &path), self.end(kind, &path)];
            ends.sort_by_key(|end| order_of(kind, end));
            let [from, to] = ends;
            let mut range = json!({ "key": format!("r{nth}") });
            let is_empty = order_of(kind, &from) == order_of(kind, &to);
            match self.rng.random_range(0..4) {
                0 => range["from"] = from,
                1 => range["to"] = to,
                _ if is_empty => range["from"] = from,
                _ => (range["from"], range["to"]) = (from, to),
            }
            if kind == "ip_range" && self.flip(0.3) {
                range = json!({ "mask": one_of(&mut self.rng, &["10.0.0.0/24", "10.0.1.4/30", "2001:db8::/32"]) });
                if nth > 0 {
                    range["key"] = json!(format!("r{nth}"));
                }
            } else if self.flip(0.4)
                && ranges.is_empty()
                && let Some(range) = range.as_object_mut()
            {
                range.remove("key");
            }
            ranges.push(range);
        }
        body["ranges"] = json!(ranges);
        if self.flip(0.3) {
            body["keyed"] = json!(true);
        }
        if self.flip(0.2) {
            body["missing"] = self.end(kind, &path);
        }
        if kind == "date_range" {
            self.zone(&mut body);
        }
        Some((kind, body))
    }

    fn end(&mut self, kind: &str, path: &str) -> Value {
        match kind {
            "range" => match self.value_of(path).and_then(|value| value.as_f64()) {
                Some(number) if self.flip(0.5) => json!(number),
                _ => json!(f64::from(self.rng.random_range(-20..20)) / 2.0),
            },
            "date_range" => self.date(path),
            _ => {
                let value = self.value_of(path);
                let fallback = crate::random::documents::ip(&mut self.rng);
                value.map_or(json!(fallback), |value| json!(literal(&value)))
            }
        }
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

    fn composite(&mut self, left: &mut usize, filters: &mut Filters) -> Option<Value> {
        let mut sources = Vec::new();
        for nth in 0..self.rng.random_range(1..4) {
            let mut source = Value::Null;
            let kind = match self.rng.random_range(0..4) {
                0..2 => {
                    // A date in an `after_key` is not told from a number yet.
                    let is_taken = |field: &Field| {
                        is_column(field) && !is_date(field) && field.diet != Diet::Mixed
                    };
                    source["field"] = json!(self.path(is_taken)?);
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

    fn metric(&mut self) -> Option<Value> {
        if self.flip(0.1) {
            return self.top_hits();
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

    fn top_hits(&mut self) -> Option<Value> {
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

fn nanos_of(date: &Value) -> i64 {
    match date.as_str() {
        Some(text) => dates::read(text).unwrap(),
        None => date.as_i64().unwrap() * dates::MILLISECOND,
    }
}

/// Bounds in order; addresses as such, numbers by their bits.
fn order_of(kind: &str, end: &Value) -> (i128, u128) {
    match kind {
        "date_range" => (nanos_of(end).into(), 0),
        "range" => {
            let bits = scalar(end).and_then(|end| end.as_f64()).unwrap_or_default() + 0.0;
            let bits = i128::from(bits.to_bits().cast_signed());
            (
                if bits < 0 {
                    -(bits & i128::from(i64::MAX))
                } else {
                    bits
                },
                0,
            )
        }
        _ => (0, crate::random::table::ip(end.as_str().unwrap()).unwrap()),
    }
}

/// The paths to numbers that terms can be ordered by.
fn add_metric_paths(inside: &Map<String, Value>, before: &str, paths: &mut Vec<String>) {
    for (name, agg) in inside {
        let (kind, _) = super::scan::kind_of(agg);
        // A name with a point is one that a path cannot go on from.
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
