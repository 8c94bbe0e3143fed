//! Folders of a store, for several indexes under one root that share its client and the result of
//! its probe.

use std::fs;
use std::sync::Arc;

use canter_split_format::MANIFEST_OBJECT;
use futures_util::future::try_join_all;

use super::super::index_folder::IndexFolder;
use super::super::local_lock::LocalLock;
use super::super::own_names::{is_own, not_ours};
use super::super::removal::{Subject, remove_files};
use super::IndexStore;
use crate::error::BuildError;

/// Number of concurrent deletions.
const DELETES_AT_ONCE: usize = 8;

impl IndexStore {
    /// Returns the store for the objects of one of its folders. The result of a probe applies to
    /// both; what is held in memory is of one index only.
    pub(crate) fn below(&self, folder: &IndexFolder) -> Result<IndexStore, BuildError> {
        let called = self.called.as_ref().map(|_| folder.name().into());
        let lock = match &self.lock {
            None => None,
            Some(lock) => {
                let path = lock.folder().join(folder.as_str());
                fs::create_dir_all(&path).map_err(|error| {
                    let shown = self.shown(folder.as_str());
                    BuildError::unavailable(format!("cannot make the folder `{shown}`"))
                        .caused_by(error)
                })?;
                Some(LocalLock::of_folder(path))
            }
        };
        Ok(IndexStore {
            prefix: self.path_of(folder.as_str()),
            uri: format!("{}/{folder}", self.uri),
            called,
            lock,
            is_of_several: true,
            held: Arc::default(),
            ..self.clone()
        })
    }

    /// Deletes all objects of an index, the manifest before the others, and returns their names and
    /// lengths. After the manifest is gone, this can be repeated until it succeeds.
    ///
    /// Only objects with names that an index can own are deleted. If there is anything else, an
    /// error is returned, and only the manifest is deleted.
    pub(crate) async fn remove_index(
        &self,
        folder: &IndexFolder,
    ) -> Result<Vec<(String, u64)>, BuildError> {
        if let Some(lock) = &self.lock {
            let shown = self.shown(folder.as_str());
            return remove_files(&Subject {
                root: lock.folder(),
                folder,
                shown: &shown,
            });
        }
        let prefix = format!("{folder}/");
        let listed = self.list(folder.as_str()).await?;
        self.delete_if_there(&format!("{prefix}{MANIFEST_OBJECT}"))
            .await?;
        let is_foreign =
            |(name, _): &&(String, u64)| !name.strip_prefix(&prefix).is_some_and(is_own);
        if let Some((foreign, _)) = listed.iter().find(is_foreign) {
            return Err(not_ours(&self.shown(foreign)));
        }
        for some in listed.chunks(DELETES_AT_ONCE) {
            let deletes = some.iter().map(|(name, _)| self.delete_if_there(name));
            try_join_all(deletes).await?;
        }
        Ok(listed)
    }
}
