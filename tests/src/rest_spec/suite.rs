//! Files of tests: sections, their steps, and why a section is skipped.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use super::yaml;

type Version = [u32; 3];

/// Published collection of tests.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// Name on the command line.
    pub name: &'static str,
    /// Folder of the unpacked artefact below the target folder.
    pub folder: &'static str,
    /// List of the tests that fail.
    pub list: &'static str,
    /// Version that the tests belong to.
    version: Version,
}

/// The collections. Later versions of Elasticsearch's do not have the Apache License.
pub const SUITES: [Suite; 2] = [
    Suite {
        name: "opensearch",
        folder: "tools/rest-api-spec/rest-api-spec",
        list: "tests/rest-spec/failing.txt",
        version: [3, 1, 0],
    },
    Suite {
        name: "elasticsearch",
        folder: "tools/elastic-rest-api-spec/rest-api-spec",
        list: "tests/rest-spec/failing-elasticsearch.txt",
        version: [7, 10, 2],
    },
];

/// Files that the parser of YAML refuses: pairs without braces, over several lines in a list.
const UNREADABLE: [&str; 1] = ["230_composite.yml"];
/// Features of a runner that this one has.
const FEATURES: [&str; 9] = [
    "allowed_warnings",
    "arbitrary_key",
    "contains",
    "default_shards",
    "headers",
    "node_selector",
    "regex",
    "stash_in_path",
    "warnings",
];

/// Test section of a file, with the setup and teardown of the file.
#[derive(Clone, Debug)]
pub struct Test {
    /// Folder of the file, such as `indices.get_alias`.
    pub group: String,
    /// Name of the file in this folder.
    pub file: String,
    /// Name of the section.
    pub name: String,
    pub(super) setup: Arc<Vec<Step>>,
    pub(super) steps: Vec<Step>,
    pub(super) teardown: Arc<Vec<Step>>,
}

/// Step of a section.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Do(Call),
    /// Assertion by its name, with the path of a value and what the value must be.
    Assert(String, String, Value),
    /// Value of a path that later steps refer to.
    Set(String, String),
}

/// Call of an API.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) api: String,
    pub(super) params: Map<String, Value>,
    pub(super) headers: Map<String, Value>,
    /// Error that is expected: a word, or a regular expression between slashes.
    pub(super) catch: Option<String>,
}

impl Test {
    /// Returns the name in the list of failing tests: `group/file/section`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}/{}", self.group, self.file, self.name)
    }
}

