//! A query as a tree, whichever language it was written in: the query string (`grammar`) or Elasticsearch's query
//! DSL (`dsl`). Pruning, limits, cache keys and the query itself (`build`) come from this tree, so they are the same
//! for both. It also travels between sessions.

mod alike;
mod depth;
mod ends;
mod leaf;
mod min_should;
mod nearest;
mod node;
mod positional;
mod scored;
mod text;

pub(crate) use alike::{Alike, Example, TypicalWord};
pub(super) use ends::Ends;
pub(crate) use leaf::{AUTO, Edits, INDEX};
pub(super) use leaf::{
    End, Fuzziness, Given, ID, Leaf, Match, PatternKind, Range, SpanRelation, Words,
};
pub(super) use min_should::{MinShould, Share};
pub(crate) use nearest::{FoundIn, Fused, Nearest};
pub(super) use node::{BoolNode, Combine, InFields, Role};
pub(crate) use node::{Factor, QueryNode};
pub(super) use positional::{Places, Positional, PositionalKind, Relation, WordOrder};
pub(super) use scored::{
    BoostMode, Function, FunctionKind, Measure, Modifier, OfValues, ScoreMode, Scored, Shape,
};
pub(super) use text::{Literal, TextLeaf};
