//! Tests of dates and fields in paths, and of patterns in folders.

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

/// Returns a folder with files of these names, each containing its name, and an empty one.
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
    // Each is in one part, whatever else exists.
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

#[cfg(unix)]
mod links {
    use super::*;
    use crate::error::BuildError;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    fn find(path: &Path, follow_links: bool) -> FoundInputs {
        let options = FindOptions {
            follow_links,
            ..FindOptions::default()
        };
        find_inputs(&[path.to_path_buf()], &options).unwrap()
    }

    /// Returns `in/` with links that lead around inside, and outside to a file and to a folder.
    fn linked() -> tempfile::TempDir {
        let folder = folder(&["in/a.log", "in/b/c.log", "out/secret", "out/more/d.log"]);
        let path = folder.path();
        symlink("../out/secret", path.join("in/key.log")).unwrap();
        symlink(path.join("out/more"), path.join("in/more")).unwrap();
        symlink("b/c.log", path.join("in/0-again.log")).unwrap();
        symlink("..", path.join("in/b/up")).unwrap();
        symlink("nowhere", path.join("in/dead.log")).unwrap();
        symlink("loop.log", path.join("in/loop.log")).unwrap();
        folder
    }

    #[test]
    fn links_out_of_a_folder_are_not_followed_and_told() {
        let folder = linked();
        let root = folder.path().join("in");
        let found = find(&root, false);
        assert_eq!(names(&found, &root), ["a.log", "b/c.log"]);
        let left_out = LeftOut {
            num_links_outside: 2,
            num_dead_links: 2,
            num_repeated_links: 1,
            ..LeftOut::default()
        };
        assert_eq!(found.left_out, left_out);
        let found = find(&root.join("*.log"), false);
        assert_eq!(names(&found, &root), ["0-again.log", "a.log"]);
        assert_eq!(found.left_out.num_links_outside, 1);
        // An explicitly named link is followed.
        let found = find(&root.join("key.log"), false);
        assert_eq!(names(&found, &root), ["key.log"]);
        let found = find(&root.join("more"), false);
        assert_eq!(names(&found, &root), ["more/d.log"]);
    }

    #[test]
    fn follow_links_follows_all_and_a_circle_ends() {
        let folder = linked();
        let root = folder.path().join("in");
        symlink("../../in", folder.path().join("out/more/back")).unwrap();
        let found = find(&root, true);
        assert_eq!(
            names(&found, &root),
            ["a.log", "b/c.log", "key.log", "more/d.log"]
        );
        assert_eq!(found.left_out.num_links_outside, 0);
        assert_eq!(found.left_out.num_dead_links, 2);
        assert_eq!(found.left_out.num_repeated_links, 1);
    }

    fn named(path: &Path) -> Result<(), BuildError> {
        let found = find_inputs(&[path.to_path_buf()], &FindOptions::default())?;
        found.sources.iter().try_for_each(|source| source.check())
    }

    #[test]
    fn pipes_sockets_and_devices_in_a_folder_are_left_out_and_told() {
        let folder = folder(&["a.log"]);
        let path = folder.path();
        let pipe = path.join("pipe.log");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let socket = path.join("socket.log");
        let _listener = UnixListener::bind(&socket).unwrap();
        symlink("/dev/zero", path.join("zero.log")).unwrap();
        for pattern in ["", "*.log"] {
            let found = find(&path.join(pattern), true);
            assert_eq!(names(&found, path), ["a.log"], "{pattern}");
            assert_eq!(found.left_out.num_special, 3, "{pattern}");
            let names = found.special.iter().map(|name| name.ends_with("pipe.log"));
            assert_eq!(names.filter(|is_pipe| *is_pipe).count(), 1, "{found:?}");
        }
        // A pipe is a stream, and nothing has opened it when it is checked.
        named(&pipe).unwrap();
        named(Path::new("/dev/null")).unwrap();
        for (device, what) in [
            (socket.as_path(), "is a socket"),
            (Path::new("/dev/zero"), "is a device"),
            (path.join("zero.log").as_path(), "is a device"),
        ] {
            let error = named(device).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            assert!(error.to_string().contains(what), "{error}");
        }
    }
}
