//! JSON Web Tokens: HS256, RS256 and EdDSA, against a set of keys (JWKS, RFC 7517).
//!
//! One claim, an object, lists the rights of a token. A token without that claim has none:
//!
//! ```json
//! {"sub": "dashboard", "exp": 1893456000,
//!  "canter": {"indexes": ["logs"], "rights": ["read"], "filter": "tenant_id:7"}}
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use jsonwebtoken::jwk::{
    AlgorithmParameters, EllipticCurve, Jwk, JwkSet, KeyAlgorithm, PublicKeyUse,
};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Grant, Right, Source, checked};

/// Tolerated clock skew, in seconds.
const LEEWAY_SECONDS: u64 = 30;

/// Minimum length of a shared secret. A shorter one can be guessed from one token (RFC 7518,
/// section 3.2).
const MIN_SECRET_NUM_BYTES: usize = 32;

/// Minimum length of an RSA modulus. A shorter key can be broken (RFC 7518, section 3.3).
const MIN_MODULUS_NUM_BITS: usize = 2048;

/// Settings for the validation of JWTs.
#[derive(Clone, Debug)]
pub struct JwtSettings {
    /// The set of keys.
    pub key_set: Source,
    /// Name of the claim that lists the token's rights, such as `canter`.
    pub claim: String,
    /// Required issuer (`iss`); `None` accepts any.
    pub issuer: Option<String>,
    /// Required audience (`aud`); `None` accepts any.
    pub audience: Option<String>,
}

/// Validator of JWTs.
#[derive(Debug)]
pub(super) struct Verifier {
    text: String,
    claim: String,
    keys: Vec<NamedKey>,
}

struct NamedKey {
    id: Option<String>,
    key: DecodingKey,
    validation: Validation,
}

impl std::fmt::Debug for NamedKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "NamedKey({:?})", self.id)
    }
}

/// Compares the text of the key set only: the settings never change.
impl PartialEq for Verifier {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Verifier {
    pub(super) fn read(settings: &JwtSettings) -> Result<Self, String> {
        let shown = settings.key_set.shown();
        let text = settings.key_set.read("the key set")?;
        let set: JwkSet = serde_json::from_str(&text)
            .map_err(|error| format!("{shown} is no set of keys (JWKS): {error}"))?;
        let mut keys = Vec::new();
        for (number, jwk) in (1..).zip(&set.keys) {
            let is_for_signatures = |purpose: &PublicKeyUse| *purpose == PublicKeyUse::Signature;
            if !jwk
                .common
                .public_key_use
                .as_ref()
                .is_none_or(is_for_signatures)
            {
                continue;
            }
            let key = NamedKey::of(jwk, settings)
                .map_err(|problem| format!("{shown}: key {number} {problem}"))?;
            keys.push(key);
        }
        let is_nameless = |key: &NamedKey| key.id.is_none();
        match keys.len() {
            0 => return Err(format!("{shown} has no key that signs")),
            1 => {}
            _ if keys.iter().any(is_nameless) => {
                return Err(format!(
                    "{shown} has several keys, so that each needs a kid"
                ));
            }
            _ => {}
        }
        Ok(Self {
            text: text.into_owned(),
            claim: settings.claim.clone(),
            keys,
        })
    }

