//! `canter serve` with tokens: access for their holders, and no information for anyone else.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;

use crate::serve::{Answer, Server};
use crate::support::{indexed, run};

/// Adds a key, and returns its token.
pub(crate) fn key(folder: &Path, args: &[&str]) -> String {
    let args = [&["key", "add", "--file", "keys.toml"], args].concat();
    let (stdout, stderr) = run(folder, &args, 0);
    assert!(!stderr.contains(stdout.trim().rsplit('.').next().unwrap()));
    stdout.trim().to_owned()
}

pub(crate) fn get(server: &Server, path: &str, header: &str) -> Answer {
    server.send(
        Method::GET,
        path,
        &[("authorization", header)],
        String::new(),
    )
}

#[test]
fn only_holders_of_tokens_are_answered_and_only_what_they_may_see() {
    let folder = indexed();
    let path = folder.path();
    let all = key(path, &["--id", "all"]);
    let some = key(
        path,
        &[
            "--id",
            "some",
            "--index",
            "l*",
            "--filter",
            "severity_text:ERROR",
        ],
    );
    let other = key(path, &["--id", "other", "--index", "metrics"]);
    let writer = key(path, &["--id", "writer", "--right", "write"]);
    let server = Server::start(path, &["--api-keys", "keys.toml"]);

    for (path, shape) in [
        ("/api/v1/logs/search?query=*", "/message"),
        ("/logs/_search", "/error/reason"),
    ] {
        let nobody = server.get(path);
        assert_eq!(nobody.status, 401, "{path}");
        assert!(nobody.header("www-authenticate").is_some());
        assert!(
            nobody
                .json()
                .pointer(shape)
                .unwrap()
                .as_str()
                .unwrap()
                .contains("send a token")
        );
        for wrong in [
            "Bearer all.guessed",
            "Bearer nobody.x",
            "Bearer a.b.c",
            "Basic x",
            &all,
        ] {
            assert_eq!(get(&server, path, wrong).status, 401, "{path} {wrong}");
        }
        assert_eq!(get(&server, path, &format!("Bearer {writer}")).status, 403);
        assert_eq!(get(&server, path, &format!("Bearer {other}")).status, 404);
        assert_eq!(get(&server, path, &format!("Bearer {all}")).status, 200);
    }
    let encoded = STANDARD.encode(all.replace('.', ":"));
    for header in [format!("ApiKey {encoded}"), format!("Basic {encoded}")] {
        assert_eq!(get(&server, "/logs/_count", &header).status, 200);
    }
    let twice = [
        ("authorization", format!("Bearer {all}")),
        ("authorization", format!("Bearer {some}")),
    ];
    let twice = twice
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let twice = server.send(Method::GET, "/logs/_count", &twice, String::new());
    assert_eq!(twice.status, 401);

    let count = |token: &str, query: &str| {
        let path = format!("/api/v1/logs/search?query={query}&max_hits=0");
        let answer = get(&server, &path, &format!("Bearer {token}"));
        (
            answer.json()["num_hits"].as_u64().unwrap(),
            answer.header("x-canter-requests").is_some(),
        )
    };
    let (errors, shows_cost) = count(&all, "severity_text:ERROR");
    assert!(errors > 0 && shows_cost);
    assert_eq!(count(&some, "*"), (errors, false));
    assert_eq!(count(&some, "severity_text:INFO"), (0, false));

    assert_eq!(server.get("/health/livez").status, 200);
    for (path, token, status) in [
        ("/health/readyz", "", 401),
        ("/health/readyz", &all, 200),
        ("/metrics", "", 401),
        ("/metrics", &some, 403),
        ("/metrics", &other, 403),
        ("/metrics", &all, 200),
        ("/api/v1/indexes", &other, 200),
    ] {
        assert_eq!(
            get(&server, path, &format!("Bearer {token}")).status,
            status,
            "{path}"
        );
    }
    assert_eq!(
        get(&server, "/api/v1/indexes", &format!("Bearer {other}")).text,
        "[]"
    );
}

