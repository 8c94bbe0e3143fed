//! Queue of puts for the writer thread. Its bytes are limited, and searches never wait for it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use canter_stores::cache::{BlockFolder, BlockWriter};
use tokio::sync::watch;

use crate::cache::CachedPiece;
use crate::session::ByteClass;

/// Maximum number of queued bytes: 64 MiB, about a second of a slow disk.
const MAX_QUEUED_BYTES: u64 = 64 << 20;
/// Maximum number of queued puts, which also limits small ones.
const MAX_QUEUED_PUTS: usize = 16 << 10;

/// Content of a put.
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
    /// Number of finished puts, whether they were written or not.
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

    /// Adds a put, unless the queue is full. The first put starts the writer thread, so a process
    /// without misses does not have one.
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

    /// Drops the queued puts and ends the writer thread.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.waiting.clear();
        drop(state);
        self.arrived.notify_one();
    }

    /// Waits until all puts that were added before are finished.
    pub(super) fn flush(&self) -> impl Future<Output = ()> + Send + 'static {
        let num_pushed = self.lock().num_pushed;
        let mut num_done = self.num_done.subscribe();
        async move {
            // An error means that the writer has ended, and nothing is left to wait for.
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

    /// Waits for the next put and returns it, or returns `None` once the queue is closed.
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

/// Releases waiting callers when the writer ends for any reason.
struct WriterEnds<'a>(&'a PutQueue);

impl Drop for WriterEnds<'_> {
    fn drop(&mut self) {
        self.0.close();
        self.0.num_done.send_replace(u64::MAX);
    }
}
