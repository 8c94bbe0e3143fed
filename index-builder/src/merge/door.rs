//! The door between the splits of a merge and this process, for what happens behind right checksums: whoever writes a split
//! can make them right around anything.
//!
//! Our own readers answer such bytes with an error. tantivy's trust what they read (dictionaries, postings, columns), and
//! panic. Here that becomes an error that names the splits.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::BuildError;

/// Reads these splits.
///
/// # Errors
/// What the work says; `Data`, with the names, if it panics. Nothing more is to be done with what it had a hand in.
pub(super) fn guard<T>(
    ids: &[&str],
    work: impl FnOnce() -> Result<T, BuildError>,
) -> Result<T, BuildError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let (which, them) = match ids {
            [_] => ("split", "it"),
            _ => ("one of the splits", "that one"),
        };
        Err(BuildError::data(format!(
            "{which} {}: its checksums are right, and its bytes are not those of a split: build {them} again",
            ids.join(", ")
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_panic_is_damage_of_the_splits() {
        let error = guard::<()>(&["01", "02"], || panic!("index out of bounds")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains("01, 02"), "{error}");
        assert_eq!(guard(&["01"], || Ok(3)).unwrap(), 3);
    }
}
