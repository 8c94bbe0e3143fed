//! HTTP client for sending requests: one connection for each, without additions or retries.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::runtime::Runtime;

use crate::conformance::{Answer, Call, HEADERS};

/// Timeout: longer than any answer takes, including retries of broken stores.
const PATIENCE: Duration = Duration::from_secs(60);

/// Client for one origin.
pub(super) struct Client {
    origin: String,
    http: reqwest::Client,
    runtime: Runtime,
}

impl Client {
    /// Creates a client for an origin such as `http://127.0.0.1:8080`.
    pub(super) fn new(origin: &str) -> Result<Self> {
        let http = canter_stores::http_client()
            .timeout(PATIENCE)
            // A server may close an idle connection just as it is reused.
            .pool_max_idle_per_host(0)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()?;
        Ok(Self {
            origin: origin.trim_end_matches('/').to_owned(),
            http,
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?,
        })
    }

    /// Returns the origin without a trailing slash.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    pub(super) fn send(&self, call: &Call) -> Result<Answer> {
        let body = (!call.body.is_empty()).then_some(&*call.body);
        let json = body.map(|_| ("content-type", "application/json"));
        self.send_bytes((&call.method, &call.target()), json.into_iter(), body)
    }

    /// Sends a request with a method and a target (path and query).
    pub(super) fn send_with<'a>(
        &self,
        asked: (&str, &str),
        headers: impl Iterator<Item = (&'a str, &'a str)>,
        body: Option<&str>,
    ) -> Result<Answer> {
        self.send_bytes(asked, headers, body.map(str::as_bytes))
    }

    fn send_bytes<'a>(
        &self,
        (method, target): (&str, &str),
        headers: impl Iterator<Item = (&'a str, &'a str)>,
        body: Option<&[u8]>,
    ) -> Result<Answer> {
        let url = format!("{}{target}", self.origin);
        self.runtime.block_on(async {
            let method = reqwest::Method::from_bytes(method.as_bytes())?;
            let mut request = self.http.request(method, &url);
            for (name, value) in headers {
                request = request.header(name, value);
            }
            if let Some(body) = body {
                request = request.body(body.to_vec());
            }
            let response = request.send().await.context("no answer came")?;
            let header = |name: &str| {
                let value = response.headers().get(name)?;
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                Some((name.to_owned(), value))
            };
            Ok(Answer {
                status: response.status().as_u16(),
                headers: Some(HEADERS.into_iter().filter_map(header).collect()),
                body: response
                    .bytes()
                    .await
                    .context("the answer broke off")?
                    .into(),
            })
        })
    }
}
