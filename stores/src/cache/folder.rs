//! Folders of one class: their files, and eviction.
//!
//! ```text
//!   00 01 02 03 | 04 05 06 07 | … | 3c 3d 3e 3f       64 folders, in groups
//!     group 0       group 1            group 15       each with its share of the budget
//! ```
//!
//! A group is the unit of eviction. It is large enough that random hashes fill all groups about
//! equally, and small enough that listing it is cheap compared with the writes since the last
//! listing. The path of a file does not depend on the groups, so caches with different budgets find
//! each other's files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::ClassOptions;

/// Number of folders of a class.
const NUM_FOLDERS: usize = 64;
/// Minimum number of blocks that a group should hold.
const BLOCKS_PER_GROUP: u64 = 256;
/// Part of a group's budget (1/16) whose writing triggers a new listing, and that eviction frees in
/// excess.
const RELIST_DIVISOR: u64 = 16;
/// Unit of disk allocation in bytes.
const DISK_PAGE_LEN: u64 = 4096;
/// Age at which a temporary file counts as abandoned by a killed process.
const MAX_TEMPORARY_AGE: Duration = Duration::from_secs(600);

/// Prefix of the names of files that are being written.
pub const TEMPORARY_PREFIX: &str = ".tmp-";

/// Returns the number of bytes that a file of `len` bytes occupies on disk.
pub(super) fn cost_of(len: u64) -> u64 {
    len.div_ceil(DISK_PAGE_LEN) * DISK_PAGE_LEN
}

/// Folders of one class, as the writer sees them.
#[derive(Debug)]
pub(super) struct ClassFolder {
    path: PathBuf,
    groups: Vec<Group>,
    max_group_bytes: u64,
}

/// Known state of a group; unknown before its first listing.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Bytes at the last listing plus those written since.
    num_bytes: Option<u64>,
    num_written: u64,
}

pub(super) struct FoundFile {
    modified: SystemTime,
    pub(super) path: PathBuf,
    pub(super) cost: u64,
}

impl ClassFolder {
    pub(super) fn new(path: PathBuf, options: ClassOptions) -> Self {
        let num_blocks = options.max_bytes / options.block_len.max(1);
        let wanted = (num_blocks / BLOCKS_PER_GROUP).clamp(1, NUM_FOLDERS as u64);
        let num_groups = 1usize << wanted.ilog2();
        Self {
            path,
            groups: vec![Group::default(); num_groups],
            max_group_bytes: options.max_bytes / num_groups as u64,
        }
    }

    /// Returns whether a file of this cost can fit at all.
    pub(super) fn may_hold(&self, cost: u64) -> bool {
        cost <= self.max_group_bytes
    }

    /// Makes room for a file of `cost` in the group of folder `folder_ord`, evicting the oldest
    /// files first. Returns the number of files removed, or `None` if too few could be removed.
    pub(super) fn make_room(&mut self, folder_ord: usize, cost: u64) -> Option<u64> {
        let group_ord = self.group_of(folder_ord);
        let relist_bytes = self.max_group_bytes / RELIST_DIVISOR;
        let group = &self.groups[group_ord];
        let is_known = group.num_written < relist_bytes;
        if is_known
            && group
                .num_bytes
                .is_some_and(|held| held + cost <= self.max_group_bytes)
        {
            return Some(0);
        }
        let mut files = self.list(group_ord);
        let mut num_bytes: u64 = files.iter().map(|file| file.cost).sum();
        let mut num_evicted = 0;
        if num_bytes + cost > self.max_group_bytes {
            let target = (self.max_group_bytes - relist_bytes).saturating_sub(cost);
            files.sort_unstable_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
            for file in &files {
                if num_bytes <= target {
                    break;
                }
                if remove(&file.path) {
                    num_bytes -= file.cost;
                    num_evicted += 1;
                }
            }
        }
        self.groups[group_ord] = Group {
            num_bytes: Some(num_bytes),
            num_written: 0,
        };
        (num_bytes + cost <= self.max_group_bytes).then_some(num_evicted)
    }

    /// Records that a file of `cost` was written to folder `folder_ord`, and replaced one of
    /// `replaced`.
    pub(super) fn wrote(&mut self, folder_ord: usize, cost: u64, replaced: u64) {
        let group_ord = self.group_of(folder_ord);
        let group = &mut self.groups[group_ord];
        let held = group.num_bytes.unwrap_or(0);
        group.num_bytes = Some((held + cost).saturating_sub(replaced));
        group.num_written += cost;
    }

    fn group_of(&self, folder_ord: usize) -> usize {
        folder_ord * self.groups.len() / NUM_FOLDERS
    }

    /// Lists the files of a group, and removes abandoned temporary files.
    fn list(&self, group_ord: usize) -> Vec<FoundFile> {
        let per_group = NUM_FOLDERS / self.groups.len();
        let now = SystemTime::now();
        let mut files = Vec::new();
        for folder_ord in group_ord * per_group..(group_ord + 1) * per_group {
            for file in list_folder(&self.path.join(format!("{folder_ord:02x}"))) {
                let age = now.duration_since(file.modified).unwrap_or_default();
                let is_left = is_temporary(&file.path) && age > MAX_TEMPORARY_AGE;
                if !(is_left && remove(&file.path)) {
                    files.push(file);
                }
            }
        }
        files
    }
}

/// Lists the cache's files in one folder. Other files are ignored, and so is a file that another
/// process removes meanwhile.
fn list_folder(folder: &Path) -> impl Iterator<Item = FoundFile> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let path = entry.path();
        let meta = entry.metadata().ok()?;
        (meta.is_file() && is_ours(&path)).then(|| FoundFile {
            modified: meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            cost: cost_of(meta.len()),
            path,
        })
    })
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(TEMPORARY_PREFIX))
}

fn is_ours(path: &Path) -> bool {
    let is_hash = |name: &str| name.len() == 32 && name.bytes().all(|at| at.is_ascii_hexdigit());
    let name = path.file_name().and_then(|name| name.to_str());
    is_temporary(path) || name.is_some_and(is_hash)
}

/// Lists the files of a class.
pub(super) fn files_of_class(path: &Path) -> impl Iterator<Item = FoundFile> {
    (0..NUM_FOLDERS)
        .flat_map(move |folder_ord| list_folder(&path.join(format!("{folder_ord:02x}"))))
}

/// Removes a file, or an empty folder in its place. Returns whether it is gone.
pub(super) fn remove(path: &Path) -> bool {
    match fs::remove_file(path) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(_) => fs::remove_dir(path).is_ok(),
    }
}

/// Creates a folder that only its owner may enter: the contents may come from a private bucket.
pub(super) fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
