//! Scores that functions of documents change: `function_score` and `distance_feature`.
//!
//! See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-function-score-query>.

use canter_geo::{Metric, Point};
use tantivy::columnar::{Column, DynamicColumn};
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, Term};

use crate::query::columns::explained;
use crate::query::tree::{BoostMode, FunctionKind, Measure, Modifier, OfValues, ScoreMode, Shape};

/// A function, with its filter as a query and its field as the name of a column.
#[derive(Debug)]
pub(crate) struct BuiltFunction {
    pub(crate) filter: Option<Box<dyn Query>>,
    pub(crate) weight: f64,
    pub(crate) kind: FunctionKind,
    pub(crate) column: Option<String>,
}

impl Clone for BuiltFunction {
    fn clone(&self) -> Self {
        Self {
            filter: self.filter.as_ref().map(|filter| filter.box_clone()),
            weight: self.weight,
            kind: self.kind.clone(),
            column: self.column.clone(),
        }
    }
}

/// Combinations of scores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modes {
    pub(crate) score: ScoreMode,
    pub(crate) boost: BoostMode,
    pub(crate) max_boost: f64,
}

/// Matches what its query matches, with scores that functions change.
#[derive(Debug)]
pub(crate) struct Functions {
    query: Box<dyn Query>,
    functions: Vec<BuiltFunction>,
    modes: Modes,
}

impl Functions {
    pub(crate) fn new(query: Box<dyn Query>, functions: Vec<BuiltFunction>, modes: Modes) -> Self {
        Self {
            query,
            functions,
            modes,
        }
    }
}

impl Clone for Functions {
    fn clone(&self) -> Self {
        Self {
            query: self.query.box_clone(),
            functions: self.functions.clone(),
            modes: self.modes,
        }
    }
}

impl Query for Functions {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let filters = self.functions.iter().map(|function| {
            let filter = function.filter.as_ref();
            filter.map(|filter| filter.weight(scoring)).transpose()
        });
        Ok(Box::new(FunctionsWeight {
            query: self.query.weight(scoring)?,
            filters: filters.collect::<tantivy::Result<_>>()?,
            functions: self.functions.clone(),
            modes: self.modes,
        }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.query.query_terms(visitor);
    }
}

struct FunctionsWeight {
    query: Box<dyn Weight>,
    filters: Vec<Option<Box<dyn Weight>>>,
    functions: Vec<BuiltFunction>,
    modes: Modes,
}

impl Weight for FunctionsWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let functions = self.functions.iter().zip(&self.filters);
        let functions = functions.map(|(function, filter)| {
            Ok(OpenFunction {
                filter: filter
                    .as_ref()
                    .map(|filter| filter.scorer(reader, 1.0))
                    .transpose()?,
                weight: function.weight,
                kind: function.kind.clone(),
                values: match &function.column {
                    Some(column) => Values::open(reader, column)?,
                    None => Values::default(),
                },
            })
        });
        Ok(Box::new(FunctionsScorer {
            query: self.query.scorer(reader, 1.0)?,
            functions: functions.collect::<tantivy::Result<_>>()?,
            modes: self.modes,
            boost,
        }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explained(self.scorer(reader, 1.0)?, doc, "changed by functions")
    }
}

struct FunctionsScorer {
    query: Box<dyn Scorer>,
    functions: Vec<OpenFunction>,
    modes: Modes,
    boost: Score,
}

impl DocSet for FunctionsScorer {
    fn advance(&mut self) -> DocId {
        self.query.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.query.seek(target)
    }

    fn doc(&self) -> DocId {
        self.query.doc()
    }

    fn size_hint(&self) -> u32 {
        self.query.size_hint()
    }

