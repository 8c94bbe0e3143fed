//! The arguments of `canter serve`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use canter_access::{AccessSettings, JwtSettings, Source};
use canter_server::{
    BodyLimits, CompatibleWith, ConnectionLimits, Identity, ServerError, parse_allowed_host,
};
use clap::Args;

use super::managing::ManagingArgs;
use super::writing::WritingArgs;
use crate::args::{SearcherArgs, ServingCacheArgs, parse_bytes, parse_index, parse_some_duration};
use crate::exit::WrongUse;

/// Default maximum size of all request bodies in memory. Search requests have a kilobyte; many large ones at once are
/// not searches.
const DEFAULT_MAX_HELD_BYTES: u64 = 16 << 20;

const AFTER_HELP: &str = "\
Paths:
  GET|POST /NAME/_search         Elasticsearch's API for its clients: _search, _msearch, _count, _field_caps,
                                 scrolls, points in time and more
  GET|POST /api/v1/NAME/search   Quickwit's API: query, start_timestamp, end_timestamp, start_offset, max_hits,
                                 search_field, snippet_fields, sort_by, format, aggs, budget, profile
  GET /api/v1/indexes            the indexes;  /api/v1/indexes/NAME  one of them
  GET /health/livez              the server runs;  /health/readyz  every index can be read
  GET /ui/                       a search page
  GET /metrics                   metrics of searches and fetches, for Prometheus
  POST /_bulk, /v1/logs, …       documents in, with --writable (see Writing above)
  PUT|DELETE /NAME, …            indexes and templates, with --writable and --indexes-in
  GET /openapi.json              all paths with their parameters

Examples:
  canter serve --index logs=s3://bucket/logs
  canter serve --index logs=s3://bucket/logs --cache ~/.cache/canter   # a cache that outlives the server
  curl 'http://127.0.0.1:7280/logs/_search?q=severity_text:ERROR&size=5'
  curl 'http://127.0.0.1:7280/api/v1/logs/search?query=severity_text:ERROR&max_hits=5'
  curl http://127.0.0.1:7280/api/v1/logs/search -d '{\"query\": \"error\", \"max_hits\": 5}'

On an address that other machines reach, the server requires tokens (see Access above) unless
--insecure is given. A request for a host other than localhost, an address or an --allowed-host
gets 421. A write of a web page of another origin gets 403, unless a --cors-write-origin names
that origin. When the server is full, a request gets 429 with Retry-After, and a connection gets
503. Connections that take too long are closed (see Server above). The server speaks HTTP/1 and
HTTP/2, and compresses answers with gzip or zstd for clients that accept it.";

/// Arguments of `canter serve`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ServeArgs {
    /// Index to serve: a folder, s3://…, gs://…, az://… or https://…. Without NAME=, its name is the last part of the
    /// URI. May be given several times.
    #[arg(
        long = "index",
        value_name = "[NAME=]URI",
        required_unless_present = "indexes_in"
    )]
    #[arg(value_parser = parse_index)]
    pub(super) indexes: Vec<(String, String)>,

    /// Address and port to listen on; port 0 picks a free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7280")]
    pub(super) listen: String,

    #[command(flatten)]
    pub(super) searcher: SearcherArgs<ServingCacheArgs>,

    /// Query that every hit must match, whatever the request; each of its terms must name its field. With tokens,
    /// each token has a filter of its own instead.
    #[arg(long, value_name = "QUERY", conflicts_with_all = ["api_keys", "jwks"])]
    pub(super) forced_filter: Option<String>,

    /// Origin whose web pages may search from a browser (and only search), such as `https://example.org`; `*` is any
    /// origin. May be given several times.
    #[arg(long = "cors-origin", value_name = "ORIGIN")]
    pub(super) cors_origins: Vec<String>,

    /// Additional host whose requests are answered, as in a proxy's `Host` header. Localhost, addresses and the name
    /// in --listen are always answered. `*` is any host, for a server that only a proxy can reach. May be given
    /// several times.
    #[arg(long = "allowed-host", value_name = "NAME", value_parser = parse_allowed_host)]
    pub(super) allowed_hosts: Vec<String>,

    /// Serve TLS with this certificate, in PEM, followed by its chain. Read again when the file changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    #[command(flatten)]
    pub(super) access: AccessArgs,

    #[command(flatten)]
    pub(super) server: ServerArgs,

    #[command(flatten)]
    pub(super) writing: WritingArgs,

    #[command(flatten)]
    pub(super) managing: ManagingArgs,
}

