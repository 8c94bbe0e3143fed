//! Folder of compiled components. Its content is executed as native code, so the folder is only
//! used if no other user can write to it; a shared cache folder is not suitable.
//!
//! ```text
//!   the folder   created with 0700   is a folder, not a link, belongs to this user, not writable for others
//!   a file       created with 0600   the same for the opened file, which has no other names
//! ```
//!
//! The file is checked after it was opened, so that it cannot be replaced between check and use: a
//! replacement by another user would have another owner.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::code::Code;

/// Checked folder.
pub(super) struct CompiledFolder {
    path: PathBuf,
}

/// Reason why the content of a folder is not executed, with advice.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Untrusted(String);

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Untrusted {
    fn new(path: &Path, what: impl fmt::Display) -> Self {
        let shown = path.display();
        Self(format!(
            "the compiled search engine is not kept in `{shown}`, because {what}; it is compiled in memory \
             each time"
        ))
    }
}

#[cfg(unix)]
impl CompiledFolder {
    /// Creates the folder if it is missing, and checks it.
    pub(super) fn open(path: &Path) -> Result<Self, Untrusted> {
        use std::os::unix::fs::DirBuilderExt;
        let made = std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path);
        made.map_err(|error| Untrusted::new(path, format_args!("it cannot be made: {error}")))?;
        let found = std::fs::symlink_metadata(path).map_err(|error| {
            Untrusted::new(path, format_args!("it cannot be looked at: {error}"))
        })?;
        if !found.is_dir() {
            return Err(Untrusted::new(path, "it is a link: name the folder itself"));
        }
        check_owner(path, &found)?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Returns a file of the folder if it exists, after a check that only this user has written it.
    pub(super) fn read(&self, name: &str) -> Result<Option<Code>, Untrusted> {
        use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
        let path = self.path.join(name);
        let cannot = |error: io::Error| {
            Untrusted::new(&self.path, format_args!("`{name}` cannot be read: {error}"))
        };
        let opened = std::fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path);
        let file = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(cannot)?,
        };
        let found = file.metadata().map_err(cannot)?;
        if !found.is_file() || found.nlink() != 1 {
            let what = format_args!("`{name}` is no file, or has another name too: remove it");
            return Err(Untrusted::new(&self.path, what));
        }
        check_owner(&path, &found)?;
        Code::of_file(file).map(Some).map_err(cannot)
    }

    /// Writes a temporary file and renames it, so that readers see all of it or nothing.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        use std::io::Write as _;
        use std::os::unix::fs::OpenOptionsExt;
        let temporary = self.path.join(format!("{name}.{}.tmp", std::process::id()));
        // Remains of a process with the same id.
        let _ = std::fs::remove_file(&temporary);
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary);
        let written = file
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| std::fs::rename(&temporary, self.path.join(name)));
        if written.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        written
    }
}

/// Returns an error unless this user owns the file or folder, and no other user can write to it.
#[cfg(unix)]
fn check_owner(path: &Path, found: &std::fs::Metadata) -> Result<(), Untrusted> {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: the call has no arguments, accesses no memory and cannot fail.
    #[allow(
        unsafe_code,
        reason = "the standard library does not tell who runs this"
    )]
    let own_id = unsafe { libc::geteuid() };
    if found.uid() != own_id {
        let owner = found.uid();
        return Err(Untrusted::new(
            path,
            format_args!(
                "it belongs to user {owner}, and this is user {own_id}: name a folder of your own"
            ),
        ));
    }
    let mode = found.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(Untrusted::new(
            path,
            format_args!(
                "others may write to it (mode {mode:o}): take that from them, with chmod go-w"
            ),
        ));
    }
    Ok(())
}

/// The permissions of folders cannot be checked on this platform, so no folder is used.
#[cfg(not(unix))]
impl CompiledFolder {
    pub(super) fn open(path: &Path) -> Result<Self, Untrusted> {
        let what = "this program cannot tell here who may write to it";
        Err(Untrusted::new(path, what))
    }

    pub(super) fn read(&self, _: &str) -> Result<Option<Code>, Untrusted> {
        Err(Untrusted::new(&self.path, "it was not checked"))
    }

    pub(super) fn write(&self, _: &str, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn what_was_written_is_read_and_nobody_else_may_see_it() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("not/yet/there");
        let folder = CompiledFolder::open(&path).unwrap();
        assert!(folder.read("a").unwrap().is_none());
        folder.write("a", b"code").unwrap();
        folder.write("a", b"more code").unwrap();
        assert_eq!(&*folder.read("a").unwrap().unwrap(), b"more code");
        assert_eq!((mode_of(&path), mode_of(&path.join("a"))), (0o700, 0o600));
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("shared");
        fs::create_dir(&path).unwrap();
        for mode in [0o777, 0o775, 0o1777, 0o702] {
            set_mode(&path, mode);
            let refused = CompiledFolder::open(&path).err().unwrap();
            assert!(refused.0.contains("chmod go-w"), "{refused}");
        }
        set_mode(&path, 0o755);
        assert!(CompiledFolder::open(&path).is_ok());
        let link = parent.path().join("link");
        symlink(&path, &link).unwrap();
        let refused = CompiledFolder::open(&link).err().unwrap();
        assert!(refused.0.contains("is a link"), "{refused}");
    }

    #[test]
    fn a_file_that_others_may_have_written_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let folder = CompiledFolder::open(&parent.path().join("ours")).unwrap();
        folder.write("a", b"code").unwrap();
        let file = folder.path.join("a");
        set_mode(&file, 0o666);
        assert!(folder.read("a").unwrap_err().0.contains("chmod go-w"));
        set_mode(&file, 0o644);
        assert!(folder.read("a").is_ok());
        fs::hard_link(&file, parent.path().join("other name")).unwrap();
        assert!(folder.read("a").unwrap_err().0.contains("another name"));
        symlink(&file, folder.path.join("b")).unwrap();
        assert!(folder.read("b").is_err());
        fs::create_dir(folder.path.join("c")).unwrap();
        assert!(folder.read("c").is_err());
    }

    /// Only root can change the owner of files; other users test with a folder of root.
    #[test]
    fn what_belongs_to_somebody_else_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("theirs");
        fs::create_dir(&path).unwrap();
        let theirs = match std::os::unix::fs::chown(&path, Some(12_345), None) {
            Ok(()) => path,
            Err(_) => PathBuf::from("/"),
        };
        let refused = CompiledFolder::open(&theirs).err().unwrap();
        assert!(refused.0.contains("belongs to user"), "{refused}");
    }
}
