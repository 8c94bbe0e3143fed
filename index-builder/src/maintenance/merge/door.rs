//! Protection of this process against splits with invalid contents behind valid checksums: whoever
//! writes a split can compute valid checksums for anything.
//!
//! The readers of this project return errors for such bytes. tantivy's readers trust dictionaries,
//! postings and columns, and panic. Here, these panics become errors that name the splits.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::BuildError;

/// Runs `work`, which reads these splits.
///
/// # Errors
/// Errors of `work`, or `Data` with the names of the splits if it panics. State that `work` has
/// modified must not be used after a panic.
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
