//! Whether a store keeps to conditions on writes, found out on an object of the probe's own.
//!
//! ```text
//!   PUT  If-None-Match: *        made
//!   PUT  If-None-Match: *        must be refused: it is there
//!   PUT  If-Match: first         done
//!   PUT  If-Match: first         must be refused: that version is gone
//!   DELETE
//! ```
//!
//! Several look-alikes of S3 do all four writes. Two builders at once then lose each other's splits,
//! and nobody is told.

use super::index_store::{Attempt, IndexStore, Version};
use super::own_names::PROBE_FOLDER;
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

async fn conditions(store: &IndexStore, name: &str) -> Result<(Condition, Condition), BuildError> {
    let text = |ord: u8| Bytes::from(format!("a probe of conditional writes, {ord}\n"));
    let first = match store.put_new(name, text(1)).await? {
        Attempt::Done(version) => version,
        // Nobody else knows the name: a first answer was lost, and its repetition was refused.
        Attempt::Conflict => version_of(store, name).await?,
        Attempt::Unsupported(_) => {
            store.overwrite(name, text(1)).await?;
            let version = version_of(store, name).await?;
            let if_match = condition_of_match(store, name, &version, text).await?;
            return Ok((Condition::Unsupported, if_match));
        }
    };
    match store.put_new(name, text(2)).await? {
        Attempt::Conflict => {
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
        Attempt::Conflict => match store.get(name).await? {
            Some((found, _)) if found == text(3) => {}
            _ => return Ok(Condition::Unsupported),
        },
    }
    match store.put_over(name, text(4), version).await? {
        Attempt::Conflict => Ok(Condition::Kept),
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
