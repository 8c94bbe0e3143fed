//! Search page for hosts that are programs: its files, and the answers to requests for them.
//!
//! It opens no connections and reads no files at run time.

use include_dir::{Dir, include_dir};

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src");

/// Path of the page; its files are below.
pub const PATH: &str = "/ui/";

/// Relative path from the root to the page, so that it works behind proxies with path prefixes.
const PATH_FROM_ROOT: &str = "ui/";

/// Returns the headers of every file.
pub fn headers() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("headers.txt").lines();
    lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "))
}

/// File of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFile {
    /// Content of the file.
    pub bytes: &'static [u8],
    /// Value of `Content-Type`.
    pub content_type: &'static str,
}

impl PageFile {
    /// Returns the `ETag` including quotes. The same content has the same one.
    #[must_use]
    pub fn tag(&self) -> String {
        let hash = blake3::hash(self.bytes).to_hex();
        format!("\"{}\"", hash.get(..32).unwrap_or_default())
    }
}

/// Returns the file at a path relative to the page, such as `styles/all.css`, or the page itself
/// for an empty path.
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

/// Parts of a request on which the answer depends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// Path.
    pub path: &'a str,
    /// Header `Accept`.
    pub accept: Option<&'a str>,
    /// Header `If-None-Match`.
    pub if_none_match: Option<&'a str>,
}

/// Answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// Headers, each at most once.
    pub headers: Vec<(&'static str, String)>,
    /// Body.
    pub body: &'static [u8],
}

/// Returns the answer to a `GET` or `HEAD` of a file of the page, or `None` for other paths. No
/// token is required, because the files are public.
#[must_use]
pub fn answer(asked: Asked<'_>) -> Option<Answer> {
    match asked.path {
        // A browser is redirected to the page. Other programs request `/` for the version of the
        // API.
        "/" if asked.accept?.starts_with("text/html") => Some(redirect(303)),
        "/ui" => Some(redirect(308)),
        path => Some(file_answer(path.strip_prefix(PATH)?, asked.if_none_match)),
    }
}

fn redirect(status: u16) -> Answer {
    Answer {
        status,
        headers: vec![("location", PATH_FROM_ROOT.to_owned())],
        body: b"",
    }
}

fn file_answer(path: &str, known: Option<&str>) -> Answer {
    let Some(file) = file(path) else {
        let content_type = "text/plain; charset=utf-8".to_owned();
        return Answer {
            status: 404,
            headers: vec![("content-type", content_type)],
            body: b"there is no such file of the page",
        };
    };
    let tag = file.tag();
    let is_known = known.is_some_and(|known| known.contains(&tag));
    let mut sent: Vec<_> = headers()
        .map(|(name, value)| (name, value.to_owned()))
        .collect();
    sent.push(("etag", tag));
    if is_known {
        return Answer {
            status: 304,
            headers: sent,
            body: b"",
        };
    }
    sent.push(("content-type", file.content_type.to_owned()));
    Answer {
        status: 200,
        headers: sent,
        body: file.bytes,
    }
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

    #[test]
    fn a_page_is_answered_with_its_policy_and_known_files_without_a_body() {
        let ask = |path, if_none_match| {
            let asked = Asked {
                path,
                if_none_match,
                ..Asked::default()
            };
            answer(asked).unwrap()
        };
        let page = ask("/ui/", None);
        assert_eq!((page.status, page.body), (200, file("").unwrap().bytes));
        let header = |name: &str| {
            let (_, value) = page.headers.iter().find(|(of, _)| *of == name).unwrap();
            value.as_str()
        };
        assert_eq!(header("content-type"), "text/html; charset=utf-8");
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"));
        assert_eq!(header("cache-control"), "no-cache");
        assert_eq!(headers().count(), 4);
        let again = ask("/ui/", Some(header("etag")));
        assert_eq!((again.status, again.body), (304, &b""[..]));
        assert_eq!(ask("/ui/app.js", Some("\"other\"")).status, 200);
        assert_eq!(ask("/ui/nothing.js", None).status, 404);
        assert_eq!(ask("/ui/../lib.rs", None).status, 404);
    }

    #[test]
    fn browsers_are_led_to_the_page_and_programs_are_left_alone() {
        let check = |path, accept, expect: Option<u16>| {
            let asked = Asked {
                path,
                accept,
                ..Asked::default()
            };
            let status = answer(asked).map(|answer| answer.status);
            assert_eq!(status, expect, "{path} {accept:?}");
        };
        check("/", Some("text/html,*/*;q=0.8"), Some(303));
        check("/", Some("application/json"), None);
        check("/", None, None);
        check("/ui", None, Some(308));
        check("/uis", Some("text/html"), None);
        check("/logs/_search", Some("text/html"), None);
        check("/api/v1/indexes", None, None);
    }
}
