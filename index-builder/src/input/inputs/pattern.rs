//! Parsing of input patterns.

use crate::error::BuildError;
use globset::{GlobBuilder, GlobMatcher};
use std::path::{Path, PathBuf};

/// Wildcard characters of globs.
const WILD: [char; 4] = ['*', '?', '[', '{'];

/// A parsed input pattern.
#[derive(Debug)]
pub(super) enum Pattern {
    Stdin,
    File(PathBuf),
    /// All files below a folder, or those whose names match a glob.
    Folder(PathBuf, Option<GlobMatcher>),
    /// Objects of a bucket.
    Bucket(BucketPattern),
}

/// Objects of a bucket.
#[derive(Debug)]
pub(super) struct BucketPattern {
    /// The bucket's own URI, without a trailing slash.
    pub(super) bucket: String,
    pub(super) keys: Keys,
}

/// Selection of a bucket's keys.
#[derive(Debug)]
pub(super) enum Keys {
    One(String),
    /// Keys below a prefix that is empty or ends with a slash, or those that match a glob.
    Below(String, Option<GlobMatcher>),
}

/// Returns whether a pattern may match several inputs: a folder, a glob, a prefix of a bucket.
///
/// # Errors
/// `Invalid` if it cannot be parsed.
pub fn may_be_several(input: &Path) -> Result<bool, BuildError> {
    Ok(match Pattern::parse(input)? {
        Pattern::Stdin | Pattern::File(_) => false,
        Pattern::Folder(..) => true,
        Pattern::Bucket(pattern) => matches!(pattern.keys, Keys::Below(..)),
    })
}

impl Pattern {
    pub(super) fn parse(input: &Path) -> Result<Pattern, BuildError> {
        let Some(text) = input.to_str() else {
            // Not a pattern, because it cannot have been typed.
            return Ok(match input.is_dir() {
                true => Pattern::Folder(input.to_path_buf(), None),
                false => Pattern::File(input.to_path_buf()),
            });
        };
        if text == "-" {
            return Ok(Pattern::Stdin);
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            return Pattern::of_uri(text, scheme, rest);
        }
        // An existing name is taken literally, whatever its characters.
        if input.is_dir() {
            return Ok(Pattern::Folder(input.to_path_buf(), None));
        }
        if input.is_file() || !text.contains(WILD) {
            return Ok(Pattern::File(input.to_path_buf()));
        }
        let (base, _) = fixed_part(text);
        let folder = match base {
            "" => PathBuf::from("."),
            base => PathBuf::from(base),
        };
        Ok(Pattern::Folder(folder, Some(matcher(text)?)))
    }

    fn of_uri(text: &str, scheme: &str, rest: &str) -> Result<Pattern, BuildError> {
        match scheme {
            "file" => {
                let path = rest.strip_prefix("localhost").unwrap_or(rest);
                if !path.starts_with('/') {
                    return Err(BuildError::invalid(format!(
                        "`{text}` names no file: write file:///absolute/path, or the path alone"
                    )));
                }
                Pattern::parse(Path::new(path))
            }
            "s3" | "s3a" | "gs" | "az" | "azure" | "abfs" | "abfss" => {
                let (name, key) = rest.split_once('/').unwrap_or((rest, ""));
                if name.is_empty() || name.contains(WILD) {
                    return Err(BuildError::invalid(format!(
                        "`{text}` names no bucket: write {scheme}://bucket/prefix/, where only what \
                         follows the bucket may be a pattern"
                    )));
                }
                let scheme = if scheme == "s3a" { "s3" } else { scheme };
                let keys = match key {
                    key if key.contains(WILD) => {
                        let (base, _) = fixed_part(key);
                        Keys::Below(base.to_string(), Some(matcher(key)?))
                    }
                    key if key.is_empty() || key.ends_with('/') => {
                        Keys::Below(key.to_string(), None)
                    }
                    key => Keys::One(key.to_string()),
                };
                Ok(Pattern::Bucket(BucketPattern {
                    bucket: format!("{scheme}://{name}"),
                    keys,
                }))
            }
            other => Err(BuildError::invalid(format!(
                "unknown scheme `{other}` in the input `{text}`: known are a plain path, file, s3, gs and az"
            ))),
        }
    }
}

/// Returns the folders before the first wildcard, with the slash, and the rest.
fn fixed_part(text: &str) -> (&str, &str) {
    let wild = text.find(WILD).unwrap_or(text.len());
    let end = text[..wild].rfind('/').map_or(0, |at| at + 1);
    text.split_at(end)
}

fn matcher(glob: &str) -> Result<GlobMatcher, BuildError> {
    // `./a/*` and `a/*` match the same files.
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let built = GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .build();
    built
        .map(|glob| glob.compile_matcher())
        .map_err(|error| BuildError::invalid(format!("`{glob}` is no pattern")).caused_by(error))
}
