//! Protection of this process against splits with invalid contents behind valid checksums: whoever
//! writes a split can compute valid checksums for anything.
//!
//! The readers of this project return errors for such bytes. tantivy's readers trust dictionaries,
//! postings and columns, and panic, or return errors. Here, both become errors that name the splits.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{BuildError, ErrorKind};

/// Runs `work`, which reads these splits.
///
/// # Errors
/// Errors of `work`, or `Data` with the names of the splits if tantivy finds an error, or panics. State that `work` has
/// modified must not be used after a panic.
pub(super) fn guard<T>(
    ids: &[&str],
    work: impl FnOnce() -> Result<T, BuildError>,
) -> Result<T, BuildError> {
    let damaged = || {
        let (which, them) = match ids {
            [_] => ("split", "it"),
            _ => ("one of the splits", "that one"),
        };
        BuildError::data(format!(
            "{which} {}: its checksums are right, and its bytes are not those of a split: build {them} again",
            ids.join(", ")
        ))
    };
    let end = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(damaged()));
    end.map_err(|error| match error.kind() {
        ErrorKind::Internal => damaged().caused_by(error),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_damage_of_the_splits() {
        let error = guard::<()>(&["01", "02"], || panic!("index out of bounds")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains("01, 02"), "{error}");
        assert_eq!(guard(&["01"], || Ok(3)).unwrap(), 3);
    }

    #[test]
    fn an_error_of_tantivy_is_damage_of_the_splits() {
        let of_tantivy = || tantivy::TantivyError::SystemError("found 3".to_owned());
        let error = guard::<()>(&["01", "02"], || Err(of_tantivy().into())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains("01, 02"), "{error}");
        let refused = || Err(BuildError::invalid("other fields"));
        let error = guard::<()>(&["01"], refused).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
}
