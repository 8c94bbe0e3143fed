//! Authentication: tokens, and the access of each to the served indexes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use axum::response::Response;
use canter_access::{Access, Credentials, Denied, Grant, Right, challenges};
use canter_runtime::Caller;
use tokio::sync::Semaphore;

use super::hash_times::HashTimes;
use super::line::Line;
use crate::http::{Api, Refuse, follow};

/// Maximum number of secrets that are hashed at once: each takes a core and some megabytes, and an attacker must not
/// occupy all of them.
const MAX_CHECKS: usize = 2;

/// Maximum number of secrets that wait for hashing.
const MAX_WAITING_CHECKS: usize = 256;

/// Maximum number of unverified secrets of one key, so that they cannot take the places of other keys.
pub(super) const MAX_SECRETS_PER_KEY: u32 = 8;

/// Minimum time between the arrival and the refusal of a key, whether the key exists or not: finding out that a secret
/// is wrong takes a fraction of that, and an unknown key takes no time at all.
const REFUSAL_DELAY: Duration = Duration::from_millis(250);

/// Maximum delay, for keys whose hashes are configured to be slow.
const MAX_REFUSAL_DELAY: Duration = Duration::from_secs(2);

/// Checks the tokens of requests.
pub(crate) struct Gate {
    access: Arc<Access>,
    line: Line,
    /// Permits for secrets that wait for a check, or undergo one.
    waiting: Semaphore,
    checks: Arc<Semaphore>,
    hash_times: HashTimes,
}

/// Reason for refusing a request.
pub(crate) enum Shut {
    Denied(Denied),
    /// The token is valid, but does not grant the right.
    Forbidden,
    Busy,
}

impl Gate {
    pub(crate) fn new(access: Access) -> Self {
        Self {
            access: Arc::new(access),
            line: Line::new(MAX_SECRETS_PER_KEY as usize),
            waiting: Semaphore::new(MAX_CHECKS + MAX_WAITING_CHECKS),
            checks: Arc::new(Semaphore::new(MAX_CHECKS)),
            hash_times: HashTimes::default(),
        }
    }

    /// Returns the grant of the sender of these headers, if it includes reading.
    pub(crate) async fn reader(&self, headers: &HeaderMap) -> Result<Grant, Shut> {
        self.holder_of(&[Right::Read], headers).await
    }

    /// Returns the grant of the sender of these headers, if it includes all of these rights.
    pub(crate) async fn holder_of(
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
        // First, so that no check uses older keys than this number counts.
        let num_changes = self.access.num_changes();
        let known = self.access.check_quickly(&credentials);
        let place = match (&credentials, &known) {
            (Credentials::Key { id, secret }, None | Some(Err(_))) => {
                self.line.place(id, secret, num_changes)
            }
            (_, known) => {
                let checked = known.clone().unwrap_or(Err(Denied::Unknown));
                return checked.map_err(Shut::Denied);
            }
        };
        let came_at = Instant::now();
        let place = place.ok_or(Shut::Busy)?;
        let checked = match known {
            Some(checked) => checked,
            None => {
                let check = || self.check(&place.turn, credentials);
                place.outcome.get_or_try_init(check).await?.clone()
            }
        };
        if checked.is_err() {
            // Keeps its place. Nothing else is held, and the number of waiting requests is limited by that of
            // connections.
            let left = self.refusal_delay().saturating_sub(came_at.elapsed());
            tokio::time::sleep(left).await;
        }
        checked.map_err(Shut::Denied)
    }

    /// Hashes the secret in its turn. A hash cannot be cancelled: the turn and the permit are held until it is done,
    /// because a client that disconnects and retries could otherwise occupy any number at once.
    async fn check(
        &self,
        turn: &Arc<Semaphore>,
        credentials: Credentials,
    ) -> Result<Result<Grant, Denied>, Shut> {
        let _waiting = self.waiting.try_acquire().map_err(|_| Shut::Busy)?;
        let turn = Arc::clone(turn).acquire_owned().await;
        let turn = turn.map_err(|_| Shut::Busy)?;
        let check = Arc::clone(&self.checks).acquire_owned().await;
        let check = check.map_err(|_| Shut::Busy)?;
        let access = Arc::clone(&self.access);
        let checking = tokio::task::spawn_blocking(move || {
            let _held = (turn, check);
            // The time spent waiting for a thread is not part of the hash.
            let began_at = Instant::now();
            let checked = access.check(&credentials);
            (checked, began_at.elapsed())
        });
        let (checked, time) = checking.await.map_err(|_| Shut::Busy)?;
        self.hash_times.add(time);
        Ok(checked)
    }

    /// Returns more than the time for all secrets of a key in turn, so that a refusal after a check comes at the same
    /// time as one without it.
    fn refusal_delay(&self) -> Duration {
        let slowest = self.hash_times.slowest();
        let all = slowest.saturating_mul(MAX_SECRETS_PER_KEY + 1);
        all.clamp(REFUSAL_DELAY, MAX_REFUSAL_DELAY)
    }

    /// Reloads the files whenever they change, for as long as it is polled.
    pub(crate) async fn follow(self: Arc<Self>) {
        follow(Arc::clone(&self.access), Access::reload, "tokens").await;
    }
}

/// Returns whether a grant is unrestricted, so that its reads need no separation.
pub(crate) fn is_unbounded(grant: &Grant) -> bool {
    grant.indexes.is_none() && grant.filter.is_none()
}

/// Converts a grant for a search of these indexes. Indexes outside the grant do not exist for its holder.
pub(crate) fn caller_of(grant: Grant, indexes: &[String]) -> Caller {
    Caller {
        indexes: grant.indexes_among(indexes),
        forced_filter: grant.filter,
    }
}

impl Shut {
    /// `asked` are the headers of the request.
    pub(crate) fn answer(&self, api: Api, asked: &HeaderMap) -> Response {
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

#[cfg(test)]
mod tests;
