//! The queue of secrets to check: it has a limited number of places for each key, so that guessing at a key only
//! affects clients that send another secret of that key for the first time.
//!
//! ```text
//!   key ──▶ one turn ─┬─▶ secret ──▶ one check, whose outcome all have who sent the same
//!                     └─▶ secret …   as many as there are places
//! ```
//!
//! An outcome is shared while any request holds its place, except with requests that arrive after the keys have
//! changed.
//!
//! Unknown key names have places too; otherwise, a client with many concurrent requests could detect them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use canter_access::{Denied, Grant};
use tokio::sync::{OnceCell, Semaphore};

/// Result of a check, once it is done.
type SharedCheck = Arc<OnceCell<Result<Grant, Denied>>>;

/// Waiting secrets, by the names of their keys.
pub(super) struct Line {
    max_secrets: usize,
    keys: Mutex<HashMap<String, OfKey>>,
}

/// State of a key while any request holds a place.
struct OfKey {
    /// One secret of a key is checked at a time: the other core is for other keys.
    turn: Arc<Semaphore>,
    secrets: HashMap<String, OfSecret>,
}

struct OfSecret {
    num_requests: usize,
    /// The number of key changes at the time the check was requested.
    num_changes: u64,
    outcome: SharedCheck,
}

/// A request's place, until it is dropped.
pub(super) struct Turn<'l> {
    line: &'l Line,
    key: String,
    secret: String,
    /// Must be held while the secret is checked.
    pub(super) turn: Arc<Semaphore>,
    /// Filled by the first holder of the turn.
    pub(super) outcome: SharedCheck,
}

impl Line {
    /// Creates a queue with `max_secrets` places for each key.
    pub(super) fn new(max_secrets: usize) -> Self {
        Self {
            max_secrets,
            keys: Mutex::default(),
        }
    }

    /// Returns a place for a request with this secret; `None` if all are taken. `num_changes` is the number of key
    /// changes at the time of the request.
    pub(super) fn place(&self, key: &str, secret: &str, num_changes: u64) -> Option<Turn<'_>> {
        let mut keys = self.keys();
        let of_key = keys.entry(key.to_owned()).or_insert_with(|| OfKey {
            turn: Arc::new(Semaphore::new(1)),
            secrets: HashMap::new(),
        });
        let is_there = of_key.secrets.contains_key(secret);
        if !is_there && of_key.secrets.len() >= self.max_secrets {
            return None;
        }
        let of_secret = of_key.secrets.entry(secret.to_owned());
        let of_secret = of_secret.or_insert_with(|| OfSecret {
            num_requests: 0,
            num_changes,
            outcome: Arc::default(),
        });
        if of_secret.num_changes < num_changes {
            // A secret that was wrong may be right now, and the other way round.
            of_secret.num_changes = num_changes;
            of_secret.outcome = Arc::default();
        }
        of_secret.num_requests += 1;
        Some(Turn {
            line: self,
            key: key.to_owned(),
            secret: secret.to_owned(),
            turn: Arc::clone(&of_key.turn),
            outcome: Arc::clone(&of_secret.outcome),
        })
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<String, OfKey>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut keys = self.line.keys();
        let Some(of_key) = keys.get_mut(&self.key) else {
            return;
        };
        if let Some(of_secret) = of_key.secrets.get_mut(&self.secret) {
            of_secret.num_requests -= 1;
            if of_secret.num_requests == 0 {
                of_key.secrets.remove(&self.secret);
            }
        }
        if of_key.secrets.is_empty() {
            keys.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_places_of_its_own_and_gives_them_back() {
        let line = Line::new(2);
        let first = line.place("a", "1", 0).unwrap();
        let second = line.place("a", "2", 0).unwrap();
        assert!(line.place("a", "3", 0).is_none());
        let other = line.place("b", "3", 0).unwrap();
        // The same secret keeps its place until all requests with it are gone.
        let again = line.place("a", "1", 0).unwrap();
        assert!(Arc::ptr_eq(&first.outcome, &again.outcome));
        drop(first);
        assert!(line.place("a", "3", 0).is_none());
        drop(again);
        let third = line.place("a", "3", 0).unwrap();
        assert!(line.place("a", "1", 0).is_none());
        drop((second, third, other));
        assert!(line.keys().is_empty());
    }

    #[test]
    fn who_comes_when_the_keys_have_changed_has_an_outcome_of_its_own() {
        let line = Line::new(1);
        let before = line.place("a", "1", 4).unwrap();
        let behind = line.place("a", "1", 5).unwrap();
        assert!(!Arc::ptr_eq(&before.outcome, &behind.outcome));
        // The later outcome also applies to earlier requests.
        for num_changes in [4, 5] {
            let other = line.place("a", "1", num_changes).unwrap();
            assert!(Arc::ptr_eq(&behind.outcome, &other.outcome));
        }
        // It is still one place.
        assert!(line.place("a", "2", 5).is_none());
        drop((before, behind));
        assert!(line.keys().is_empty());
    }
}
