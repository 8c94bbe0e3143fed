//! Layouts that are known by their marks, rather than by what a sample's lines have in common: their times stand where no
//! time of a line is looked for, or are no times by themselves.

mod blocks;
mod chromium;
mod cmtrace;
mod db2;
pub(crate) mod event;
mod journal;
mod kind;
pub(super) mod lambda;
#[cfg(test)]
mod tests;
mod windows_event;

pub(crate) use blocks::are_points;
pub(crate) use journal::begins as begins_journal;
pub use kind::HEAD_WORDS;
pub(crate) use kind::{Around, Known};
