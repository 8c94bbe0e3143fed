//! Buckets: how they are opened, and the client between `object_store` and the network. Only with the
//! feature `buckets`: a host that fetches by other means carries none of it.

mod body;
mod bucket;
mod client;
mod connector;

pub use bucket::{BucketOptions, open_bucket};
pub use connector::MannersConnector;
