//! The public API is synchronous; object stores are not. This is the bridge.

use crate::error::BuildError;
use std::future::Future;

/// Runs `work` to its end on a runtime and thread of its own, so that it may be called from
/// anywhere, even from inside another runtime.
pub(crate) fn run<T: Send>(
    work: impl Future<Output = Result<T, BuildError>> + Send,
) -> Result<T, BuildError> {
    std::thread::scope(|scope| {
        scope
            .spawn(|| runtime()?.block_on(work))
            .join()
            .unwrap_or_else(|_| {
                Err(BuildError::internal(
                    "the thread that talks to storage panicked",
                ))
            })
    })
}

/// A runtime for the current thread.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, BuildError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            BuildError::unavailable("cannot start the runtime that talks to storage")
                .caused_by(error)
        })
}
