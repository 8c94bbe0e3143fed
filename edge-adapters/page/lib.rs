//! The files of the search page, for hosts that are programs: bytes, types and the headers that go with them.
//!
//! It serves nothing itself, and reads nothing while it runs.

use include_dir::{Dir, include_dir};

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src");

/// Headers of every file: it may load its own parts, ask the API of its own host, and nothing else.
pub const HEADERS: [(&str, &str); 4] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    // Asked for at each visit, and answered 304 by the tag: a page of one version never meets a script of another.
    ("cache-control", "no-cache"),
];

/// A file of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFile {
    /// What it holds.
    pub bytes: &'static [u8],
    /// As in `Content-Type`.
    pub content_type: &'static str,
}

impl PageFile {
    /// What its `ETag` is, quotes included: the same bytes have the same one.
    #[must_use]
    pub fn tag(&self) -> String {
        let hash = blake3::hash(self.bytes).to_hex();
        format!("\"{}\"", hash.get(..32).unwrap_or_default())
    }
}

/// The file at a path below the page's own, such as `styles/all.css`; the page itself at the empty one.
#[must_use]
pub fn file(path: &str) -> Option<PageFile> {
    let path = if path.is_empty() { "index.html" } else { path };
    let (_, kind) = path.rsplit_once('.')?;
    let content_type = match kind {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => return None,
    };
    let bytes = FILES.get_file(path)?.contents();
    Some(PageFile {
        bytes,
        content_type,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_served_and_nothing_else() {
        fn all(folder: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => all(&path, found),
                    false => found.push(path.to_str().unwrap().to_owned()),
                }
            }
        }
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");
        let mut paths = Vec::new();
        all(Path::new(root), &mut paths);
        assert!(paths.len() > 40);
        for path in paths {
            let name = path.strip_prefix(root).unwrap();
            let served = file(name).unwrap_or_else(|| panic!("{name} is not served"));
            assert_eq!(
                served.bytes,
                fs::read(&path).unwrap(),
                "{name}: build again"
            );
        }
        assert_eq!(file(""), file("index.html"));
        for path in [
            "nothing.js",
            "../lib.rs",
            "../Cargo.toml",
            "styles",
            "styles/",
            "/index.html",
        ] {
            assert_eq!(file(path), None, "{path}");
        }
    }
}
