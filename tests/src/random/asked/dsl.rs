//! Queries in Elasticsearch's query DSL that must find the same documents as the query string.

use serde_json::{Value, json};

use super::query::{Bound, Leaf, Node, Piece, Sign, regex_piece};
use crate::random::schema::{Kind, Setup};

impl Node {
    /// Returns the query as JSON; `variant` selects among equivalent clauses. Returns `None` where
    /// the DSL and the query string have different meanings: for dates, which the DSL rounds, and
    /// for values that the DSL normalizes like the field.
    pub(crate) fn dsl(&self, setup: &Setup, variant: u64) -> Option<Value> {
        let mut writer = Writer { setup, variant };
        writer.node(self)
    }
}

struct Writer<'s> {
    setup: &'s Setup,
    variant: u64,
}

impl Writer<'_> {
    /// Returns a number below `num`, a different one with each call.
    fn choice(&mut self, num: u64) -> u64 {
        let choice = self.variant % num;
        self.variant = self.variant / num + choice + 1;
        choice
    }

    fn nodes<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) -> Option<Vec<Value>> {
        nodes.into_iter().map(|node| self.node(node)).collect()
    }

    fn node(&mut self, node: &Node) -> Option<Value> {
        Some(match node {
            Node::Leaf(leaf) => {
                let leaf = self.leaf(leaf)?;
                match self.choice(5) {
                    0 => json!({"constant_score": {"filter": leaf}}),
                    1 => json!({"bool": {"filter": leaf, "should": {"match_all": {}}}}),
                    2 => {
                        json!({"boosting": {"positive": leaf, "negative": {"match_all": {}}, "negative_boost": 0.5}})
                    }
                    _ => leaf,
                }
            }
            Node::And(nodes) => {
                let nodes = self.nodes(nodes)?;
                match self.choice(4) {
                    0 => json!({"bool": {"filter": nodes}}),
                    1 => json!({"bool": {"should": nodes, "minimum_should_match": "100%"}}),
                    2 => json!({"bool": {"should": nodes, "minimum_should_match": nodes.len()}}),
                    _ => json!({"bool": {"must": nodes}}),
                }
            }
            Node::Or(nodes) => {
                let nodes = self.nodes(nodes)?;
                match self.choice(4) {
                    0 => json!({"dis_max": {"queries": nodes, "tie_breaker": 0.3}}),
                    1 => json!({"bool": {"should": nodes, "minimum_should_match": "1"}}),
                    2 => json!({"bool": {"must": {"bool": {"should": nodes}}, "boost": 3}}),
                    _ => json!({"bool": {"should": nodes}}),
                }
            }
            Node::Side(nodes) => {
                let of = |is_minus: bool| {
                    let nodes = nodes.iter();
                    let nodes = nodes.filter(move |(sign, _)| (*sign == Sign::Minus) == is_minus);
                    nodes.map(|(_, node)| node)
                };
                let (must, must_not) = (self.nodes(of(false))?, self.nodes(of(true))?);
                json!({"bool": {"must": must, "must_not": must_not}})
            }
            Node::Not(node) => json!({"bool": {"must_not": self.node(node)?}}),
            Node::Group { field, values, all } => {
                if matches!(self.setup.fields[*field].kind, Kind::Date { .. }) {
                    return None;
                }
                let path = self.setup.fields[*field].path;
                let values = values
                    .iter()
                    .map(|value| json!({"match_phrase": {path: value}}));
                let values: Vec<Value> = values.collect();
                match all {
                    true => json!({"bool": {"must": values}}),
                    false => json!({"bool": {"should": values}}),
                }
            }
            Node::Boost(node) => json!({"bool": {"must": self.node(node)?, "boost": 2.5}}),
        })
    }

    fn leaf(&mut self, leaf: &Leaf) -> Option<Value> {
        let paths: Vec<&str> = self.setup.fields.iter().map(|field| field.path).collect();
        let is_date = |field: &usize| {
            let described = &self.setup.fields[*field];
            matches!(described.kind, Kind::Date { .. })
                || self.setup.timestamp == Some(described.path)
        };
        Some(match leaf {
            Leaf::All => json!({"match_all": {}}),
            Leaf::Words {
                fields,
                is_named: true,
                text,
                quoted: true,
                slop,
                prefix,
            } if !fields.iter().any(is_date) => {
                let path = paths[*fields.first()?];
                match (slop, prefix) {
                    (_, true) => match self.choice(2) {
                        0 => json!({"match_phrase_prefix": {path: text}}),
                        _ => {
                            json!({"multi_match": {"query": text, "fields": [path], "type": "phrase_prefix"}})
                        }
                    },
                    (0, _) => match self.choice(2) {
                        0 => json!({"match_phrase": {path: text}}),
                        _ => {
                            json!({"multi_match": {"query": text, "fields": [path], "type": "phrase"}})
                        }
                    },
                    (slop, _) => json!({"match_phrase": {path: {"query": text, "slop": slop}}}),
                }
            }
            Leaf::Pattern {
                field,
                pieces,
                is_regex: true,
            } => {
                let pattern: String = pieces.iter().map(regex_piece).collect();
                json!({"regexp": {paths[*field]: {"value": pattern}}})
            }
            Leaf::Pattern {
                field,
                pieces,
                is_regex: false,
            } => json!({"wildcard": {paths[*field]: {"value": wildcard(pieces)}}}),
            Leaf::Range {
                field,
                lower,
                upper,
            } => {
                let is_rounded =
                    matches!(lower, Bound::Excluded(_)) || matches!(upper, Bound::Included(_));
                if is_date(field) && is_rounded {
                    return None;
                }
                let mut ends = json!({});
                for (bound, included, excluded) in [(lower, "gte", "gt"), (upper, "lte", "lt")] {
                    match bound {
                        Bound::Open => {}
                        Bound::Included(text) => ends[included] = text.as_str().into(),
                        Bound::Excluded(text) => ends[excluded] = text.as_str().into(),
                    }
                }
                json!({"range": {paths[*field]: ends}})
            }
            Leaf::Set { field, elements } => {
                let is_small = elements.iter().all(|text| text.to_lowercase() == **text);
                if is_date(field) || !is_small {
                    return None;
                }
                json!({"terms": {paths[*field]: elements}})
            }
            Leaf::Exists { field } => json!({"exists": {"field": paths[*field]}}),
            // Bare words, fields without a name, and dates stay in query-string syntax.
            Leaf::Words { .. } => {
                let text = Node::Leaf(leaf.clone()).text(&paths);
                json!({"query_string": {"query": text, "default_operator": "and"}})
            }
        })
    }
}

/// Returns a pattern in Lucene's syntax, in which a backslash escapes the next character.
fn wildcard(pieces: &[Piece]) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Char(c) => {
                if matches!(c, '*' | '?' | '\\') {
                    out.push('\\');
                }
                out.push(*c);
            }
            Piece::Any | Piece::Class(_) => out.push('?'),
            Piece::Rest => out.push('*'),
        }
    }
    out
}
