//! Locations of indexes: a server accesses nothing else whatever its store contains, and reveals them to nobody.

use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::serve::{Answer, Server};
use crate::serve_managing::{delete, put, status};
use crate::support::run;

/// The folder is outside the root, but inside the test's own.
#[test]
fn a_list_of_indexes_that_leads_outside_has_nothing_served_and_nothing_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for index in ["outside", "all/logs/inside"] {
        let create = ["index", "create", "--index", index, "--preset", "otel-logs"];
        run(path, &create, 0);
    }
    std::fs::write(path.join("outside/notes"), "mine").unwrap();
    let args = ["--indexes-in", "all", "--writable"];
    let test = "a_list_of_indexes_that_leads_outside_has_nothing_served_and_nothing_deleted";
    let Some(server) = Server::shut_in(path, &args, test) else {
        return;
    };
    assert_eq!(put(&server, "/more", &Value::Null).status, 200);
    for outside in [
        "../outside",
        "logs/../../outside",
        "./../outside",
        "logs/inside",
    ] {
        let list = json!({
            "version": 1,
            "indexes": {"logs": {"folder": outside, "created_at_ms": 1}},
            "vacant": [],
        });
        std::fs::write(path.join("all/indexes.json"), list.to_string()).unwrap();
        let deleted = delete(&server, "/logs");
        assert_eq!(deleted.status, 500, "{outside}: {}", deleted.text);
        assert!(deleted.text.contains("indexes.json"), "{}", deleted.text);
        assert_eq!(status(&server, "GET", "/logs/_count"), 404, "{outside}");
        assert_eq!(delete(&server, "/api/v1/indexes/logs").status, 500);
        // The indexes from before are still served.
        assert_eq!(status(&server, "GET", "/more/_count"), 200, "{outside}");
        for kept in [
            "outside/notes",
            "outside/manifest.canter",
            "all/logs/inside/manifest.canter",
        ] {
            assert!(path.join(kept).is_file(), "{outside}: {kept}");
        }
    }
}

const DOCUMENT: &str = r#"{"timestamp_nanos":1762336800000000000,"body":{"message":"some"}}"#;

/// A folder with an index `fixed`, and a root with an index `logs`, with one document each.
struct Bench {
    folder: TempDir,
    server: Server,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let create = [
            "index",
            "create",
            "--index",
            "fixed",
            "--preset",
            "otel-logs",
        ];
        run(path, &create, 0);
        let (fixed, all) = (path.join("fixed"), path.join("all"));
        let fixed = format!("fixed={}", fixed.display());
        let all = all.display().to_string();
        let args = ["--index", &fixed, "--indexes-in", &all];
        let more = ["--writable", "--commit-interval", "20ms", "--no-upkeep"];
        let makes = ["--auto-create-index", "none"];
        let server = Server::of(path, &[&args[..], &more, &makes].concat());
        let bench = Self { folder, server };
        assert_eq!(put(&bench.server, "/logs", &Value::Null).status, 200);
        for index in ["fixed", "logs"] {
            let added = bench.send("POST", &format!("/{index}/_doc?refresh=true"), DOCUMENT);
            assert_eq!(added.status, 201, "{}", added.text);
        }
        bench
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        let kind = match path.contains("_bulk") || path.contains("_msearch") {
            true => "application/x-ndjson",
            false => "application/json",
        };
        let method: Method = method.parse().unwrap();
        let headers = [("content-type", kind)];
        self.server.send(method, path, &headers, body.to_owned())
    }

    /// Returns the folders of both indexes.
    fn indexes(&self) -> [PathBuf; 2] {
        let mut logs = self.path("all/logs").read_dir().unwrap();
        let logs = logs.next().unwrap().unwrap().path();
        [self.path("fixed"), logs]
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Requests for each index.
const OF_INDEX: [(&str, &str, &str); 16] = [
    ("GET", "/INDEX/_count?q=some", ""),
    ("GET", "/INDEX/_search?q=some", ""),
    (
        "POST",
        "/INDEX/_search",
        r#"{"aggs":{"a":{"terms":{"field":"severity_text"}}}}"#,
    ),
    (
        "POST",
        "/_msearch",
        "{\"index\":\"INDEX\"}\n{\"query\":{\"match_all\":{}}}\n",
    ),
    ("GET", "/INDEX/_mapping", ""),
    ("GET", "/INDEX/_field_caps?fields=*", ""),
    ("POST", "/INDEX/_pit?keep_alive=1m", ""),
    ("GET", "/api/v1/INDEX/search?query=some", ""),
    ("GET", "/api/v1/indexes/INDEX", ""),
    ("POST", "/INDEX/_doc?refresh=false", DOCUMENT),
    ("POST", "/INDEX/_doc?refresh=true", DOCUMENT),
    (
        "POST",
        "/INDEX/_bulk?refresh=false",
        "{\"create\":{}}\nDOCUMENT\n",
    ),
    ("POST", "/api/v1/INDEX/ingest?commit=auto", DOCUMENT),
    (
        "POST",
        "/INDEX/_delete_by_query",
        r#"{"query":{"query_string":{"query":"body.message:some"}}}"#,
    ),
    ("POST", "/INDEX/_refresh", ""),
    (
        "POST",
        "/v1/logs",
        r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"a"}}]}]}]}"#,
    ),
];

