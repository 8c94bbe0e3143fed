//! Credentials of a request: the `Authorization` header.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Denied;

/// Maximum length of the header. Longer ones are refused unread.
const MAX_HEADER_BYTES: usize = 8 << 10;

/// Credentials that a client sent.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// An API key.
    Key {
        /// Public identifier of the key.
        id: String,
        /// Secret part of the key.
        secret: String,
    },
    /// A JSON Web Token.
    Jwt(String),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key { id, .. } => write!(formatter, "Key({id:?}, …)"),
            Self::Jwt(_) => formatter.write_str("Jwt(…)"),
        }
    }
}

impl Credentials {
    /// Parses the value of the header.
    ///
    /// # Errors
    /// The header is missing, too long or of an unknown form.
    pub fn read(header: Option<&[u8]>) -> Result<Self, Denied> {
        let header = header.ok_or(Denied::Missing)?;
        let header = Some(header).filter(|header| header.len() <= MAX_HEADER_BYTES);
        let header = header.and_then(|header| std::str::from_utf8(header).ok());
        let (scheme, token) = header
            .and_then(|header| header.trim().split_once(' '))
            .ok_or(Denied::Unreadable)?;
        let token = token.trim();
        let read = match scheme.to_ascii_lowercase().as_str() {
            // Elasticsearch API keys, and a user name with a password.
            "apikey" | "basic" => STANDARD
                .decode(token)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok())
                .and_then(|text| key(text.split_once(':')?)),
            "bearer" => match token.matches('.').count() {
                1 => token.split_once('.').and_then(key),
                2 => Some(Self::Jwt(token.to_owned())),
                _ => None,
            },
            _ => None,
        };
        read.ok_or(Denied::Unreadable)
    }
}

fn key((id, secret): (&str, &str)) -> Option<Credentials> {
    let is_good = |text: &str| !text.is_empty() && !text.contains('\0');
    (is_good(id) && is_good(secret)).then(|| Credentials::Key {
        id: id.to_owned(),
        secret: secret.to_owned(),
    })
}
