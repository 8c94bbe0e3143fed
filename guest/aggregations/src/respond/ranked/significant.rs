//! Terms that are more frequent than elsewhere, with the scores that Elasticsearch computes.
//!
//! How often the terms are elsewhere is asked in a second search, once it is known which terms there are:
//!
//! ```text
//!   partial result ──backgrounds──▶ what to count ──a search──▶ Backgrounds ──▶ answer
//! ```

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::Writer;
use super::super::buckets::Row;
use super::super::keys::{choice_text, float};
use super::super::outcome::{BucketList, Outcome};
use super::super::terms::shown_key;
use crate::Result;
use crate::key::Key;
use crate::partial::{Buckets, Node, Partial};
use crate::request::{Aggregation, Aggregations, Comparison, Heuristic, Kind, Significant};

/// Maximum number of terms that are counted in one aggregation, and of these aggregations.
const TERMS_AT_ONCE: usize = 1_000;
const MAX_PARTS: usize = 8;

/// Terms to count in the documents that are compared with.
pub struct BackgroundAsk {
    path: String,
    keys: Vec<Key>,
    /// Query of the documents; `None` for all.
    pub query: Option<Value>,
    /// Aggregations that count the terms.
    pub aggs: Value,
}

/// Frequencies of terms in the documents that are compared with.
#[derive(Debug, Default)]
pub struct Backgrounds {
    /// Number of documents that match the query.
    pub(in crate::respond) num_docs: u64,
    /// By the location of the aggregation.
    found: BTreeMap<String, Background>,
}

#[derive(Debug, Default)]
struct Background {
    num_docs: u64,
    counts: BTreeMap<Key, u64>,
}

impl Backgrounds {
    /// Begins without counts for a search with this number of hits.
    pub fn new(num_docs: u64) -> Self {
        Self {
            num_docs,
            found: BTreeMap::new(),
        }
    }

    /// Adds what a search found: the number of its documents, and its aggregations.
    pub fn add(&mut self, ask: BackgroundAsk, num_docs: u64, partial: Option<&Partial>) {
        let mut counts = BTreeMap::new();
        let parts = ask.keys.chunks(TERMS_AT_ONCE);
        let nodes = partial.map_or(&[][..], |partial| &partial.nodes);
        for (node, keys) in nodes.iter().zip(parts) {
            let Node::Buckets(buckets) = node else {
                continue;
            };
            for bucket in buckets.of(0) {
                let key = match buckets.key(bucket) {
                    // A filter of its own for each word.
                    Some(Key::Place(place)) => keys.get(*place as usize),
                    key => key,
                };
                counts.extend(key.map(|key| (key.clone(), buckets.count(bucket))));
            }
        }
        let found = Background { num_docs, counts };
        self.found.insert(ask.path, found);
    }
}

impl Aggregations {
    /// Returns whether terms are compared with other documents.
    pub fn compares(&self) -> bool {
        let mut left: Vec<&Aggregation> = self.list.iter().collect();
        while let Some(aggregation) = left.pop() {
            if matches!(aggregation.kind, Kind::Significant(_)) {
                return true;
            }
            left.extend(&aggregation.inside);
        }
        false
    }

    /// Returns the terms to count in other documents. `is_word` says whether a field has words instead of a column.
    pub fn backgrounds(
        &self,
        partial: Option<&Partial>,
        is_word: &dyn Fn(&str) -> bool,
    ) -> Vec<BackgroundAsk> {
        let mut asks = Vec::new();
        let nodes = partial.map_or(&[][..], |partial| &partial.nodes);
        add_level(&self.list, nodes, is_word, &mut asks);
        asks
    }
}

fn add_level(
    list: &[Aggregation],
    nodes: &[Node],
    is_word: &dyn Fn(&str) -> bool,
    asks: &mut Vec<BackgroundAsk>,
) {
    for (aggregation, node) in list.iter().zip(nodes) {
        let Node::Buckets(buckets) = node else {
            continue;
        };
        if let Kind::Significant(terms) = &aggregation.kind {
            asks.push(ask_of(
                aggregation,
                terms,
                buckets,
                is_word(&terms.source.field),
            ));
        }
        add_level(&aggregation.inside, &buckets.inside, is_word, asks);
    }
}

