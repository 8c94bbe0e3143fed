//! Documents are deleted by a query, disappear from all answers, and eventually from the store.

use std::path::Path;

use serde_json::Value;

use crate::support::{self, NUM_DOCS, indexed};

fn run(folder: &Path, line: &str, code: i32) -> (String, String) {
    let args: Vec<&str> = line.split(' ').collect();
    support::run(folder, &args, code)
}

fn json(folder: &Path, line: &str, code: i32) -> Value {
    let (stdout, _) = run(folder, &format!("{line} --format json"), code);
    serde_json::from_str(&stdout).unwrap()
}

const DELETE: &str = "index delete --index index --engine native --query";

#[test]
fn what_is_deleted_is_found_nowhere_in_the_end() {
    let folder = indexed();
    let folder = folder.path();
    let delete = format!("{DELETE} severity_text:WARN");
    let search = "search --index index --engine native --max-hits 0 --query";
    let num_warnings = json(folder, &format!("{search} severity_text:WARN"), 0)["num_hits"].clone();
    let num_warnings = num_warnings.as_u64().unwrap();
    assert!(num_warnings > 10);

    let counted = json(folder, &format!("{delete} --dry-run"), 0);
    assert_eq!(counted["num_matching_docs"], num_warnings);
    let found = json(folder, &format!("{delete} --verify"), 1);
    assert_eq!(found["num_matching_docs"], num_warnings);

    let done = json(folder, &delete, 0);
    assert_eq!(done["num_deleted_docs"], num_warnings);
    assert_eq!(
        (&done["num_splits"], &done["num_emptied_splits"]),
        (&2.into(), &0.into())
    );
    assert!(done["num_bytes_written"].as_u64().unwrap() > 0);
    let (stdout, _) = run(folder, &format!("{delete} --format table"), 0);
    assert_eq!(stdout, "nothing matches: nothing is deleted\n");
    assert_eq!(
        json(folder, &format!("{search} severity_text:WARN"), 0)["num_hits"],
        0
    );
    assert_eq!(
        json(folder, &format!("{search} *"), 0)["num_hits"],
        NUM_DOCS - num_warnings
    );
    let described = json(folder, "index describe --index index", 0);
    assert_eq!(described["num_docs"], NUM_DOCS - num_warnings);
    assert_eq!(described["num_deleted_docs"], num_warnings);

    let verified = json(folder, &format!("{delete} --verify"), 0);
    assert_eq!(
        (&verified["num_matching_docs"], &verified["num_objects"]),
        (&0.into(), &2.into())
    );
    assert_eq!(verified["num_stored_docs"], num_warnings);
    assert_eq!(verified["objects"][0]["is_live"], true);

    let merged = json(folder, "index merge --index index --rewrite-deleted", 0);
    assert_eq!(merged["merges"].as_array().unwrap().len(), 2);
    assert_eq!(
        json(folder, "index describe --index index", 0)["num_deleted_docs"],
        0
    );
    let verified = json(folder, &format!("{delete} --verify"), 0);
    assert_eq!(verified["num_objects"], 4);
    assert_eq!(verified["num_stored_docs"], num_warnings);
    assert_eq!(verified["objects"][1]["is_live"], false);

    json(folder, "index gc --index index --grace 0s", 0);
    let (stdout, _) = run(folder, &format!("{delete} --verify --format table"), 0);
    assert_eq!(
        stdout,
        "the query finds nothing in the index\nnone of 2 splits in the store holds a document that matches\n"
    );
    assert_eq!(
        json(folder, &format!("{search} *"), 0)["num_hits"],
        NUM_DOCS - num_warnings
    );
}

#[test]
fn everything_is_deleted_only_if_it_is_said() {
    let folder = indexed();
    let folder = folder.path();
    for query in ["*", "(*)"] {
        let (_, stderr) = run(folder, &format!("{DELETE} {query}"), 2);
        assert!(stderr.contains("say --all"), "{stderr}");
    }
    let done = json(folder, &format!("{DELETE} * --all"), 0);
    assert_eq!(done["num_emptied_splits"], 2);
    assert_eq!(
        json(folder, "index describe --index index", 0)["num_splits"],
        0
    );
}

#[test]
fn nothing_is_deleted_if_a_split_cannot_be_searched() {
    let folder = indexed();
    let folder = folder.path();
    let splits = support::splits_of(folder);
    std::fs::remove_file(&splits[0]).unwrap();
    let (_, stderr) = run(folder, &format!("{DELETE} body:block"), 1);
    assert!(stderr.contains("nothing is deleted"), "{stderr}");
    let id = splits[0].file_stem().unwrap().to_str().unwrap();
    assert!(stderr.contains(id), "{stderr}");
    assert_eq!(
        json(folder, "index describe --index index", 0)["num_deleted_docs"],
        0
    );
}
