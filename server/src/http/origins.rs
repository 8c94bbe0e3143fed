//! Origins of pages that may search, and of pages that may write.
//!
//! Any page can make the browser send requests to every address that the browser can reach, including this machine. To
//! read the answer, the page needs permission (CORS); to send a request that looks like a form's, it does not.
//! Therefore changes are only accepted from this server's own pages and from the origins that may write:
//!
//! ```text
//!   Sec-Fetch-Site ─┬─ same-origin, none ────────────────────────────────────────────────────→ taken
//!   (of browsers,   ├─ any other ────────────→ Origin may write ─────────────────────────────→ taken, or 403
//!    to localhost   └─ absent ─┬─ Origin ────→ its host is the one that is asked, or may write → taken, or 403
//!    and over TLS)             └─ no Origin ─┬ Referer of another host ──────────────────────→ 403
//!                                            ├ sent as browsers send forms ──────────────────→ 403
//!                                            └ no browser ───────────────────────────────────→ taken
//! ```
//!
//! A page cannot set or omit these headers, so programs that send none of them pass. A name of the page's own that
//! points here is refused earlier (`hosts`).

use std::convert::Infallible;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName,
    HeaderValue, ORIGIN, REFERER,
};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use std::time::Duration;
use tower_http::cors::{AllowOrigin, Any, CorsLayer};
use url::Url;

use super::refusal::{Api, Refuse};
use crate::error::ServerError;

/// Time for which a browser may cache a page's permissions.
const PREFLIGHT_AGE: Duration = Duration::from_secs(3600);

/// Maximum length of an origin in a message.
const MAX_SHOWN: usize = 200;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Content types that forms can send without a preflight request.
const FORM_TYPES: [&str; 3] = [
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "text/plain",
];

/// The configured origins.
#[derive(Debug, Default)]
pub struct Origins {
    searching: Vec<HeaderValue>,
    /// True if every page may search.
    all_search: bool,
    writing: Vec<HeaderValue>,
}

/// A write sent by a page of another origin.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// The browser's description of the page, if any.
    origin: Option<String>,
}

impl Origins {
    /// Parses `--cors-origin` and `--cors-write-origin`.
    ///
    /// # Errors
    /// If one of them is invalid.
    pub fn new(searching: &[String], writing: &[String]) -> Result<Self, ServerError> {
        if writing.iter().any(|origin| origin == "*") {
            return Err(ServerError::Invalid(
                "--cors-write-origin names each origin whose pages may write: `*` would let every page that somebody opens \
                 delete what is here"
                    .to_owned(),
            ));
        }
        let all_search = searching.iter().any(|origin| origin == "*");
        let named = searching.iter().filter(|origin| *origin != "*");
        Ok(Self {
            searching: named.map(parse).collect::<Result<_, _>>()?,
            all_search,
            writing: writing.iter().map(parse).collect::<Result<_, _>>()?,
        })
    }

    /// Checks whether the sender of a write may send it.
    ///
    /// # Errors
    /// If it is a page of another origin without permission to write.
    pub(crate) fn check_write(&self, parts: &Parts) -> Result<(), Foreign> {
        let headers = &parts.headers;
        let origins = || headers.get_all(ORIGIN).iter();
        let may_write = |origin: &HeaderValue| self.writing.contains(origin);
        let sites = headers.get_all(SEC_FETCH_SITE).iter();
        let sites: Vec<&[u8]> = sites.map(HeaderValue::as_bytes).collect();
        let has_origin = origins().next().is_some();
        let is_taken = if !sites.is_empty() {
            let is_own = |site: &&[u8]| matches!(*site, b"same-origin" | b"none");
            sites.iter().all(is_own) || (has_origin && origins().all(may_write))
        } else if has_origin {
            let host = host_of(parts);
            let is_own = |origin: &HeaderValue| host.is_some_and(|host| is_of_host(origin, host));
            origins().all(|origin| may_write(origin) || is_own(origin))
        } else {
            !comes_from_elsewhere(parts) && !is_form(headers)
        };
        match is_taken {
            true => Ok(()),
            false => Err(Foreign {
                origin: origins()
                    .next()
                    .map(|origin| String::from_utf8_lossy(origin.as_bytes()).into_owned()),
            }),
        }
    }