fn ask_of(
    aggregation: &Aggregation,
    terms: &Significant,
    buckets: &Buckets,
    is_word: bool,
) -> BackgroundAsk {
    let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
    for (id, count) in buckets.ids.iter().zip(&buckets.counts) {
        if *count >= terms.min_doc_count {
            let sum = sums.entry(*id).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    let mut ids: Vec<(u32, u64)> = sums.into_iter().collect();
    // The most frequent, if there are very many.
    canter_sorting::sort_by_key(&mut ids, |(id, sum)| (std::cmp::Reverse(*sum), *id));
    ids.truncate(TERMS_AT_ONCE * MAX_PARTS);
    let keys = ids
        .iter()
        .filter_map(|(id, _)| buckets.keys.get(*id as usize));
    let keys: Vec<Key> = keys.cloned().collect();
    let field = &terms.source.field;
    let parts = keys.chunks(TERMS_AT_ONCE).enumerate().map(|(nth, keys)| {
        let agg = match is_word {
            true => {
                let filters = keys
                    .iter()
                    .map(|key| json!({"term": {field: choice_text(key)}}));
                json!({"filters": {"filters": filters.collect::<Vec<_>>()}})
            }
            false => {
                let values = keys.iter().map(|key| match key {
                    Key::Number(number) => crate::respond::keys::number(*number),
                    key => Value::from(choice_text(key)),
                });
                let values: Vec<Value> = values.collect();
                json!({"terms": {"field": field, "size": values.len(), "include": values}})
            }
        };
        (format!("part{nth}"), agg)
    });
    BackgroundAsk {
        path: aggregation.path.clone(),
        query: terms.background.clone(),
        aggs: Value::Object(parts.collect::<Map<String, Value>>()),
        keys,
    }
}

impl Writer<'_> {
    pub(in crate::respond) fn significant<'r>(
        &self,
        request: &Significant,
        row: &Row<'r, '_>,
    ) -> Result<Outcome<'r>> {
        let none = Background::default();
        let background = self
            .backgrounds
            .found
            .get(&row.aggregation.path)
            .unwrap_or(&none);
        let num_docs = self.around.get().doc_count;
        let scored = row.places().filter_map(|place| {
            let count = row.count(place);
            let known = background.counts.get(row.key(place)?)?;
            let counts = Counts {
                count,
                num_docs,
                background: *known,
                num_background: background.num_docs,
            };
            let score = counts.score(request.heuristic);
            (count >= request.min_doc_count && score > 0.0).then_some((place, score, *known))
        });
        let mut scored: Vec<(usize, f64, u64)> = scored.collect();
        canter_sorting::sort_by(&mut scored, |left, right| {
            right.1.total_cmp(&left.1).then(left.0.cmp(&right.0))
        });
        scored.truncate(request.size);
        self.add_buckets(row.aggregation, scored.len())?;
        let mut buckets = Vec::with_capacity(scored.len());
        for (place, score, known) in scored {
            let shown = |key: &Key| shown_key(key, self.dialect.dates());
            let mut fields = row.key(place).map(shown).unwrap_or_default();
            fields.push(("score", float(score)));
            fields.push(("bg_count", Value::from(known)));
            buckets.push(self.bucket(row, Some(place), None, fields)?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: false,
            before: vec![
                ("doc_count", Value::from(num_docs)),
                ("bg_count", Value::from(background.num_docs)),
            ],
        }))
    }
}

/// Numbers of documents from which a score is computed.
struct Counts {
    /// Documents with the term, among those looked at, and how many these are.
    count: u64,
    num_docs: u64,
    /// The same of the documents that are compared with.
    background: u64,
    num_background: u64,
}