    fn cost(&self) -> u64 {
        self.query.cost()
    }
}

impl Scorer for FunctionsScorer {
    #[expect(clippy::cast_possible_truncation, reason = "scores are 32 bits wide")]
    fn score(&mut self) -> Score {
        let doc = self.query.doc();
        let score = f64::from(self.query.score());
        let by_functions = self
            .combined(doc)
            .map_or(1.0, |combined| combined.min(self.modes.max_boost));
        let combined = match self.modes.boost {
            BoostMode::Multiply => score * by_functions,
            BoostMode::Replace => by_functions,
            BoostMode::Sum => score + by_functions,
            BoostMode::Avg => (score + by_functions) / 2.0,
            BoostMode::Max => score.max(by_functions),
            BoostMode::Min => score.min(by_functions),
        };
        combined as Score * self.boost
    }
}

impl FunctionsScorer {
    /// Returns the combination of the functions that apply to a document; `None` if none does.
    fn combined(&mut self, doc: DocId) -> Option<f64> {
        let mode = self.modes.score;
        let mut weights = 0.0;
        let mut combined: Option<f64> = None;
        for function in &mut self.functions {
            if !function.applies_to(doc) {
                continue;
            }
            let value = function.value_of(doc) * function.weight;
            weights += function.weight;
            combined = Some(match (combined, mode) {
                (None, _) => value,
                (Some(combined), ScoreMode::Multiply) => combined * value,
                (Some(combined), ScoreMode::Sum | ScoreMode::Avg) => combined + value,
                (Some(combined), ScoreMode::First) => combined,
                (Some(combined), ScoreMode::Max) => combined.max(value),
                (Some(combined), ScoreMode::Min) => combined.min(value),
            });
        }
        match mode {
            ScoreMode::Avg if weights > 0.0 => combined.map(|sum| sum / weights),
            _ => combined,
        }
    }
}

/// A function over one split.
struct OpenFunction {
    filter: Option<Box<dyn Scorer>>,
    weight: f64,
    kind: FunctionKind,
    values: Values,
}

impl OpenFunction {
    fn applies_to(&mut self, doc: DocId) -> bool {
        let Some(filter) = &mut self.filter else {
            return true;
        };
        if filter.doc() < doc {
            filter.seek(doc);
        }
        filter.doc() == doc
    }

