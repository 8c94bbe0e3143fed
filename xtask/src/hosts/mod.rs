//! Hosts: their programs, and the test that sends all of them the same requests.

pub(crate) mod conformance;
pub(crate) mod lambda;
pub(crate) mod manifests;
pub(crate) mod wasi;
