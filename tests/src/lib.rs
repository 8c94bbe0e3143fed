//! Shared parts of the end-to-end tests: documents, an index built from them, hosts, servers, and
//! the oracle.
//!
//! The oracle is plain tantivy in RAM, fed by the same doc mapper and queried through tantivy's own
//! query parser and collectors. It knows no splits.

pub mod conformance;
mod deletes;
mod documents;
mod forwarder;
mod index;
mod lambda_api;
mod merges;
mod numbers;
mod oracle;
pub mod random;
pub mod rest_spec;
mod s3_lookalike;
mod s3_objects;
mod s3_server;
mod truth;
mod web_server;

pub use deletes::list;
pub use documents::{CATALOGUE_CONFIG, PLACES_CONFIG, WAYS_CONFIG, catalogue, places};
pub use forwarder::{Fate, Forwarder};
pub use index::{TestIndex, hdfs_lines, run, run_divided, run_with};
pub use lambda_api::{InvokeFate, LambdaFunction, LambdaReply, LambdaService, LambdaStart};
pub use merges::{StoredIndex, whole};
pub use numbers::{NUMBERS_CONFIG, numbers};
pub use oracle::{Oracle, normalised};
pub use s3_lookalike::{Flaw, S3Lookalike};
pub use s3_objects::put_objects;
pub use s3_server::{S3Server, SECRET_KEY, with_s3};
pub use truth::{End, Truth};
pub use web_server::{Quirk, WebRequest, WebServer};
