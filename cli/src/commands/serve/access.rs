//! Who asks: tokens, and what each allows of the indexes that are served.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use axum::response::Response;
use canter_access::{Access, Credentials, Denied, Grant, Right, challenges};
use canter_runtime::Caller;
use tokio::sync::Semaphore;

use super::following::follow;
use super::refusal::{Api, Refuse};

/// Secrets that are hashed at once: each takes a core and some megabytes, and who guesses must not have all of them.
const MAX_CHECKS: usize = 2;

/// Requests that wait for that.
const MAX_WAITING_CHECKS: usize = 64;

/// Knows who may ask.
pub(super) struct Gate {
    access: Arc<Access>,
    line: Semaphore,
    checks: Semaphore,
}

/// Why a request is not answered.
pub(super) enum Shut {
    Denied(Denied),
    /// The token is right, and allows something else.
    Forbidden,
    Busy,
}

impl Gate {
    pub(super) fn new(access: Access) -> Self {
        Self {
            access: Arc::new(access),
            line: Semaphore::new(MAX_CHECKS + MAX_WAITING_CHECKS),
            checks: Semaphore::new(MAX_CHECKS),
        }
    }

    /// What the sender of these headers may do, if it may read.
    pub(super) async fn reader(&self, headers: &HeaderMap) -> Result<Grant, Shut> {
        self.holder_of(&[Right::Read], headers).await
    }

    /// What the sender of these headers may do, if that is among it.
    pub(super) async fn holder_of(
        &self,
        rights: &[Right],
        headers: &HeaderMap,
    ) -> Result<Grant, Shut> {
        let grant = self.grant(headers).await?;
        tracing::Span::current().record("caller", grant.name.as_str());
        match rights.iter().all(|right| grant.rights.contains(right)) {
            true => Ok(grant),
            false => Err(Shut::Forbidden),
        }
    }

    async fn grant(&self, headers: &HeaderMap) -> Result<Grant, Shut> {
        let mut sent = headers.get_all(AUTHORIZATION).iter();
        let header = sent.next().map(HeaderValue::as_bytes);
        if sent.next().is_some() {
            return Err(Shut::Denied(Denied::Unreadable));
        }
        let credentials = Credentials::read(header).map_err(Shut::Denied)?;
        if let Some(checked) = self.access.check_quickly(&credentials) {
            return checked.map_err(Shut::Denied);
        }
        let _place = self.line.try_acquire().map_err(|_| Shut::Busy)?;
        let _turn = self.checks.acquire().await.map_err(|_| Shut::Busy)?;
        let access = Arc::clone(&self.access);
        let checking = tokio::task::spawn_blocking(move || access.check(&credentials));
        match checking.await {
            Ok(checked) => checked.map_err(Shut::Denied),
            Err(_) => Err(Shut::Busy),
        }
    }

    /// Uses what the files say whenever they change, for as long as it is polled.
    pub(super) async fn follow(self: Arc<Self>) {
        follow(Arc::clone(&self.access), Access::reload, "tokens").await;
    }
}

/// Whether a grant has no bounds: what it reads need not be told apart.
pub(super) fn is_unbounded(grant: &Grant) -> bool {
    grant.indexes.is_none() && grant.filter.is_none()
}

/// What a grant means for a search of these indexes. Those that it does not name are not there for its holder.
pub(super) fn caller_of(grant: Grant, indexes: &[String]) -> Caller {
    Caller {
        indexes: grant.indexes_among(indexes),
        forced_filter: grant.filter,
    }
}

impl Shut {
    /// `asked` are the headers of the request.
    pub(super) fn answer(&self, api: Api, asked: &HeaderMap) -> Response {
        match self {
            Self::Denied(denied) => {
                let mut response = api.last_refusal(StatusCode::UNAUTHORIZED, &denied.to_string());
                let text = |name: &str| asked.get(name).and_then(|value| value.to_str().ok());
                for scheme in challenges(text("x-requested-with"), text("sec-fetch-dest")) {
                    let scheme = HeaderValue::from_static(scheme);
                    response.headers_mut().append(WWW_AUTHENTICATE, scheme);
                }
                response
            }
            Self::Forbidden => {
                api.last_refusal(StatusCode::FORBIDDEN, "this token does not allow that")
            }
            Self::Busy => api.last_refusal(
                StatusCode::TOO_MANY_REQUESTS,
                "too many tokens are being checked: try again",
            ),
        }
    }
}
