//! Host names for which this server answers.
//!
//! Any page can make the browser send requests to a name that belongs to the page, and later point that
//! name at this machine (DNS rebinding): the browser then treats the answers as the page's own. Such a
//! request has the page's name in `Host`. Therefore only names that no stranger can own are answered:
//! addresses, `localhost`, the name the server listens on, and those that its operator allows.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::HOST;
use axum::middleware::Next;
use axum::response::Response;

use super::refusal::{Api, Refuse};

/// Maximum length of a name in a message.
const MAX_SHOWN: usize = 100;

/// The names that are answered besides addresses and `localhost`.
#[derive(Debug)]
pub(crate) struct AllowedHosts {
    allows_all: bool,
    names: Vec<String>,
}

impl AllowedHosts {
    /// Allows `names`, and the name in `listen`, which includes a port.
    pub(crate) fn new(listen: &str, names: &[String]) -> Self {
        let names = names.iter().map(String::as_str);
        Self {
            allows_all: names.clone().any(|name| name == "*"),
            names: names.chain([listen]).map(name_of).collect(),
        }
    }

    /// Returns whether `host`, as in a header, with or without a port, is answered.
    fn allows(&self, host: &str) -> bool {
        let name = name_of(host);
        let is_address = || name.parse::<IpAddr>().is_ok();
        // A request without a name does not come from a browser.
        let is_ours = name.is_empty() || name == "localhost" || name.ends_with(".localhost");
        self.allows_all || is_ours || is_address() || self.names.contains(&name)
    }
}

/// Passes a request if its host is allowed.
pub(crate) async fn check_host(
    State(hosts): State<Arc<AllowedHosts>>,
    request: Request,
    next: Next,
) -> Response {
    let in_target = request.uri().authority().map(|host| host.as_str());
    let in_headers = request.headers().get_all(HOST).iter();
    let in_headers = in_headers.map(|host| host.to_str().unwrap_or("?"));
    let foreign = in_target
        .into_iter()
        .chain(in_headers)
        .find(|host| !hosts.allows(host));
    match foreign {
        None => next.run(request).await,
        Some(host) => {
            let shown: String = name_of(host).chars().take(MAX_SHOWN).collect();
            let message = format!(
                "this server does not answer for the host {shown:?}: ask for localhost or an address, \
                 or start it with --allowed-host {shown}"
            );
            Api::of(request.uri().path()).refusal(StatusCode::MISDIRECTED_REQUEST, &message)
        }
    }
}

/// Returns the name in `name:port`, `[v6]:port` or `name.`, in lower case.
fn name_of(host: &str) -> String {
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    name.trim().to_ascii_lowercase()
}

/// Parses a name in the form of `--allowed-host`.
pub fn parse_allowed_host(text: &str) -> Result<String, String> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    match text == "*" || (!text.is_empty() && text.chars().all(is_good)) {
        true => Ok(text.to_owned()),
        false => Err(
            "not the name of a host, such as search.example.org: no scheme, port or path"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_allowed_names_are_answered() {
        let allowed = ["Search.example.org".to_owned()];
        let hosts = AllowedHosts::new("box:7280", &allowed);
        let check = |host: &str, expect: bool| assert_eq!(hosts.allows(host), expect, "{host}");
        for host in [
            "localhost",
            "LOCALHOST:80",
            "logs.localhost:7280",
            "127.0.0.1",
            "10.1.2.3:9",
            "[::1]:7280",
            "search.example.org:443",
            "search.example.org.",
            "box",
            "box:1",
            "",
        ] {
            check(host, true);
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:7280",
            "example.org",
            "?",
            "[evil]",
            "notlocalhost",
            "evil.example:127.0.0.1",
        ] {
            check(host, false);
        }
        assert!(AllowedHosts::new("127.0.0.1:0", &["*".to_owned()]).allows("evil.example"));
    }

    #[test]
    fn an_allowed_host_is_a_name() {
        for right in ["*", "a.example", "box-1"] {
            assert!(parse_allowed_host(right).is_ok(), "{right}");
        }
        for wrong in ["", "https://a.example", "a.example:80", "a/b", "*.example"] {
            assert!(parse_allowed_host(wrong).is_err(), "{wrong}");
        }
    }
}
