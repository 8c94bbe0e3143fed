//! Queries that change scores.

mod best;
mod build;
mod demoted;
mod functions;

pub(super) use best::Best;
pub(super) use demoted::Demoted;