/// Reads the tests of all groups of a suite that `is_wanted` names, in this folder. Sections that the
/// suite's own runner would skip are left out.
///
/// # Errors
/// A file is missing, or is no list of tests.
pub fn read_tests(
    suite: &Suite,
    folder: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Test>> {
    let (mut tests, mut wrong) = (Vec::new(), Vec::new());
    for group in names_in(folder)? {
        if !is_wanted(&group) || !folder.join(&group).is_dir() {
            continue;
        }
        for file in names_in(&folder.join(&group))? {
            if Path::new(&file).extension().is_some_and(|ext| ext == "yml") {
                let path = folder.join(&group).join(&file);
                match read_file(suite.version, &path, &group, &file) {
                    Ok(read) => tests.extend(read),
                    Err(_) if UNREADABLE.contains(&&*file) => {}
                    Err(error) => wrong.push(format!("{}: {error:#}", path.display())),
                }
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(tests)
}

fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder);
    let entries = entries.with_context(|| format!("cannot list {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn read_file(own: Version, path: &Path, group: &str, file: &str) -> Result<Vec<Test>> {
    let (mut setup, mut teardown, mut sections) = (Vec::new(), Vec::new(), Vec::new());
    for document in yaml::parse(&fs::read_to_string(path)?)? {
        for (name, steps) in document.as_object().context("a section has a name")? {
            let steps = steps.as_array().map(Vec::as_slice).unwrap_or_default();
            let steps = read_steps(own, steps).with_context(|| name.clone())?;
            match (&**name, steps) {
                // The file is skipped.
                ("setup", None) => return Ok(Vec::new()),
                ("setup", Some(steps)) => setup = steps,
                ("teardown", steps) => teardown = steps.unwrap_or_default(),
                (_, Some(steps)) => sections.push((name.clone(), steps)),
                (_, None) => {}
            }
        }
    }
    let (setup, teardown) = (Arc::new(setup), Arc::new(teardown));
    let test = |(name, steps)| Test {
        group: group.to_owned(),
        file: file.to_owned(),
        name,
        setup: Arc::clone(&setup),
        steps,
        teardown: Arc::clone(&teardown),
    };
    Ok(sections.into_iter().map(test).collect())
}

/// Returns the steps of a section, or `None` if it is skipped.
fn read_steps(own: Version, steps: &[Value]) -> Result<Option<Vec<Step>>> {
    let mut read = Vec::new();
    for step in steps {
        for (name, value) in step.as_object().context("a step is an object")? {
            match &**name {
                "skip" if is_skipped(own, value)? => return Ok(None),
                "skip" => {}
                "do" => read.extend(read_calls(value)?.into_iter().map(Step::Do)),
                "set" => {
                    for (path, name) in value.as_object().context("set takes an object")? {
                        let name = name.as_str().context("the name of a value")?;
                        read.push(Step::Set(path.clone(), name.to_owned()));
                    }
                }
                "is_true" | "is_false" => {
                    let path = value.as_str().unwrap_or_default().to_owned();
                    read.push(Step::Assert(name.clone(), path, Value::Null));
                }
                "match" | "length" | "gt" | "gte" | "lt" | "lte" | "contains" => {
                    for (path, expected) in value.as_object().context("an object")? {
                        let assertion = (name.clone(), path.clone(), expected.clone());
                        read.push(Step::Assert(assertion.0, assertion.1, assertion.2));
                    }
                }
                // Another kind of step needs a feature.
                _ => return Ok(None),
            }
        }
    }
    Ok(Some(read))
}

/// Returns the calls of a step: one, but for a test that forgets a line.
fn read_calls(value: &Value) -> Result<Vec<Call>> {
    let mut calls = Vec::new();
    let (mut headers, mut catch) = (Map::new(), None);
    for (name, value) in value.as_object().context("do takes an object")? {
        match &**name {
            "catch" => catch = value.as_str().map(str::to_owned),
            "headers" => headers = value.as_object().cloned().unwrap_or_default(),
            "warnings" | "allowed_warnings" | "allowed_warnings_regex" | "node_selector" => {}
            api => {
                let params = value.as_object().cloned().unwrap_or_default();
                calls.push((api.to_owned(), params));
            }
        }
    }
    let call = |(api, params)| Call {
        api,
        params,
        headers: headers.clone(),
        catch: catch.clone(),
    };
    Ok(calls.into_iter().map(call).collect())
}

fn is_skipped(own: Version, skip: &Value) -> Result<bool> {
    let names: Vec<&str> = match &skip["features"] {
        Value::String(names) => names.split(',').map(str::trim).collect(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let lacks = names.iter().any(|name| !FEATURES.contains(name));
    match &skip["version"] {
        Value::String(versions) => Ok(lacks || covers(versions, own)?),
        _ => Ok(lacks),
    }
}

/// Returns whether ranges such as `" - 2.7.99, 3.0.0 - "` contain a version.
fn covers(ranges: &str, own: Version) -> Result<bool> {
    if ranges.trim() == "all" {
        return Ok(true);
    }
    for range in ranges.split(',') {
        let (from, to) = range.split_once('-').context("a range of versions")?;
        let from = version(from)?.unwrap_or([0; 3]);
        let to = version(to)?.unwrap_or([u32::MAX; 3]);
        if (from..=to).contains(&own) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn version(text: &str) -> Result<Option<Version>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let mut version = [0; 3];
    for (number, part) in version.iter_mut().zip(text.split('.')) {
        *number = part.parse().with_context(|| format!("version {text:?}"))?;
    }
    Ok(Some(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_skipped_by_version() {
        for (ranges, expected) in [
            (" - 2.7.99", false),
            (" - 3.1.0", true),
            ("3.0.0 - ", true),
            ("3.2.0 - , 1.0 - 1.1", false),
            ("all", true),
        ] {
            assert_eq!(covers(ranges, [3, 1, 0]).unwrap(), expected, "{ranges}");
        }
    }
}