/// Requests for the whole server.
const OF_ALL: [(&str, &str, &str); 11] = [
    ("GET", "/_search?q=some", ""),
    ("GET", "/_cat/indices?format=json", ""),
    ("GET", "/api/v1/indexes", ""),
    ("GET", "/health/readyz", ""),
    ("GET", "/metrics", ""),
    ("PUT", "/new", ""),
    ("PUT", "/_index_template/t", r#"{"index_patterns":["t-*"]}"#),
    ("GET", "/_index_template", ""),
    ("GET", "/_data_stream", ""),
    ("PUT", "/api/v1/indexes/logs/clear", ""),
    ("DELETE", "/logs", ""),
];

type Break = fn(&Bench);

/// Returns ways to break the files of both indexes, or those of the root.
fn breaks() -> [(&'static str, Break); 12] {
    fn in_each(bench: &Bench, change: impl Fn(&Path)) {
        bench.indexes().iter().for_each(|index| change(index));
    }
    fn split_of(index: &Path) -> PathBuf {
        let mut splits = index.join("splits").read_dir().unwrap();
        splits.next().unwrap().unwrap().path()
    }
    /// Replaces a file by a folder, which cannot be read or written as a file.
    fn become_folder(path: &Path) {
        if path.exists() {
            std::fs::remove_file(path).unwrap();
        }
        std::fs::create_dir(path).unwrap();
        std::fs::write(path.join("more"), "").unwrap();
    }
    fn garble(path: &Path) {
        std::fs::write(path, "no bytes of ours").unwrap();
    }
    [
        ("manifests are damaged", |bench| {
            in_each(bench, |index| garble(&index.join("manifest.canter")));
        }),
        ("manifests are folders", |bench| {
            in_each(bench, |index| become_folder(&index.join("manifest.canter")));
        }),
        ("manifests are gone", |bench| {
            in_each(bench, |index| {
                std::fs::remove_file(index.join("manifest.canter")).unwrap();
            });
        }),
        ("splits are damaged", |bench| {
            in_each(bench, |index| garble(&split_of(index)));
        }),
        ("splits are folders", |bench| {
            in_each(bench, |index| become_folder(&split_of(index)));
        }),
        ("splits are gone", |bench| {
            in_each(bench, |index| {
                std::fs::remove_file(split_of(index)).unwrap()
            });
        }),
        ("the folder of splits is a file", |bench| {
            in_each(bench, |index| {
                std::fs::rename(index.join("splits"), index.join("pages")).unwrap();
                garble(&index.join("splits"));
            });
        }),
        ("the spool is a file", |bench| {
            in_each(bench, |index| garble(&index.join("spool")));
        }),
        ("locks are folders", |bench| {
            in_each(bench, |index| become_folder(&index.join("manifest.lock")));
        }),
        ("indexes are gone", |bench| {
            in_each(bench, |index| {
                std::fs::rename(index, index.with_extension("away")).unwrap();
            });
        }),
        ("the lists are damaged", |bench| {
            garble(&bench.path("all/indexes.json"));
            garble(&bench.path("all/templates.json"));
        }),
        ("the root is gone", |bench| {
            std::fs::rename(bench.path("all"), bench.path("away")).unwrap();
        }),
    ]
}

/// Number of failed requests, and the locations that they revealed.
struct Told {
    num_failed: usize,
    places: Vec<String>,
}

/// Sends all requests to a server with broken files.
fn ask_all(what: &str, change: Break) -> Told {
    let bench = Bench::new();
    let place = bench.folder.path().canonicalize().unwrap();
    let place = place.file_name().unwrap().to_str().unwrap().to_owned();
    change(&bench);
    let of_indexes = ["fixed", "logs"].into_iter().flat_map(|index| {
        OF_INDEX.map(|(method, path, body)| {
            let body = body.replace("INDEX", index).replace("DOCUMENT", DOCUMENT);
            (method, path.replace("INDEX", index), body)
        })
    });
    let of_all = OF_ALL.map(|(method, path, body)| (method, path.to_owned(), body.to_owned()));
    let mut told = Told {
        num_failed: 0,
        places: Vec::new(),
    };
    for (method, path, body) in of_indexes.chain(of_all) {
        let answer = bench.send(method, &path, &body);
        if answer.status >= 400 || answer.text.contains("\"error\"") {
            told.num_failed += 1;
        }
        if answer.whole().contains(&place) {
            let place = format!("{what}: {method} {path}: {}", answer.text);
            told.places.push(place);
        }
    }
    assert!(
        told.num_failed >= 2,
        "{what} has {} errors",
        told.num_failed
    );
    told
}

#[test]
fn no_answer_says_where_indexes_are() {
    // Servers mostly wait before they retry, so this runs in parallel.
    let told: Vec<Told> = std::thread::scope(|scope| {
        let asking = breaks().map(|(what, change)| scope.spawn(move || ask_all(what, change)));
        asking.map(|asking| asking.join().unwrap()).into()
    });
    let places: Vec<String> = told.iter().flat_map(|told| told.places.clone()).collect();
    assert!(places.is_empty(), "{}", places.join("\n"));
    let num_failed: usize = told.iter().map(|told| told.num_failed).sum();
    assert!(num_failed > 150, "only {num_failed} requests failed");
}
