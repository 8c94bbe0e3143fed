//! List of the tests that fail, each with the reason.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// Separates a test from the reason.
const SEPARATOR: &str = " :: ";

/// Tests that fail, with their reasons.
#[derive(Debug, Default)]
pub struct Known(BTreeMap<String, String>);

impl Known {
    /// Reads a list: lines `group/file/section :: reason`, and lines that begin with `#`.
    ///
    /// # Errors
    /// The file cannot be read, or a line has no reason.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        let mut tests = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (test, reason) = line
                .split_once(SEPARATOR)
                .with_context(|| format!("no reason in {line:?}"))?;
            ensure!(!reason.trim().is_empty(), "no reason in {line:?}");
            let before = tests.insert(test.to_owned(), reason.to_owned());
            ensure!(before.is_none(), "{test} is listed twice");
        }
        Ok(Self(tests))
    }

    /// Returns the reason of a test that may fail.
    #[must_use]
    pub fn reason(&self, test: &str) -> Option<&str> {
        self.0.get(test).map(String::as_str)
    }

    /// Returns the listed tests.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Takes a test off the list.
    pub fn remove(&mut self, test: &str) {
        self.0.remove(test);
    }

    /// Puts a test on the list.
    pub fn add(&mut self, test: String, reason: String) {
        self.0.entry(test).or_insert(reason);
    }

    /// Writes the list, and keeps the comment at its beginning.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = fs::read_to_string(path).unwrap_or_default();
        let comments = text.lines().take_while(|line| line.starts_with('#'));
        let mut text: String = comments.map(|line| format!("{line}\n")).collect();
        for (test, reason) in &self.0 {
            let _ = writeln!(text, "{test}{SEPARATOR}{reason}");
        }
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}