impl Counts {
    #[expect(clippy::cast_precision_loss, reason = "scores have no more digits")]
    fn score(&self, heuristic: Heuristic) -> f64 {
        let (count, num_docs) = (self.count as f64, self.num_docs as f64);
        let (background, num_background) = (self.background as f64, self.num_background as f64);
        match heuristic {
            Heuristic::Jlh => {
                let (share, usual) = (count / num_docs, background / num_background);
                match share > usual && usual > 0.0 {
                    true => (share - usual) * (share / usual),
                    false => 0.0,
                }
            }
            Heuristic::Percentage if background > 0.0 => count / background,
            Heuristic::Percentage => 0.0,
            Heuristic::Gnd { is_superset } => {
                let (with_term, all) = match is_superset {
                    true => (background, num_background),
                    false => (background + count, num_background + num_docs),
                };
                if with_term == num_docs && num_docs == count {
                    return 1.0;
                }
                let (one, other) = (libm::log(with_term), libm::log(num_docs));
                let distance =
                    (one.max(other) - libm::log(count)) / (libm::log(all) - one.min(other));
                libm::exp(-distance)
            }
            Heuristic::ChiSquare(comparison) => {
                let table = self.table(comparison.is_superset);
                match comparison.takes(&table) {
                    true => table.chi_square(),
                    false => 0.0,
                }
            }
            Heuristic::MutualInformation(comparison) => {
                let table = self.table(comparison.is_superset);
                match comparison.takes(&table) {
                    true => table.mutual_information(),
                    false => 0.0,
                }
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "scores have no more digits")]
    fn table(&self, is_superset: bool) -> Table {
        let other = |all: u64, own: u64| match is_superset {
            true => all.saturating_sub(own) as f64,
            false => all as f64,
        };
        let with = other(self.background, self.count);
        let all = other(self.num_background, self.num_docs);
        Table {
            here_with: self.count as f64,
            here_without: self.num_docs.saturating_sub(self.count) as f64,
            there_with: with,
            there_without: all - with,
        }
    }
}

/// Numbers of documents with and without a term, among those looked at and among the others.
struct Table {
    here_with: f64,
    here_without: f64,
    there_with: f64,
    there_without: f64,
}

impl Comparison {
    fn takes(self, table: &Table) -> bool {
        let here = table.here_with / (table.here_with + table.here_without);
        let there = table.there_with / (table.there_with + table.there_without);
        self.has_negatives || here >= there || there.is_nan()
    }
}

impl Table {
    fn chi_square(&self) -> f64 {
        let here = self.here_with + self.here_without;
        let there = self.there_with + self.there_without;
        let (with, without) = (
            self.here_with + self.there_with,
            self.here_without + self.there_without,
        );
        let difference = self.here_with * self.there_without - self.here_without * self.there_with;
        (here + there) * difference * difference / (here * with * without * there)
    }

    fn mutual_information(&self) -> f64 {
        let here = self.here_with + self.here_without;
        let there = self.there_with + self.there_without;
        let (with, without) = (
            self.here_with + self.there_with,
            self.here_without + self.there_without,
        );
        let all = here + there;
        let term = |number: f64, row: f64, column: f64| match number > 0.0 {
            true => number / all * libm::log2(all * number / (row * column)),
            false => 0.0,
        };
        term(self.there_without, without, there)
            + term(self.here_without, without, here)
            + term(self.there_with, with, there)
            + term(self.here_with, with, here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(heuristic: Heuristic, expected: f64) {
        // The example of Elasticsearch's tests of its measures: 4 of 5 documents here, 6 of 30 in all.
        let counts = Counts {
            count: 4,
            num_docs: 5,
            background: 6,
            num_background: 30,
        };
        let score = counts.score(heuristic);
        assert!((score - expected).abs() < 1e-9, "{heuristic:?} {score}");
    }

    #[test]
    fn scores_follow_their_definitions() {
        let of = |is_superset| Comparison {
            is_superset,
            has_negatives: false,
        };
        check(Heuristic::Jlh, (0.8 - 0.2) * (0.8 / 0.2));
        check(Heuristic::Percentage, 4.0 / 6.0);
        // [4, 1; 2, 23] and [4, 1; 6, 24].
        check(
            Heuristic::ChiSquare(of(true)),
            30.0 * (4.0f64 * 23.0 - 2.0).powi(2) / (5.0 * 6.0 * 24.0 * 25.0),
        );
        check(
            Heuristic::ChiSquare(of(false)),
            35.0 * (4.0f64 * 24.0 - 6.0).powi(2) / (5.0 * 10.0 * 25.0 * 30.0),
        );
        let distance = (6f64.ln() - 4f64.ln()) / (30f64.ln() - 5f64.ln());
        check(Heuristic::Gnd { is_superset: true }, (-distance).exp());
        let part = |number: f64, row: f64, column: f64| {
            number / 30.0 * (30.0 * number / (row * column)).log2()
        };
        let information = part(4.0, 6.0, 5.0)
            + part(1.0, 24.0, 5.0)
            + part(2.0, 6.0, 25.0)
            + part(23.0, 24.0, 25.0);
        check(Heuristic::MutualInformation(of(true)), information);
    }

    #[test]
    fn a_term_that_is_rarer_here_has_no_score() {
        let counts = Counts {
            count: 1,
            num_docs: 10,
            background: 50,
            num_background: 100,
        };
        let of = |has_negatives| Comparison {
            is_superset: true,
            has_negatives,
        };
        assert_eq!(counts.score(Heuristic::Jlh), 0.0);
        assert_eq!(counts.score(Heuristic::ChiSquare(of(false))), 0.0);
        assert!(counts.score(Heuristic::ChiSquare(of(true))) > 0.0);
        assert_eq!(counts.score(Heuristic::MutualInformation(of(false))), 0.0);
    }
}
