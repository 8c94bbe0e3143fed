//! What paths say, and what patterns find in folders.

use super::path_date::period_of;
use super::path_fields::fields_of;
use super::*;
use crate::error::ErrorKind;
use std::fs;
use std::path::{Path, PathBuf};

/// 2026-11-05.
const DAY: i64 = 1_793_836_800;

#[test]
fn a_path_says_a_year_a_month_a_day_or_an_hour() {
    let day = Some(DAY..DAY + 86_400);
    let hour = Some(DAY + 7 * 3_600..DAY + 8 * 3_600);
    let check = |path: &str, expected: &Option<std::ops::Range<i64>>| {
        assert_eq!(period_of(path), *expected, "{path}");
    };
    check("year=2026/month=11/day=05/hour=07/a.gz", &hour);
    check("x/Year=2026/Month=11/Day=5/a.gz", &day);
    check("date=2026-11-05/a", &day);
    check("dt=20261105/hour=07/a", &hour);
    check("dt=2026-11-05-07/a", &hour);
    check("day=2026-11-05/a", &day);
    check(
        "AWSLogs/123456789012/CloudTrail/eu-west-1/2026/11/05/a.json.gz",
        &day,
    );
    check("firehose/2026/11/05/07/a", &hour);
    let month = Some(DAY - 4 * 86_400..DAY + 26 * 86_400);
    check("year=2026/month=11/a", &month);
    let year = Some(1_767_225_600..1_798_761_600);
    check("year=2026/a", &year);
    check("2024/02/29/a", &Some(1_709_164_800..1_709_251_200));
    for no_date in [
        "2026/11/a",
        "2026/11/05",
        "2023/02/29/a",
        "1234/11/05/a",
        "2026/13/05/a",
        "2026/11/5/a",
        "app-2026-11-05.log",
        "date=soon/a",
        "year=26/a",
        "month=11/a",
        "date=2026-11-é5/a",
        "",
    ] {
        check(no_date, &None);
    }
}

#[test]
fn the_keys_of_a_path_are_fields() {
    let fields = fields_of(
        "a/region=eu%2Dwest/b/env=x/env=prod/none=__HIVE_DEFAULT_PARTITION__/k=%zz/c=d.gz",
    );
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        fields,
        [("region", "eu-west"), ("env", "prod"), ("k", "%zz")]
    );
}

/// Files of these names, each of its name alone, and one that is empty.
fn folder(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    fs::write(folder.path().join("empty.log"), "").unwrap();
    folder
}

fn names(found: &FoundInputs, below: &Path) -> Vec<String> {
    let names = found.sources.iter().map(|source| {
        let path = Path::new(source.name()).strip_prefix(below).unwrap();
        path.display().to_string()
    });
    names.collect()
}

#[test]
fn a_folder_and_a_glob_find_files_in_the_order_of_their_names() {
    let folder = folder(&[
        "b.log",
        "a/z.log",
        "a/b/c.gz",
        ".hidden.log",
        ".git/x.log",
        "a-b.log",
    ]);
    let path = folder.path();
    let find =
        |pattern: &str, options: &FindOptions| find_inputs(&[path.join(pattern)], options).unwrap();
    let all = find("", &FindOptions::default());
    assert_eq!(
        names(&all, path),
        ["a/b/c.gz", "a/z.log", "a-b.log", "b.log"]
    );
    assert_eq!((all.left_out.num_hidden, all.left_out.num_empty), (2, 1));
    for (pattern, expected) in [
        ("*.log", &["a-b.log", "b.log"][..]),
        ("**/*.log", &["a/z.log", "a-b.log", "b.log"]),
        ("a/**", &["a/b/c.gz", "a/z.log"]),
        ("{a/*,b}.log", &["a/z.log", "b.log"]),
        ("a/?.log", &["a/z.log"]),
        ("b.log", &["b.log"]),
    ] {
        assert_eq!(
            names(&find(pattern, &FindOptions::default()), path),
            expected,
            "{pattern}"
        );
    }
    // Each in one part, whatever else there is.
    let mut parts: Vec<String> = (0..3)
        .flat_map(|part| {
            let options = FindOptions {
                part: Some((part, 3)),
                ..FindOptions::default()
            };
            names(&find("", &options), path)
        })
        .collect();
    parts.sort_by_key(|name| PathBuf::from(name));
    assert_eq!(parts, ["a/b/c.gz", "a/z.log", "a-b.log", "b.log"]);
}

#[test]
fn too_many_inputs_none_and_a_wrong_pattern_are_told() {
    let folder = folder(&["a.log", "b.log"]);
    let check = |pattern: &str, kind: ErrorKind, message: &str| {
        let options = FindOptions {
            max_inputs: 1,
            ..FindOptions::default()
        };
        let error = find_inputs(&[folder.path().join(pattern)], &options).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    };
    check("*.log", ErrorKind::Limit, "--max-inputs");
    check("*.gz", ErrorKind::Invalid, "nothing matches");
    check("[a.log", ErrorKind::Invalid, "is no pattern");
    check("no/such/*.log", ErrorKind::Invalid, "no folder");
    for (uri, message) in [
        ("s3://", "names no bucket"),
        ("s3://*/a", "names no bucket"),
        ("ftp://a/b", "ftp"),
    ] {
        let error = find_inputs(&[uri.into()], &FindOptions::default()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn the_index_is_not_its_own_input_and_old_paths_are_left_out() {
    let folder = folder(&["index/splits/a", "date=2026-11-04/a", "date=2026-11-05/a"]);
    let options = FindOptions {
        index_uri: Some(folder.path().join("index").display().to_string()),
        since_s: Some(DAY),
        ..FindOptions::default()
    };
    let found = find_inputs(&[folder.path().to_path_buf()], &options).unwrap();
    assert_eq!(names(&found, folder.path()), ["date=2026-11-05/a"]);
    assert_eq!(
        (found.left_out.num_of_index, found.left_out.num_too_old),
        (1, 1)
    );
}
