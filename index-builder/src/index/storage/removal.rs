//! Deletion of the files of an index in a local folder, one by one: only those that an index can
//! own, below the real root, without following links.
//!
//! ```text
//!   <root>           resolved once, since the command line names it
//!   └─ <name>        a folder, not a link
//!      └─ <id>       a folder, not a link
//!         ├─ files   with names of an index's files
//!         └─ folders with names of an index's folders, not links; they contain such files
//! ```
//!
//! Everything is checked before any file but the manifest is deleted, and the first foreign entry
//! is an error. Folders are only deleted if they are empty. Whoever can write into the folder could
//! put a link there between the check and the deletion; this can only delete files elsewhere that
//! have names of an index's files.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use canter_split_format::MANIFEST_OBJECT;

use super::index_folder::IndexFolder;
use super::own_names::{is_own, is_own_folder, not_ours};
use crate::error::BuildError;

/// Index to delete.
pub(super) struct Subject<'a> {
    /// Folder of the store.
    pub(super) root: &'a Path,
    /// Folder of the index, relative to it.
    pub(super) folder: &'a IndexFolder,
    /// Name of the index's folder in messages.
    pub(super) shown: &'a str,
}

/// Content of an index's folder.
#[derive(Default)]
struct FolderContents {
    /// Files relative to the index's folder, with their lengths.
    files: Vec<(String, u64)>,
    /// Subfolders.
    folders: BTreeSet<String>,
}

/// Deletes the index in a folder of `root`, as [`remove_files`] does.
///
/// # Errors
/// As [`remove_files`].
pub(crate) fn remove_index_files(root: &Path, folder: &IndexFolder) -> Result<(), BuildError> {
    remove_files(&Subject {
        root,
        folder,
        shown: folder.as_str(),
    })
    .map(drop)
}

/// Deletes the files of an index, the manifest first, and the folders that are empty afterwards.
/// Returns the files relative to the root, with their lengths.
pub(super) fn remove_files(subject: &Subject<'_>) -> Result<Vec<(String, u64)>, BuildError> {
    let failed = |error| subject.failed("delete", subject.shown, error);
    let Some(root) = unless_absent(fs::canonicalize(subject.root)).map_err(failed)? else {
        return Ok(Vec::new());
    };
    let of_name = root.join(subject.folder.name());
    let of_index = of_name.join(subject.folder.id());
    for folder in [&of_name, &of_index] {
        match unless_absent(fs::symlink_metadata(folder)).map_err(failed)? {
            None => {
                let _ = fs::remove_dir(&of_name);
                return Ok(Vec::new());
            }
            Some(found) if found.is_dir() => {}
            Some(_) => return Err(no_folder(subject.shown)),
        }
    }
    // The manifest comes first, in any case: without it there is no index, and late writers notice
    // that.
    subject.remove_manifest(&of_index)?;
    let Some(found) = subject.look(&of_index)? else {
        return Ok(Vec::new());
    };
    for (name, _) in &found.files {
        let removed = fs::remove_file(of_index.join(name));
        unless_absent(removed)
            .map_err(|error| subject.failed("delete", &subject.shown(name), error))?;
    }
    for folder in &found.folders {
        unless_absent(fs::remove_dir(of_index.join(folder)))
            .map_err(|error| subject.failed("delete", &subject.shown(folder), error))?;
    }
    unless_absent(fs::remove_dir(&of_index)).map_err(failed)?;
    // The folder is only removed if it is empty, because another index may have the name by now.
    let _ = fs::remove_dir(&of_name);
    let files = found.files.into_iter();
    Ok(files
        .map(|(name, len)| (format!("{}/{name}", subject.folder), len))
        .collect())
}

impl Subject<'_> {
    fn shown(&self, name: &str) -> String {
        format!("{}/{name}", self.shown)
    }

    fn failed(&self, verb: &str, shown: &str, error: io::Error) -> BuildError {
        BuildError::unavailable(format!("cannot {verb} `{shown}`")).caused_by(error)
    }

    fn remove_manifest(&self, of_index: &Path) -> Result<(), BuildError> {
        let path = of_index.join(MANIFEST_OBJECT);
        let failed = |error| self.failed("delete", &self.shown(MANIFEST_OBJECT), error);
        match unless_absent(fs::symlink_metadata(&path)).map_err(failed)? {
            Some(found) if found.is_file() => {
                unless_absent(fs::remove_file(&path)).map_err(failed)?;
                Ok(())
            }
            // The check reports anything else.
            _ => Ok(()),
        }
    }

    /// Returns the content of the index's folder, or `None` if the folder is gone.
    ///
    /// # Errors
    /// `Data` if there is anything that does not belong to an index.
    fn look(&self, of_index: &Path) -> Result<Option<FolderContents>, BuildError> {
        let Some(entries) = self.entries(of_index, self.shown)? else {
            return Ok(None);
        };
        let mut found = FolderContents::default();
        for entry in entries {
            let name = self.name_of(&entry, "")?;
            if self.kind_of(&entry, &name)?.is_dir() && is_own_folder(&name) {
                let entries = self.entries(&entry.path(), &self.shown(&name))?;
                for entry in entries.into_iter().flatten() {
                    let name = self.name_of(&entry, &format!("{name}/"))?;
                    found.files.extend(self.own_file(&entry, name)?);
                }
                found.folders.insert(name);
            } else {
                found.files.extend(self.own_file(&entry, name)?);
            }
        }
        found.files.sort();
        Ok(Some(found))
    }

    /// Returns the name and length of a file that belongs to the index, or `None` if it is gone.
    fn own_file(
        &self,
        entry: &DirEntry,
        name: String,
    ) -> Result<Option<(String, u64)>, BuildError> {
        if !(self.kind_of(entry, &name)?.is_file() && is_own(&name)) {
            return Err(not_ours(&self.shown(&name)));
        }
        // Looks at the entry itself, without following links.
        let found = unless_absent(entry.metadata());
        let found = found.map_err(|error| self.failed("look up", &self.shown(&name), error))?;
        Ok(found.map(|found| (name, found.len())))
    }

    /// Returns the content of a folder, or `None` if it is gone.
    fn entries(&self, path: &Path, shown: &str) -> Result<Option<Vec<DirEntry>>, BuildError> {
        let listed = fs::read_dir(path).and_then(Iterator::collect);
        unless_absent(listed).map_err(|error| self.failed("list", shown, error))
    }

    /// Returns the type of an entry. Links have a separate type.
    fn kind_of(&self, entry: &DirEntry, name: &str) -> Result<fs::FileType, BuildError> {
        let kind = entry.file_type();
        kind.map_err(|error| self.failed("look up", &self.shown(name), error))
    }

    fn name_of(&self, entry: &DirEntry, prefix: &str) -> Result<String, BuildError> {
        let name = entry.file_name();
        match name.to_str() {
            Some(name) => Ok(format!("{prefix}{name}")),
            None => Err(not_ours(
                &self.shown(&format!("{prefix}{}", name.to_string_lossy())),
            )),
        }
    }
}

/// Returns the error that there is something else in place of an index's folder.
fn no_folder(shown: &str) -> BuildError {
    BuildError::data(format!(
        "`{shown}` is a link or no folder, so that nothing was deleted: an index has a folder of its own; find out who has made \
         it, and remove it"
    ))
}

fn unless_absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