    /// Adds the headers that let pages of the configured origins read answers, and answers preflight requests.
    pub(crate) fn share(&self, router: Router) -> Router {
        let searching = match (self.all_search, self.searching.is_empty()) {
            (true, _) => router.clone().layer(to_search().allow_origin(Any)),
            (false, true) => router.clone(),
            (false, false) => {
                let origins = AllowOrigin::list(self.searching.clone());
                router.clone().layer(to_search().allow_origin(origins))
            }
        };
        if self.writing.is_empty() {
            return searching;
        }
        let origins = AllowOrigin::list(self.writing.clone());
        let writing = TowerToHyperService::new(router.layer(to_write().allow_origin(origins)));
        let searching = TowerToHyperService::new(searching);
        let writers = self.writing.clone();
        Router::new().fallback(move |request: Request| {
            let origin = request.headers().get(ORIGIN);
            let answering = match origin.is_some_and(|origin| writers.contains(origin)) {
                true => writing.call(request),
                false => searching.call(request),
            };
            async {
                let answered: Result<Response, Infallible> = answering.await;
                let Ok(response) = answered;
                response
            }
        })
    }
}

impl Foreign {
    /// Returns the refusal, with advice. The rest of the request is not read.
    pub(crate) fn answer(&self, api: Api) -> Response {
        let message = match self.origin.as_deref() {
            None | Some("null") => {
                "a web page of another origin has sent this, and the browser does not say which: only pages of this server may \
                 write, and those of origins that it was told of with --cors-write-origin"
                    .to_owned()
            }
            Some(origin) => {
                let shown: String = origin.chars().take(MAX_SHOWN).collect();
                format!(
                    "a web page of {shown:?} has sent this, and may not write here: start the server with --cors-write-origin \
                     {shown} if it shall (--cors-origin lets pages search)"
                )
            }
        };
        api.last_refusal(StatusCode::FORBIDDEN, &message)
    }
}

fn parse(origin: &String) -> Result<HeaderValue, ServerError> {
    let is_origin = origin.contains("://") && !origin.ends_with('/');
    let value = HeaderValue::from_str(origin).ok().filter(|_| is_origin);
    value.ok_or_else(|| {
        ServerError::Invalid(format!(
            "{origin:?} is no origin, such as https://example.org: scheme and host, without a path"
        ))
    })
}

/// Returns what pages that search may send.
fn to_search() -> CorsLayer {
    CorsLayer::new()
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([
            AUTHORIZATION,
            CONTENT_TYPE,
            CONTENT_ENCODING,
            HeaderName::from_static("traceparent"),
            HeaderName::from_static("x-opaque-id"),
            HeaderName::from_static("x-request-id"),
        ])
        .expose_headers(Any)
        .max_age(PREFLIGHT_AGE)
}

/// Returns what pages that write may send.
fn to_write() -> CorsLayer {
    to_search()
        .allow_methods([
            Method::GET,
            Method::HEAD,
            Method::POST,
            Method::PUT,
            Method::DELETE,
        ])
        .allow_headers([
            AUTHORIZATION,
            CONTENT_TYPE,
            CONTENT_ENCODING,
            HeaderName::from_static("qw-otel-logs-index"),
            HeaderName::from_static("traceparent"),
            HeaderName::from_static("x-opaque-id"),
            HeaderName::from_static("x-request-id"),
        ])
}

/// Returns the requested host, with its port if it is not the scheme's default.
fn host_of(parts: &Parts) -> Option<&str> {
    let in_target = parts.uri.authority().map(|host| host.as_str());
    let in_headers = || parts.headers.get(HOST)?.to_str().ok();
    in_target.or_else(in_headers)
}

/// Returns whether a URL belongs to the requested host. A proxy in front of the server may use TLS, so its scheme is
/// unknown.
fn is_of_host(url: &HeaderValue, host: &str) -> bool {
    let Some(url) = url.to_str().ok().and_then(|url| Url::parse(url).ok()) else {
        return false;
    };
    let is_web = matches!(url.scheme(), "http" | "https");
    let asked = Url::parse(&format!("{}://{host}", url.scheme()));
    let is_same = |asked: &Url| {
        url.host() == asked.host() && url.port_or_known_default() == asked.port_or_known_default()
    };
    is_web && asked.is_ok_and(|asked| is_same(&asked))
}

/// Returns whether a request's referrer is a page of another host. A referrer that is not a URL does not come from a
/// browser.
fn comes_from_elsewhere(parts: &Parts) -> bool {
    let Some(referer) = parts.headers.get(REFERER) else {
        return false;
    };
    let is_url = referer.to_str().is_ok_and(|url| Url::parse(url).is_ok());
    let is_own = || host_of(parts).is_some_and(|host| is_of_host(referer, host));
    is_url && !is_own()
}

