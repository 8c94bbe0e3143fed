//! Object store in which something else happens during one of its operations, for tests of
//! interleaved writers.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use object_store::{Error, ObjectStore, Result};

use super::{Hook, HookedStore, Op};

/// Actions of other callers.
type Deed = Box<dyn FnOnce() + Send>;

/// Store in which other callers act once.
pub(crate) type InterruptedStore = HookedStore<Meanwhile>;

pub(crate) struct Meanwhile {
    /// Object whose writes are counted; all reads and writes if there is none.
    swapped: Option<&'static str>,
    /// Index of the interrupted one among counted operations, from 0.
    nth: u64,
    num_ops: AtomicU64,
    /// True if the actions come before the operation or after it. In the latter case its answer is
    /// lost, and the client library, which repeats the request, gets a conflict.
    is_before: bool,
    deed: Mutex<Option<Deed>>,
}

impl Meanwhile {
    fn act(&self) {
        if let Some(deed) = self.deed.lock().unwrap().take() {
            // Not on a thread of the runtime that is about to perform the operation.
            thread::spawn(deed).join().unwrap();
        }
    }
}

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Meanwhile({} of {:?})", self.nth, self.swapped)
    }
}

impl InterruptedStore {
    /// Performs `deed` before the `nth` read or write.
    pub(crate) fn at(
        inner: Arc<dyn ObjectStore>,
        nth: u64,
        deed: impl FnOnce() + Send + 'static,
    ) -> Self {
        Self::interrupted(inner, None, nth, true, Box::new(deed))
    }

    /// Performs `deed` before or after the `nth` write of an object whose name ends with `swapped`.
    pub(crate) fn at_swap(
        inner: Arc<dyn ObjectStore>,
        swapped: &'static str,
        nth: u64,
        is_before: bool,
        deed: impl FnOnce() + Send + 'static,
    ) -> Self {
        Self::interrupted(inner, Some(swapped), nth, is_before, Box::new(deed))
    }

    fn interrupted(
        inner: Arc<dyn ObjectStore>,
        swapped: Option<&'static str>,
        nth: u64,
        is_before: bool,
        deed: Deed,
    ) -> Self {
        let hook = Meanwhile {
            swapped,
            nth,
            num_ops: AtomicU64::new(0),
            is_before,
            deed: Mutex::new(Some(deed)),
        };
        Self::with(inner, hook)
    }
}

impl Hook for Meanwhile {
    async fn around<T: Send>(
        &self,
        op: Op,
        operation: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let is_counted = match (&op, self.swapped) {
            (Op::Put(location), Some(swapped)) => location.as_ref().ends_with(swapped),
            (Op::Put(_) | Op::Get, None) => true,
            _ => false,
        };
        let is_it = is_counted && self.num_ops.fetch_add(1, Ordering::SeqCst) == self.nth;
        if is_it && self.is_before {
            self.act();
        }
        let done = operation.await?;
        match op {
            Op::Put(location) if is_it && !self.is_before => {
                self.act();
                Err(Error::Precondition {
                    path: location.to_string(),
                    source: "it was swapped already".into(),
                })
            }
            _ => Ok(done),
        }
    }
}
