//! Location of an index below a root that several indexes share: always `<name>/<32 hexadecimal
//! digits>`.
//!
//! Folders are listed in a file of the store. Whoever can write that file must not be able to cause
//! reads, writes or deletions elsewhere, so text is only converted to a folder here.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::BuildError;

/// Maximum length of an index name in bytes: that of a folder name in most file systems.
const MAX_NAME_BYTES: usize = 255;
/// Number of digits in the unique part.
const ID_LEN: usize = 32;
/// Maximum number of characters of an invalid folder in an error.
const MAX_SHOWN_CHARS: usize = 100;

/// Folder of an index, relative to the root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IndexFolder(String);

impl IndexFolder {
    /// Returns the folder of the index `name` with this id, which consists of 32 lower-case
    /// hexadecimal digits.
    ///
    /// # Errors
    /// `Invalid` if one of them cannot be a part of a folder.
    pub fn new(name: &str, id: &str) -> Result<Self, BuildError> {
        Self::try_from(format!("{name}/{id}"))
            .map_err(|problem| BuildError::invalid(format!("an index cannot be made: {problem}")))
    }

    /// Returns the name of the index.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or("", |(name, _)| name)
    }

    /// Returns the unique part.
    #[must_use]
    pub fn id(&self) -> &str {
        self.0.split_once('/').map_or("", |(_, id)| id)
    }

    /// Returns the whole folder.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IndexFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<IndexFolder> for String {
    fn from(folder: IndexFolder) -> String {
        folder.0
    }
}

impl TryFrom<String> for IndexFolder {
    type Error = String;

    fn try_from(folder: String) -> Result<Self, String> {
        let is_folder = folder
            .split_once('/')
            .is_some_and(|(name, id)| check_index_name(name).is_ok() && is_id(id));
        if is_folder {
            return Ok(Self(folder));
        }
        let shown: String = folder.chars().take(MAX_SHOWN_CHARS).collect();
        Err(format!(
            "the folder {shown:?} is not the name of an index, a slash and 32 lower-case hexadecimal digits"
        ))
    }
}

fn is_id(id: &str) -> bool {
    id.len() == ID_LEN && id.bytes().all(is_hex_digit)
}

/// Returns whether it is a digit of an id.
pub(super) fn is_hex_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Checks that a name is valid for an index: a path must refer to exactly one index with it, and a
/// store must have exactly one folder for it.
///
/// # Errors
/// The problem, as the continuation of a sentence that begins with the name.
pub fn check_index_name(name: &str) -> Result<(), &'static str> {
    let is_good =
        |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || "-_.".contains(char);
    if name.is_empty() {
        return Err("must not be empty");
    }
    if name.len() > MAX_NAME_BYTES {
        return Err("it is longer than 255 bytes");
    }
    if name.chars().any(char::is_uppercase) {
        return Err("must be lowercase");
    }
    if !name.chars().all(is_good) {
        return Err("must have letters from a to z, digits, and [-], [_] and [.] only");
    }
    if !name.starts_with(|char: char| char.is_ascii_alphanumeric()) {
        return Err("must start with a letter or a digit");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_folder_is_a_name_and_an_id_and_nothing_else() {
        for good in ["logs", "filebeat-8.17.0", "2026.11.05", "a_b", "a..b"] {
            let folder = IndexFolder::new(good, ID).unwrap();
            assert_eq!((folder.name(), folder.id()), (good, ID));
            let text = serde_json::to_string(&folder).unwrap();
            assert_eq!(
                serde_json::from_str::<IndexFolder>(&text).unwrap(),
                folder,
                "{text}"
            );
        }
        let long = "a".repeat(256);
        for bad in [
            "".to_owned(),
            "/".to_owned(),
            "//".to_owned(),
            ".".to_owned(),
            "..".to_owned(),
            "logs".to_owned(),
            "logs/".to_owned(),
            ID.to_owned(),
            "/etc".to_owned(),
            "../outside".to_owned(),
            format!("/{ID}"),
            format!("../{ID}"),
            format!("./{ID}"),
            format!("../logs/{ID}"),
            format!("logs/../{ID}"),
            format!("logs//{ID}"),
            format!("/logs/{ID}"),
            format!("logs/{ID}/"),
            format!("logs/{ID}/.."),
            format!("logs/{ID}/splits"),
            format!("logs\\{ID}"),
            format!("logs/..\\{ID}"),
            format!("c:/{ID}"),
            format!("Logs/{ID}"),
            format!("-logs/{ID}"),
            format!("lögs/{ID}"),
            format!("logs%2e/{ID}"),
            format!("logs\0/{ID}"),
            format!("logs/{}", ID.to_uppercase()),
            format!("logs/{}", &ID[1..]),
            format!("logs/{ID}0"),
            format!("logs/{}\n", &ID[1..]),
            format!("{long}/{ID}"),
        ] {
            let json = serde_json::to_string(&bad).unwrap();
            let error = serde_json::from_str::<IndexFolder>(&json).unwrap_err();
            assert!(
                error.to_string().contains("32 lower-case hexadecimal"),
                "{bad:?}: {error}"
            );
        }
    }

    #[test]
    fn what_is_wrong_with_a_name_is_said() {
        for (bad, part) in [
            ("", "empty"),
            ("Logs", "lowercase"),
            ("a b", "letters"),
            ("a/b", "letters"),
            ("a*", "letters"),
            ("ä", "letters"),
            ("_all", "start"),
            ("-a", "start"),
            (".a", "start"),
            ("..", "start"),
        ] {
            let problem = check_index_name(bad).unwrap_err();
            assert!(problem.contains(part), "{bad}: {problem}");
        }
        assert!(check_index_name(&"a".repeat(256)).is_err());
    }
}
