//! Whether a store keeps to conditions on writes, found out on objects of the probe's own.
//!
//! ```text
//!   in full, which says what is wrong          in short, before every change of an index that is there
//!   PUT  If-None-Match: *     made             PUT  If-None-Match: *      must be refused: it is there
//!   PUT  If-None-Match: *     refused          PUT  If-Match: another's   must be refused: it is not that version
//!   PUT  If-Match: first      done
//!   PUT  If-Match: first      refused
//!   DELETE
//! ```
//!
//! The short one needs an object that stays (the first time, one request more makes it). A store that refuses neither is
//! asked in full. That a condition which holds is accepted, the swap of the manifest shows itself.
//!
//! Several look-alikes of S3 do all four writes. Two builders at once then lose each other's splits,
//! and nobody is told.

use super::index_store::{Attempt, IndexStore, Version};
use super::own_names::{PROBE_FOLDER, STANDING_PROBE};
use crate::blocking;
use crate::error::BuildError;
use bytes::Bytes;
use std::hash::{BuildHasher, RandomState};

/// What becomes of a write whose condition does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It is refused, as it must be.
    Kept,
    /// It is done all the same: the store ignores the condition.
    Ignored,
    /// The store takes no write with this condition, right or wrong.
    Unsupported,
}

/// How a store treats conditions on writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteProbe {
    /// `If-None-Match: *`, without which creating an object may replace one.
    pub if_none_match: Condition,
    /// `If-Match` with the version that was read, without which one of two writers at once is lost.
    pub if_match: Condition,
    /// An object that the probe made and could not delete, and why.
    pub left_behind: Option<String>,
}

impl WriteProbe {
    /// What is found of a store that does everything right.
    pub(super) fn fit() -> WriteProbe {
        WriteProbe {
            if_none_match: Condition::Kept,
            if_match: Condition::Kept,
            left_behind: None,
        }
    }

    /// Whether several builders may write at once.
    #[must_use]
    pub fn is_fit(&self) -> bool {
        self.if_none_match == Condition::Kept && self.if_match == Condition::Kept
    }

    /// What is wrong with the store, for a message: "ignores If-Match on writes".
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
    /// Finds out whether this store keeps to conditions on writes: writes a small object below
    /// `write-probe/`, four times, and deletes it. In a folder a lock file stands in for conditions.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer or does not let this be written.
    pub fn probe_writes(&self) -> Result<WriteProbe, BuildError> {
        blocking::run(probe(self))
    }
}

/// See [`IndexStore::probe_writes`].
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

/// Whether a store was seen to refuse both a second creation of an object, and a replacement of a version that the
/// object does not have: `of_another` is the version of another object. `false` says nothing but that the full probe
/// has to be asked, and then leaves nothing behind.
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
        // Who may not delete leaves a few bytes behind; what is wrong with the store matters more.
        let _ = store.delete_if_there(STANDING_PROBE).await;
    }
    Ok(is_kept)
}

async fn conditions(store: &IndexStore, name: &str) -> Result<(Condition, Condition), BuildError> {
    let text = |ord: u8| Bytes::from(format!("a probe of conditional writes, {ord}\n"));
    let first = match store.put_new(name, text(1)).await? {
        Attempt::Done(version) => version,
        // Nobody else knows the name: a first answer was lost, and its repetition was refused.
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

/// `version` is the one that is there.
async fn condition_of_match(
    store: &IndexStore,
    name: &str,
    version: &Version,
    text: impl Fn(u8) -> Bytes,
) -> Result<Condition, BuildError> {
    match store.put_over(name, text(3), version).await? {
        Attempt::Done(_) => {}
        Attempt::Unsupported(_) => return Ok(Condition::Unsupported),
        // Or a first answer was lost, and its repetition was refused.
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

/// A name that no other probe has.
fn probe_name() -> String {
    // Each `RandomState` has keys of its own.
    let random = || RandomState::new().hash_one(std::process::id());
    format!("{PROBE_FOLDER}/{:016x}{:016x}", random(), random())
}
