//! The boundary between one split and the rest of a search, for failures behind valid checksums: whoever writes a split
//! can compute valid checksums for any content.
//!
//! Our own readers report such bytes as an error. tantivy's readers trust their input (dictionaries, column codecs, the
//! directory of files), and panic or request bytes that do not exist. Here that becomes an error of the split, as any
//! damage does: a native search continues with the others. In WebAssembly a panic is a trap, which ends that one
//! search.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use crate::SearchError;

fn hostile(split_id: &str) -> SearchError {
    SearchError::data(format!(
        "split {split_id}: its checksums are right, and its bytes are not those of a split: build it again"
    ))
}

/// Runs `work` on a split whose bytes are resident.
///
/// # Errors
/// The error of `work`; damage of the split if `work` panics. The data that `work` touched must not be used afterwards.
pub(crate) fn guard<T>(
    split_id: &str,
    work: impl FnOnce() -> Result<T, SearchError>,
) -> Result<T, SearchError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(hostile(split_id)))
}

/// As [`guard`], for asynchronous work.
///
/// # Errors
/// As [`guard`].
pub(crate) async fn guarded<T>(
    split_id: &str,
    work: impl Future<Output = Result<T, SearchError>>,
) -> Result<T, SearchError> {
    let mut work = pin!(work);
    let step = std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        // The future is then complete, and never polled again.
        polled.unwrap_or_else(|_| Poll::Ready(Err(hostile(split_id))))
    });
    step.await
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_panic_is_damage_of_the_split() {
        let panic = || -> Result<(), SearchError> { panic!("index out of bounds") };
        let check = |end: Result<(), SearchError>| {
            let error = end.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Data);
            assert!(error.message.contains("split 0123"), "{error}");
            assert!(!error.message.contains("out of bounds"), "{error}");
        };
        check(guard("0123", panic));
        check(guarded("0123", async { panic() }).now_or_never().unwrap());
        assert_eq!(guard("0123", || Ok(3)).unwrap(), 3);
    }
}
