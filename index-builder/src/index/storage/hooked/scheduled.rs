//! Object store on which several writers take turns as determined by a seed, for tests of
//! interleaved operations.

use std::sync::{Arc, Mutex};

use object_store::Result;
use tokio::sync::oneshot;

use super::{Hook, HookedStore, Op};

/// Lets one operation through at a time.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    waiting: Mutex<Vec<(usize, oneshot::Sender<()>)>>,
}

impl Turns {
    /// Waits for the writer's turn.
    async fn wait(&self, writer: usize) {
        let (turn, come) = oneshot::channel();
        self.waiting.lock().unwrap().push((writer, turn));
        // Without a driver, the writer continues.
        let _ = come.await;
    }

    /// Returns the number of waiting writers.
    pub(crate) fn num_waiting(&self) -> usize {
        self.waiting.lock().unwrap().len()
    }

    /// Lets the `nth` of the waiting writers continue.
    pub(crate) fn let_go(&self, nth: usize) {
        let mut waiting = self.waiting.lock().unwrap();
        waiting.sort_by_key(|(writer, _)| *writer);
        let nth = nth % waiting.len();
        let _ = waiting.remove(nth).1.send(());
    }
}

/// Store as seen by one of the writers.
pub(crate) type ScheduledStore = HookedStore<Turn>;

#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) turns: Arc<Turns>,
    pub(crate) writer: usize,
}

impl Hook for Turn {
    async fn around<T: Send>(
        &self,
        _: Op,
        operation: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        self.turns.wait(self.writer).await;
        operation.await
    }
}
