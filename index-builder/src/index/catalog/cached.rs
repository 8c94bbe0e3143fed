//! Indexes that searches create for inputs, in a cache folder: found again by their inputs, and deleted when they take
//! too much space, the least recently used first.
//!
//! ```text
//!   <root>/input/<id>/…    an index; the id is a hash of its inputs and of how they are read
//!   <root>/used/<id>       empty; its modification time is that of the last use
//!   <root>/spool/<id>      input from a pipe, while it is indexed
//! ```
//!
//! Deletes only files with names that an index uses, in folders with such ids, and files of the two other folders with
//! such ids; follows no links.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use canter_split_format::{MANIFEST_OBJECT, SourceId};

use crate::error::BuildError;
use crate::index::storage::{IndexFolder, remove_index_files};
use crate::input::source::Source;

/// Folders of the root.
const INPUT: &str = "input";
const USED: &str = "used";
const SPOOL: &str = "spool";
/// Age at which a spooled file belongs to a dead process.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);
/// Time after its last use in which an index may still be searched.
const IN_USE: Duration = Duration::from_secs(60);
const CHUNK_NUM_BYTES: usize = 1 << 20;

/// The indexes of a cache folder.
#[derive(Debug)]
pub struct CachedIndexes {
    root: PathBuf,
}

/// Indexes that were deleted to make room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoomMade {
    /// Number of deleted indexes.
    pub num_indexes: u64,
    /// Number of their bytes.
    pub num_bytes: u64,
    /// Number of indexes that could not be deleted, because their folders contain foreign files.
    pub num_foreign: u64,
}

/// A file with input from a pipe, deleted when this value is dropped.
#[derive(Debug)]
pub struct Spooled {
    path: PathBuf,
    /// A hash of the content.
    pub content: SourceId,
}

impl Spooled {
    /// Returns the content as a source with this name.
    #[must_use]
    pub fn source(&self, name: &str) -> Source {
        Source::file(&self.path).named(name)
    }
}

impl Drop for Spooled {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl CachedIndexes {
    /// Opens the folder `root`, and creates a missing one: only its owner may read the inputs.
    ///
    /// # Errors
    /// `Unavailable` if it cannot be created.
    pub fn open(root: &Path) -> Result<CachedIndexes, BuildError> {
        for folder in [root.to_path_buf(), root.join(USED), root.join(SPOOL)] {
            make_private(&folder).map_err(|error| failed("make the folder", &folder, error))?;
        }
        Ok(CachedIndexes {
            root: root.to_path_buf(),
        })
    }

    /// Returns the folder of an index.
    ///
    /// # Errors
    /// `Internal` for a folder whose name is not UTF-8.
    pub fn uri(&self, id: SourceId) -> Result<String, BuildError> {
        let path = self.root.join(INPUT).join(id.to_string());
        match path.to_str() {
            Some(path) => Ok(path.to_string()),
            None => Err(BuildError::invalid(format!(
                "the cache folder `{}` has a name that is no text: name another",
                self.root.display()
            ))),
        }
    }

    /// Returns whether the index exists and is complete: its manifest is written last.
    #[must_use]
    pub fn has(&self, id: SourceId) -> bool {
        let folder = self.root.join(INPUT).join(id.to_string());
        folder.join(MANIFEST_OBJECT).is_file()
    }

    /// Records that an index is being used.
    pub fn touch(&self, id: SourceId) {
        let path = self.root.join(USED).join(id.to_string());
        let file = OpenOptions::new().create(true).append(true).open(path);
        // If this fails, the index merely counts as older.
        let _ = file.and_then(|file| file.set_modified(now()));
    }

    /// Writes a source that can be read only once into a file.
    ///
    /// # Errors
    /// `Limit` if it exceeds `max_num_bytes`, `Unavailable` if it cannot be read, or the file cannot be written.
    pub fn spool(&self, source: Source, max_num_bytes: u64) -> Result<Spooled, BuildError> {
        let (mut stream, source) = source.into_reader()?;
        let name = source.name();
        let nanos = canter_stores::unix_time().as_nanos().to_le_bytes();
        let id = SourceId::of(&nanos, &std::process::id().to_le_bytes());
        let path = self.root.join(SPOOL).join(id.to_string());
        let file = File::create_new(&path);
        let mut file = file.map_err(|error| failed("write", &path, error))?;
        let mut spooled = Spooled {
            path,
            content: SourceId::of(b"spooled", &[]),
        };
        let (mut chunk, mut num_bytes) = (Vec::new(), 0_u64);
        loop {
            chunk.clear();
            let mut some = stream.by_ref().take(CHUNK_NUM_BYTES as u64);
            some.read_to_end(&mut chunk).map_err(|error| {
                BuildError::unavailable(format!("cannot read `{name}`")).caused_by(error)
            })?;
            if chunk.is_empty() {
                return Ok(spooled);
            }
            num_bytes += chunk.len() as u64;
            if num_bytes > max_num_bytes {
                return Err(BuildError::limit(format!(
                    "`{name}` has more than {max_num_bytes} bytes"
                )));
            }
            io::Write::write_all(&mut file, &chunk)
                .map_err(|error| failed("write", &spooled.path, error))?;
            spooled.content = SourceId::of(spooled.content.to_string().as_bytes(), &chunk);
        }
    }

