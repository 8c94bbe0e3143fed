//! What `canter serve` is told on the command line.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use canter_access::{AccessSettings, JwtSettings, Source};
use canter_runtime::observe::redact_urls;
use clap::Args;

use super::connections::{ConnectionLimits, Identity};
use super::hosts::parse_allowed_host;
use super::managing::ManagingArgs;
use super::writing::WritingArgs;
use crate::amounts::{parse_bytes, parse_some_duration};
use crate::commands::search::{LimitArgs, ServingCacheArgs};
use crate::exit::WrongUse;
use crate::open::EngineArgs;

/// Requests have a kilobyte; so many of the longest at once are no searches.
const DEFAULT_MAX_HELD_BYTES: u64 = 16 << 20;

const AFTER_HELP: &str = "\
Paths:
  GET|POST /NAME/_search         Elasticsearch's API for its clients: _search, _msearch, _count, _field_caps,
                                 scrolls, points in time and more
  GET|POST /api/v1/NAME/search   Quickwit's API: query, start_timestamp, end_timestamp, start_offset, max_hits,
                                 search_field, snippet_fields, sort_by, format, aggs, budget, profile
  GET /api/v1/indexes            the indexes;  /api/v1/indexes/NAME  one of them
  GET /health/livez              alive;  /health/readyz  every index can be read
  GET /ui/                       a page to search with
  GET /metrics                   what was searched and fetched, for Prometheus
  POST /_bulk, /v1/logs, …       documents in, with --writable (see Writing below)
  PUT|DELETE /NAME, …            indexes and templates, with --writable and --indexes-in
  GET /openapi.json              all paths with their parameters

Examples:
  canter serve --index logs=s3://bucket/logs
  canter serve --index logs=s3://bucket/logs --cache ~/.cache/canter   # what was fetched outlives the server
  curl 'http://127.0.0.1:7280/logs/_search?q=severity_text:ERROR&size=5'
  curl 'http://127.0.0.1:7280/api/v1/logs/search?query=severity_text:ERROR&max_hits=5'
  curl http://127.0.0.1:7280/api/v1/logs/search -d '{\"query\": \"error\", \"max_hits\": 5}'

On an address that other machines reach it asks for tokens (see Access below), unless --insecure says otherwise.
Requests for another host than localhost, an address or an --allowed-host get 421, and writes of web pages
of other origins 403, unless a --cors-write-origin names theirs. What finds no room gets 429 with
Retry-After (503, if it is a connection), and what takes too long is closed: see Server below. HTTP/1 and
HTTP/2 are spoken, answers are compressed with gzip or zstd for clients that take it.";

/// Arguments of `canter serve`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ServeArgs {
    /// An index to serve: a folder, s3://…, gs://…, az://… or https://…. Without NAME= in front it has
    /// the last part of its URI as its name. May be given several times.
    #[arg(
        long = "index",
        value_name = "[NAME=]URI",
        required_unless_present = "indexes_in"
    )]
    #[arg(value_parser = parse_index)]
    pub(super) indexes: Vec<(String, String)>,

    /// The address and port; port 0 takes any that is free.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7280")]
    pub(super) listen: String,

    #[command(flatten)]
    pub(super) engine: EngineArgs,

    /// A query that every hit must match, whatever is asked for; each of its terms names its field. With tokens, each of
    /// them has its own.
    #[arg(long, value_name = "QUERY", conflicts_with_all = ["api_keys", "jwks"])]
    pub(super) forced_filter: Option<String>,

    /// Let pages of this origin search from a browser, and nothing else, such as `https://example.org`; `*` is any. May be
    /// given several times.
    #[arg(long = "cors-origin", value_name = "ORIGIN")]
    pub(super) cors_origins: Vec<String>,

    /// Answer requests for this host too, as in a proxy's `Host` header; localhost, addresses and the name
    /// in --listen are always answered. `*` is any, for a server that only a proxy can reach. May be given
    /// several times.
    #[arg(long = "allowed-host", value_name = "NAME", value_parser = parse_allowed_host)]
    pub(super) allowed_hosts: Vec<String>,

    /// Speak TLS with this certificate, in PEM, those that vouch for it behind it. Read again when the file changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The certificate's private key, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Parts of a search that run at once, each in a guest of its own [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) threads: Option<u32>,

    #[command(flatten)]
    pub(super) cache: ServingCacheArgs,

    #[command(flatten)]
    pub(super) limits: LimitArgs,

    #[command(flatten)]
    pub(super) access: AccessArgs,

    #[command(flatten)]
    pub(super) server: ServerArgs,

    #[command(flatten)]
    pub(super) writing: WritingArgs,

    #[command(flatten)]
    pub(super) managing: ManagingArgs,
}

/// Who may ask.
#[derive(Debug, Args)]
#[command(next_help_heading = "Access")]
pub(crate) struct AccessArgs {
    /// Ask for a token, and take the API keys in this file, which `canter key add` writes. Read again when it changes.
    #[arg(long, value_name = "FILE")]
    api_keys: Option<PathBuf>,

    /// Ask for a token, and take JSON Web Tokens that are signed by a key of this set (JWKS): HS256, RS256 or EdDSA. Read
    /// again when it changes.
    #[arg(long, value_name = "FILE")]
    jwks: Option<PathBuf>,

    /// The claim that says what a JWT allows: an object with `indexes`, `rights` and `filter`.
    #[arg(long, value_name = "NAME", default_value = "canter", requires = "jwks")]
    jwt_claim: String,

    /// Who must have issued a JWT (`iss`).
    #[arg(long, value_name = "TEXT", requires = "jwks")]
    jwt_issuer: Option<String>,

