//! References to tests in the pages on Elasticsearch, Quickwit and security: each row of their
//! tables names the tests that cover it, and these tests exist.
//!
//! A test is referred to as `file#name`: the shortest unique ending of its file's path, and its
//! name. Names of requests of the conformance test and of tests in JavaScript are converted to
//! lower case, with hyphens for everything but letters and digits, and without the part before a
//! colon: `elastic.toml#who-is-there` is "elastic: who is there". A list of requests without a name
//! stands for all of its requests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const PAGES: [&str; 3] = [
    "docs/from-elasticsearch.md",
    "docs/from-quickwit.md",
    "SECURITY.md",
];

/// Heading of the last column.
const COLUMN: &str = "shown by";

/// Folders with generated files.
const MADE: [&str; 5] = ["target", "node_modules", "demo", "dist", ".git"];

/// Extensions of files with tests.
const ENDINGS: [&str; 5] = ["rs", "py", "mjs", "go", "toml"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Returns the paths, relative to the root, of all files that can contain tests.
fn files() -> Vec<String> {
    let mut found = Vec::new();
    collect(&root(), &mut found);
    found
}

fn collect(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !MADE.contains(&name.as_str()) {
                collect(&path, found);
            }
        } else if ENDINGS.contains(&ending(&name)) {
            let path = path.strip_prefix(root()).unwrap();
            found.push(path.to_string_lossy().replace('\\', "/"));
        }
    }
}

/// Returns the cells of a row. A bar after a backslash is text.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut before = ' ';
    for c in line.trim().trim_start_matches('|').chars() {
        if c == '|' && before != '\\' {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(c);
        }
        before = c;
    }
    // Removes the text after the last bar.
    cells.pop();
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Returns the tests that a cell names, or `None` if it has anything else.
fn tests_in(cell: &str) -> Option<Vec<&str>> {
    let parts: Vec<&str> = cell.split('`').collect();
    let is_between = |text: &&str| text.chars().all(|c| matches!(c, ' ' | ','));
    let is_list = parts.len() > 2 && parts.iter().step_by(2).all(is_between);
    is_list.then(|| parts.into_iter().skip(1).step_by(2).collect())
}

/// Returns a name in the form in which pages use it.
fn slug(name: &str) -> String {
    let name = name.split_once(": ").map_or(name, |(_, behind)| behind);
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join("-")
}

fn identifier(text: &str) -> String {
    let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
    text.chars().take_while(is_part).collect()
}

fn quoted(text: &str) -> Option<String> {
    let (name, _) = text.strip_prefix('"')?.split_once('"')?;
    Some(slug(name))
}

/// Returns the names of the tests in a file, in the form in which pages use them.
fn names(path: &str, text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[") {
            is_test |= line.contains("test");
            continue;
        }
        let name = match ending(path) {
            "rs" => line
                .trim_start_matches("async ")
                .strip_prefix("fn ")
                .filter(|_| is_test)
                .map(identifier),
            "py" => line.strip_prefix("def ").map(identifier),
            "go" => line.strip_prefix("func ").map(identifier),
            "mjs" => line.strip_prefix("test(").and_then(quoted),
            _ => line.strip_prefix("name = ").and_then(quoted),
        };
        names.extend(name);
        is_test = false;
    }
    names
}

/// Returns a description of the error in a reference to a test, if there is one.
fn problem_of(mention: &str, files: &[String]) -> Option<String> {
    let (file, name) = match mention.split_once('#') {
        Some((file, name)) => (file, Some(name)),
        None => (mention, None),
    };
    let behind = format!("/{file}");
    let found: Vec<&String> = files
        .iter()
        .filter(|path| path.as_str() == file || path.ends_with(&behind))
        .collect();
    let [path] = found[..] else {
        return Some(format!("the files of that name are {found:?}"));
    };
    let Some(name) = name else {
        let is_list = ending(path) == "toml";
        return (!is_list).then(|| "a test of it should be named".to_owned());
    };
    let text = fs::read_to_string(root().join(path)).unwrap();
    let is_there = names(path, &text).contains(name);
    (!is_there).then(|| format!("{path} has no such test"))
}

/// Returns the number of rows in the tables of a page, and the errors in them.
fn check(page: &str, files: &[String]) -> (usize, Vec<String>) {
    let (mut num_rows, mut wrong) = (0, Vec::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with('|') {
            continue;
        }
        let headings = cells(line);
        if headings.last().is_none_or(|last| last != COLUMN) {
            wrong.push(format!("no column {COLUMN:?}: {line}"));
        }
        // Rows after the line of hyphens.
        for line in lines
            .by_ref()
            .skip(1)
            .take_while(|line| line.starts_with('|'))
        {
            num_rows += 1;
            let cells = cells(line);
            let tests = cells.last().and_then(|cell| tests_in(cell));
            match tests {
                Some(tests) if cells.len() == headings.len() => {
                    let problems = tests.into_iter().filter_map(|test| {
                        let problem = problem_of(test, files)?;
                        Some(format!("{test}: {problem}"))
                    });
                    wrong.extend(problems);
                }
                _ => wrong.push(format!("no tests: {line}")),
            }
        }
    }
    (num_rows, wrong)
}

#[test]
fn every_row_names_tests_that_are_there() {
    let files = files();
    for page in PAGES {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let (num_rows, wrong) = check(&text, &files);
        assert!(num_rows > 10, "{page}: where are the tables?");
        assert!(wrong.is_empty(), "{page}: {wrong:#?}");
    }
}

#[test]
fn a_row_without_tests_and_a_test_that_is_not_there_are_found() {
    let rows = [
        "`shown_by.rs#every_row_names_tests_that_are_there`, `elastic.toml`",
        "`elastic.toml#who-is-there` `grafana/12.toml#a-query-in-es-ql`",
        "",
        "elastic.toml",
        "`elastic.toml#who-is-not-there`",
        "`shown_by.rs#cells`",
        "`no_such_file.rs#every_row_names_tests_that_are_there`",
        "`mod.rs#every_row_names_tests_that_are_there`",
        "`shown_by.rs`",
    ];
    let rows: String = rows.map(|row| format!("| a \\| b | {row} |\n")).concat();
    let page =
        format!("| what | shown by |\n|---|---|\n{rows}\n| what | why |\n|---|---|\n| c | d |\n");
    let (num_rows, wrong) = check(&page, &files());
    assert_eq!(num_rows, 10);
    // All but the first two rows, and the heading of the second table besides its row.
    assert_eq!(wrong.len(), 9, "{wrong:#?}");
}
