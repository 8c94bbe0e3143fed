//! Queries that change scores.

mod best;
mod demoted;
mod functions;

pub(super) use best::Best;
pub(super) use demoted::Demoted;
pub(super) use functions::{BuiltFunction, Functions, Modes};