    /// For whom a JWT must be (`aud`).
    #[arg(long, value_name = "TEXT", requires = "jwks")]
    jwt_audience: Option<String>,

    /// Let whoever reaches this address ask everything, without tokens.
    #[arg(long, conflicts_with_all = ["api_keys", "jwks"])]
    pub(super) insecure: bool,
}

impl AccessArgs {
    /// Where tokens are known from, if any are asked for.
    pub(super) fn settings(&self) -> Option<AccessSettings> {
        let jwt = self.jwks.clone().map(|key_set| JwtSettings {
            key_set: Source::File(key_set),
            claim: self.jwt_claim.clone(),
            issuer: self.jwt_issuer.clone(),
            audience: self.jwt_audience.clone(),
        });
        let settings = AccessSettings {
            keys: self.api_keys.clone().map(Source::File),
            jwt,
        };
        (settings.keys.is_some() || settings.jwt.is_some()).then_some(settings)
    }
}

/// What clients may take of the server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// Most connections at once; those beyond are answered 503 and closed (under TLS only closed).
    #[arg(long, value_name = "N", default_value = "512")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_connections: u32,

    /// Most guests at once, and so most searches; each may take --max-memory-bytes.
    #[arg(long, value_name = "N", default_value = "32")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) max_instances: u32,

    /// Most memory of guests that are kept between searches, so that the next one need not set one up; with 0, each search
    /// has a guest of its own.
    #[arg(long, value_name = "BYTES", default_value = "128MiB", value_parser = parse_bytes)]
    pub(super) max_idle_bytes: u64,

    /// Most requests that wait while all guests are busy; those beyond are answered 429.
    #[arg(long, value_name = "N", default_value = "128")]
    #[arg(value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(super) max_waiting: u32,

    /// Longest body of a request; a longer one is answered 413.
    #[arg(long, value_name = "BYTES", default_value = "1MiB", value_parser = parse_bytes)]
    pub(super) max_body_bytes: u64,

    /// Most bytes of bodies in memory, of all requests together; those beyond are answered 429 [default:
    /// 16MiB, or --max-body-bytes if that is more].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_held_bytes: Option<u64>,

    /// A connection is closed whose next request's header has not come after this, or its TLS handshake.
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = parse_some_duration)]
    header_timeout: Duration,

    /// A request whose body has not come after this is answered 408.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_some_duration)]
    pub(super) body_timeout: Duration,

    /// A connection is closed whose client has taken nothing of its answer for so long.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_some_duration)]
    answer_timeout: Duration,
}

impl ServeArgs {
    /// Whom the server says it is, if it speaks TLS.
    pub(super) fn identity(&self) -> Result<Option<Arc<Identity>>, WrongUse> {
        let files = self.tls_cert.as_deref().zip(self.tls_key.as_deref());
        files
            .map(|(cert, key)| Identity::open(cert, key))
            .transpose()
    }
}

impl ServerArgs {
    /// An error if no request could keep to these.
    pub(super) fn check(&self) -> Result<(), WrongUse> {
        match self.max_held_bytes() < self.max_body_bytes {
            false => Ok(()),
            true => Err(WrongUse(format!(
                "--max-held-bytes ({}) is less than --max-body-bytes ({}): raise the one or lower the \
                 other",
                self.max_held_bytes(),
                self.max_body_bytes
            ))),
        }
    }

    /// Most bytes of all bodies together.
    pub(super) fn max_held_bytes(&self) -> u64 {
        let default = DEFAULT_MAX_HELD_BYTES.max(self.max_body_bytes);
        self.max_held_bytes.unwrap_or(default)
    }

    /// What connections may take.
    pub(super) fn connections(&self) -> ConnectionLimits {
        ConnectionLimits {
            max_connections: self.max_connections as usize,
            header_timeout: self.header_timeout,
            answer_timeout: self.answer_timeout,
        }
    }
}

/// `NAME=URI`, or a URI that ends in the name.
pub(crate) fn parse_index(text: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| {
        let is_good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !name.is_empty() && name.chars().all(is_good)
    };
    if let Some((name, uri)) = text.split_once('=').filter(|(name, _)| is_name(name)) {
        return match uri.is_empty() {
            true => Err(format!("{name:?} has no URI")),
            false => Ok((name.to_owned(), uri.to_owned())),
        };
    }
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let last = path.trim_end_matches('/').rsplit('/').next();
    let last = last.unwrap_or_default();
    match is_name(last) && last != "." && last != ".." {
        true => Ok((last.to_owned(), text.to_owned())),
        false => Err(format!(
            "{last:?} cannot be a name; put one in front, such as logs={}",
            redact_urls(text)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_a_name_of_its_own_or_its_uris_last_part() {
        let check = |text: &str, expect: Option<(&str, &str)>| {
            let parsed = parse_index(text).ok();
            let parsed = parsed
                .as_ref()
                .map(|(name, uri)| (name.as_str(), uri.as_str()));
            assert_eq!(parsed, expect, "{text}");
        };
        check("./logs", Some(("logs", "./logs")));
        check("s3://b/x/logs/", Some(("logs", "s3://b/x/logs/")));
        check("logs=s3://b/2026", Some(("logs", "s3://b/2026")));
        check("https://h/a?sig=b", Some(("a", "https://h/a?sig=b")));
        check("l=https://h/a?sig=b", Some(("l", "https://h/a?sig=b")));
        check("logs=", None);
        check("..", None);
        check("./my logs", None);
        check("mine=./my logs", Some(("mine", "./my logs")));
    }
}