    fn value_of(&self, doc: DocId) -> f64 {
        match &self.kind {
            FunctionKind::One => 1.0,
            FunctionKind::Value {
                factor,
                modifier,
                missing,
                ..
            } => {
                let value = self.values.first(doc).or(*missing);
                value.map_or(1.0, |value| modified(value * factor, *modifier))
            }
            FunctionKind::Random { seed, field } => {
                let key = match field {
                    None => u64::from(doc),
                    Some(_) => self.values.first(doc).unwrap_or_default().to_bits(),
                };
                random(*seed, key)
            }
            FunctionKind::Decay {
                shape,
                origin,
                scale,
                offset,
                decay,
                values,
                ..
            } => {
                let pick = |measure: &Measure| self.values.measure(measure);
                let offset = pick(offset).unwrap_or_default();
                match (pick(origin), pick(scale)) {
                    (Some(origin), Some(scale)) => {
                        let distance = self.values.distance(doc, origin, offset, *values);
                        distance.map_or(1.0, |distance| decayed(*shape, distance, scale, *decay))
                    }
                    _ => 1.0,
                }
            }
            FunctionKind::NearPlace {
                origin,
                pivot_m,
                decayed: decay,
                ..
            } => {
                let distance = self.values.metres(doc, Point::of_code(*origin));
                match decay {
                    None => distance.map_or(0.0, |distance| pivot_m / (pivot_m + distance)),
                    Some((shape, decay, offset)) => distance.map_or(1.0, |distance| {
                        decayed(*shape, (distance - offset).max(0.0), *pivot_m, *decay)
                    }),
                }
            }
            FunctionKind::Nearness { origin, pivot, .. } => {
                let pick = |measure: &Measure| self.values.measure(measure);
                match (pick(origin), pick(pivot)) {
                    (Some(origin), Some(pivot)) => {
                        let distance = self.values.distance(doc, origin, 0.0, OfValues::Min);
                        distance.map_or(0.0, |distance| pivot / (pivot + distance))
                    }
                    _ => 0.0,
                }
            }
        }
    }
}

fn modified(value: f64, modifier: Modifier) -> f64 {
    match modifier {
        Modifier::None => value,
        Modifier::Log => value.log10(),
        Modifier::Log1p => (value + 1.0).log10(),
        Modifier::Log2p => (value + 2.0).log10(),
        Modifier::Ln => value.ln(),
        Modifier::Ln1p => value.ln_1p(),
        Modifier::Ln2p => (value + 2.0).ln(),
        Modifier::Square => value * value,
        Modifier::Sqrt => value.sqrt(),
        Modifier::Reciprocal => 1.0 / value,
    }
}

fn decayed(shape: Shape, distance: f64, scale: f64, decay: f64) -> f64 {
    match shape {
        Shape::Gauss => {
            let relative = distance / scale;
            (decay.ln() * relative * relative).exp()
        }
        Shape::Exp => (decay.ln() * distance / scale).exp(),
        Shape::Linear => {
            let end = scale / (1.0 - decay);
            ((end - distance) / end).max(0.0)
        }
    }
}

/// Returns a number between 0 and 1, evenly distributed: the finaliser of SplitMix64.
#[expect(clippy::cast_precision_loss, reason = "53 bits are left")]
fn random(seed: u64, key: u64) -> f64 {
    let mut bits = seed
        .wrapping_add(key.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// The numbers and times of a field.
#[derive(Default)]
struct Values {
    columns: Vec<NumberColumn>,
}

/// A column of numbers, or of times in nanoseconds.
enum NumberColumn {
    Signed(Column<i64>),
    Unsigned(Column<u64>),
    Float(Column<f64>),
    Time(Column<tantivy::DateTime>),
}

impl Values {
    fn open(reader: &SegmentReader, name: &str) -> tantivy::Result<Self> {
        let mut columns = Vec::new();
        for handle in reader.fast_fields().dynamic_column_handles(name)? {
            columns.extend(match handle.open()? {
                DynamicColumn::I64(column) => Some(NumberColumn::Signed(column)),
                DynamicColumn::U64(column) => Some(NumberColumn::Unsigned(column)),
                DynamicColumn::F64(column) => Some(NumberColumn::Float(column)),
                DynamicColumn::DateTime(column) => Some(NumberColumn::Time(column)),
                _ => None,
            });
        }
        Ok(Self { columns })
    }

    /// Returns the values of a document, ascending within a column.
    #[expect(clippy::cast_precision_loss, reason = "scores are 32 bits wide")]
    fn of(&self, doc: DocId) -> impl Iterator<Item = f64> + '_ {
        self.columns.iter().flat_map(move |column| {
            let values: Vec<f64> = match column {
                NumberColumn::Signed(column) => column
                    .values_for_doc(doc)
                    .map(|value| value as f64)
                    .collect(),
                NumberColumn::Unsigned(column) => column
                    .values_for_doc(doc)
                    .map(|value| value as f64)
                    .collect(),
                NumberColumn::Float(column) => column.values_for_doc(doc).collect(),
                NumberColumn::Time(column) => column
                    .values_for_doc(doc)
                    .map(|value| value.into_timestamp_nanos() as f64)
                    .collect(),
            };
            values
        })
    }

    /// Returns the least value of a document.
    fn first(&self, doc: DocId) -> Option<f64> {
        self.of(doc).reduce(f64::min)
    }

    /// Returns the number or the nanoseconds, whichever the columns have.
    fn measure(&self, measure: &Measure) -> Option<f64> {
        let has_times = |column: &NumberColumn| matches!(column, NumberColumn::Time(_));
        match self.columns.iter().any(has_times) {
            true => measure.ns,
            false => measure.number,
        }
    }

    /// Returns the distance of a document's nearest point; `None` without one.
    fn metres(&self, doc: DocId, origin: Point) -> Option<f64> {
        let codes = self.columns.iter().flat_map(|column| match column {
            NumberColumn::Unsigned(column) => column.values_for_doc(doc).collect(),
            _ => Vec::new(),
        });
        let distances = codes.map(|code| Metric::Arc.between(origin, Point::of_code(code)));
        distances.reduce(f64::min)
    }

    /// Returns the distance of a document beyond `offset`; `None` without a value.
    fn distance(&self, doc: DocId, origin: f64, offset: f64, of: OfValues) -> Option<f64> {
        let distances = self
            .of(doc)
            .map(|value| ((value - origin).abs() - offset).max(0.0));
        match of {
            OfValues::Min => distances.reduce(f64::min),
            OfValues::Max => distances.reduce(f64::max),
            OfValues::Sum => distances.reduce(|left, right| left + right),
            OfValues::Avg => {
                let (mut sum, mut num) = (0.0, 0_u32);
                distances.for_each(|distance| {
                    sum += distance;
                    num += 1;
                });
                (num > 0).then(|| sum / f64::from(num))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decay_is_one_at_the_origin_and_the_given_share_at_the_scale() {
        for shape in [Shape::Gauss, Shape::Exp, Shape::Linear] {
            assert!((decayed(shape, 0.0, 10.0, 0.3) - 1.0).abs() < 1e-12);
            assert!((decayed(shape, 10.0, 10.0, 0.3) - 0.3).abs() < 1e-12);
            assert!(decayed(shape, 30.0, 10.0, 0.3) < 0.3);
        }
        assert!(decayed(Shape::Linear, 1000.0, 10.0, 0.3) == 0.0);
    }

    #[test]
    fn random_numbers_depend_on_the_seed_and_are_spread_evenly() {
        let numbers: Vec<f64> = (0..10_000).map(|key| random(7, key)).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 10_000.0;
        assert!((0.48..0.52).contains(&mean), "{mean}");
        assert!(random(7, 1) != random(8, 1));
        assert!(random(7, 1) == random(7, 1));
    }
}
