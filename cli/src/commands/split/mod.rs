//! `canter split`: builds shared by several machines, and the contents of a split.

pub(crate) mod build;
pub(crate) mod inspect;
pub(crate) mod publish;
