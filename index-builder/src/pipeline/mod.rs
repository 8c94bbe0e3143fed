//! Phases 2 to 6 on threads: records → documents → splits in storage.
//!
//! ```text
//!              batches of records    batches of documents      documents of a split     split
//!   reader ──┬── parser 0 ──┐
//!            └── parser 1 ──┴── splitter ──┬── indexer 0 ──┐
//!               …                          └── indexer 1 ──┴── uploader
//! ```
//!
//! Batches go to the parsers in turn and are received in turn, and so are splits: no thread's timing
//! affects where a split ends or what it contains. Every channel is bounded, so memory is bounded by one
//! collected split and one split per indexer. The collected one is compressed.
//!
//! A failing thread returns its error; its neighbours see a closed channel and end quietly.

mod collector;
mod indexer;
mod kept;
mod parser;
mod reader;
mod run;
mod sorter;
mod splitter;
mod standing;
mod trial;
mod uploader;

pub(crate) use run::{Built, Plan, ReadInput, run};
pub(crate) use standing::Standing;
pub(crate) use trial::try_to_build;