/// A secret of these tests, and tokens signed with it: one until the year 2100, and an expired one.
const KEY_SET: &str = r#"{"keys": [{"kty": "oct", "k": "YSBzZWNyZXQgb2YgdGhlc2UgdGVzdHMsIGFuZCBvZiBub2JvZHkgZWxzZQ"}]}"#;
const JWT: &str = "eyJhbGciOiAiSFMyNTYiLCAidHlwIjogIkpXVCJ9.eyJzdWIiOiAiZGFzaGJvYXJkIiwgImV4cCI6IDQxMDI0NDQ4MDAsICJjYW50ZXIiOiB7ImluZGV4ZXMiOiBbImwqIl0sICJmaWx0ZXIiOiAic2V2ZXJpdHlfdGV4dDpFUlJPUiJ9fQ.5-CFkI9CG_-6SvebziMsORpETF54KlakZHRCCw2hwLg";
const ENDED: &str = "eyJhbGciOiAiSFMyNTYiLCAidHlwIjogIkpXVCJ9.eyJzdWIiOiAiZGFzaGJvYXJkIiwgImV4cCI6IDE2MDAwMDAwMDAsICJjYW50ZXIiOiB7fX0.v0Y7KAMw5BvremXvnGfukxap19TLkVC77_MfjnfIt9w";

#[test]
fn a_jwt_is_taken_as_a_key_is() {
    let folder = indexed();
    std::fs::write(folder.path().join("keys.json"), KEY_SET).unwrap();
    let server = Server::start(folder.path(), &["--jwks", "keys.json"]);
    let count = |query: &str, token: &str| {
        let path = format!("/logs/_count?q={query}");
        get(&server, &path, &format!("Bearer {token}"))
    };
    let errors = count("*", JWT).json()["count"].as_u64().unwrap();
    assert!(errors > 0);
    assert_eq!(count("severity_text:ERROR", JWT).json()["count"], errors);
    assert_eq!(count("severity_text:INFO", JWT).json()["count"], 0);
    assert_eq!(count("*", ENDED).status, 401);
    assert_eq!(count("*", &JWT.replace("5-CF", "5-CE")).status, 401);
    let other = ["--jwks", "keys.json", "--jwt-audience", "others"];
    let other = Server::start(folder.path(), &other);
    assert_eq!(
        get(&other, "/logs/_count", &format!("Bearer {JWT}")).status,
        401
    );
    let other = [
        "--jwks",
        "keys.json",
        "--jwt-claim",
        "https://others.example/may",
    ];
    let other = Server::start(folder.path(), &other);
    assert_eq!(
        get(&other, "/logs/_count", &format!("Bearer {JWT}")).status,
        401
    );
}

#[test]
fn a_page_may_send_a_token() {
    let folder = indexed();
    key(folder.path(), &["--id", "a"]);
    let args = [
        "--api-keys",
        "keys.toml",
        "--cors-origin",
        "https://a.example",
    ];
    let server = Server::start(folder.path(), &args);
    let asked = [
        ("origin", "https://a.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization"),
    ];
    let answer = server.send(Method::OPTIONS, "/logs/_search", &asked, String::new());
    assert_eq!(answer.status, 200);
    let allowed = answer.header("access-control-allow-headers").unwrap();
    assert!(allowed.contains("authorization"), "{allowed}");
    let refused = server.send(Method::GET, "/logs/_search", &asked[..1], String::new());
    assert_eq!(refused.status, 401);
    assert_eq!(
        refused.header("access-control-allow-origin"),
        Some("https://a.example")
    );
}

#[test]
fn an_address_that_others_reach_says_who_may_ask() {
    let folder = indexed();
    let path = folder.path();
    let serve = |more: &[&str]| {
        let args = ["serve", "--index", "logs=index", "--engine", "native"];
        run(path, &[&args[..], more].concat(), 2).1
    };
    let public = ["--listen", "0.0.0.0:0"];
    let stderr = serve(&public);
    assert!(
        stderr.contains("--api-keys") && stderr.contains("--insecure"),
        "{stderr}"
    );
    let missing = serve(&["--api-keys", "keys.toml"]);
    assert!(
        missing.contains("cannot read the keys in keys.toml"),
        "{missing}"
    );
    std::fs::write(path.join("keys.toml"), "key = 1").unwrap();
    assert!(serve(&["--api-keys", "keys.toml"]).contains("no list of keys"));
    std::fs::write(path.join("keys.json"), "{\"keys\": []}").unwrap();
    assert!(serve(&["--jwks", "keys.json"]).contains("no key that signs"));
    for wrong in [
        ["--api-keys", "keys.toml", "--insecure", ""],
        ["--api-keys", "keys.toml", "--forced-filter", "a:1"],
        ["--jwt-issuer", "https://a.example", "", ""],
    ] {
        let wrong: Vec<&str> = wrong.into_iter().filter(|arg| !arg.is_empty()).collect();
        serve(&wrong);
    }
}
