//! Common part of the names of a log and of its rotated files.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

/// Name suffixes of compression programs.
const COMPRESSED: [&str; 8] = [".gz", ".zst", ".zstd", ".bz2", ".xz", ".lz4", ".Z", ".lzma"];

/// A day, optionally with a time of day, as `logrotate`, log4j, logback, Serilog and IIS write it into names.
const DAY: &str = r"[-._]?(?:19|20)[0-9]{2}[-._]?(?:0[1-9]|1[0-2])(?:[-._]?(?:0[1-9]|[12][0-9]|3[01])(?:[-._T]?[0-2][0-9](?:[-._]?[0-5][0-9]){0,2})?)?";

static DAYS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(DAY).ok());

/// Name of a file as part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogName {
    /// The folder and the name without the additions of rotation: the same for all files of a log.
    log: Vec<u8>,
    /// The name without the suffix of compression.
    uncompressed: Vec<u8>,
    /// True if nothing was added to the name: the file that is being written.
    is_live: bool,
}

impl LogName {
    /// Returns the name of the file at a path.
    pub(crate) fn of(path: &Path) -> LogName {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bare = COMPRESSED
            .iter()
            .find_map(|ending| name.strip_suffix(ending));
        let uncompressed = bare.unwrap_or(&name);
        let without_days = match DAYS.as_ref() {
            Some(days) => days.replace_all(uncompressed, ""),
            None => uncompressed.into(),
        };
        let log = without_numbers(&without_days);
        let is_live = log == name;
        let in_folder = |name: &str| {
            let folder = path.parent().unwrap_or(Path::new(""));
            [folder.as_os_str().as_encoded_bytes(), b"/", name.as_bytes()].concat()
        };
        LogName {
            log: in_folder(log),
            uncompressed: in_folder(uncompressed),
            is_live,
        }
    }

    pub(super) fn log(&self) -> &[u8] {
        &self.log
    }

    /// Returns whether one of the two may be an obsolete or unfinished copy of the other: a file and the same
    /// compressed, or the file that is being written and one copied from it.
    pub(super) fn may_be_copy_of(&self, other: &LogName) -> bool {
        let is_compressed = self.uncompressed == other.uncompressed;
        is_compressed || (self.log == other.log && (self.is_live || other.is_live))
    }
}

/// Removes numbers: `app.log.1` and `app.log.1.2` → `app.log`.
fn without_numbers(name: &str) -> &str {
    let mut name = name;
    while let Some((before, last)) = name.rsplit_once('.') {
        let is_number = (1..=4).contains(&last.len()) && last.bytes().all(|b| b.is_ascii_digit());
        if !is_number || before.is_empty() {
            break;
        }
        name = before;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_files_have_the_name_of_their_log() {
        for (name, log, is_live) in [
            ("app.log", "app.log", true),
            ("app.log.1", "app.log", false),
            ("app.log.12.gz", "app.log", false),
            ("app.log.gz", "app.log", false),
            ("app.log-20240501", "app.log", false),
            ("app.log-20240501.gz", "app.log", false),
            ("app.log.2024-05-01", "app.log", false),
            ("app.log.2024-05-01-13", "app.log", false),
            ("app-2024-05-01.log", "app.log", false),
            ("app-2024-05-01.1.log.zst", "app.1.log", false),
            ("app_20240501.log", "app.log", false),
            ("messages", "messages", true),
            ("messages-20240501", "messages", false),
            ("part-0001.json", "part-0001.json", true),
            ("u_ex240501.log", "u_ex240501.log", true),
            (".1", ".1", true),
        ] {
            let found = LogName::of(&Path::new("/var/log").join(name));
            let wanted = format!("/var/log/{log}");
            assert_eq!(String::from_utf8_lossy(found.log()), wanted, "{name}");
            assert_eq!(found.is_live, is_live, "{name}");
        }
    }

    #[test]
    fn a_copy_is_of_the_file_that_is_written_to_or_compressed() {
        let named = |name: &str| LogName::of(&Path::new("/var/log").join(name));
        for (left, right, may) in [
            ("app.log", "app.log.1", true),
            ("app.log", "app-20240501.log", true),
            ("app.log.1", "app.log.1.gz", true),
            ("app.log.1", "app.log.2", false),
            ("app.log", "other.log", false),
            ("part-0001.json", "part-0002.json", false),
        ] {
            assert_eq!(named(left).may_be_copy_of(&named(right)), may, "{left}");
            assert_eq!(named(right).may_be_copy_of(&named(left)), may, "{right}");
        }
        let elsewhere = LogName::of(Path::new("/srv/app.log"));
        assert!(!elsewhere.may_be_copy_of(&named("app.log")));
    }
}
