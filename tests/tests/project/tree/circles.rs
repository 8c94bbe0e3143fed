//! Files of several folders that import each other in a circle: to understand one of them, a reader needs all of them.
//!
//! The file of a module beside the folder of that module counts as part of the folder, as a `mod.rs` does. A `mod.rs`
//! alone counts as a file beside its folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::exceptions::{CIRCLES, check};
use super::imports::Modules;
use super::source::{crates, sources};

type Arrows<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

#[test]
fn no_circle_of_files_crosses_folders() {
    let mut found = BTreeMap::new();
    for crate_folder in crates() {
        let sources = sources(&crate_folder);
        let modules = Modules::of(&crate_folder, &sources);
        let arrows = modules.arrows();
        let crossing = circles(&arrows).into_iter().filter(|circle| {
            let folders: BTreeSet<String> =
                circle.iter().map(|file| folder_of(file, &arrows)).collect();
            folders.len() > 1
        });
        for circle in crossing {
            // Shown where the test fails.
            eprintln!("{}", shown(&circle, &arrows));
            *found.entry(crate_folder.clone()).or_default() += circle.len();
        }
    }
    check("files in circles that cross folders", &found, CIRCLES);
}

fn folder_of(file: &str, arrows: &Arrows<'_>) -> String {
    let own = file.trim_end_matches("/mod.rs").trim_end_matches(".rs");
    let is_inside = |other: &&str| {
        let rest = other.strip_prefix(own);
        *other != file && rest.is_some_and(|rest| rest.starts_with('/'))
    };
    if arrows.keys().any(is_inside) {
        return own.to_owned();
    }
    let parent = Path::new(own).parent().unwrap();
    parent.to_string_lossy().replace('\\', "/")
}

fn shown(circle: &BTreeSet<&str>, arrows: &Arrows<'_>) -> String {
    let mut lines = vec![format!("a circle of {} files:", circle.len())];
    for file in circle {
        let within = arrows[file].intersection(circle).copied();
        let within: Vec<&str> = within.collect();
        lines.push(format!("  {file} -> {}", within.join(", ")));
    }
    lines.join("\n")
}

/// Returns the sets of two or more files that all reach each other.
fn circles<'a>(arrows: &Arrows<'a>) -> Vec<BTreeSet<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = arrows
        .keys()
        .map(|file| (*file, reached_from(file, arrows)))
        .collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (file, targets) in &reached {
        let is_mutual = |target: &&&str| {
            reached
                .get(**target)
                .is_some_and(|back| back.contains(file))
        };
        let circle: BTreeSet<&str> = targets.iter().filter(is_mutual).copied().collect();
        if circle.len() > 1 && seen.insert(circle.first().copied()) {
            found.push(circle);
        }
    }
    found
}

fn reached_from<'a>(file: &str, arrows: &Arrows<'a>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = vec![file];
    while let Some(file) = next.pop() {
        for target in arrows.get(file).into_iter().flatten() {
            if reached.insert(*target) {
                next.push(target);
            }
        }
    }
    reached
}

#[test]
fn files_that_reach_each_other_are_a_circle() {
    let arrows: Arrows<'_> = [
        ("a", BTreeSet::from(["b"])),
        ("b", BTreeSet::from(["c"])),
        ("c", BTreeSet::from(["a", "d"])),
        ("d", BTreeSet::new()),
    ]
    .into();
    assert_eq!(circles(&arrows), [BTreeSet::from(["a", "b", "c"])]);
}
