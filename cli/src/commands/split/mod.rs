//! `canter split`: a build that several machines share, and what is in a split.

pub(crate) mod build;
pub(crate) mod inspect;
pub(crate) mod publish;
