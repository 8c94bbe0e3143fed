//! Buckets: opening them, and the client between `object_store` and the network. The feature
//! `buckets` enables this module; hosts that fetch by other means do without it.

mod body;
mod bucket;
mod client;
mod connector;

pub use bucket::{BucketOptions, open_bucket};
pub use connector::MannersConnector;
