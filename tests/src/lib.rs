//! What the end-to-end tests share: documents, an index built from them, hosts, and the oracle.
//!
//! The oracle is plain tantivy in RAM, fed by the same doc mapper and asked through tantivy's own
//! query parser and collectors. It knows nothing of splits.

mod documents;
mod index;
mod oracle;

pub use documents::{CATALOGUE_CONFIG, catalogue};
pub use index::{TestIndex, hdfs_lines, run, run_divided};
pub use oracle::Oracle;
