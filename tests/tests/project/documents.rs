//! Consistency of documents with the repository: links and paths lead somewhere, linked headings
//! exist, and the length of pages is limited.

use std::fs;
use std::path::{Path, PathBuf};

/// Pages with their maximum number of words. Other pages may have [`MAX_WORDS`].
const LIMITS: [(&str, usize); 8] = [
    ("README.md", 1_500),
    ("ARCHITECTURE.md", 4_500),
    ("CONTRIBUTING.md", 2_500),
    ("CHANGELOG.md", usize::MAX),
    // The length of a specification depends on its subject.
    ("split-format/README.md", usize::MAX),
    ("edge-adapters/lambda/README.md", 2_000),
    // This page lists layouts, each with a record.
    ("docs/log-lines.md", 2_600),
    // This page has a table of all differences.
    ("docs/from-elasticsearch.md", 2_400),
];
const MAX_WORDS: usize = 1_500;

/// Folders with generated files.
const MADE: [&str; 5] = ["target", "node_modules", "demo", "dist", ".git"];

/// Extensions of files that texts refer to.
const ENDINGS: [&str; 12] = [
    "rs", "md", "toml", "wit", "ts", "mjs", "sh", "yaml", "yml", "ndjson", "svg", "tf",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Returns every Markdown file, relative to the root.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&root(), &mut found);
    found.sort();
    assert!(found.len() > 15, "where are the documents? {found:?}");
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !MADE.contains(&name.as_str()) {
                collect(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path.strip_prefix(root()).unwrap().to_owned());
        }
    }
}

/// Returns the text without fenced code.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// Returns the targets of links, as in `[…](here)`.
fn links(prose: &str) -> Vec<&str> {
    let parts = prose.split("](").skip(1);
    parts
        .filter_map(|part| part.split_once(')').map(|(link, _)| link))
        .collect()
}

/// Returns the texts between backticks.
fn spans(prose: &str) -> Vec<&str> {
    let lines = prose.lines();
    lines
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect()
}