    /// Deletes indexes until the rest takes at most `max_num_bytes`: the least recently used first, and none that was
    /// used in the last minute.
    ///
    /// # Errors
    /// `Unavailable` if the folder cannot be listed.
    pub fn make_room(&self, max_num_bytes: u64) -> Result<RoomMade, BuildError> {
        self.remove_stale(SPOOL, STALE);
        let mut found = Vec::new();
        for id in ids_in(&self.root.join(INPUT))? {
            let folder = self.root.join(INPUT).join(&id);
            let used = modified(&self.root.join(USED).join(&id)).or_else(|| modified(&folder));
            found.push((used.unwrap_or(UNIX_EPOCH), num_bytes_of(&folder), id));
        }
        found.sort();
        let mut num_bytes: u64 = found.iter().map(|(_, num_bytes, _)| num_bytes).sum();
        let mut room = RoomMade::default();
        for (used, index_num_bytes, id) in found {
            if num_bytes <= max_num_bytes || used.elapsed().is_ok_and(|age| age < IN_USE) {
                break;
            }
            match remove_index_files(&self.root, &IndexFolder::new(INPUT, &id)?) {
                Ok(()) => {
                    room.num_indexes += 1;
                    room.num_bytes += index_num_bytes;
                    num_bytes -= index_num_bytes;
                    let _ = fs::remove_file(self.root.join(USED).join(&id));
                }
                Err(_) => room.num_foreign += 1,
            }
        }
        Ok(room)
    }

    /// Deletes files of a folder that have ids as names and are older than `age`.
    fn remove_stale(&self, folder: &str, age: Duration) {
        let folder = self.root.join(folder);
        for id in ids_in(&folder).unwrap_or_default() {
            let path = folder.join(id);
            let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
            let is_stale = modified(&path)
                .and_then(|time| time.elapsed().ok())
                .is_some_and(|elapsed| elapsed > age);
            if is_file && is_stale {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn failed(verb: &str, path: &Path, error: io::Error) -> BuildError {
    BuildError::unavailable(format!("cannot {verb} `{}`", path.display())).caused_by(error)
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns the entries of a folder whose names are ids; none for a missing folder.
fn ids_in(folder: &Path) -> Result<Vec<String>, BuildError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| failed("list", folder, error))?,
    };
    let names = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().into_string().ok());
    Ok(names
        .filter(|name| SourceId::parse(name).is_some())
        .collect())
}

fn now() -> SystemTime {
    UNIX_EPOCH + canter_stores::unix_time()
}

/// Returns the last modification of a file, a folder or a link itself.
fn modified(path: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(path).ok()?.modified().ok()
}

/// Returns the number of bytes of the files in a folder and its subfolders, without links.
fn num_bytes_of(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let sizes = entries.filter_map(Result::ok).map(|entry| {
        let kind = entry.file_type();
        match kind {
            Ok(kind) if kind.is_dir() => num_bytes_of(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |found| found.len()),
            _ => 0,
        }
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::publisher::create_index;
    use canter_doc_mapper::IndexConfig;

    fn id(number: u8) -> SourceId {
        SourceId::of(&[number], &[])
    }

    /// Adds an index that was used `hours` ago.
    fn add(cache: &CachedIndexes, number: u8, hours: u64) {
        let config = IndexConfig::from_json(br#"{"version": "0.8", "index_id": "abc"}"#).unwrap();
        create_index(&cache.uri(id(number)).unwrap(), &config).unwrap();
        cache.touch(id(number));
        let path = cache.root.join(USED).join(id(number).to_string());
        let used = now() - Duration::from_secs(hours * 3600);
        let file = OpenOptions::new().append(true).open(path).unwrap();
        file.set_modified(used).unwrap();
    }

    #[test]
    fn the_least_recently_used_make_room_and_nothing_that_is_not_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside");
        fs::write(&outside, "precious").unwrap();
        let cache = CachedIndexes::open(&folder.path().join("cache")).unwrap();
        for (number, hours) in [(1, 5), (2, 9), (3, 1), (4, 0)] {
            add(&cache, number, hours);
        }
        let input = cache.root.join(INPUT);
        fs::write(input.join("notes.txt"), "mine").unwrap();
        fs::create_dir(input.join("other")).unwrap();
        fs::write(input.join("other").join("file"), "mine").unwrap();
        // A foreign file in the index that is deleted first.
        fs::write(input.join(id(2).to_string()).join("photo.jpg"), "mine").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path(), input.join(id(9).to_string())).unwrap();
        let one = num_bytes_of(&input.join(id(1).to_string()));
        let all = cache.make_room(u64::MAX).unwrap();
        assert_eq!(all, RoomMade::default());
        let room = cache.make_room(one * 2).unwrap();
        assert_eq!((room.num_indexes, room.num_bytes), (2, one * 2));
        assert!(room.num_foreign >= 1);
        assert!(!cache.has(id(1)) && !cache.has(id(3)) && cache.has(id(4)));
        assert!(!input.join(id(1).to_string()).exists());
        assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
        let photo = input.join(id(2).to_string()).join("photo.jpg");
        for mine in [photo, input.join("notes.txt"), input.join("other/file")] {
            assert_eq!(fs::read_to_string(&mine).unwrap(), "mine", "{mine:?}");
        }
    }

    #[test]
    fn a_stream_is_known_by_its_content_and_is_gone_with_its_use() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CachedIndexes::open(folder.path()).unwrap();
        let text = vec![b'a'; CHUNK_NUM_BYTES + 7];
        let spool = |text: &[u8], max_num_bytes| {
            let source = Source::reader("-", io::Cursor::new(text.to_vec()));
            cache.spool(source, max_num_bytes)
        };
        let first = spool(&text, u64::MAX).unwrap();
        let again = spool(&text, u64::MAX).unwrap();
        assert_eq!(first.content, again.content);
        let other = spool(&text[1..], u64::MAX).unwrap();
        assert_ne!(first.content, other.content);
        let error = spool(&text, 100).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Limit);
        assert_eq!(fs::read(&first.path).unwrap(), text);
        drop((first, again, other));
        assert_eq!(fs::read_dir(folder.path().join(SPOOL)).unwrap().count(), 0);
    }
}
