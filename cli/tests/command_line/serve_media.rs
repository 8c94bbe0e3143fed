//! `canter serve` and the media types that Elasticsearch's clients request in headers, in all answers.

use reqwest::Method;

use crate::serve::{Answer, Server};
use crate::support::indexed;

const OWN: &str = "application/vnd.elasticsearch+json;compatible-with=8";

fn get(server: &Server, path: &str, accept: &str) -> Answer {
    let headers = [("accept", accept)];
    server.send(Method::GET, path, &headers, String::new())
}

#[test]
fn answers_have_the_media_type_that_was_asked_for() {
    let folder = indexed();
    let server = Server::start(folder.path(), &[]);
    for (path, status) in [
        ("/", 200),
        ("/logs/_count", 200),
        ("/nowhere/_count", 404),
        ("/logs/_nothing", 400),
        // Whichever part answers: the guest, which has no such path, or this server, which only searches.
        ("/_sql", 400),
        ("/api/v1/_elastic/logs/_count", 200),
    ] {
        for (accept, expect) in [
            (OWN, OWN),
            (
                "application/vnd.elasticsearch+json; compatible-with=9",
                "application/vnd.elasticsearch+json;compatible-with=9",
            ),
            ("application/json", "application/json"),
            ("*/*", "application/json"),
        ] {
            let answer = get(&server, path, accept);
            assert_eq!(answer.status, status, "{path}");
            assert_eq!(answer.header("content-type"), Some(expect), "{path}");
            let product = answer.header("x-elastic-product");
            assert_eq!(product, Some("Elasticsearch"), "{path}");
        }
    }
    let headers = [("content-type", OWN)];
    let written = server.send(Method::PUT, "/logs/_doc/1", &headers, "{}".to_owned());
    assert_eq!(written.status, 403);
    assert_eq!(written.header("content-type"), Some(OWN));
    // The search API has nothing of the kind.
    let other = get(&server, "/api/v1/logs/search?query=*&max_hits=0", OWN);
    assert_eq!(other.header("content-type"), Some("application/json"));
    assert_eq!(other.header("x-elastic-product"), None);
}

#[test]
fn clients_of_another_version_are_told_so() {
    let folder = indexed();
    let server = Server::start(folder.path(), &[]);
    let other = "application/vnd.elasticsearch+json; compatible-with=7";
    for headers in [
        [("accept", other), ("content-type", "application/json")],
        [("accept", OWN), ("content-type", other)],
    ] {
        let refused = server.send(Method::POST, "/logs/_search", &headers, "{}".to_owned());
        assert_eq!(refused.status, 400);
        assert_eq!(refused.header("x-elastic-product"), Some("Elasticsearch"));
        let error = &refused.json()["error"];
        assert_eq!(error["type"], "media_type_header_exception");
        let reason = error["reason"].as_str().unwrap();
        assert!(reason.contains("compatible-with=8"), "{reason}");
    }
}

#[test]
fn cat_answers_in_json_to_who_wants_that() {
    let folder = indexed();
    let server = Server::start(folder.path(), &[]);
    for accept in ["application/json", OWN] {
        let listed = get(&server, "/_cat/indices", accept);
        assert_eq!(listed.header("content-type"), Some(accept));
        assert_eq!(listed.json()[0]["index"], "logs");
    }
    for accept in ["text/plain, application/json", "*/*"] {
        let listed = get(&server, "/_cat/indices", accept);
        let content_type = listed.header("content-type").unwrap();
        assert!(content_type.starts_with("text/plain"), "{content_type}");
    }
}
