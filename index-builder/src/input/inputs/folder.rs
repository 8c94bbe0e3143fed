//! The files below a folder, ordered by name.
//!
//! A link can lead out of the named folder: anyone with write access to the folder could have any file ingested that
//! this program can read. Links to files outside are therefore left out and reported, unless the caller follows links.

use super::find::{Candidate, LeftOut, Sink};
use crate::error::BuildError;
use globset::GlobMatcher;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, FileType, Metadata};
use std::path::{Path, PathBuf};

/// Passes the files below `folder` that match `glob` to `sink`. With `follow_links`, linked folders are entered
/// too, each folder once, so that circles end.
pub(super) fn list_folder(
    folder: &Path,
    glob: Option<&GlobMatcher>,
    follow_links: bool,
    sink: &mut Sink<'_>,
) -> Result<(), BuildError> {
    if !folder.is_dir() {
        return Err(BuildError::invalid(format!(
            "no folder `{}`: check its name",
            folder.display()
        )));
    }
    let root = folder.canonicalize().map_err(|error| {
        BuildError::unavailable(format!("cannot list the folder `{}`", folder.display()))
            .caused_by(error)
    })?;
    let mut walk = Walk {
        glob,
        follow_links,
        root,
        entered: BTreeSet::new(),
        linked_folders: BTreeSet::new(),
        files: BTreeMap::new(),
        linked_files: BTreeMap::new(),
        left_out: LeftOut::default(),
        special: Vec::new(),
    };
    walk.enter_all(folder.to_path_buf())?;
    let files = walk.all_files();
    if walk.left_out.num_all() > 0 {
        sink.left_out().add(&walk.left_out);
        sink.name_special(walk.special);
    }
    for (path, found) in files {
        let name = path.display().to_string();
        let modified = found.modified().ok();
        if !sink.take(Candidate::file(path, name, found.len(), modified))? {
            break;
        }
    }
    Ok(())
}

/// Traversal of a folder.
struct Walk<'g> {
    glob: Option<&'g GlobMatcher>,
    follow_links: bool,
    /// The named folder, with all links resolved.
    root: PathBuf,
    /// Folders that were entered, with all links resolved.
    entered: BTreeSet<PathBuf>,
    /// Links to folders, to be entered after all other folders.
    linked_folders: BTreeSet<PathBuf>,
    /// Files by path.
    files: BTreeMap<PathBuf, Metadata>,
    /// Links to files by path.
    linked_files: BTreeMap<PathBuf, Metadata>,
    left_out: LeftOut,
    /// Names of the first pipes, sockets and devices.
    special: Vec<String>,
}

/// Maximum number of pipes, sockets and devices that are reported by name.
const MAX_NAMED: usize = 10;

impl Walk<'_> {
    fn enter_all(&mut self, first: PathBuf) -> Result<(), BuildError> {
        let mut folders = vec![first];
        loop {
            while let Some(folder) = folders.pop() {
                let Ok(real) = folder.canonicalize() else {
                    // It was deleted meanwhile.
                    continue;
                };
                if self.entered.insert(real) {
                    self.read_folder(&folder, &mut folders)?;
                }
            }
            match self.linked_folders.pop_first() {
                Some(folder) => folders.push(folder),
                None => return Ok(()),
            }
        }
    }

    fn read_folder(&mut self, folder: &Path, folders: &mut Vec<PathBuf>) -> Result<(), BuildError> {
        let failed = |error| {
            BuildError::unavailable(format!("cannot list the folder `{}`", folder.display()))
                .caused_by(error)
        };
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = match folder == Path::new(".") {
                true => PathBuf::from(entry.file_name()),
                false => entry.path(),
            };
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                match is_hidden {
                    true => self.left_out.num_hidden += u64::from(self.glob.is_none()),
                    false => folders.push(path),
                }
            } else if is_hidden {
                self.left_out.num_hidden += u64::from(self.is_wanted(&path));
            } else if kind.is_symlink() {
                self.add_link(path);
            } else if self.is_wanted(&path) {
                self.add_file(path, kind);
            }
        }
        Ok(())
    }

    fn is_wanted(&self, path: &Path) -> bool {
        let shown = path.strip_prefix("./").unwrap_or(path);
        self.glob.is_none_or(|glob| glob.is_match(shown))
    }

    fn add_file(&mut self, path: PathBuf, kind: FileType) {
        match path.metadata() {
            Ok(found) if kind.is_file() => drop(self.files.insert(path, found)),
            // A file that was deleted meanwhile is not an input.
            Err(_) if kind.is_file() => {}
            _ => self.leave_special(&path),
        }
    }

    /// Leaves out a pipe, a socket or a device.
    fn leave_special(&mut self, path: &Path) {
        self.left_out.num_special += 1;
        if self.special.len() < MAX_NAMED {
            self.special.push(path.display().to_string());
        }
    }

    fn add_link(&mut self, path: PathBuf) {
        let is_wanted = self.is_wanted(&path);
        let (real, found) = match (path.canonicalize(), path.metadata()) {
            (Ok(real), Ok(found)) => (real, found),
            _ => {
                self.left_out.num_dead_links += u64::from(is_wanted);
                return;
            }
        };
        let is_outside = !real.starts_with(&self.root);
        if found.is_dir() {
            // A folder inside is entered under its own name.
            match self.follow_links {
                true => drop(self.linked_folders.insert(path)),
                false if self.glob.is_none() => {
                    self.left_out.num_links_outside += u64::from(is_outside);
                }
                false => {}
            }
        } else if !is_wanted {
        } else if is_outside && !self.follow_links {
            self.left_out.num_links_outside += 1;
        } else if !found.is_file() {
            self.leave_special(&path);
        } else {
            self.linked_files.insert(path, found);
        }
    }

    /// Returns all files ordered by name. A file with several names occurs once, under its own name if that was found.
    fn all_files(&mut self) -> BTreeMap<PathBuf, Metadata> {
        let mut all = std::mem::take(&mut self.files);
        if self.linked_files.is_empty() {
            return all;
        }
        let mut places: BTreeSet<PathBuf> = all
            .keys()
            .filter_map(|path| path.canonicalize().ok())
            .collect();
        for (path, found) in std::mem::take(&mut self.linked_files) {
            let Ok(real) = path.canonicalize() else {
                self.left_out.num_dead_links += 1;
                continue;
            };
            match places.insert(real) {
                true => drop(all.insert(path, found)),
                false => self.left_out.num_repeated_links += 1,
            }
        }
        all
    }
}
