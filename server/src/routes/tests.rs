//! The table of routes, and its agreement with requests and other tests.

use std::fmt::Write as _;

use axum::http::Method;
use canter_access::Right;
use canter_intake::TemplateKind;

use super::matching::{Change, matching, rows};
use super::table::{BodyBound, CrossSite};
use crate::managing::Manage;
use crate::writing::Write;

/// Returns the change of a request, formatted, and its rights.
fn change(method: &str, target: &str) -> Option<(String, Vec<Right>)> {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let matched = matching(&method, &target.parse().unwrap())?;
    let shown = match matched.change().unwrap() {
        Change::Documents(write) => format!("{write:?}"),
        Change::Indexes(manage) => format!("{manage:?}"),
    };
    Some((shown, matched.rights().to_vec()))
}

#[test]
fn what_changes_documents_is_told_from_what_reads() {
    for (method, path, wanted) in [
        ("POST", "/_bulk", Some(Write::Bulk(None))),
        (
            "PUT",
            "/api/v1/_elastic/logs/_bulk/",
            Some(Write::Bulk(Some("logs"))),
        ),
        ("GET", "/_bulk", None),
        ("POST", "/logs/_doc", Some(Write::Document("logs", None))),
        ("POST", "/lo%67s/_doc", Some(Write::Document("logs", None))),
        ("PUT", "/logs/_create/7", Some(Write::Create("logs", "7"))),
        ("DELETE", "/logs/_doc/7", Some(Write::Delete("logs", "7"))),
        ("POST", "/logs/_update/7", Some(Write::Update("logs", "7"))),
        ("GET", "/logs/_source/7", None),
        (
            "POST",
            "/logs/_doc/_7",
            Some(Write::Document("logs", Some("_7"))),
        ),
        ("GET", "/logs/_doc/7", None),
        ("POST", "/api/v1/logs/ingest", Some(Write::Lines("logs"))),
        ("POST", "/api/v1/_elastic/ingest", None),
        ("POST", "/api/v1/logs/search", None),
        ("POST", "/logs/_search", None),
        ("POST", "/_search/scroll", None),
        ("POST", "/v1/logs", Some(Write::Logs)),
        ("POST", "/api/v1/otlp/v1/logs", Some(Write::Logs)),
        ("POST", "/api/v1/_elastic/v1/logs", None),
        ("GET", "/v1/logs", None),
        (
            "POST",
            "/logs/_delete_by_query",
            Some(Write::DeleteByQuery("logs")),
        ),
        (
            "POST",
            "/_all/_delete_by_query",
            Some(Write::DeleteByQuery("_all")),
        ),
        ("GET", "/logs/_refresh", Some(Write::Refresh(Some("logs")))),
        ("GET", "/_flush", Some(Write::Refresh(None))),
        ("GET", "/logs", None),
        ("GET", "/", None),
    ] {
        let found = change(method, path).map(|(shown, _)| shown);
        let wanted = wanted.map(|write| format!("{write:?}"));
        assert_eq!(found, wanted, "{method} {path}");
    }
}

#[test]
fn what_changes_indexes_is_told_from_what_reads() {
    let name = || "logs".to_owned();
    for (method, path, wanted) in [
        ("PUT", "/logs", Some(Manage::Create(name()))),
        (
            "PUT",
            "/api/v1/_elastic/logs/",
            Some(Manage::Create(name())),
        ),
        (
            "DELETE",
            "/logs%2Cmore",
            Some(Manage::Delete("logs,more".to_owned())),
        ),
        ("DELETE", "/_all", Some(Manage::Delete("_all".to_owned()))),
        ("GET", "/logs", None),
        ("HEAD", "/logs", None),
        ("POST", "/logs", None),
        ("GET", "/_search", None),
        ("DELETE", "/_search", None),
        ("DELETE", "/_search/scroll", None),
        ("DELETE", "/logs/_search", None),
        (
            "PUT",
            "/_index_template/logs",
            Some(Manage::PutTemplate(TemplateKind::Index, name())),
        ),
        ("POST", "/_index_template/_simulate", None),
        (
            "HEAD",
            "/_component_template/logs",
            Some(Manage::Templates(TemplateKind::Component, Some(name()))),
        ),
        (
            "GET",
            "/_template",
            Some(Manage::Templates(TemplateKind::Legacy, None)),
        ),
        (
            "DELETE",
            "/_index_template/logs",
            Some(Manage::DeleteTemplates(TemplateKind::Index, name())),
        ),
        (
            "PUT",
            "/_data_stream/logs",
            Some(Manage::PutDataStream(name())),
        ),
        ("POST", "/api/v1/indexes", Some(Manage::CreateFromConfig)),
        ("GET", "/api/v1/indexes", None),
        (
            "DELETE",
            "/api/v1/indexes/logs",
            Some(Manage::DeleteOne(name())),
        ),
        (
            "PUT",
            "/api/v1/indexes/logs/clear",
            Some(Manage::Clear(name())),
        ),
        ("PUT", "/api/v1/logs/search", None),
        ("DELETE", "/", None),
    ] {
        let found = change(method, path).map(|(shown, _)| shown);
        let wanted = wanted.map(|manage| format!("{manage:?}"));
        assert_eq!(found, wanted, "{method} {path}");
    }
}

