//! Bridge between the synchronous public API and asynchronous object stores: one runtime for the whole process.
//!
//! A connection lives as long as its runtime. With one runtime, a call reuses the connections of earlier ones,
//! whichever thread it comes from.

use crate::error::BuildError;
use std::future::Future;
use std::num::NonZero;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use tokio::runtime::{Builder, Handle, Runtime};

/// Maximum number of threads that carry connections, besides the calling one.
const MAX_THREADS: usize = 4;

/// Runs `work` to its end. May be called from anywhere, even inside another runtime.
///
/// # Errors
/// Errors of `work`; `Unavailable` if no runtime can be started.
pub(crate) fn run<T: Send>(
    work: impl Future<Output = Result<T, BuildError>> + Send,
) -> Result<T, BuildError> {
    let runtime = runtime()?;
    if Handle::try_current().is_err() {
        return runtime.block_on(work);
    }
    // A thread of another runtime may not block on this one; another thread may.
    thread::scope(|scope| {
        scope
            .spawn(|| runtime.block_on(work))
            .join()
            .unwrap_or_else(|_| {
                Err(BuildError::internal(
                    "the thread that talks to storage panicked",
                ))
            })
    })
}

/// Returns the runtime of the process, which starts with the first call and ends with the process.
///
/// # Errors
/// `Unavailable` if its threads cannot be started.
pub(crate) fn runtime() -> Result<&'static Runtime, BuildError> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    static STARTING: Mutex<()> = Mutex::new(());
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    // One at a time: a superfluous runtime could not be dropped inside another one.
    let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let num_cores = thread::available_parallelism().map_or(1, NonZero::get);
    let runtime = Builder::new_multi_thread()
        .worker_threads(num_cores.min(MAX_THREADS))
        .thread_name("storage")
        .enable_all()
        .build()
        .map_err(|error| {
            BuildError::unavailable("cannot start the runtime that talks to storage")
                .caused_by(error)
        })?;
    Ok(RUNTIME.get_or_init(|| runtime))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn id_of_runtime() -> Result<tokio::runtime::Id, BuildError> {
        Ok(Handle::current().id())
    }

    #[test]
    fn calls_from_anywhere_share_one_runtime() {
        let first = run(id_of_runtime()).unwrap();
        let on_a_thread = thread::scope(|scope| {
            let other = scope.spawn(|| run(id_of_runtime()).unwrap());
            other.join().unwrap()
        });
        assert_eq!(on_a_thread, first);
        let current_thread = Builder::new_current_thread().build().unwrap();
        let many_threads = Builder::new_multi_thread().build().unwrap();
        for runtime in [current_thread, many_threads] {
            let inside = runtime.block_on(async { run(id_of_runtime()).unwrap() });
            assert_eq!(inside, first);
            let behind = runtime.spawn_blocking(|| run(id_of_runtime()).unwrap());
            assert_eq!(runtime.block_on(behind).unwrap(), first);
        }
        // And from the runtime itself.
        let nested = run(async { run(id_of_runtime()) }).unwrap();
        assert_eq!(nested, first);
    }
}