/// Access control.
#[derive(Debug, Args)]
#[command(next_help_heading = "Access")]
pub(crate) struct AccessArgs {
    /// Require a token, and accept the API keys in this file, which `canter key add` writes. Read again when the file
    /// changes.
    #[arg(long, value_name = "FILE")]
    api_keys: Option<PathBuf>,

    /// Require a token, and accept JSON Web Tokens signed by a key of this set (JWKS): HS256, RS256 or EdDSA. Read
    /// again when the file changes.
    #[arg(long, value_name = "FILE")]
    jwks: Option<PathBuf>,

    /// Claim of a JWT that states what it allows: an object with `indexes`, `rights` and `filter`.
    #[arg(long, value_name = "NAME", default_value = "canter", requires = "jwks")]
    jwt_claim: String,

    /// Required issuer of a JWT (`iss`).
    #[arg(long, value_name = "TEXT", requires = "jwks")]
    jwt_issuer: Option<String>,

    /// Required audience of a JWT (`aud`).
    #[arg(long, value_name = "TEXT", requires = "jwks")]
    jwt_audience: Option<String>,

    /// Accept every request without a token, from any client that reaches this address.
    #[arg(long, conflicts_with_all = ["api_keys", "jwks"])]
    pub(super) insecure: bool,
}

impl AccessArgs {
    /// Returns the sources of tokens, if tokens are required.
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

/// Limits on what clients may use.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// Maximum number of connections; further ones are answered 503 and closed (under TLS only closed).
    #[arg(long, value_name = "N", default_value = "512")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_connections: u32,

    /// Maximum number of guests, and so of searches, at once; each may take --max-memory-bytes.
    #[arg(long, value_name = "N", default_value = "32")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) max_instances: u32,

    /// Maximum memory of guests that are kept between searches for reuse; with 0, each search starts a guest of its
    /// own.
    #[arg(long, value_name = "BYTES", default_value = "128MiB", value_parser = parse_bytes)]
    pub(super) max_idle_bytes: u64,

    /// Maximum number of requests that wait while all guests are busy; further ones are answered 429.
    #[arg(long, value_name = "N", default_value = "128")]
    #[arg(value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(super) max_waiting: u32,

    /// Maximum size of a request's body; a larger one is answered 413.
    #[arg(long, value_name = "BYTES", default_value = "1MiB", value_parser = parse_bytes)]
    max_body_bytes: u64,

    /// Maximum size of all requests' bodies in memory; further requests are answered 429 [default: 16MiB, or
    /// --max-body-bytes if that is more].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_held_bytes: Option<u64>,

    /// Product whose clients are expected: what `GET /` says the server is.
    #[arg(long, value_name = "PRODUCT", default_value = "elasticsearch")]
    #[arg(value_parser = ["elasticsearch", "opensearch"])]
    compatible_with: String,

    /// Time limit for a TLS handshake and for the header of the next request; the connection is closed after it.
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = parse_some_duration)]
    header_timeout: Duration,

    /// Time limit for the body of a request; the request is answered 408 after it.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_some_duration)]
    pub(super) body_timeout: Duration,

    /// Time after which a connection is closed if its client reads nothing of its answer.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_some_duration)]
    answer_timeout: Duration,
}

impl ServeArgs {
    /// Reads the certificate and the key, if the server speaks TLS.
    pub(super) fn identity(&self) -> Result<Option<Arc<Identity>>, ServerError> {
        let files = self.tls_cert.as_deref().zip(self.tls_key.as_deref());
        files
            .map(|(cert, key)| Identity::open(cert, key))
            .transpose()
    }
}

impl ServerArgs {
    /// Returns an error if no request could comply with these limits.
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

    /// Returns the product that the server claims to be.
    pub(super) fn compatible_with(&self) -> CompatibleWith {
        match self.compatible_with.as_str() {
            "opensearch" => CompatibleWith::OpenSearch,
            _ => CompatibleWith::Elasticsearch,
        }
    }

    /// Returns the maximum size of all bodies together, in bytes.
    fn max_held_bytes(&self) -> u64 {
        let default = DEFAULT_MAX_HELD_BYTES.max(self.max_body_bytes);
        self.max_held_bytes.unwrap_or(default)
    }

    /// Returns the limits on the bodies of requests.
    pub(super) fn bodies(&self) -> BodyLimits {
        BodyLimits {
            max_bytes: self.max_body_bytes,
            timeout: self.body_timeout,
            max_held_bytes: self.max_held_bytes(),
        }
    }

    /// Returns the limits on connections.
    pub(super) fn connections(&self) -> ConnectionLimits {
        ConnectionLimits {
            max_connections: self.max_connections as usize,
            header_timeout: self.header_timeout,
            answer_timeout: self.answer_timeout,
        }
    }
}
