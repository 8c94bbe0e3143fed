//! Object store that fails on purpose, for tests of crash safety.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use object_store::{Error, ObjectStore, Result};

use super::{Hook, HookedStore, Op};

/// Kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The operation and all later ones do not happen: the process crashed before.
    CrashBefore,
    /// The operation happens, but its answer is lost, and all later operations fail: the process
    /// crashed after it.
    CrashAfter,
    /// The operation happens and its answer is lost, but later operations succeed: a network error.
    LostAnswer,
}

/// Passes operations on, up to the one with the given index, from 0. Deletions and lists are not
/// counted.
pub(crate) type FailingStore = HookedStore<Failing>;

#[derive(Debug)]
pub(crate) struct Failing {
    fail_at: AtomicU64,
    failure: Failure,
    num_ops: AtomicU64,
    /// Bytes that were read.
    num_bytes: AtomicU64,
    /// The first write of an object whose name ends with this fails.
    failing: Option<&'static str>,
    /// Objects with this in their names are never deleted.
    kept: Option<&'static str>,
}

impl Failing {
    fn new(fail_at: u64, failure: Failure) -> Self {
        Self {
            fail_at: AtomicU64::new(fail_at),
            failure,
            num_ops: AtomicU64::new(0),
            num_bytes: AtomicU64::new(0),
            failing: None,
            kept: None,
        }
    }
}

impl FailingStore {
    pub(crate) fn new(inner: Arc<dyn ObjectStore>, fail_at: u64, failure: Failure) -> Self {
        Self::with(inner, Failing::new(fail_at, failure))
    }

    /// Passes operations on, up to the first write of an object whose name ends with `failing`.
    pub(crate) fn before_write(inner: Arc<dyn ObjectStore>, failing: &'static str) -> Self {
        let hook = Failing {
            failing: Some(failing),
            ..Failing::new(u64::MAX, Failure::CrashBefore)
        };
        Self::with(inner, hook)
    }

    /// Passes everything on except for deletions of objects with `kept` in their names.
    pub(crate) fn that_keeps(inner: Arc<dyn ObjectStore>, kept: &'static str) -> Self {
        let hook = Failing {
            kept: Some(kept),
            ..Failing::new(u64::MAX, Failure::CrashBefore)
        };
        Self::with(inner, hook)
    }

    pub(crate) fn num_ops(&self) -> u64 {
        self.hook.num_ops.load(Ordering::SeqCst)
    }

    pub(crate) fn num_bytes(&self) -> u64 {
        self.hook.num_bytes.load(Ordering::SeqCst)
    }
}

fn failed(what: String) -> Error {
    Error::Generic {
        store: "failing",
        source: what.into(),
    }
}

impl Hook for Failing {
    async fn around<T: Send>(
        &self,
        op: Op,
        operation: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        match (&op, self.kept) {
            (Op::Delete(location), Some(kept)) if location.as_ref().contains(kept) => {
                return Err(failed("it is kept on purpose".to_owned()));
            }
            (Op::Delete(_) | Op::List, _) => return operation.await,
            _ => {}
        }
        let op_ord = self.num_ops.fetch_add(1, Ordering::SeqCst);
        if let (Op::Put(location), Some(failing)) = (&op, self.failing)
            && location.as_ref().ends_with(failing)
        {
            self.fail_at.fetch_min(op_ord, Ordering::SeqCst);
        }
        let fail_at = self.fail_at.load(Ordering::SeqCst);
        let lost = || failed(format!("operation {op_ord} failed on purpose"));
        match self.failure {
            Failure::CrashBefore if op_ord >= fail_at => Err(lost()),
            Failure::CrashAfter if op_ord > fail_at => Err(lost()),
            Failure::CrashAfter | Failure::LostAnswer if op_ord == fail_at => {
                operation.await?;
                Err(lost())
            }
            _ => operation.await,
        }
    }

    fn has_read(&self, num_bytes: u64) {
        self.num_bytes.fetch_add(num_bytes, Ordering::SeqCst);
    }
}