/// Returns the anchors of a document's headings, in the form that GitHub generates.
fn anchors(text: &str) -> Vec<String> {
    let prose = prose(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|heading| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// Returns whether a span is a path of this repository: it contains a slash, and either has a known
/// extension or starts with one of the folders here.
fn is_path(span: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let Some((first, rest)) = span.split_once('/') else {
        return false;
    };
    if rest.is_empty() || !span.chars().all(is_plain) || MADE.contains(&first) {
        return false;
    }
    let ending = span.rsplit_once('.').map(|(_, ending)| ending);
    let is_made = span.split('/').any(|part| MADE.contains(&part));
    !is_made
        && !span.starts_with(['/', '.'])
        && (ending.is_some_and(|ending| ENDINGS.contains(&ending)) || root().join(first).is_dir())
}

/// Returns whether the path exists relative to the root, to the document, or to the sources of any
/// crate, because paragraphs on a crate name its files relative to it.
fn exists(path: &str, document: &Path) -> bool {
    let mut folders = vec![root(), root().join(document.parent().unwrap())];
    for crate_folder in crates(&root(), 0) {
        folders.push(crate_folder.join("src"));
        folders.push(crate_folder);
    }
    folders.iter().any(|folder| folder.join(path).exists())
}

fn crates(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !path.is_dir() || MADE.contains(&name.as_str()) {
            continue;
        }
        if path.join("Cargo.toml").exists() || path.join("package.json").exists() {
            found.push(path.clone());
        }
        if depth < 2 {
            found.extend(crates(&path, depth + 1));
        }
    }
    found
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(root().join(&document)).unwrap();
        for link in links(&prose(&text)) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => root().join(&document),
                path => root().join(document.parent().unwrap()).join(path),
            };
            if !target.exists() {
                wrong.push(format!("{}: {link}", document.display()));
            } else if !anchor.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                if !anchors(&text).iter().any(|heading| heading == anchor) {
                    wrong.push(format!("{}: {link} (no such heading)", document.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_path_that_a_document_names_exists() {
    let mut wrong = Vec::new();
    let mut num_paths = 0;
    for document in documents() {
        // The change log also mentions files of the past.
        if document == Path::new("CHANGELOG.md") {
            continue;
        }
        let text = fs::read_to_string(root().join(&document)).unwrap();
        for path in spans(&prose(&text))
            .into_iter()
            .filter(|span| is_path(span))
        {
            num_paths += 1;
            if !exists(path, &document) {
                wrong.push(format!("{}: {path}", document.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(num_paths > 50, "only {num_paths} paths were looked at");
}

/// Extensions of files that comments cite. Other extensions are also those of inputs, objects and
/// build products.
const CITED_ENDINGS: [&str; 5] = ["rs", "ts", "mjs", "wit", "md"];

/// Extensions of files whose comments are checked.
const COMMENTED_ENDINGS: [&str; 7] = ["rs", "ts", "mjs", "wit", "py", "sh", "go"];

/// Collects all files of the tree, relative to the root, with `/` as separator.
fn files(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if MADE.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else {
            let path = path.strip_prefix(root()).unwrap().to_string_lossy();
            found.push(path.replace('\\', "/"));
        }
    }
}

fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Returns the comment on a line. Other text that looks like a comment is harmless, unless it names
/// a file of the repository.
fn comment(line: &str) -> Option<&str> {
    let begins = ["//", "* ", "# "].into_iter();
    let first = begins.filter_map(|begin| line.find(begin)).min()?;
    line.get(first..)
}

/// Returns the files that a comment cites.
fn cited(comment: &str) -> impl Iterator<Item = &str> {
    let is_of_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let words = comment.split(move |c| !is_of_path(c));
    let words = words.map(|word| word.trim_end_matches('.'));
    words.filter(|word| {
        let is_ours = word.starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_made = word.split('/').any(|part| MADE.contains(&part));
        is_ours && !is_made && CITED_ENDINGS.contains(&ending(word))
    })
}

#[test]
fn every_file_that_a_comment_cites_exists() {
    let mut all = Vec::new();
    files(&root(), &mut all);
    let mut known = std::collections::BTreeSet::new();
    for path in &all {
        let starts = path.match_indices('/').map(|(at, _)| at + 1);
        known.extend(std::iter::once(0).chain(starts).map(|at| &path[at..]));
    }
    let (mut wrong, mut num_cited) = (Vec::new(), 0);
    for path in all
        .iter()
        .filter(|path| COMMENTED_ENDINGS.contains(&ending(path)))
    {
        let text = fs::read_to_string(root().join(path)).unwrap();
        for (line, comment) in (1..)
            .zip(text.lines())
            .filter_map(|(n, l)| Some((n, comment(l)?)))
        {
            for file in cited(comment) {
                num_cited += 1;
                if !known.contains(file) {
                    wrong.push(format!("{path}:{line}: {file}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(num_cited > 100, "only {num_cited} files were looked for");
}

#[test]
fn files_are_told_from_the_rest_of_a_comment() {
    let check = |line: &str, expected: &[&str]| {
        let found: Vec<&str> = comment(line).map(cited).into_iter().flatten().collect();
        assert_eq!(found, expected, "{line}");
    };
    check(
        "/// As in `io/gate.rs`, and README.md.",
        &["io/gate.rs", "README.md"],
    );
    check("let x = 1; // see ../a/b.ts", &[]);
    check(" * `src/io/gate.ts` has it.", &["src/io/gate.ts"]);
    check("# https://example.org/a/b.md says so", &[]);
    check("// target/guest/x.rs is made", &[]);
    check("let name = \"gone.rs\";", &[]);
}

#[test]
fn no_document_is_too_long() {
    for document in documents() {
        let text = fs::read_to_string(root().join(&document)).unwrap();
        let limit = LIMITS
            .iter()
            .find(|(name, _)| document == Path::new(name))
            .map_or(MAX_WORDS, |&(_, limit)| limit);
        let num_words = text.split_whitespace().count();
        assert!(
            num_words <= limit,
            "{} has {num_words} words and may have {limit}",
            document.display()
        );
    }
}

#[test]
fn paths_are_told_from_other_code() {
    for path in [
        "runtime/src/driver.rs",
        "fetch/by_index.rs",
        "docs/decisions",
    ] {
        assert!(is_path(path), "{path}");
    }
    for other in [
        "https://host/path",
        "target/dist/canter",
        "/health/livez",
        "s3://bucket/prefix",
        "application/json",
        "driver.rs",
        "io/",
        "./access-logs",
    ] {
        assert!(!is_path(other), "{other}");
    }
}
