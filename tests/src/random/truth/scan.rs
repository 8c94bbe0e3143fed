//! Evaluation of queries by examining documents.

use std::cmp::Ordering;

use super::table::{Scalar, Table, hex, ip, number};
use super::tokens::{Tokenizer, in_column, lower};
use crate::random::asked::query::{Bound, Leaf, Node, Piece, Sign};
use crate::random::dates;
use crate::random::schema::{Kind, Normalizer};

/// Precision of dates in the inverted index: one second.
const INDEXED_PRECISION: i64 = dates::SECOND;

impl Table {
    pub(crate) fn matches(&self, doc: usize, node: &Node) -> bool {
        match node {
            Node::Leaf(leaf) => self.leaf(doc, leaf),
            Node::And(nodes) => nodes.iter().all(|node| self.matches(doc, node)),
            Node::Or(nodes) => nodes.iter().any(|node| self.matches(doc, node)),
            Node::Side(nodes) => nodes
                .iter()
                .all(|(sign, node)| self.matches(doc, node) != (*sign == Sign::Minus)),
            Node::Not(node) => !self.matches(doc, node),
            Node::Group { field, values, all } => {
                let mut found = values
                    .iter()
                    .map(|value| self.words(doc, *field, value, true, 0, false));
                match all {
                    true => found.all(|found| found),
                    false => found.any(|found| found),
                }
            }
            Node::Boost(node) => self.matches(doc, node),
        }
    }

    fn leaf(&self, doc: usize, leaf: &Leaf) -> bool {
        match leaf {
            Leaf::All => true,
            Leaf::Words {
                fields,
                text,
                quoted,
                slop,
                prefix,
                ..
            } => fields
                .iter()
                .any(|field| self.words(doc, *field, text, *quoted, *slop, *prefix)),
            Leaf::Pattern {
                field,
                pieces,
                is_regex,
            } => self.pattern(doc, *field, pieces, *is_regex),
            Leaf::Range {
                field,
                lower,
                upper,
            } => self.range(doc, *field, lower, upper),
            Leaf::Set { field, elements } => elements
                .iter()
                .any(|element| self.element(doc, *field, element)),
            Leaf::Exists { field } => self.cell(doc, *field).exists,
        }
    }

    fn words(
        &self,
        doc: usize,
        field: usize,
        text: &str,
        quoted: bool,
        slop: u32,
        prefix: bool,
    ) -> bool {
        let kind = self.setup.fields[field].kind;
        match kind {
            Kind::Text { .. } if !self.setup.fields[field].indexed => self
                .column(doc, field)
                .contains(&Scalar::Text(text.to_owned())),
            Kind::Text {
                tokenizer,
                positions,
            } => self.phrase(
                doc,
                field,
                &tokenizer.cut(text),
                positions || quoted,
                slop,
                prefix,
            ),
            Kind::Json {
                tokenizer,
                positions,
            } => {
                self.equals(doc, field, text)
                    || self.phrase(
                        doc,
                        field,
                        &tokenizer.cut(text),
                        positions || quoted,
                        slop,
                        prefix,
                    )
            }
            _ => self.equals(doc, field, text),
        }
    }

    /// Returns whether the words occur one after another, or at any places if their order does not
    /// matter.
    fn phrase(
        &self,
        doc: usize,
        field: usize,
        words: &[(u32, String)],
        in_order: bool,
        slop: u32,
        prefix: bool,
    ) -> bool {
        let tokens = &self.cell(doc, field).tokens;
        let Some(((first_position, first), rest)) = words.split_first() else {
            return false;
        };
        let is_at = |word: &str, position: u32, is_prefix: bool| {
            tokens.iter().any(|(at, token)| {
                *at == position && (token == word || (is_prefix && token.starts_with(word)))
            })
        };
        if !in_order {
            return words
                .iter()
                .all(|(_, word)| tokens.iter().any(|(_, token)| token == word));
        }
        if slop > 0 {
            // For every choice of a place for each word: the smallest and the largest position at
            // which the phrase would begin.
            let mut ranges = vec![(i64::MAX, i64::MIN)];
            for (place, word) in words {
                let starts = tokens.iter().filter(|(_, token)| token == word);
                let starts = starts.map(|(at, _)| i64::from(*at) - i64::from(*place));
                let starts: Vec<i64> = starts.collect();
                let with = |(least, most): &(i64, i64)| {
                    let (least, most) = (*least, *most);
                    let with = |start: &i64| (least.min(*start), most.max(*start));
                    starts.iter().map(with).collect::<Vec<_>>()
                };
                ranges = ranges.iter().flat_map(with).collect();
            }
            return ranges
                .iter()
                .any(|(least, most)| most - least <= i64::from(slop));
        }
        tokens.iter().any(|(start, token)| {
            let is_prefix = prefix && rest.is_empty();
            let starts = token == first || (is_prefix && token.starts_with(first.as_str()));
            starts
                && rest.iter().enumerate().all(|(nth, (position, word))| {
                    let at = start + position - first_position;
                    is_at(word, at, prefix && nth + 1 == rest.len())
                })
        })
    }

