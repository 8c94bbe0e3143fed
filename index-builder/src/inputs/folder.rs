//! The files below a folder, in the order of their names.

use super::find::{Candidate, LeftOut, Sink};
use crate::error::BuildError;
use globset::GlobMatcher;
use std::fs;
use std::path::{Path, PathBuf};

/// Gives the files below `folder` to `sink`: those that `glob` takes. Folders behind links are not entered, which
/// could lead in a circle.
pub(super) fn list_folder(
    folder: &Path,
    glob: Option<&GlobMatcher>,
    sink: &mut Sink<'_>,
) -> Result<(), BuildError> {
    if !folder.is_dir() {
        return Err(BuildError::invalid(format!(
            "no folder `{}`: check its name",
            folder.display()
        )));
    }
    let mut files = Vec::new();
    let mut left_out = LeftOut::default();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        read_folder(&folder, glob, &mut left_out, &mut folders, &mut files)?;
    }
    if left_out.num_hidden > 0 {
        sink.left_out().num_hidden += left_out.num_hidden;
    }
    files.sort();
    for path in files {
        // What is gone by now is told when it is read.
        let found = path.metadata();
        let name = path.display().to_string();
        let modified = found.as_ref().ok().and_then(|meta| meta.modified().ok());
        let size = found.map_or(1, |meta| meta.len());
        if !sink.take(Candidate::file(path, name, size, modified))? {
            break;
        }
    }
    Ok(())
}

fn read_folder(
    folder: &Path,
    glob: Option<&GlobMatcher>,
    left_out: &mut LeftOut,
    folders: &mut Vec<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> Result<(), BuildError> {
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
        let shown = path.strip_prefix("./").unwrap_or(&path);
        if kind.is_dir() {
            match is_hidden {
                true => left_out.num_hidden += u64::from(glob.is_none()),
                false => folders.push(path),
            }
        } else if glob.is_none_or(|glob| glob.is_match(shown)) {
            match is_hidden {
                true => left_out.num_hidden += 1,
                // A link may lead to a file.
                false if kind.is_file() || path.is_file() => files.push(path),
                false => {}
            }
        }
    }
    Ok(())
}
