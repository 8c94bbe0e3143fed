//! API keys, stored as hashes: the server never stores a secret.
//!
//! ```toml
//! [[key]]
//! id = "grafana"
//! hash = "$argon2id$v=19$…"
//! indexes = ["logs", "metrics-*"]     # all if left out
//! rights = ["read"]                   # the default
//! filter = "tenant_id:7"              # all documents if left out
//! expires = "2027-01-01T00:00:00Z"    # never if left out
//! ```

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Grant, Right, Source, checked};

/// Number of random bytes in a secret.
const SECRET_NUM_BYTES: usize = 32;

/// Memory for hashing one secret: 8 MiB. Slower hashing would add no safety, because a secret has
/// 256 random bits, and each server pays this cost the first time it sees a key.
const HASH_MEMORY_KIB: u32 = 8 << 10;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    #[serde(default)]
    key: Vec<Entry>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    indexes: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rights: Option<Vec<Right>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
}

/// Keys of a file or a setting, by id.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Keys(BTreeMap<String, Key>);

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    hash: String,
    expires: Option<Timestamp>,
    pub(super) grant: Grant,
}

impl Keys {
    pub(super) fn read(source: &Source) -> Result<Self, String> {
        let shown = source.shown();
        let text = source.read("the keys")?;
        // The error is shown without the surrounding lines, which contain hashes.
        let file: KeyFile = toml::from_str(&text)
            .map_err(|error| format!("{shown} is no list of keys: {}", error.message()))?;
        let mut keys = BTreeMap::new();
        for entry in file.key {
            let id = entry.id.clone();
            let wrong = |problem: String| format!("{shown}: the key {id:?} {problem}");
            let key = Key::of(entry).map_err(wrong)?;
            if keys.insert(id.clone(), key).is_some() {
                return Err(format!("{shown}: there are two keys {id:?}"));
            }
        }
        Ok(Self(keys))
    }

    /// Returns a key that has not expired. Before 1970 the clock is wrong, and keys with an expiry
    /// are refused.
    pub(super) fn get(&self, id: &str, now: Timestamp) -> Option<&Key> {
        let key = self.0.get(id)?;
        let is_dated = now >= Timestamp::UNIX_EPOCH;
        let is_current = key.expires.is_none_or(|expires| is_dated && now < expires);
        is_current.then_some(key)
    }
}

impl Key {
    fn of(entry: Entry) -> Result<Self, String> {
        check_id(&entry.id)?;
        let hash = PasswordHash::new(&entry.hash);
        if !hash.is_ok_and(|hash| hash.algorithm.as_str() == "argon2id") {
            return Err(
                "has a hash that is none of argon2id; `canter key add` makes one".to_owned(),
            );
        }
        let expires = entry.expires.map(|time| time.parse::<Timestamp>());
        let expires = expires
            .transpose()
            .map_err(|error| format!("expires at no time such as 2027-01-01T00:00:00Z: {error}"))?;
        Ok(Self {
            hash: entry.hash,
            expires,
            grant: checked(entry.id, entry.indexes, entry.rights, entry.filter)?,
        })
    }

    pub(super) fn is_secret(&self, secret: &str) -> bool {
        let hash = PasswordHash::new(&self.hash);
        hash.is_ok_and(|hash| {
            let argon2 = Argon2::default();
            argon2.verify_password(secret.as_bytes(), &hash).is_ok()
        })
    }
}

fn check_id(id: &str) -> Result<(), String> {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    match !id.is_empty() && id.len() <= 64 && id.bytes().all(is_good) {
        true => Ok(()),
        false => Err("has an id that is none: 1 to 64 letters, digits, - and _".to_owned()),
    }
}

/// Description of a key to create.
#[derive(Clone, Debug, Default)]
pub struct NewKey {
    /// Identifier of the key.
    pub id: String,
    /// Names of indexes, in which `*` matches any text; `None` is all indexes.
    pub indexes: Option<Vec<String>>,
    /// Rights on these indexes; `None` is reading only.
    pub rights: Option<Vec<Right>>,
    /// A query that every hit must match.
    pub filter: Option<String>,
    /// Time at which the key expires; `None` is never.
    pub expires: Option<Timestamp>,
}

/// Generates a secret, adds its key to a file and returns the secret, which is stored nowhere else.
/// Creates the file if it is missing.
///
/// # Errors
/// The file already has a key with this id, or cannot be written.
pub fn add_key(path: &Path, new: NewKey) -> Result<String, String> {
    let shown = path.display();
    let written = Source::File(path.to_owned());
    if path.exists() && Keys::read(&written)?.0.contains_key(&new.id) {
        return Err(format!(
            "{shown} has a key {:?} already: choose another name",
            new.id
        ));
    }
    let mut secret = [0; SECRET_NUM_BYTES];
    getrandom::fill(&mut secret)
        .map_err(|error| format!("the system gives no random numbers: {error}"))?;
    let secret = URL_SAFE_NO_PAD.encode(secret);
    let entry = Entry {
        hash: hashed(&secret)?,
        id: new.id,
        indexes: new.indexes,
        rights: new.rights,
        filter: new.filter,
        expires: new.expires.map(|time| time.to_string()),
    };
    let file = KeyFile { key: vec![entry] };
    let text = toml::to_string(&file).map_err(|error| error.to_string())?;
    // Validates the key as a server will read it.
    let [entry] = <[Entry; 1]>::try_from(file.key).map_err(|_| "a key is lost".to_owned())?;
    let id = entry.id.clone();
    Key::of(entry).map_err(|problem| format!("the key {id:?} {problem}"))?;
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = |text: String| {
        let mut file = options.open(path)?;
        let gap = if file.metadata()?.len() > 0 { "\n" } else { "" };
        file.write_all(format!("{gap}{text}").as_bytes())
    };
    write(text).map_err(|error| format!("cannot add to {shown}: {error}"))?;
    Ok(secret)
}

fn hashed(secret: &str) -> Result<String, String> {
    let params = Params::new(HASH_MEMORY_KIB, 1, 1, None).map_err(|error| error.to_string())?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash = argon2.hash_password(secret.as_bytes());
    hash.map(|hash| hash.to_string())
        .map_err(|error| error.to_string())
}
