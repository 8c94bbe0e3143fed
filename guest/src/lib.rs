//! Canter's search engine, sans-IO.

mod error;
pub mod session;

pub use error::{ErrorKind, SearchError};
pub use session::Session;

/// The guest's version: part of every cache key whose bytes only this version understands.
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
