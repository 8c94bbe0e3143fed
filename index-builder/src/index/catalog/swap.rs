//! Small JSON file that only changes by compare-and-swap: read, edit, swap, and repeat after a
//! conflict.

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::BuildError;
use crate::index::publisher::{MAX_ATTEMPTS, pause};
use crate::index::storage::{IndexStore, Swap, Version};

/// Maximum length of the file, which is read and written as a whole.
const MAX_BYTES: usize = 16 << 20;

/// Content of such a file.
pub(crate) trait Swapped: Serialize + DeserializeOwned + Default {
    /// Version that this program reads and writes.
    const VERSION: u32 = 1;
    /// Name of the file.
    const OBJECT: &'static str;

    /// Returns the version of this content.
    fn version(&self) -> u32;
}

/// Decision after a look at the file.
pub(super) enum Verdict<R> {
    /// Write the edited content.
    Write(R),
    /// Leave the file unchanged.
    Leave(R),
}

/// Reads a file, or returns the default if it does not exist yet.
pub(super) async fn read<T: Swapped>(
    store: &IndexStore,
) -> Result<(T, Option<Version>), BuildError> {
    let Some((bytes, version)) = store.get(T::OBJECT).await? else {
        return Ok((T::default(), None));
    };
    let file = parse(&bytes, &store.shown(T::OBJECT))?;
    Ok((file, Some(version)))
}

/// Parses the content of a file, which messages refer to as `shown`.
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

/// Edits a file. `edit` can be called several times, each time with the current content.
///
/// # Errors
/// Errors of `edit`; `Limit` if the file becomes too long; `Unavailable` if storage does not answer
/// or conflicts persist; `Invalid` for a store that ignores conditions on writes.
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
