//! Numbers of entries in folders, and of lines in files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::exceptions::{FILES, FOLDERS, check};
use super::source::{crates, sources, workspace};

/// Maximum number of entries in a folder of sources.
pub(super) const MAX_ENTRIES: usize = 12;

/// Maximum number of lines in a file of sources, tests aside.
pub(super) const MAX_LINES: usize = 500;

#[test]
fn folders_have_a_dozen_entries() {
    let mut found = BTreeMap::new();
    for crate_folder in crates() {
        count(&workspace().join(crate_folder).join("src"), &mut found);
    }
    check("entries of folders", &found, FOLDERS);
}

fn count(folder: &Path, found: &mut BTreeMap<String, usize>) {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut num_entries = 0;
    for path in entries {
        num_entries += 1;
        if path.is_dir() {
            count(&path, found);
        }
    }
    if num_entries > MAX_ENTRIES {
        let shown = folder.strip_prefix(workspace()).unwrap();
        found.insert(shown.to_string_lossy().replace('\\', "/"), num_entries);
    }
}

#[test]
fn files_have_at_most_five_hundred_lines_without_tests() {
    let files = crates()
        .into_iter()
        .flat_map(|crate_folder| sources(&crate_folder));
    let lengths = files.map(|source| (source.path, source.code.lines().count()));
    let found: BTreeMap<String, usize> = lengths.filter(|(_, len)| *len > MAX_LINES).collect();
    check("lines of files", &found, FILES);
}
