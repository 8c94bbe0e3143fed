//! The one node of `_nodes`, under the address that its client knows.
//!
//! Clients that look for the nodes of a cluster (sniffing) go on with the addresses that they are told, and some give up
//! if there is none. The address in `Host` is one under which the client reached this server, through whatever stands
//! between; others, such as that of a container, it may not reach.

use axum::http::header::HOST;
use axum::http::request::Parts;
use canter_names::ELASTIC_VERSION;
use serde_json::{Value, json};

use super::tables::NODE;

/// Returns the node; no node, so that a client keeps the address that it has, if the request gives no port.
pub(super) fn nodes(parts: &Parts) -> Value {
    let node = address_of(parts).map(|address| {
        let host = address
            .rsplit_once(':')
            .map_or(&*address, |(host, _)| host)
            .trim_matches(['[', ']']);
        json!({NODE: {
            "name": NODE, "transport_address": address, "host": host, "ip": host, "version": ELASTIC_VERSION,
            "build_flavor": "default", "build_type": NODE, "build_hash": env!("CARGO_PKG_VERSION"),
            "roles": ["data", "ingest", "master"], "attributes": {}, "plugins": [], "modules": [],
            "http": {"bound_address": [address], "publish_address": address},
        }})
    });
    json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": NODE, "nodes": node.unwrap_or_else(|| json!({})),
    })
}

/// Returns the host and the port that the client asked for.
fn address_of(parts: &Parts) -> Option<String> {
    let in_target = parts.uri.authority().map(|host| host.as_str());
    let in_header = || parts.headers.get(HOST)?.to_str().ok();
    let address = in_target.or_else(in_header)?;
    let (_, port) = address.rsplit_once(':')?;
    port.parse::<u16>().ok()?;
    Some(address.to_owned())
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    #[test]
    fn a_node_has_the_address_that_its_client_asked_for() {
        let check = |uri: &str, host: &str, expected: Option<&str>| {
            let request = Request::builder().uri(uri).header(HOST, host);
            let (parts, ()) = request.body(()).unwrap().into_parts();
            let answer = nodes(&parts);
            let address = answer.pointer("/nodes/canter/http/publish_address");
            assert_eq!(address.and_then(Value::as_str), expected, "{uri} {host}");
        };
        check("/_nodes", "127.0.0.1:9200", Some("127.0.0.1:9200"));
        check("/_nodes", "[::1]:9200", Some("[::1]:9200"));
        check("http://es.test:9/_nodes", "es.test:9", Some("es.test:9"));
        check("/_nodes", "search.example.org", None);
        check("/_nodes", "[::1]", None);
    }
}