    /// Returns the rights of a token, or `None` if it is invalid.
    pub(super) fn check(&self, token: &str, now: Timestamp) -> Option<Grant> {
        // With a clock this wrong, `exp` and `nbf` cannot be checked, and the library would panic.
        if now.as_second() < LEEWAY_SECONDS.cast_signed() {
            return None;
        }
        let header = decode_header(token).ok()?;
        // `crit` names extensions that must be understood (RFC 7515, section 4.1.11). None is
        // supported.
        if header.crit.is_some() {
            return None;
        }
        let key = match (&header.kid, self.keys.as_slice()) {
            (Some(id), keys) => keys.iter().find(|key| key.id.as_ref() == Some(id))?,
            (None, [key]) => key,
            (None, _) => return None,
        };
        let claims = decode::<Map<String, Value>>(token, &key.key, &key.validation);
        let mut claims = claims.ok()?.claims;
        if !is_well_formed(&claims) {
            return None;
        }
        let name = claims
            .get("sub")
            .and_then(Value::as_str)
            .unwrap_or("jwt")
            .to_owned();
        let allowed = claims.remove(&self.claim)?;
        // `null` would be read as absent, which allows more.
        if allowed.as_object()?.values().any(Value::is_null) {
            return None;
        }
        let allowed: Allowed = serde_json::from_value(allowed).ok()?;
        checked(name, allowed.indexes, allowed.rights, allowed.filter).ok()
    }
}

/// Returns whether the registered claims have their types (RFC 7519, section 4.1), even those that
/// are not checked otherwise. Libraries treat wrong types differently, and all hosts must agree.
fn is_well_formed(claims: &Map<String, Value>) -> bool {
    let is = |name: &str, is_right: fn(&Value) -> bool| claims.get(name).is_none_or(is_right);
    let are_texts = |value: &Value| {
        let list = value.as_array();
        value.is_string() || list.is_some_and(|list| list.iter().all(Value::is_string))
    };
    is("iss", Value::is_string) && is("iat", Value::is_number) && is("aud", are_texts)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    #[serde(default)]
    indexes: Option<Vec<String>>,
    #[serde(default)]
    rights: Option<Vec<Right>>,
    #[serde(default)]
    filter: Option<String>,
}

impl NamedKey {
    fn of(jwk: &Jwk, settings: &JwtSettings) -> Result<Self, String> {
        let known = "is of no kind that is checked: HS256, RS256 and EdDSA with Ed25519 are";
        // Only algorithms of the key's own kind are allowed. Otherwise a public key could be used
        // as the secret of an HMAC signature.
        let (algorithm, named) = match &jwk.algorithm {
            AlgorithmParameters::OctetKey(_) => (Algorithm::HS256, KeyAlgorithm::HS256),
            AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
            AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
                (Algorithm::EdDSA, KeyAlgorithm::EdDSA)
            }
            _ => return Err(known.to_owned()),
        };
        if jwk
            .common
            .key_algorithm
            .as_ref()
            .is_some_and(|said| *said != named)
        {
            return Err(known.to_owned());
        }
        let key = DecodingKey::from_jwk(jwk).map_err(|error| format!("cannot be used: {error}"))?;
        if let AlgorithmParameters::RSA(public) = &jwk.algorithm {
            let num_bits = num_bits(&public.n);
            if num_bits < MIN_MODULUS_NUM_BITS {
                return Err(format!(
                    "is an RSA key of {num_bits} bits; it needs {MIN_MODULUS_NUM_BITS}"
                ));
            }
        }
        if algorithm == Algorithm::HS256 {
            let len = key.try_get_as_bytes().map_or(0, <[u8]>::len);
            if len < MIN_SECRET_NUM_BYTES {
                return Err(format!(
                    "is a secret of {len} bytes; it needs {MIN_SECRET_NUM_BYTES}"
                ));
            }
        }
        let mut validation = Validation::new(algorithm);
        validation.leeway = LEEWAY_SECONDS;
        validation.validate_nbf = true;
        let mut required = vec!["exp"];
        match &settings.audience {
            Some(audience) => {
                validation.set_audience(&[audience]);
                required.push("aud");
            }
            // Without a required audience, any audience is accepted.
            None => validation.validate_aud = false,
        }
        if let Some(issuer) = &settings.issuer {
            validation.set_issuer(&[issuer]);
            required.push("iss");
        }
        validation.set_required_spec_claims(&required);
        Ok(Self {
            id: jwk.common.key_id.clone(),
            key,
            validation,
        })
    }
}

/// Returns the length in bits of a number in base64url.
fn num_bits(number: &str) -> usize {
    let bytes = URL_SAFE_NO_PAD.decode(number).unwrap_or_default();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let first = bytes.get(zeros).map_or(8, |byte| byte.leading_zeros());
    ((bytes.len() - zeros) * 8).saturating_sub(first as usize)
}
