//! Architecture rules, checked against `cargo metadata`, the component and the source tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_path_buf()
}

/// Names of normal dependencies, keyed by package of this workspace.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(workspace())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| {
            let normal = package["dependencies"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|dependency| dependency["kind"].is_null())
                .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
                .collect();
            (package["name"].as_str().unwrap().to_owned(), normal)
        })
        .collect()
}

/// A change in any of these crates must invalidate cached partial results.
#[test]
fn the_guest_is_named_by_all_the_crates_it_is_made_from() {
    let build_script = std::fs::read_to_string(workspace().join("guest/build.rs")).unwrap();
    let manifest = std::fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    // These replace external crates, such as one that tantivy uses.
    let patched = manifest["patch"]["crates-io"].as_table().unwrap();
    let mut folders: Vec<String> = patched
        .values()
        .map(|patch| patch["path"].as_str().unwrap().to_owned())
        .collect();
    assert!(!folders.is_empty());
    let ours = manifest["workspace"]["dependencies"].as_table().unwrap();
    let dependencies = dependencies();
    let mut packages = vec!["canter-guest".to_owned()];
    while let Some(package) = packages.pop() {
        for used in &dependencies[&package] {
            if let Some(path) = ours[used].get("path") {
                folders.push(path.as_str().unwrap().to_owned());
                packages.push(used.clone());
            }
        }
    }
    assert!(folders.len() >= 3, "{folders:?}");
    for folder in folders {
        let from_guest = match folder.strip_prefix("guest/") {
            Some(inside) => inside.to_owned(),
            None => format!("../{folder}"),
        };
        for part in ["src", "Cargo.toml"] {
            let source = format!("{from_guest}/{part}");
            assert!(
                build_script.contains(&format!("{source:?}")),
                "guest/build.rs does not hash {source}"
            );
        }
    }
}

#[test]
fn imports_go_down_only() {
    let layers: [&[&str]; 11] = [
        &[
            "canter-geo",
            "canter-names",
            "canter-patterns",
            "canter-sorting",
            "canter-vectors",
        ],
        &["canter-protocol"],
        &[
            "canter-split-format",
            "canter-stores",
            "canter-access",
            "canter-formats",
            "canter-page",
            "canter-painless",
            "bitpacking",
            "datasketches",
        ],
        &[
            "canter-pipelines",
            "canter-doc-mapper",
            "canter-samples",
            "canter-waves",
            "canter-clusters",
            "canter-nearest",
        ],
        &["canter-aggregations", "canter-matching", "canter-terms"],
        &["canter-guest", "canter-kernels"],
        &[
            "canter-guest-component",
            "canter-index-builder",
            "canter-runtime",
            "canter-edge-io",
        ],
        &["canter-intake", "canter-lab"],
        &["canter-server"],
        &["canter-cli"],
        &[
            "canter-python",
            "canter-wasi",
            "canter-fastly",
            "canter-lambda",
            "canter-benches",
            "canter-examples",
            "canter-tests",
            "canter-split-format-fuzz",
            "canter-formats-fuzz",
            "canter-intake-fuzz",
            "canter-fuzz",
            "xtask",
        ],
    ];
    let layer_of = |name: &str| layers.iter().position(|layer| layer.contains(&name));
    let dependencies = dependencies();
    for (package, uses) in &dependencies {
        let own = layer_of(package).unwrap_or_else(|| panic!("{package} has no layer"));
        for used in uses {
            if let Some(layer) = layer_of(used) {
                let tests_may = package == "canter-tests" || used == "canter-tests";
                assert!(layer < own || tests_may, "{package} must not import {used}");
            }
        }
    }
    let never = |package: &str, forbidden: &[&str]| {
        for name in forbidden {
            assert!(
                !dependencies[package].contains(*name),
                "{package} must not import {name}"
            );
        }
    };
    never(
        "canter-index-builder",
        &["canter-guest", "canter-runtime", "wasmtime", "reqwest"],
    );
    never(
        "canter-runtime",
        &["canter-split-format", "canter-doc-mapper", "tantivy"],
    );
    never(
        "canter-guest",
        &[
            "tokio",
            "reqwest",
            "object_store",
            "canter-stores",
            "rand",
            "getrandom",
            "wasmtime",
        ],
    );
    never("canter-split-format", &["tantivy", "tokio", "object_store"]);
    never(
        "canter-doc-mapper",
        &[
            "canter-split-format",
            "canter-stores",
            "tokio",
            "object_store",
        ],
    );
    never("canter-stores", &["canter-split-format", "tantivy"]);
    never(
        "canter-waves",
        &["tokio", "http", "futures-util", "tracing"],
    );
}

