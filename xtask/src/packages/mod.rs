//! Packages for npm and Python, and Elasticsearch's clients: how they are built and tested.

pub(crate) mod clients;
pub(crate) mod npm;
pub(crate) mod python;
