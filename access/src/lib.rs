//! Who may ask, and what: API keys and JSON Web Tokens, read from files that may change while a server runs, or from settings.
//!
//! ```text
//!   Authorization: ApiKey base64(id:secret) ┐
//!                  Bearer id.secret         ├─→ key file: argon2 hash of the secret ─┐
//!                  Basic base64(id:secret)  ┘                                        ├─→ Grant
//!                  Bearer a.b.c             ──→ key set (JWKS): signature, time, claims ─┘
//! ```
//!
//! It knows tokens; what a grant means for a search is the host's matter. Nothing here says why exactly a token was not
//! taken: who guesses learns nothing.
//!
//! The Worker of `edge-adapters/cloudflare` decides alike, in another language: `src/tests/table` has cases that the tests of both
//! go through.

mod challenge;
mod credentials;
mod jwt;
mod keys;
mod source;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use jiff::Timestamp;
use lru::LruCache;
use serde::{Deserialize, Serialize};

pub use canter_names::matches_any;
pub use challenge::challenges;
pub use credentials::Credentials;
pub use jwt::JwtSettings;
pub use keys::{NewKey, add_key};
pub use source::Source;

/// Keys that were found right lately: their secrets are not hashed again.
const MAX_REMEMBERED: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// What the holder of a token may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Who holds it, for logs: the id of a key, the subject of a JWT.
    pub name: String,
    /// The names of indexes, in which `*` stands for anything; all if absent.
    pub indexes: Option<Vec<String>>,
    /// What may be done with them.
    pub rights: Vec<Right>,
    /// A query that every hit must match; each of its terms names its field.
    pub filter: Option<String>,
}

impl Grant {
    /// Those of a host's indexes that it is for; `None` is all of them. The others are not there for its holder.
    #[must_use]
    pub fn indexes_among(&self, open: &[String]) -> Option<Vec<String>> {
        let patterns = self.indexes.as_ref()?;
        let allowed = open.iter().filter(|name| matches_any(patterns, name));
        Some(allowed.cloned().collect())
    }
}

/// Something that may be done with an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// Search it.
    Read,
    /// Add documents.
    Write,
    /// Delete documents, or the index.
    Delete,
}

impl Right {
    /// What a token may do that does not say.
    pub const DEFAULT: [Self; 1] = [Self::Read];
}

/// Why nobody may ask so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// No token was sent.
    #[error("send a token, as in Authorization: ApiKey …, Bearer … or Basic …")]
    Missing,
    /// What was sent cannot be one.
    #[error("the Authorization header has no token of a known form")]
    Unreadable,
    /// There is none like it, or its signature, its time or its claims are not right.
    #[error("this token is not known, or not valid any more")]
    Unknown,
}

/// Where tokens are known from.
#[derive(Clone, Debug, Default)]
pub struct AccessSettings {
    /// API keys, in TOML.
    pub keys: Option<Source>,
    /// What JWTs are checked against.
    pub jwt: Option<JwtSettings>,
}

/// Checks tokens.
#[derive(Debug)]
pub struct Access {
    settings: AccessSettings,
    known: RwLock<Arc<Known>>,
}

/// What the files said when they were last read.
#[derive(Debug)]
struct Known {
    keys: keys::Keys,
    jwt: Option<jwt::Verifier>,
    /// Digests of credentials that were found right, made with a key of this process.
    remembered: Mutex<LruCache<[u8; 32], ()>>,
    digest_key: [u8; 32],
    /// How often the files had changed by then.
    num_changes: u64,
}

impl Access {
    /// Reads the files.
    ///
    /// # Errors
    /// In words for whoever wrote them, if one cannot be read, or means something else than it seems to.
    pub fn open(settings: AccessSettings) -> Result<Self, String> {
        let known = RwLock::new(Arc::new(Known::read(&settings)?));
        Ok(Self { settings, known })
    }