/// Code that a Lambda function does not use would be loaded at each cold start.
#[test]
fn the_lambda_functions_link_no_wasmtime() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", "canter-lambda", "--edges", "normal"])
        .args([
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--offline",
            "--locked",
        ])
        .current_dir(workspace())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let tree = String::from_utf8(output.stdout).unwrap();
    let names: BTreeSet<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(
        names.contains("canter-runtime") && names.contains("lambda_runtime"),
        "{tree}"
    );
    let heavy = |name: &&&str| name.starts_with("wasmtime") || name.starts_with("cranelift");
    let found: Vec<_> = names.iter().filter(heavy).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_guest_component_imports_nothing() {
    use wasmparser::{Encoding, Parser, Payload};
    let component = canter_runtime::engine::WasmEngine::embedded_component().unwrap();
    let mut num_components = 0;
    for payload in Parser::new(0).parse_all(&component) {
        match payload.unwrap() {
            Payload::Version {
                encoding: Encoding::Component,
                ..
            } => num_components += 1,
            Payload::ComponentImportSection(imports) => {
                // The shell that exports the interface imports its own types, which hosts do not
                // see.
                for import in imports {
                    let name = import.unwrap().name;
                    assert!(num_components > 1, "the component imports {name:?}");
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    let import = import.unwrap();
                    assert!(
                        !import.module.starts_with("wasi") && import.module != "env",
                        "the core module imports {}::{}",
                        import.module,
                        import.name
                    );
                }
            }
            _ => {}
        }
    }
    assert!(num_components >= 1);
}

/// Collects the Rust files of the workspace, except generated ones.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                sources(&path, files);
            }
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
}

#[test]
fn files_say_what_they_are_and_stay_small() {
    let mut files = Vec::new();
    sources(&workspace(), &mut files);
    assert!(files.len() > 100, "the tree was not found");
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = path
            .strip_prefix(workspace())
            .unwrap()
            .display()
            .to_string();
        assert!(
            text.starts_with("//!"),
            "{shown} must open with a //! comment"
        );
        let is_test = shown.contains("/tests/") || shown.ends_with("tests.rs");
        let limit = if is_test { 800 } else { 600 };
        let num_lines = text.lines().count();
        assert!(
            num_lines <= limit,
            "{shown} has {num_lines} lines, more than {limit}"
        );
    }
}

/// Folders of the guest, lowest layer first.
const FLOORS: [&str; 12] = [
    "exchange",
    "limits",
    "query",
    "request",
    "split",
    "partial_cache",
    "leaf",
    "plan",
    "root",
    "search",
    "api",
    "session",
];

#[test]
fn folders_of_the_guest_import_only_from_those_below() {
    let source = workspace().join("guest/src");
    let mut files = Vec::new();
    sources(&source, &mut files);
    let floor_of = |folder: &str| FLOORS.iter().position(|floor| *floor == folder);
    let mut num_imports = 0;
    for file in files {
        let inside = file.strip_prefix(&source).unwrap();
        let is_test = inside
            .iter()
            .any(|part| part == "tests" || part == "tests.rs");
        let folder = inside.iter().next().unwrap().to_str().unwrap();
        if is_test || folder == "lib.rs" {
            continue;
        }
        let own = floor_of(folder).unwrap_or_else(|| panic!("{folder} has no floor"));
        let text = std::fs::read_to_string(&file).unwrap();
        for import in text.split("crate::").skip(1) {
            let used = import.split(|c: char| !c.is_alphanumeric() && c != '_');
            if let Some(floor) = used.into_iter().next().and_then(floor_of) {
                num_imports += 1;
                assert!(
                    floor <= own,
                    "{} imports from {}, which is above it",
                    inside.display(),
                    FLOORS[floor]
                );
            }
        }
    }
    assert!(num_imports > 100, "only {num_imports} imports were found");
}

#[test]
fn the_date_is_asked_for_in_one_place() {
    // A clock can be set to a time before 1970, for which other code would panic.
    const ASKS: &str = "stores/src/clock.rs";
    // These files compare two times, and handle the case that the first one is later.
    const COMPARES: [&str; 3] = [
        "stores/src/cache/folder.rs",
        "stores/src/cache/block_file.rs",
        "edge-adapters/lambda/src/search/function.rs",
    ];
    // The programs of this platform only use the part of `canter-stores` that edge-io needs.
    const ELSEWHERE: &str = "edge-adapters/fastly/src/calls.rs";
    let mut files = Vec::new();
    sources(&workspace(), &mut files);
    let mut asking = BTreeSet::new();
    for path in files {
        let shown = path.strip_prefix(workspace()).unwrap();
        let shown = shown.display().to_string();
        let is_test = shown.contains("/tests/") || shown.ends_with("tests.rs");
        let is_product = !is_test
            && !["tests/", "benches/", "xtask/"]
                .iter()
                .any(|folder| shown.starts_with(folder));
        let text = std::fs::read_to_string(&path).unwrap();
        if is_product && text.contains("SystemTime::now") {
            asking.insert(shown);
        }
    }
    let allowed = COMPARES.iter().chain([&ASKS, &ELSEWHERE]);
    let allowed: BTreeSet<String> = allowed.map(|path| (*path).to_owned()).collect();
    assert_eq!(
        asking, allowed,
        "`canter_stores::unix_time` says the date, which a machine may not have"
    );
}
