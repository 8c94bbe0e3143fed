//! Stop page, which a guest's loops read (`polls.rs`), and which becomes inaccessible to stop the
//! guest.
//!
//! It is the lowest page of its memory and not used otherwise: it is the far end of a stack that is
//! longer than any query needs, and the host exchanges data with the guest above the stack.

use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

thread_local! {
    /// Page of the memory that this thread created last, until its creator takes it.
    static LAST_MADE: RefCell<Option<Arc<StopPage>>> = const { RefCell::new(None) };
}

/// Stop page, usable from any thread.
pub(super) struct StopPage {
    state: Mutex<State>,
}

struct State {
    /// `None` after the memory was dropped.
    base: Option<NonNull<u8>>,
    is_taken: bool,
}

// SAFETY: the address is valid as long as it is known, and the page is only protected, under a
// lock.
#[allow(unsafe_code, reason = "a pointer is not sent otherwise")]
unsafe impl Send for State {}

impl StopPage {
    /// Returns the stop page at `base`, and makes it available to [`Self::last_made`] on this
    /// thread.
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

    /// Takes the page of the memory that this thread created last.
    pub(super) fn last_made() -> Option<Arc<Self>> {
        LAST_MADE.with(|last| last.borrow_mut().take())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the next read of the page trap.
    pub(super) fn take(&self) {
        let mut state = self.lock();
        if !state.is_taken {
            state.is_taken = state.protect(libc::PROT_NONE);
        }
    }

    /// Makes the page readable again.
    pub(super) fn give_back(&self) {
        let mut state = self.lock();
        if state.is_taken {
            state.is_taken = !state.protect(libc::PROT_READ | libc::PROT_WRITE);
        }
    }

    pub(super) fn is_taken(&self) -> bool {
        self.lock().is_taken
    }

    /// Forgets the page because its memory is dropped.
    pub(super) fn forget(&self) {
        self.lock().base = None;
    }
}

impl State {
    /// Sets the protection. Returns whether that succeeded.
    fn protect(&self, access: libc::c_int) -> bool {
        let Some(base) = self.base else { return false };
        // SAFETY: the call only returns a number.
        #[allow(unsafe_code, reason = "the standard library does not know")]
        let page_len = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let Ok(page_len) = usize::try_from(page_len) else {
            return false;
        };
        // SAFETY: this is the first page of an existing memory, and its content stays; `Memory`
        // calls `forget` before it is dropped.
        #[allow(unsafe_code, reason = "the standard library protects no pages")]
        let failed = unsafe { libc::mprotect(base.as_ptr().cast(), page_len, access) };
        failed == 0
    }
}
