//! Which parts follow the time in most of a sample's records, and which stand before it.

mod before;
mod decide;
mod paragraph;
mod steps;

pub(super) use before::before;
pub(super) use paragraph::Paragraph;
pub(super) use steps::steps;