#[test]
fn to_replace_an_index_takes_the_right_to_delete() {
    for (query, is_delete) in [
        ("", false),
        ("?overwrite=false", false),
        ("?overwrite=true", true),
        ("?overwrite", true),
        ("?overwrite=no", true),
        ("?overwrite=false&overwrite=true", true),
    ] {
        let (_, rights) = change("POST", &format!("/api/v1/indexes{query}")).unwrap();
        assert_eq!(rights.contains(&Right::Delete), is_delete, "{query}");
        assert!(rights.contains(&Right::Write), "{query}");
    }
}

/// Returns the table as a text, with an example of each path.
fn listed() -> String {
    let mut lines = String::new();
    for row in rows() {
        let (rights, of_flags) = row.all_rights();
        let cross_site = match row.cross_site {
            CrossSite::Refused => "refused",
            CrossSite::Answered => "answered",
        };
        let body = match row.body {
            BodyBound::Documents => "documents",
            BodyBound::Mapping => "mapping",
            BodyBound::Unused => "unused",
        };
        let mut add = |verb: &str, target: &str, rights: &[Right]| {
            let rights = rights.iter().map(|right| format!("{right:?}"));
            let rights = rights.collect::<Vec<_>>().join("+").to_lowercase();
            writeln!(lines, "{verb} {target} {rights} {cross_site} {body}").unwrap();
        };
        for path in row.paths {
            let path = path.replace("{index}", "logs").replace("{id}", "7");
            let path = path.replace("{name}", "example");
            for verb in row.verbs {
                add(verb, &path, rights);
                for (flag, right) in of_flags {
                    let all = [rights, &[*right]].concat();
                    add(verb, &format!("{path}?{flag}=true"), &all);
                }
            }
        }
    }
    lines
}

/// Tests of the program, and of hosts that only search, read the file.
#[test]
fn the_table_is_the_one_that_other_tests_read() {
    const GOLDEN: &str = include_str!("../../../tests/golden/write_routes.txt");
    let listed = listed();
    assert_eq!(
        listed, GOLDEN,
        "tests/golden/write_routes.txt must be this:\n{listed}"
    );
}

#[test]
fn each_row_is_found_by_its_own_examples() {
    for line in listed().lines() {
        let mut words = line.split(' ');
        let (verb, target, rights) = (
            words.next().unwrap(),
            words.next().unwrap(),
            words.next().unwrap(),
        );
        let (_, found) = change(verb, target).unwrap_or_else(|| panic!("{line}"));
        let found: Vec<String> = found.iter().map(|right| format!("{right:?}")).collect();
        assert_eq!(found.join("+").to_lowercase(), rights, "{line}");
    }
}

#[test]
fn nothing_that_writes_is_open_to_pages_of_other_origins() {
    for row in rows() {
        let only_looks = row.verbs.iter().all(|verb| matches!(*verb, "GET" | "HEAD"));
        let is_open = row.cross_site == CrossSite::Answered;
        // A `GET` of `_refresh` publishes, and is in a row with its `POST`.
        assert_eq!(is_open, only_looks, "{:?}", row.paths);
        assert!(!row.all_rights().0.is_empty(), "{:?}", row.paths);
    }
}

#[test]
fn a_mapping_may_be_no_longer_than_what_the_server_takes() {
    for (bound, max_write, expect) in [
        (BodyBound::Documents, 16 << 20, 16 << 20),
        (BodyBound::Mapping, 16 << 20, 4 << 20),
        (BodyBound::Mapping, 1 << 20, 1 << 20),
        (BodyBound::Unused, 16 << 20, 64 << 10),
        (BodyBound::Unused, 1000, 1000),
    ] {
        assert_eq!(bound.max_bytes(max_write), expect, "{bound:?} {max_write}");
    }
}