    /// Compares values that are not text, by value.
    fn equals(&self, doc: usize, field: usize, text: &str) -> bool {
        let kind = self.setup.fields[field].kind;
        let values = &self.cell(doc, field).values;
        literals(kind, text)
            .iter()
            .any(|literal| values.iter().any(|value| same(value, literal)))
    }

    fn element(&self, doc: usize, field: usize, element: &str) -> bool {
        let described = &self.setup.fields[field];
        if described.fast.is_some()
            && !described.indexed
            && matches!(described.kind, Kind::Text { .. })
        {
            // Reads the column, whose values have been normalized.
            let wanted = text_bound(described.fast, described.kind, element);
            return self
                .column(doc, field)
                .iter()
                .any(|value| same(value, &wanted));
        }
        let tokens = &self.cell(doc, field).tokens;
        self.equals(doc, field, element) || tokens.iter().any(|(_, token)| token == element)
    }

    fn pattern(&self, doc: usize, field: usize, pieces: &[Piece], is_regex: bool) -> bool {
        let (Kind::Text { tokenizer, .. } | Kind::Json { tokenizer, .. }) =
            self.setup.fields[field].kind
        else {
            return false;
        };
        let pieces: Vec<Piece> = match is_regex {
            true => pieces.to_vec(),
            false => pieces
                .iter()
                .flat_map(|piece| folded(piece, tokenizer))
                .collect(),
        };
        let fits = |text: &str| {
            let chars: Vec<char> = text.chars().collect();
            fits(&pieces, &chars)
        };
        if self.is_view(field) {
            // A column has longer values than a dictionary.
            let values = self.column(doc, field);
            return values.iter().any(|value| match value {
                Scalar::Text(text) => fits(text),
                _ => false,
            });
        }
        let tokens = &self.cell(doc, field).tokens;
        tokens.iter().any(|(_, token)| fits(token))
    }

    /// Returns whether a field is the whole values of another that is indexed by words.
    fn is_view(&self, field: usize) -> bool {
        let source = self.setup.fields[field].source;
        let mut fields = self.setup.fields.iter();
        let base = fields.find(|other| Some(other.path) == source);
        let tokenizer = base.and_then(|base| match base.kind {
            Kind::Text { tokenizer, .. } | Kind::Json { tokenizer, .. } => Some(tokenizer),
            _ => None,
        });
        matches!(tokenizer, Some(Tokenizer::Default | Tokenizer::Whitespace))
    }

    fn range(&self, doc: usize, field: usize, lower: &Bound, upper: &Bound) -> bool {
        if (lower, upper) == (&Bound::Open, &Bound::Open) {
            return self.cell(doc, field).exists;
        }
        let mut values = match self.range_values(doc, field) {
            Some(values) => values.into_iter(),
            None => return false,
        };
        let bound = |text: &str| self.bound(field, text);
        values.any(|value| {
            let above = match lower {
                Bound::Open => Some(true),
                Bound::Included(text) => {
                    bound(text).and_then(|b| Some(value.compare(&b)? != Ordering::Less))
                }
                Bound::Excluded(text) => {
                    bound(text).and_then(|b| Some(value.compare(&b)? == Ordering::Greater))
                }
            };
            let below = match upper {
                Bound::Open => Some(true),
                Bound::Included(text) => {
                    bound(text).and_then(|b| Some(value.compare(&b)? != Ordering::Greater))
                }
                Bound::Excluded(text) => {
                    bound(text).and_then(|b| Some(value.compare(&b)? == Ordering::Less))
                }
            };
            above == Some(true) && below == Some(true)
        })
    }