    /// Reads the files again, and says whether they have changed. What cannot be read changes nothing.
    ///
    /// # Errors
    /// As [`Access::open`].
    pub fn reload(&self) -> Result<bool, String> {
        let mut read = Known::read(&self.settings)?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let is_new = known.keys != read.keys || known.jwt != read.jwt;
        if is_new {
            read.num_changes = known.num_changes + 1;
            *known = Arc::new(read);
        }
        Ok(is_new)
    }

    /// How often the files were found to have changed. Whoever asks for this and then checks a token learns what they said then,
    /// or later.
    pub fn num_changes(&self) -> u64 {
        self.known().num_changes
    }

    fn known(&self) -> Arc<Known> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&known)
    }

    /// What these credentials allow, if that takes little time to say: a JWT, a key that was right lately, or one that
    /// there is not.
    pub fn check_quickly(&self, credentials: &Credentials) -> Option<Result<Grant, Denied>> {
        let known = self.known();
        let now = Timestamp::now();
        match credentials {
            Credentials::Jwt(token) => {
                let grant = known.jwt.as_ref().and_then(|jwt| jwt.check(token, now));
                Some(grant.ok_or(Denied::Unknown))
            }
            Credentials::Key { id, .. } => {
                let Some(key) = known.keys.get(id, now) else {
                    return Some(Err(Denied::Unknown));
                };
                let digest = known.digest(credentials);
                let mut remembered = known.remembered();
                remembered.get(&digest).map(|()| Ok(key.grant.clone()))
            }
        }
    }

    /// What these credentials allow. It may take tens of milliseconds, and as many megabytes.
    ///
    /// # Errors
    /// If they allow nothing.
    pub fn check(&self, credentials: &Credentials) -> Result<Grant, Denied> {
        if let Some(checked) = self.check_quickly(credentials) {
            return checked;
        }
        let Credentials::Key { id, secret } = credentials else {
            return Err(Denied::Unknown);
        };
        let known = self.known();
        let key = known.keys.get(id, Timestamp::now());
        let key = key.filter(|key| key.is_secret(secret));
        let key = key.ok_or(Denied::Unknown)?;
        known.remembered().put(known.digest(credentials), ());
        Ok(key.grant.clone())
    }
}

impl Known {
    fn read(settings: &AccessSettings) -> Result<Self, String> {
        let keys = settings.keys.as_ref().map(keys::Keys::read).transpose()?;
        let jwt = settings.jwt.as_ref().map(jwt::Verifier::read).transpose()?;
        let mut digest_key = [0; 32];
        getrandom::fill(&mut digest_key)
            .map_err(|error| format!("the system gives no random numbers: {error}"))?;
        Ok(Self {
            keys: keys.unwrap_or_default(),
            jwt,
            remembered: Mutex::new(LruCache::new(MAX_REMEMBERED)),
            digest_key,
            num_changes: 0,
        })
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, LruCache<[u8; 32], ()>> {
        self.remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn digest(&self, credentials: &Credentials) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.digest_key);
        if let Credentials::Key { id, secret } = credentials {
            // Neither has a zero in it.
            hasher
                .update(id.as_bytes())
                .update(&[0])
                .update(secret.as_bytes());
        }
        hasher.finalize().into()
    }
}

/// What of a grant a key file or a claim says, checked alike in both.
fn checked(
    name: String,
    indexes: Option<Vec<String>>,
    rights: Option<Vec<Right>>,
    filter: Option<String>,
) -> Result<Grant, String> {
    if indexes.as_ref().is_some_and(Vec::is_empty) {
        return Err(
            "has an empty list of indexes, so that it would allow nothing; leave it out for all"
                .to_owned(),
        );
    }
    if rights.as_ref().is_some_and(Vec::is_empty) {
        return Err("has an empty list of rights, so that it would allow nothing".to_owned());
    }
    if filter
        .as_deref()
        .is_some_and(|filter| filter.trim().is_empty())
    {
        return Err("has an empty filter; leave it out to allow all documents".to_owned());
    }
    Ok(Grant {
        name,
        indexes,
        rights: rights.unwrap_or_else(|| Right::DEFAULT.to_vec()),
        filter,
    })
}

#[cfg(test)]
mod tests;
