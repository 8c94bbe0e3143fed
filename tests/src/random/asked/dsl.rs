//! Queries in Elasticsearch's query DSL that must find the same documents as the query string.

use serde_json::{Value, json};

use super::query::{Bound, Leaf, Node, Piece, Sign, regex_piece};
use crate::random::schema::{Kind, Setup};
use crate::random::truth::tokens::Tokenizer;

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
                match self.choice(8) {
                    0 => json!({"constant_score": {"filter": leaf}}),
                    1 => json!({"bool": {"filter": leaf, "should": {"match_all": {}}}}),
                    2 => {
                        json!({"boosting": {"positive": leaf, "negative": {"match_all": {}}, "negative_boost": 0.5}})
                    }
                    // Scores that change, and the same documents.
                    3 => json!({"function_score": {"query": leaf, "functions": [
                        {"filter": {"match_all": {}}, "random_score": {"seed": 7}, "weight": 2}], "boost_mode": "replace"}}),
                    4 => match self.near_a_time() {
                        Some(near) => json!({"bool": {"must": leaf, "should": near}}),
                        None => leaf,
                    },
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

    fn phrase(&mut self, field: usize, text: &str, slop: u32, prefix: bool) -> Value {
        let path = self.setup.fields[field].path;
        if let (0, false, Some(at)) = (slop, prefix, self.at_positions(field, text)) {
            return at;
        }
        let of_type =
            |kind: &str| json!({"multi_match": {"query": text, "fields": [path], "type": kind}});
        match (slop, prefix) {
            (_, true) => match self.choice(2) {
                0 => json!({"match_phrase_prefix": {path: text}}),
                _ => of_type("phrase_prefix"),
            },
            (0, _) => match self.choice(2) {
                0 => json!({"match_phrase": {path: text}}),
                _ => of_type("phrase"),
            },
            (slop, _) => json!({"match_phrase": {path: {"query": text, "slop": slop}}}),
        }
    }

    fn word(&mut self, path: &str, text: &str) -> Value {
        match self.choice(3) {
            0 => {
                json!({"combined_fields": {"query": text, "fields": [path], "operator": "and"}})
            }
            1 if path.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                json!({"kql": {"query": format!("{path}: {text}")}})
            }
            _ => json!({"match": {path: {"query": text, "operator": "and"}}}),
        }
    }

    /// Returns a clause that only scores, by the time of a document.
    fn near_a_time(&self) -> Option<Value> {
        let field = self.setup.timestamp?;
        Some(
            json!({"distance_feature": {"field": field, "origin": "2024-05-01T00:00:00Z", "pivot": "7d"}}),
        )
    }

    fn has_words(&self, field: usize) -> bool {
        let described = &self.setup.fields[field];
        let is_split = matches!(
            described.kind,
            Kind::Text {
                tokenizer: Tokenizer::Default,
                ..
            }
        );
        is_split && described.source.is_none()
    }

    /// Returns a clause on positions that means the same as a phrase.
    fn at_positions(&mut self, field: usize, text: &str) -> Option<Value> {
        let described = &self.setup.fields[field];
        let has_positions = matches!(
            described.kind,
            Kind::Text {
                positions: true,
                ..
            }
        );
        if !has_positions || !described.indexed || described.source.is_some() {
            return None;
        }
        let path = described.path;
        match self.choice(4) {
            0 => {
                let words = json!({"query": text, "mode": "ordered", "max_gaps": 0});
                Some(json!({"intervals": {path: {"match": words}}}))
            }
            1 => {
                let words = json!({"query": text, "mode": "ordered", "max_gaps": 0});
                // A phrase is not behind itself and contains itself.
                let inside = json!({"contained_by": {"match": words}});
                let filtered =
                    json!({"query": text, "mode": "ordered", "max_gaps": 0, "filter": inside});
                let any =
                    json!({"any_of": {"intervals": [{"match": filtered}, {"match": filtered}]}});
                Some(json!({"intervals": {path: any}}))
            }
            2 if self.has_words(field) => {
                let words: Vec<&str> = text.split(' ').collect();
                let spans = words
                    .iter()
                    .map(|word| json!({"span_term": {path: word.to_lowercase()}}));
                let spans: Vec<Value> = spans.collect();
                let is_plain = words.iter().all(|word| is_word(word));
                is_plain.then(|| json!({"span_near": {"clauses": spans, "slop": 0}}))
            }
            _ => None,
        }
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
                return Some(self.phrase(*fields.first()?, text, *slop, *prefix));
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
                json!({"range": {paths[*field]: ends(lower, upper)}})
            }
            Leaf::Set { field, elements } => {
                let is_small = elements.iter().all(|text| text.to_lowercase() == **text);
                if is_date(field) || !is_small {
                    return None;
                }
                match self.choice(3) {
                    0 if elements.len() <= 64 => json!({"terms_set": {paths[*field]: {
                        "terms": elements, "minimum_should_match": 1}}}),
                    _ => json!({"terms": {paths[*field]: elements}}),
                }
            }
            Leaf::Exists { field } => json!({"exists": {"field": paths[*field]}}),
            Leaf::Words {
                fields,
                is_named: true,
                text,
                quoted: false,
                ..
            } if is_word(text) && self.has_words(fields[0]) => self.word(paths[fields[0]], text),
            // Bare words, fields without a name, and dates stay in query-string syntax.
            Leaf::Words { .. } => {
                let text = Node::Leaf(leaf.clone()).text(&paths);
                json!({"query_string": {"query": text, "default_operator": "and"}})
            }
        })
    }
}

fn ends(lower: &Bound, upper: &Bound) -> Value {
    let mut ends = json!({});
    for (bound, included, excluded) in [(lower, "gte", "gt"), (upper, "lte", "lt")] {
        match bound {
            Bound::Open => {}
            Bound::Included(text) => ends[included] = text.as_str().into(),
            Bound::Excluded(text) => ends[excluded] = text.as_str().into(),
        }
    }
    ends
}

/// Returns whether a text is one word for any tokenizer that splits, and no operator.
fn is_word(text: &str) -> bool {
    let is_operator = matches!(
        text.to_ascii_lowercase().as_str(),
        "and" | "or" | "not" | "in" | "true" | "false"
    );
    !is_operator && (1..200).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphabetic())
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
