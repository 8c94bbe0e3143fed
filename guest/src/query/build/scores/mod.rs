//! Queries that change scores.

mod best;
mod demoted;

pub(super) use best::Best;
pub(super) use demoted::Demoted;
