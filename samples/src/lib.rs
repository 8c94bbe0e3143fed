//! Sample logs, the same from the same seed on every machine, with no clock and no file: for the demo, tests and benches.
//!
//! Module `corpus` has logs of any size as JSON documents, streamed; `records` has files of each format that is known,
//! with the documents that they mean. Nothing that indexes knows about either.

mod corpus;
mod records;
mod rng;

pub use corpus::{Corpus, CorpusReader, HDFS_LOGS_YAML, HTTP_LOGS_YAML, HdfsLogs, HttpLogs, Lines};
pub use records::{Family, FamilyRecord, LAYOUTS, Sample, families, sample};
