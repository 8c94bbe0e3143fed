//! The page that a guest's loops read (`polls.rs`), which is taken away from it where it is to stop.
//!
//! It is the lowest of its memory. Nobody else reads or writes there: it is the far end of a stack that is longer than
//! any query needs, and what the host hands in and takes out lies behind the stack.

use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

thread_local! {
    /// The page of the memory that this thread made last, until whoever made it asks.
    static LAST_MADE: RefCell<Option<Arc<StopPage>>> = const { RefCell::new(None) };
}

/// The page, from whatever thread.
pub(super) struct StopPage {
    state: Mutex<State>,
}

struct State {
    /// `None` when the memory is gone.
    base: Option<NonNull<u8>>,
    is_taken: bool,
}

// SAFETY: the address of a page that is there for as long as it is known, and is only protected, under a lock.
#[allow(unsafe_code, reason = "a pointer is not sent otherwise")]
unsafe impl Send for State {}

impl StopPage {
    /// The page that begins at `base`, for whoever asks next on this thread, too.
    pub(super) fn of_memory(base: NonNull<u8>) -> Arc<Self> {
        let page = Arc::new(Self {
            state: Mutex::new(State {
                base: Some(base),
                is_taken: false,
            }),
        });
        LAST_MADE.with(|last| *last.borrow_mut() = Some(page.clone()));
        page
    }

    /// The page of the memory that this thread has made since it was last asked.
    pub(super) fn last_made() -> Option<Arc<Self>> {
        LAST_MADE.with(|last| last.borrow_mut().take())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next read of it traps.
    pub(super) fn take(&self) {
        let mut state = self.lock();
        if !state.is_taken {
            state.is_taken = state.protect(libc::PROT_NONE);
        }
    }

    /// It can be read again.
    pub(super) fn give_back(&self) {
        let mut state = self.lock();
        if state.is_taken {
            state.is_taken = !state.protect(libc::PROT_READ | libc::PROT_WRITE);
        }
    }

    pub(super) fn is_taken(&self) -> bool {
        self.lock().is_taken
    }

    /// The memory goes away.
    pub(super) fn forget(&self) {
        self.lock().base = None;
    }
}

impl State {
    /// Whether it could be done.
    fn protect(&self, access: libc::c_int) -> bool {
        let Some(base) = self.base else { return false };
        // SAFETY: asks for a number.
        #[allow(unsafe_code, reason = "the standard library does not know")]
        let page_len = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let Ok(page_len) = usize::try_from(page_len) else {
            return false;
        };
        // SAFETY: the first page of a memory that is there, whose content stays; `Memory` says before it goes.
        #[allow(unsafe_code, reason = "the standard library protects no pages")]
        let failed = unsafe { libc::mprotect(base.as_ptr().cast(), page_len, access) };
        failed == 0
    }
}
