//! A small JSON file that changes by compare-and-swap only: read, change, swap; again if somebody else was faster.

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::BuildError;
use crate::publisher::{MAX_ATTEMPTS, pause};
use crate::storage::{IndexStore, Swap, Version};

/// Longest file: it is read and written whole.
const MAX_BYTES: usize = 16 << 20;

/// What such a file holds.
pub(crate) trait Swapped: Serialize + DeserializeOwned + Default {
    /// The version that this program writes, and the only one that it reads.
    const VERSION: u32 = 1;
    /// The file's name.
    const OBJECT: &'static str;

    /// The version that it has.
    fn version(&self) -> u32;
}

/// What is to become of a file that was looked at.
pub(super) enum Verdict<R> {
    /// It is written as it was changed.
    Write(R),
    /// It stays as it was.
    Leave(R),
}

/// Reads a file; the default if it is not there yet.
pub(super) async fn read<T: Swapped>(
    store: &IndexStore,
) -> Result<(T, Option<Version>), BuildError> {
    let Some((bytes, version)) = store.get(T::OBJECT).await? else {
        return Ok((T::default(), None));
    };
    let file = parse(&bytes, &store.shown(T::OBJECT))?;
    Ok((file, Some(version)))
}

/// Reads a file's bytes. Messages call it `shown`.
pub(crate) fn parse<T: Swapped>(bytes: &[u8], shown: &str) -> Result<T, BuildError> {
    if bytes.len() > MAX_BYTES {
        return Err(BuildError::data(format!(
            "`{shown}` has {} bytes, and {MAX_BYTES} are the most that is written: restore it",
            bytes.len()
        )));
    }
    let file: T = serde_json::from_slice(bytes).map_err(|error| {
        BuildError::data(format!("`{shown}` cannot be read: restore it")).caused_by(error)
    })?;
    if file.version() != T::VERSION {
        return Err(BuildError::data(format!(
            "`{shown}` has version {}, and this program reads version {} only: use a newer one",
            file.version(),
            T::VERSION
        )));
    }
    Ok(file)
}

/// Changes a file. `edit` may be called several times, each time with what is there then.
///
/// # Errors
/// What `edit` says; `Limit` if the file becomes too long; `Unavailable` if storage does not answer, or others kept changing
/// it; `Invalid` for a store that does not keep to conditions on writes.
pub(super) async fn change<T: Swapped, R>(
    store: &IndexStore,
    mut edit: impl FnMut(&mut T) -> Result<Verdict<R>, BuildError>,
) -> Result<R, BuildError> {
    store.ensure_conditional_writes().await?;
    for num_attempts in 1..=MAX_ATTEMPTS {
        let (mut file, version) = read::<T>(store).await?;
        let result = match edit(&mut file)? {
            Verdict::Leave(result) => return Ok(result),
            Verdict::Write(result) => result,
        };
        let bytes = bytes_of(&file)?;
        let swap = match &version {
            None => store.create(T::OBJECT, bytes).await?,
            Some(version) => store.replace(T::OBJECT, bytes, version).await?,
        };
        if swap == Swap::Done {
            return Ok(result);
        }
        tokio::time::sleep(pause(num_attempts)).await;
    }
    Err(BuildError::unavailable(format!(
        "others changed `{}` during each of {MAX_ATTEMPTS} attempts: try again",
        store.shown(T::OBJECT)
    )))
}

fn bytes_of<T: Swapped>(file: &T) -> Result<Bytes, BuildError> {
    let bytes = serde_json::to_vec(file).map_err(|error| {
        BuildError::internal(format!("{} cannot be written as JSON", T::OBJECT)).caused_by(error)
    })?;
    match bytes.len() > MAX_BYTES {
        true => Err(BuildError::limit(format!(
            "{} would have {} bytes, and may have {MAX_BYTES}: delete something first",
            T::OBJECT,
            bytes.len()
        ))),
        false => Ok(Bytes::from(bytes)),
    }
}
