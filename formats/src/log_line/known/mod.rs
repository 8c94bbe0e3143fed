//! Layouts that are known by their marks, rather than by what a sample's lines have in common: their times stand where no
//! time of a line is looked for, or are no times by themselves.

mod chromium;
mod cmtrace;
pub(crate) mod event;
mod kind;
pub(super) mod lambda;
#[cfg(test)]
mod tests;

pub use kind::HEAD_WORDS;
pub(crate) use kind::{Around, Known};
