//! Access control: API keys and JSON Web Tokens, read from files that may change while a server
//! runs, or from settings.
//!
//! ```text
//!   Authorization: ApiKey base64(id:secret) ┐
//!                  Bearer id.secret         ├─→ key file: argon2 hash of the secret ─┐
//!                  Basic base64(id:secret)  ┘                                        ├─→ Grant
//!                  Bearer a.b.c             ──→ key set (JWKS): signature, time, claims ─┘
//! ```
//!
//! This crate validates tokens; the host applies a [`Grant`] to a search. Errors never say why a
//! token was refused, so that guessing reveals nothing.
//!
//! The Worker of `edge-adapters/cloudflare` implements the same rules in TypeScript. The tests of
//! both run the cases in `src/tests/table`.

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

/// Number of recently validated keys whose secrets are not hashed again.
const MAX_REMEMBERED: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// Rights of the holder of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Name of the holder, for logs: the id of a key, or the subject of a JWT.
    pub name: String,
    /// Names of indexes, in which `*` matches any text; `None` is all indexes.
    pub indexes: Option<Vec<String>>,
    /// Rights on these indexes.
    pub rights: Vec<Right>,
    /// A query that every hit must match; each of its terms names its field.
    pub filter: Option<String>,
}

impl Grant {
    /// Returns those of a host's indexes that the grant covers; `None` is all of them. All other
    /// indexes are hidden from the holder.
    #[must_use]
    pub fn indexes_among(&self, open: &[String]) -> Option<Vec<String>> {
        let patterns = self.indexes.as_ref()?;
        let allowed = open.iter().filter(|name| matches_any(patterns, name));
        Some(allowed.cloned().collect())
    }
}

/// Operation on an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// Search.
    Read,
    /// Adding documents.
    Write,
    /// Deleting documents, or the whole index.
    Delete,
}

impl Right {
    /// Rights of a token that lists none.
    pub const DEFAULT: [Self; 1] = [Self::Read];
}

/// Reason for which a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// No token was sent.
    #[error("send a token, as in Authorization: ApiKey …, Bearer … or Basic …")]
    Missing,
    /// The header cannot be parsed.
    #[error("the Authorization header has no token of a known form")]
    Unreadable,
    /// The key is unknown, or the token's signature, times or claims are invalid.
    #[error("this token is not known, or not valid any more")]
    Unknown,
}

/// Sources of keys and tokens.
#[derive(Clone, Debug, Default)]
pub struct AccessSettings {
    /// API keys, in TOML.
    pub keys: Option<Source>,
    /// Settings for the validation of JWTs.
    pub jwt: Option<JwtSettings>,
}

/// Validator of credentials.
#[derive(Debug)]
pub struct Access {
    settings: AccessSettings,
    known: RwLock<Arc<Known>>,
}

/// Contents of the files as last read.
#[derive(Debug)]
struct Known {
    keys: keys::Keys,
    jwt: Option<jwt::Verifier>,
    /// Digests of credentials that were validated, made with a random key of this process.
    remembered: Mutex<LruCache<[u8; 32], ()>>,
    digest_key: [u8; 32],
    /// Number of changes of the files before this version.
    num_changes: u64,
}

impl Access {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read, or has a setting that would be misunderstood. The message is written
    /// for the author of the file.
    pub fn open(settings: AccessSettings) -> Result<Self, String> {
        let known = RwLock::new(Arc::new(Known::read(&settings)?));
        Ok(Self { settings, known })
    }

    /// Reads the files again and returns whether they have changed. A file that cannot be read
    /// leaves everything as it was.
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

    /// Returns the number of changes of the files so far. A token that is checked after this call
    /// is checked against that version or a later one.
    pub fn num_changes(&self) -> u64 {
        self.known().num_changes
    }

    fn known(&self) -> Arc<Known> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&known)
    }

    /// Checks credentials if that is fast: a JWT, a recently validated key, or an unknown key.
    /// Returns `None` if a secret must be hashed.
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

    /// Checks credentials. Hashing a secret may take tens of milliseconds and several MiB of
    /// memory.
    ///
    /// # Errors
    /// The credentials are unknown, invalid or expired.
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
            // Separator: neither part contains a zero byte.
            hasher
                .update(id.as_bytes())
                .update(&[0])
                .update(secret.as_bytes());
        }
        hasher.finalize().into()
    }
}

/// Builds a grant from the fields that key files and claims share, and validates them.
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
