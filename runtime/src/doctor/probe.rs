//! Single HTTP requests whose answers are kept unchanged, valid or not.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use canter_stores::{http_client, same_host_only};
use hyper_util::client::legacy::connect::HttpInfo;
use reqwest::header::{ACCEPT_ENCODING, ETAG, HeaderMap, HeaderName, RANGE};
use reqwest::{Client, Method, StatusCode, Version};
use url::Url;

use super::DoctorOptions;
use crate::SearchError;
use crate::clock::{Clock, SystemClock, timeout_at};
use crate::fetch::with_causes;

/// Answer to a request.
pub(super) struct Seen {
    pub(super) status: StatusCode,
    pub(super) version: Version,
    pub(super) headers: HeaderMap,
    /// Body up to the requested length.
    pub(super) body: Bytes,
    /// True if the body was longer than requested.
    pub(super) has_more: bool,
    /// Reason for which the body is incomplete, if it is.
    pub(super) broke_off: Option<String>,
    /// URL of the answer, after redirects.
    pub(super) url: Url,
    /// Time until the headers had arrived.
    pub(super) first_byte: Duration,
    /// Time from then until the body had arrived.
    pub(super) rest: Duration,
    /// Local end of the connection.
    pub(super) local: Option<SocketAddr>,
}

impl Seen {
    pub(super) fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Reason for which there is no answer.
#[derive(Debug)]
pub(super) enum Unseen {
    /// The limit on requests or bytes was reached.
    Budget,
    /// Error of the network.
    Failed(String),
}

impl Unseen {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Budget => "the bound on requests or bytes was reached".to_owned(),
            Self::Failed(text) => text,
        }
    }
}

/// Sends requests for one object and counts them.
pub(super) struct Probe {
    client: Client,
    clock: Arc<dyn Clock>,
    pub(super) url: Url,
    pub(super) options: DoctorOptions,
    pub(super) num_requests: usize,
    pub(super) num_bytes: u64,
    /// All versions of the object in answers.
    pub(super) etags: BTreeSet<String>,
}

impl Probe {
    pub(super) fn new(url: Url, options: DoctorOptions) -> Result<Self, SearchError> {
        let client = http_client()
            .user_agent(concat!("canter-doctor/", env!("CARGO_PKG_VERSION")))
            .redirect(same_host_only())
            .connect_timeout(options.timeout)
            .read_timeout(options.timeout)
            .build()
            .map_err(|error| SearchError::internal(with_causes(&error)))?;
        Ok(Self {
            client,
            clock: Arc::new(SystemClock::new()),
            url,
            options,
            num_requests: 0,
            num_bytes: 0,
            etags: BTreeSet::new(),
        })
    }

    /// Requests a range such as `bytes=0-99`, and reads at most `max_len` bytes of the answer.
    pub(super) async fn range(&mut self, range: &str, max_len: u64) -> Result<Seen, Unseen> {
        self.get(&[(RANGE, range)], max_len).await
    }

    pub(super) async fn get(
        &mut self,
        headers: &[(HeaderName, &str)],
        max_len: u64,
    ) -> Result<Seen, Unseen> {
        let seen = self.send(Method::GET, headers, max_len).await?;
        if let (true, Some(etag)) = (seen.status.is_success(), seen.header(ETAG)) {
            self.etags.insert(etag.to_owned());
        }
        Ok(seen)
    }

    /// Sends one request. Reads at most `max_len` bytes of the body.
    pub(super) async fn send(
        &mut self,
        method: Method,
        headers: &[(HeaderName, &str)],
        max_len: u64,
    ) -> Result<Seen, Unseen> {
        let bytes_left = self.options.max_bytes.saturating_sub(self.num_bytes);
        if self.num_requests >= self.options.max_requests || bytes_left < max_len {
            return Err(Unseen::Budget);
        }
        self.num_requests += 1;
        let mut request = self.client.request(method, self.url.clone());
        request = request.header(ACCEPT_ENCODING, "identity");
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let started = self.clock.now();
        let deadline = Some(started + self.options.timeout);
        let response = timeout_at(&*self.clock, deadline, request.send()).await;
        let late = |_| Unseen::Failed(format!("no answer within {:?}", self.options.timeout));
        let mut response = response
            .map_err(late)?
            .map_err(|error| Unseen::Failed(with_causes(&error.without_url())))?;
        let answered = self.clock.now();
        let local = response.extensions().get::<HttpInfo>();
        let mut seen = Seen {
            status: response.status(),
            version: response.version(),
            headers: response.headers().clone(),
            body: Bytes::new(),
            has_more: false,
            broke_off: None,
            url: response.url().clone(),
            first_byte: answered.saturating_sub(started),
            rest: Duration::ZERO,
            local: local.map(HttpInfo::local_addr),
        };
        let mut body = BytesMut::new();
        loop {
            match response.chunk().await {
                Ok(Some(part)) => body.extend_from_slice(&part),
                Ok(None) => break,
                Err(error) => {
                    seen.broke_off = Some(with_causes(&error.without_url()));
                    break;
                }
            }
            if body.len() as u64 > max_len {
                seen.has_more = true;
                break;
            }
        }
        self.num_bytes += body.len() as u64;
        body.truncate(usize::try_from(max_len).unwrap_or(usize::MAX));
        seen.body = body.freeze();
        seen.rest = self.clock.now().saturating_sub(answered);
        Ok(seen)
    }
}
