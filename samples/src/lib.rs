//! Sample logs, identical for the same seed on every machine, with no clock and no file: for the demo, tests and
//! benches.
//!
//! Module `corpus` has logs of any size as JSON documents, streamed; `records` has files of each known format, with
//! the documents that they contain. Nothing that indexes depends on either.

mod corpus;
mod records;
mod rng;

pub use corpus::{Corpus, CorpusReader, HDFS_LOGS_YAML, HTTP_LOGS_YAML, HdfsLogs, HttpLogs, Lines};
pub use records::{Family, FamilyRecord, LAYOUTS, Sample, families, sample};
