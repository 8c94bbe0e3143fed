//! Shared parts of the end-to-end tests: documents, an index built from them, hosts, servers, and
//! the oracle.
//!
//! The oracle is plain tantivy in RAM, fed by the same doc mapper and queried through tantivy's own
//! query parser and collectors. It knows no splits.

pub mod conformance;
mod corpora;
mod deletes;
mod index;
mod merges;
mod oracle;
pub mod random;
pub mod rest_spec;
mod servers;
mod truth;

pub use corpora::documents::{CATALOGUE_CONFIG, PLACES_CONFIG, WAYS_CONFIG, catalogue, places};
pub use corpora::numbers::{NUMBERS_CONFIG, numbers};
pub use deletes::list;
pub use index::{TestIndex, hdfs_lines, run, run_divided, run_with};
pub use merges::{StoredIndex, whole};
pub use oracle::{Oracle, normalised};
pub use random::{is_full, usual_or_full};
pub use servers::{
    Fate, Flaw, Forwarder, InvokeFate, LambdaFunction, LambdaReply, LambdaService, LambdaStart,
    Quirk, S3Lookalike, S3Server, SECRET_KEY, WebRequest, WebServer, put_objects, with_s3,
};
pub use truth::{End, Truth};