/// Returns whether a request is what a browser sends for a form, which old browsers send without an origin. Programs do
/// not send documents as `multipart/form-data`; many use the other types, but do not accept HTML in return.
fn is_form(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let content_type = text(CONTENT_TYPE).unwrap_or_default();
    let content_type = content_type.split(';').next().unwrap_or_default().trim();
    let is_of_form = |kind: &&str| content_type.eq_ignore_ascii_case(kind);
    let wants_html = || text(ACCEPT).is_some_and(|accept| accept.contains("text/html"));
    match FORM_TYPES.iter().find(|kind| is_of_form(kind)) {
        None => false,
        Some(kind) => *kind == "multipart/form-data" || wants_html(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().method("POST").uri("/_bulk");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn origins() -> Origins {
        let list = |origins: &[&str]| origins.iter().map(|&origin| origin.to_owned()).collect();
        let (searching, writing): (Vec<String>, Vec<String>) = (
            list(&["https://looks.example"]),
            list(&["https://writes.example"]),
        );
        Origins::new(&searching, &writing).unwrap()
    }

    const HOST: (&str, &str) = ("host", "localhost:7280");
    const FORM: &str = "application/x-www-form-urlencoded";
    const HTML: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

    #[test]
    fn writes_are_taken_from_programs_and_from_pages_that_may() {
        for headers in [
            &[][..],
            &[("content-type", FORM)],
            &[("content-type", "text/plain"), ("accept", "*/*")],
            &[("content-type", "application/json"), ("accept", HTML)],
            &[("accept", HTML)],
            &[("sec-fetch-mode", "cors")],
            &[("sec-fetch-site", "same-origin")],
            &[
                ("sec-fetch-site", "same-origin"),
                // A proxy that uses another name than the browser did.
                ("origin", "https://search.example.org"),
            ],
            &[("sec-fetch-site", "none")],
            &[("origin", "http://localhost:7280")],
            &[("origin", "https://writes.example")],
            &[
                ("origin", "https://writes.example"),
                ("sec-fetch-site", "cross-site"),
            ],
            &[("referer", "http://localhost:7280/ui/?q=a")],
            &[("referer", "a batch job")],
        ] {
            let parts = parts(&[&[HOST], headers].concat());
            assert_eq!(origins().check_write(&parts), Ok(()), "{headers:?}");
        }
        // Behind a proxy with TLS.
        let proxied = [
            ("host", "search.example.org"),
            ("origin", "https://search.example.org"),
        ];
        assert_eq!(origins().check_write(&parts(&proxied)), Ok(()));
    }

    #[test]
    fn writes_are_taken_from_no_other_page() {
        for headers in [
            &[("sec-fetch-site", "cross-site")][..],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "")],
            &[("sec-fetch-site", "None")],
            &[
                ("sec-fetch-site", "same-origin"),
                ("sec-fetch-site", "cross-site"),
            ],
            &[
                ("sec-fetch-site", "same-site"),
                ("origin", "http://localhost:3000"),
            ],
            &[
                ("sec-fetch-site", "cross-site"),
                ("origin", "http://localhost:7280"),
            ],
            &[
                ("sec-fetch-site", "cross-site"),
                ("origin", "https://looks.example"),
            ],
            &[("origin", "null")],
            &[("origin", "")],
            &[("origin", "https://looks.example")],
            &[("origin", "https://localhost:7281")],
            &[("origin", "http://localhost")],
            &[("origin", "http://127.0.0.1:7280")],
            &[("origin", "http://localhost:7280.evil.example")],
            &[("origin", "https://writes.example:444")],
            &[("origin", "https://writes.example.evil.example")],
            &[("origin", "file://localhost:7280")],
            &[
                ("origin", "https://writes.example"),
                ("origin", "https://evil.example"),
            ],
            &[("referer", "https://evil.example/")],
            &[("content-type", FORM), ("accept", HTML)],
            &[
                ("content-type", "Text/Plain; charset=utf-8"),
                ("accept", HTML),
            ],
            &[("content-type", "multipart/form-data; boundary=a")],
        ] {
            let parts = parts(&[&[HOST], headers].concat());
            assert!(origins().check_write(&parts).is_err(), "{headers:?}");
        }
    }

    #[test]
    fn the_answer_says_which_page_and_what_to_do() {
        let foreign = origins().check_write(&parts(&[HOST, ("origin", "https://evil.example")]));
        let foreign = foreign.unwrap_err();
        assert_eq!(foreign.origin.as_deref(), Some("https://evil.example"));
        assert_eq!(foreign.answer(Api::Quickwit).status(), 403);
    }

    #[test]
    fn origins_that_would_do_something_else_than_meant_are_refused() {
        let one = |origin: &str| [origin.to_owned()];
        assert!(Origins::new(&one("*"), &[]).is_ok());
        assert!(Origins::new(&[], &one("*")).is_err());
        for wrong in ["example.org", "https://example.org/", "null", ""] {
            assert!(Origins::new(&one(wrong), &[]).is_err(), "{wrong}");
            assert!(Origins::new(&[], &one(wrong)).is_err(), "{wrong}");
        }
    }
}
