//! Large stacks for recursive work: compiling a program, and copying and dropping deeply nested values.

use std::thread::{self, ScopedJoinHandle};

use crate::error::BuildError;

/// A value can be nested as deeply as a program runs expressions (a million), with recursion for each level. Only the
/// used part of a stack takes memory.
const STACK_NUM_BYTES: usize = 512 << 20;

/// Starts a thread with such a stack in a scope.
///
/// # Errors
/// `Unavailable` if the system has no thread, or no address space for its stack.
pub(crate) fn spawn_with_large_stack<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, BuildError> {
    let thread = thread::Builder::new().stack_size(STACK_NUM_BYTES);
    thread.spawn_scoped(scope, work).map_err(|error| {
        BuildError::unavailable("no thread can be started for a transform").caused_by(error)
    })
}

/// Runs work on a stack of that size.
///
/// # Errors
/// As [`spawn_with_large_stack`], those of the work itself, and `Internal` if it panics.
pub(crate) fn on_large_stack<T: Send>(
    work: impl FnOnce() -> Result<T, BuildError> + Send,
) -> Result<T, BuildError> {
    thread::scope(|scope| {
        let thread = spawn_with_large_stack(scope, work)?;
        let outcome = thread.join();
        outcome.unwrap_or_else(|panic| Err(BuildError::of_panic(&*panic)))
    })
}
