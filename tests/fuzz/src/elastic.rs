//! Checks of Elasticsearch's API.

use std::sync::OnceLock;

use canter_guest::Session;
use canter_protocol::{HttpRequest, Outcome};
use serde_json::Value;

use super::checks::{LIMITS, index, no_cache};
use super::host::{Objects, run};

/// Checks arbitrary text as the body of a search, a count and a multi-search: the answer is JSON,
/// and no internal error.
pub fn elastic(bytes: &[u8]) {
    for path in ["/logs/_search", "/logs/_count", "/_msearch"] {
        let response = ask(path, bytes);
        let shown = || String::from_utf8_lossy(bytes).into_owned();
        assert!(
            matches!(response.0, 200 | 400 | 404),
            "{path}: {}: {:?}",
            shown(),
            response
        );
        assert!(
            serde_json::from_slice::<Value>(&response.1).is_ok(),
            "{path}: {}: the answer is not JSON",
            shown()
        );
    }
}

fn ask(path: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: path.to_owned(),
        query: String::new(),
        body: body.to_vec(),
    };
    let settings =
        format!(r#"{{"indexes": ["logs"], "now_ms": 1714557600000, "limits": {LIMITS}}}"#);
    let session = Session::http(&request, &settings, 1).expect("the settings are settings");
    match run(session, named(), &no_cache) {
        Ok(Outcome::Http(response)) => (response.status, response.body),
        other => panic!("{path} ends otherwise: {other:?}"),
    }
}

/// Returns the index under the name by which it is served.
fn named() -> &'static Objects {
    static NAMED: OnceLock<Objects> = OnceLock::new();
    NAMED.get_or_init(|| {
        let objects = index().iter();
        objects
            .map(|(name, bytes)| (format!("logs/{name}"), bytes.clone()))
            .collect()
    })
}
