//! Rust sources in the form that the tests of the tree read: without comments, literals and tests, line for line.

use std::fs;
use std::path::{Path, PathBuf};

/// File in a crate's `src` that is not a test.
pub(super) struct Source {
    /// Path relative to the workspace, with `/` as separator.
    pub(super) path: String,
    /// Code up to the inline tests, with comments and literals blanked.
    pub(super) code: String,
}

pub(super) fn workspace() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap().to_owned()
}

/// Returns the folders of the workspace's crates that have sources.
pub(super) fn crates() -> Vec<String> {
    let manifest = fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    let members = members.iter().map(|member| member.as_str().unwrap());
    let has_sources = |member: &&str| workspace().join(member).join("src").is_dir();
    members.filter(has_sources).map(str::to_owned).collect()
}

/// Returns the sources of a crate, tests aside.
pub(super) fn sources(crate_folder: &str) -> Vec<Source> {
    let mut found = Vec::new();
    collect(&workspace().join(crate_folder).join("src"), &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "tests" {
                collect(&path, found);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let shown = path.strip_prefix(workspace()).unwrap();
            found.push(Source {
                path: shown.to_string_lossy().replace('\\', "/"),
                code: code_of(&fs::read_to_string(&path).unwrap()),
            });
        }
    }
}

/// Returns the code without comments, literals and inline tests.
pub(super) fn code_of(text: &str) -> String {
    let code = blanked(text);
    let tests = code.find("#[cfg(test)]\nmod tests {");
    code[..tests.unwrap_or(code.len())].to_owned()
}

/// Replaces comments and literals by blanks, and keeps line breaks.
fn blanked(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_end(&chars, at);
        if end == at {
            code.push(chars[at]);
            at += 1;
            continue;
        }
        let is_line_end = |c: &&char| **c == '\n';
        code.push(' ');
        code.extend(chars[at..end].iter().filter(is_line_end));
        at = end;
    }
    code
}

/// Returns the end of the comment or literal that begins here; the same position if there is none.
fn literal_end(chars: &[char], at: usize) -> usize {
    let next = |offset: usize| chars.get(at + offset).copied().unwrap_or('\0');
    match (chars[at], next(1)) {
        ('/', '/') => end_of(chars, at, |rest| rest[0] == '\n', 0),
        ('/', '*') => end_of(chars, at + 2, |rest| rest.starts_with(&['*', '/']), 2),
        ('"', _) => text_end(chars, at),
        ('r', '"' | '#') if !is_word(chars, at) => raw_end(chars, at),
        // A lifetime is not followed by a quotation mark.
        ('\'', '\\') => end_of(chars, at + 3, |rest| rest[0] == '\'', 1),
        ('\'', _) if next(2) == '\'' => at + 3,
        _ => at,
    }
}

/// Returns whether the preceding character belongs to a name.
fn is_word(chars: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| chars[before]);
    before.is_some_and(|before| before.is_alphanumeric() && before != 'b' || before == '_')
}

/// Returns the position `len` characters after the next one for which `is_end` holds.
fn end_of(chars: &[char], from: usize, is_end: impl Fn(&[char]) -> bool, len: usize) -> usize {
    let end = (from..chars.len()).find(|at| is_end(&chars[*at..]));
    end.map_or(chars.len(), |at| at + len)
}

fn text_end(chars: &[char], at: usize) -> usize {
    let mut end = at + 1;
    while end < chars.len() && chars[end] != '"' {
        end += if chars[end] == '\\' { 2 } else { 1 };
    }
    (end + 1).min(chars.len())
}

fn raw_end(chars: &[char], at: usize) -> usize {
    let num_marks = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    let start = at + 1 + num_marks;
    if chars.get(start) != Some(&'"') {
        return at;
    }
    let mut mark = vec!['"'];
    mark.extend(std::iter::repeat_n('#', num_marks));
    end_of(chars, start + 1, |rest| rest.starts_with(&mark), mark.len())
}

#[test]
fn comments_and_literals_are_no_code() {
    let check = |text: &str, expected: &str| {
        let words = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            words.join(" ")
        };
        let code = code_of(text);
        assert_eq!(words(&code), expected, "{text}");
        assert!(text.lines().count() >= code.lines().count());
    };
    check("a // b {\nc", "a c");
    check("a /* { \n */ c", "a c");
    check("f(\"{\\\"\", '{', '\\'', b\"}\")", "f( , , , b )");
    check("r#\"{\"}\"# x r\"\\\" y", "x y");
    check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
    check("a\n#[cfg(test)]\nmod tests {\n b\n}", "a");
}
