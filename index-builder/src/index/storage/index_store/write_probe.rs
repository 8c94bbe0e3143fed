//! Probe of conditional writes, with objects that only the probe uses.
//!
//! ```text
//!   full probe, which finds the fault          short probe, before every change of an existing index
//!   PUT  If-None-Match: *     succeeds         PUT  If-None-Match: *      must fail: the object exists
//!   PUT  If-None-Match: *     fails            PUT  If-Match: another's   must fail: different version
//!   PUT  If-Match: first      succeeds
//!   PUT  If-Match: first      fails
//!   DELETE
//! ```
//!
//! The short probe needs a permanent object, which the first one creates with another request. If a
//! store does not refuse both writes, the full probe runs. The swap of the manifest itself shows
//! that writes succeed if the condition holds.
//!
//! Several imitations of S3 perform all four writes. Two concurrent builders would then silently
//! lose each other's splits.

use super::super::own_names::{PROBE_FOLDER, STANDING_PROBE};
use super::{Attempt, IndexStore, Version};
use crate::blocking;
use crate::error::BuildError;
use bytes::Bytes;
use std::hash::{BuildHasher, RandomState};

/// Effect of a condition that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The write fails, as it should.
    Kept,
    /// The write succeeds: the store ignores the condition.
    Ignored,
    /// The store does not support writes with this condition.
    Unsupported,
}

/// Support of conditions on writes in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteProbe {
    /// Effect of `If-None-Match: *`, without which the creation of an object can replace one.
    pub if_none_match: Condition,
    /// Effect of `If-Match` with the version that was read, without which one of two concurrent
    /// writes is lost.
    pub if_match: Condition,
    /// Object that the probe could not delete, with the reason.
    pub left_behind: Option<String>,
}

impl WriteProbe {
    /// Returns the result for a store that does everything right.
    pub(super) fn fit() -> WriteProbe {
        WriteProbe {
            if_none_match: Condition::Kept,
            if_match: Condition::Kept,
            left_behind: None,
        }
    }

    /// Returns whether several builders can write concurrently.
    #[must_use]
    pub fn is_fit(&self) -> bool {
        self.if_none_match == Condition::Kept && self.if_match == Condition::Kept
    }

    /// Returns the faults of the store for a message, such as "ignores If-Match on writes".
    pub(crate) fn faults(&self) -> String {
        let conditions = [
            ("If-None-Match", self.if_none_match),
            ("If-Match", self.if_match),
        ];
        let named = |wanted: Condition| -> Vec<&str> {
            let those = conditions.iter().filter(|(_, found)| *found == wanted);
            those.map(|(name, _)| *name).collect()
        };
        let faults = [
            ("ignores", named(Condition::Ignored)),
            ("refuses every", named(Condition::Unsupported)),
        ];
        let faults: Vec<String> = faults
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(verb, names)| format!("{verb} {} on writes", names.join(" and ")))
            .collect();
        faults.join(", and ")
    }
}

impl IndexStore {
    /// Checks whether this store respects conditions on writes: writes a small object below
    /// `write-probe/` four times and deletes it. In a folder, a lock file replaces the conditions.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer or refuses these writes.
    pub fn probe_writes(&self) -> Result<WriteProbe, BuildError> {
        blocking::run(probe(self))
    }
}

/// Runs the full probe; see [`IndexStore::probe_writes`].
pub(super) async fn probe(store: &IndexStore) -> Result<WriteProbe, BuildError> {
    let name = probe_name();
    let found = conditions(store, &name).await;
    let deleted = store.delete(&name).await;
    let (if_none_match, if_match) = found?;
    Ok(WriteProbe {
        if_none_match,
        if_match,
        left_behind: deleted.err().map(|error| error.to_string()),
    })
}

/// Returns whether a store refused both a second creation of an object and a replacement of a
/// version that the object does not have; `of_another` is the version of another object. After
/// `false`, the full probe must run. In this case, nothing is left behind.
pub(super) async fn refuses(store: &IndexStore, of_another: &Version) -> Result<bool, BuildError> {
    let text = || {
        Bytes::from_static(
            b"canter tries conditional writes on this object before it changes an index; it may be deleted\n",
        )
    };
    let mut creation = store.put_new(STANDING_PROBE, text()).await?;
    if matches!(creation, Attempt::Done(_)) {
        creation = store.put_new(STANDING_PROBE, text()).await?;
    }
    let is_kept = match creation {
        Attempt::Conflict => {
            let replacement = store.put_over(STANDING_PROBE, text(), of_another).await?;
            matches!(replacement, Attempt::Conflict)
        }
        _ => false,
    };
    if !is_kept {
        // Without permission to delete, a few bytes stay. The fault of the store is more important.
        let _ = store.delete_if_there(STANDING_PROBE).await;
    }
    Ok(is_kept)
}

async fn conditions(store: &IndexStore, name: &str) -> Result<(Condition, Condition), BuildError> {
    let text = |ord: u8| Bytes::from(format!("a probe of conditional writes, {ord}\n"));
    let first = match store.put_new(name, text(1)).await? {
        Attempt::Done(version) => version,
        // The name is unique, so this means that the first answer was lost and the repetition was
        // refused.
        Attempt::Conflict | Attempt::Gone => version_of(store, name).await?,
        Attempt::Unsupported(_) => {
            store.overwrite(name, text(1)).await?;
            let version = version_of(store, name).await?;
            let if_match = condition_of_match(store, name, &version, text).await?;
            return Ok((Condition::Unsupported, if_match));
        }
    };
    match store.put_new(name, text(2)).await? {
        Attempt::Conflict | Attempt::Gone => {
            let if_match = condition_of_match(store, name, &first, text).await?;
            Ok((Condition::Kept, if_match))
        }
        Attempt::Done(second) => {
            let if_match = condition_of_match(store, name, &second, text).await?;
            Ok((Condition::Ignored, if_match))
        }
        Attempt::Unsupported(error) => Err(error),
    }
}

/// `version` is the current version of the object.
async fn condition_of_match(
    store: &IndexStore,
    name: &str,
    version: &Version,
    text: impl Fn(u8) -> Bytes,
) -> Result<Condition, BuildError> {
    match store.put_over(name, text(3), version).await? {
        Attempt::Done(_) => {}
        Attempt::Unsupported(_) => return Ok(Condition::Unsupported),
        // Alternatively, the first answer was lost and the repetition was refused.
        Attempt::Conflict | Attempt::Gone => match store.get(name).await? {
            Some((found, _)) if found == text(3) => {}
            _ => return Ok(Condition::Unsupported),
        },
    }
    match store.put_over(name, text(4), version).await? {
        Attempt::Conflict | Attempt::Gone => Ok(Condition::Kept),
        Attempt::Done(_) => Ok(Condition::Ignored),
        Attempt::Unsupported(error) => Err(error),
    }
}

async fn version_of(store: &IndexStore, name: &str) -> Result<Version, BuildError> {
    match store.get(name).await? {
        Some((_, version)) => Ok(version),
        None => Err(BuildError::unavailable(format!(
            "`{}` was written and is not there: this store does not show what was just \
             written to it",
            store.shown(name)
        ))),
    }
}

/// Returns a unique name for a probe.
fn probe_name() -> String {
    // Each `RandomState` has random keys.
    let random = || RandomState::new().hash_one(std::process::id());
    format!("{PROBE_FOLDER}/{:016x}{:016x}", random(), random())
}
