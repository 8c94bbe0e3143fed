//! Folders of a store: several indexes under one root, which share its client and what is known of it.

use std::fs;
use std::io;

use futures_util::future::try_join_all;

use super::super::local_lock::LocalLock;
use super::IndexStore;
use crate::error::BuildError;

/// Objects that are deleted at once.
const DELETES_AT_ONCE: usize = 8;

impl IndexStore {
    /// The same store, for the objects of one of its folders. What a probe has found holds for both.
    pub(crate) fn below(&self, folder: &str) -> Result<IndexStore, BuildError> {
        let lock = match &self.lock {
            None => None,
            Some(lock) => {
                let path = lock.folder().join(folder);
                fs::create_dir_all(&path).map_err(|error| {
                    BuildError::unavailable(format!("cannot make the folder `{}`", path.display()))
                        .caused_by(error)
                })?;
                Some(LocalLock::of_folder(path))
            }
        };
        Ok(IndexStore {
            prefix: self.path_of(folder),
            uri: self.shown(folder),
            lock,
            ..self.clone()
        })
    }

    /// Deletes all objects of a folder, the one called `first` before the others; says which there were, with their lengths.
    /// Once `first` is gone, this can be repeated until it succeeds.
    pub(crate) async fn remove_folder(
        &self,
        folder: &str,
        first: &str,
    ) -> Result<Vec<(String, u64)>, BuildError> {
        let listed = self.list(folder).await?;
        self.delete_if_there(&format!("{folder}/{first}")).await?;
        for some in listed.chunks(DELETES_AT_ONCE) {
            let deletes = some.iter().map(|(name, _)| self.delete_if_there(name));
            try_join_all(deletes).await?;
        }
        if let Some(lock) = &self.lock {
            let path = lock.folder().join(folder);
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let shown = path.display();
                    return Err(BuildError::unavailable(format!(
                        "cannot remove the folder `{shown}`"
                    ))
                    .caused_by(error));
                }
                _ => {}
            }
            // Only if it is empty: another index may have the name by now.
            if let Some(parent) = path.parent() {
                let _ = fs::remove_dir(parent);
            }
        }
        Ok(listed)
    }
}
