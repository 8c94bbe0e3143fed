//! Documents of the tests, with the configs of their indexes.

pub(crate) mod documents;
pub(crate) mod numbers;
