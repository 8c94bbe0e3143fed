//! Version of this guest.

/// Returns the guest's version with a hash of its sources: part of every cache key whose entry only
/// this exact guest understands.
pub fn version() -> String {
    concat!(env!("CARGO_PKG_VERSION"), "+", env!("CANTER_GUEST_BUILD")).to_owned()
}