    /// Returns the values that a range query compares: those of the fast field if there is one,
    /// else the terms.
    fn range_values(&self, doc: usize, field: usize) -> Option<Vec<Scalar>> {
        let described = &self.setup.fields[field];
        if described.fast.is_some() {
            return Some(self.column(doc, field));
        }
        let cell = self.cell(doc, field);
        let texts = cell
            .tokens
            .iter()
            .map(|(_, token)| Scalar::Text(token.clone()));
        let others = cell
            .values
            .iter()
            .filter(|value| !matches!(value, Scalar::Text(_)));
        let others = others.map(|value| match value {
            Scalar::Date(nanos) => Scalar::Date(dates::cut(*nanos, INDEXED_PRECISION)),
            value => value.clone(),
        });
        Some(texts.chain(others).collect())
    }

    fn bound(&self, field: usize, text: &str) -> Option<Scalar> {
        let described = &self.setup.fields[field];
        let precision = match (described.kind, described.fast) {
            (Kind::Date { precision }, Some(_)) => precision,
            (Kind::Json { .. }, Some(_)) => 1,
            _ => INDEXED_PRECISION,
        };
        Some(match described.kind {
            Kind::Text { .. } => text_bound(described.fast, described.kind, text),
            kind => match literals(kind, text).into_iter().next() {
                Some(Scalar::Date(nanos)) => Scalar::Date(dates::cut(nanos, precision)),
                Some(literal) => literal,
                None => text_bound(described.fast, kind, text),
            },
        })
    }
}

fn text_bound(fast: Option<Normalizer>, kind: Kind, text: &str) -> Scalar {
    Scalar::Text(match (fast, kind) {
        (Some(Normalizer::Lowercase), _) => in_column(&lower(text)),
        (Some(Normalizer::Raw), _) => in_column(text),
        (None, Kind::Text { tokenizer, .. } | Kind::Json { tokenizer, .. }) => tokenizer.fold(text),
        (None, _) => text.to_owned(),
    })
}

/// Parses a text according to the kind of the field.
fn literals(kind: Kind, text: &str) -> Vec<Scalar> {
    let boolean = || text.parse().ok().map(Scalar::Bool);
    let date = || dates::read(text).map(Scalar::Date);
    let read = match kind {
        Kind::Text { .. } | Kind::Object => None,
        Kind::I64 | Kind::U64 => number(text),
        // Numbers are parsed like the field's values.
        Kind::F64 => number(text).and_then(|number| number.as_f64().map(Scalar::Float)),
        Kind::Bool => boolean(),
        Kind::Date { .. } => date(),
        Kind::Ip => ip(text).map(Scalar::Ip),
        Kind::Bytes => hex(text).map(Scalar::Bytes),
        Kind::Json { .. } => date().or_else(|| number(text)).or_else(boolean),
    };
    read.into_iter().collect()
}

/// Dates within the same second are equal, because the index keeps seconds.
fn same(value: &Scalar, literal: &Scalar) -> bool {
    match (value, literal) {
        (Scalar::Date(left), Scalar::Date(right)) => {
            dates::cut(*left, INDEXED_PRECISION) == dates::cut(*right, INDEXED_PRECISION)
        }
        _ => value.compare(literal) == Some(Ordering::Equal),
    }
}

fn folded(piece: &Piece, tokenizer: Tokenizer) -> Vec<Piece> {
    match piece {
        Piece::Char(c) => tokenizer
            .fold(&c.to_string())
            .chars()
            .map(Piece::Char)
            .collect(),
        Piece::Class(_) => vec![Piece::Any],
        other => vec![other.clone()],
    }
}

/// Returns whether the characters match the pattern. Line breaks count as characters.
fn fits(pieces: &[Piece], chars: &[char]) -> bool {
    // reached[i]: the pieces so far can end before character i.
    let mut reached = vec![false; chars.len() + 1];
    reached[0] = true;
    for piece in pieces {
        let mut next = vec![false; chars.len() + 1];
        let takes = |c: char| match piece {
            Piece::Char(wanted) => c == *wanted,
            Piece::Any | Piece::Rest => true,
            Piece::Class(wanted) => wanted.contains(&c),
        };
        for at in 0..=chars.len() {
            if !(reached[at] || *piece == Piece::Rest && next[at]) {
                continue;
            }
            if *piece == Piece::Rest {
                next[at] = true;
            }
            if at < chars.len() && takes(chars[at]) {
                next[at + 1] = true;
            }
        }
        reached = next;
    }
    reached[chars.len()]
}
