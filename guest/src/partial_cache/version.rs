//! Which guest this is.

/// The guest's version and a hash of its sources: part of every cache key whose bytes only this very
/// guest understands.
pub fn version() -> String {
    concat!(env!("CARGO_PKG_VERSION"), "+", env!("CANTER_GUEST_BUILD")).to_owned()
}
