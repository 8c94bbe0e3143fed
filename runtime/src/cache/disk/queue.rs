//! The puts that wait for the writer thread: bounded in bytes, and never waited for by a search.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use canter_stores::cache::{BlockFolder, BlockWriter};
use tokio::sync::watch;

use crate::cache::CachedPiece;
use crate::session::ByteClass;

/// Most bytes that wait to be written: 64 MiB, about a second of a slow disk.
const MAX_QUEUED_BYTES: u64 = 64 << 20;
/// Most puts that wait, so that many small ones have a bound too.
const MAX_QUEUED_PUTS: usize = 16 << 10;

/// What a put offers.
pub(super) enum What {
    Range {
        object: Arc<str>,
        piece: CachedPiece,
    },
    Entry {
        key: String,
        bytes: Bytes,
    },
}

impl What {
    pub(super) fn num_bytes(&self) -> u64 {
        match self {
            What::Range { piece, .. } => piece.bytes.len() as u64,
            What::Entry { bytes, .. } => bytes.len() as u64,
        }
    }
}

pub(super) struct PutRequest {
    pub(super) what: What,
    pub(super) class: ByteClass,
}

pub(super) struct PutQueue {
    state: Mutex<State>,
    arrived: Condvar,
    /// Number of puts that are done with, written or not.
    num_done: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<PutRequest>,
    num_bytes: u64,
    num_pushed: u64,
    has_writer: bool,
    is_closed: bool,
}

impl Default for PutQueue {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            arrived: Condvar::new(),
            num_done: watch::Sender::new(0),
        }
    }
}

impl PutQueue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a put, unless too much is waiting. The writer thread is started by the first one: a
    /// process that finds all it needs never has it.
    pub(super) fn push(self: &Arc<Self>, put: PutRequest, store: &Arc<BlockFolder>) -> bool {
        let num_bytes = put.what.num_bytes();
        let mut state = self.lock();
        let is_full = state.waiting.len() >= MAX_QUEUED_PUTS
            || state.num_bytes.saturating_add(num_bytes) > MAX_QUEUED_BYTES;
        if is_full || state.is_closed {
            return false;
        }
        if !state.has_writer {
            let (queue, store) = (self.clone(), store.clone());
            let thread = std::thread::Builder::new().name("canter-cache".into());
            if thread.spawn(move || queue.run_writer(store)).is_err() {
                return false;
            }
            state.has_writer = true;
        }
        state.waiting.push_back(put);
        state.num_bytes += num_bytes;
        state.num_pushed += 1;
        drop(state);
        self.arrived.notify_one();
        true
    }

    /// Forgets what is waiting and ends the writer thread.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.waiting.clear();
        drop(state);
        self.arrived.notify_one();
    }

    /// Waits until everything that was pushed before is done with.
    pub(super) fn flush(&self) -> impl Future<Output = ()> + Send + 'static {
        let num_pushed = self.lock().num_pushed;
        let mut num_done = self.num_done.subscribe();
        async move {
            // An error says that the writer is gone: then nothing is left to wait for.
            let _ = num_done.wait_for(|done| *done >= num_pushed).await;
        }
    }

    fn run_writer(&self, store: Arc<BlockFolder>) {
        let _ends = WriterEnds(self);
        let mut writer = BlockWriter::new(store);
        while let Some(put) = self.next() {
            match put.what {
                What::Range { object, piece } => writer.write_range(&object, &piece, put.class),
                What::Entry { key, bytes } => writer.write_entry(&key, bytes, put.class),
            }
            self.num_done.send_modify(|done| *done += 1);
        }
    }

    /// The next put, when there is one; `None` once the queue is closed.
    fn next(&self) -> Option<PutRequest> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(put) = state.waiting.pop_front() {
                state.num_bytes -= put.what.num_bytes();
                return Some(put);
            }
            state = self
                .arrived
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// However the writer ends, nobody waits for it after that.
struct WriterEnds<'a>(&'a PutQueue);

impl Drop for WriterEnds<'_> {
    fn drop(&mut self) {
        self.0.close();
        self.0.num_done.send_replace(u64::MAX);
    }
}
