//! Scores that are computed from values of documents.

use serde::{Deserialize, Serialize};

use super::node::{Factor, QueryNode};

/// The documents of a query, with scores that functions change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scored {
    pub(crate) node: QueryNode,
    pub(crate) functions: Vec<Function>,
    /// Combination of the functions that apply to a document.
    pub(crate) score_mode: ScoreMode,
    /// Combination of the query's score with the functions'.
    pub(crate) boost_mode: BoostMode,
    /// Maximum of the functions' combination.
    pub(crate) max_boost: Factor,
}

/// A function of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Function {
    /// The documents that it applies to; all if absent.
    pub(crate) filter: Option<QueryNode>,
    pub(crate) weight: Factor,
    pub(crate) kind: FunctionKind,
}

/// Kinds of functions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum FunctionKind {
    /// One, so that only the weight counts.
    One,
    /// A value of the document.
    Value {
        field: String,
        factor: f64,
        modifier: Modifier,
        /// The value of documents that have none, whose function is one otherwise.
        missing: Option<f64>,
    },
    /// A number between 0 and 1 that depends on the seed, and on the document or its value in a field.
    Random { seed: u64, field: Option<String> },
    /// One near the origin, and less farther away.
    Decay {
        field: String,
        shape: Shape,
        origin: Measure,
        scale: Measure,
        offset: Measure,
        /// The score at the distance `scale`.
        decay: f64,
        values: OfValues,
    },
    /// The share of the pivot in itself and the distance from the origin.
    Nearness {
        field: String,
        origin: Measure,
        pivot: Measure,
    },
    /// The share of the pivot in itself and the distance from a point.
    NearPlace {
        field: String,
        /// The point's code.
        origin: u64,
        /// In metres.
        pivot_m: f64,
        /// One near the point and less farther away instead: the score at the distance `pivot_m`, and the distance up to
        /// which it is one.
        decayed: Option<(Shape, f64, f64)>,
    },
}

/// A number, or a time or duration in nanoseconds: the column decides which one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measure {
    pub(crate) number: Option<f64>,
    pub(crate) ns: Option<f64>,
}

/// Functions that are applied to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Modifier {
    None,
    Log,
    Log1p,
    Log2p,
    Ln,
    Ln1p,
    Ln2p,
    Square,
    Sqrt,
    Reciprocal,
}

/// Shapes of a decay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shape {
    Gauss,
    Exp,
    Linear,
}

/// Distance of a document with several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OfValues {
    Min,
    Max,
    Avg,
    Sum,
}

/// Combinations of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ScoreMode {
    Multiply,
    Sum,
    Avg,
    First,
    Max,
    Min,
}

/// Combinations of a score with that of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BoostMode {
    Multiply,
    Replace,
    Sum,
    Avg,
    Max,
    Min,
}

impl Scored {
    /// Returns the query, and the filters of the functions.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &QueryNode> {
        let filters = self
            .functions
            .iter()
            .filter_map(|function| function.filter.as_ref());
        std::iter::once(&self.node).chain(filters)
    }

    /// Returns the query, and the filters of the functions.
    pub(crate) fn nodes_mut(&mut self) -> impl Iterator<Item = &mut QueryNode> {
        let filters = self.functions.iter_mut();
        let filters = filters.filter_map(|function| function.filter.as_mut());
        std::iter::once(&mut self.node).chain(filters)
    }
}

impl FunctionKind {
    /// Returns the field whose values it reads.
    pub(crate) fn field(&self) -> Option<&str> {
        match self {
            Self::One => None,
            Self::Random { field, .. } => field.as_deref(),
            Self::Value { field, .. }
            | Self::Decay { field, .. }
            | Self::Nearness { field, .. }
            | Self::NearPlace { field, .. } => Some(field),
        }
    }
}
