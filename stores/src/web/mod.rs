//! HTTP: answers to range requests, redirects, errors in XML, and the client.

pub(crate) mod answer;
#[cfg(feature = "buckets")]
pub(crate) mod http_client;
pub(crate) mod redirect;
pub(crate) mod xml;
