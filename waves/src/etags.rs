//! Versions of immutable objects within one search.

use std::collections::HashMap;

use canter_stores::{Misbehaviour, StoreFault};

/// The version of each immutable object, as first seen by a search.
#[derive(Debug, Default)]
pub struct Etags(HashMap<String, String>);

impl Etags {
    /// Remembers the version of `object`, or compares it with the remembered one. A store without versions is
    /// trusted.
    ///
    /// # Errors
    /// If the object was replaced while it was read.
    pub fn check(&mut self, object: &str, etag: Option<&str>) -> Result<(), Misbehaviour> {
        let Some(etag) = etag else {
            return Ok(());
        };
        let first = self
            .0
            .entry(object.to_owned())
            .or_insert_with(|| etag.to_owned());
        if first == etag {
            return Ok(());
        }
        let seen = format!("the object was replaced while it was read (ETag {first}, then {etag})");
        Err(Misbehaviour::new(StoreFault::EtagChanged, seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_keeps_the_version_that_was_seen_first() {
        let mut etags = Etags::default();
        assert!(etags.check("a", None).is_ok());
        assert!(etags.check("a", Some("1")).is_ok());
        assert!(etags.check("b", Some("2")).is_ok());
        assert!(etags.check("a", None).is_ok());
        let error = etags.check("a", Some("2")).unwrap_err();
        assert_eq!(error.fault, StoreFault::EtagChanged);
        assert!(etags.check("a", Some("1")).is_ok());
    }
}
