//! Who asks: tokens, and what each allows of the indexes that are served.

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

/// Secrets that are hashed at once: each takes a core and some megabytes, and who guesses must not have all of them.
const MAX_CHECKS: usize = 2;

/// Secrets that wait for that.
const MAX_WAITING_CHECKS: usize = 256;

/// Secrets of one key that are not known to be right yet: they cannot take the places of others.
pub(super) const MAX_SECRETS_PER_KEY: u32 = 8;

/// A key is refused so long after it came at the earliest, whether there is one of its name or not: it takes a fraction of that
/// to find out that a secret is wrong, and no time at all that there is no such key.
const REFUSAL_DELAY: Duration = Duration::from_millis(250);

/// The longest delay, where the hashes of keys were made to take long.
const MAX_REFUSAL_DELAY: Duration = Duration::from_secs(2);

/// Knows who may ask.
pub(crate) struct Gate {
    access: Arc<Access>,
    line: Line,
    /// Permits for secrets that wait for a check, or have one.
    waiting: Semaphore,
    checks: Arc<Semaphore>,
    hash_times: HashTimes,
}

/// Why a request is not answered.
pub(crate) enum Shut {
    Denied(Denied),
    /// The token is right, and allows something else.
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

    /// What the sender of these headers may do, if it may read.
    pub(crate) async fn reader(&self, headers: &HeaderMap) -> Result<Grant, Shut> {
        self.holder_of(&[Right::Read], headers).await
    }

    /// What the sender of these headers may do, if that is among it.
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
        // First: no check uses older keys than those of which this tells.
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
            // With its place. Nothing else is held, and as many may wait as may be connected.
            let left = self.refusal_delay().saturating_sub(came_at.elapsed());
            tokio::time::sleep(left).await;
        }
        checked.map_err(Shut::Denied)
    }

    /// Hashes the secret when it is its turn. A hash cannot be broken off: the turn and the check are held until it is done, or
    /// who hangs up and asks again would have as many at once as they like.
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
            // How long it waited for a thread says nothing of the hash.
            let began_at = Instant::now();
            let checked = access.check(&credentials);
            (checked, began_at.elapsed())
        });
        let (checked, time) = checking.await.map_err(|_| Shut::Busy)?;
        self.hash_times.add(time);
        Ok(checked)
    }

    /// Longer than all secrets of a key take, one after the other: a refusal behind a check comes when one without it does.
    fn refusal_delay(&self) -> Duration {
        let slowest = self.hash_times.slowest();
        let all = slowest.saturating_mul(MAX_SECRETS_PER_KEY + 1);
        all.clamp(REFUSAL_DELAY, MAX_REFUSAL_DELAY)
    }

    /// Uses what the files say whenever they change, for as long as it is polled.
    pub(crate) async fn follow(self: Arc<Self>) {
        follow(Arc::clone(&self.access), Access::reload, "tokens").await;
    }
}

/// Whether a grant has no bounds: what it reads need not be told apart.
pub(crate) fn is_unbounded(grant: &Grant) -> bool {
    grant.indexes.is_none() && grant.filter.is_none()
}

/// What a grant means for a search of these indexes. Those that it does not name are not there for its holder.
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
