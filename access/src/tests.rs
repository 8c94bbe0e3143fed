//! Valid and invalid tokens that the table of cases does not cover. The keys beside this file sign
//! for these tests only.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::*;

mod table;

fn key(id: &str, secret: &str) -> Credentials {
    Credentials::Key {
        id: id.to_owned(),
        secret: secret.to_owned(),
    }
}

#[test]
fn a_secret_is_not_shown() {
    let shown = format!("{:?}", key("a", "hidden"));
    assert!(shown.contains('a') && !shown.contains("hidden"), "{shown}");
    let setting = Source::Setting {
        name: "KEYS".to_owned(),
        text: "hidden".to_owned(),
    };
    assert_eq!(format!("{setting:?}"), "Source(KEYS)");
}

fn keys_in(folder: &Path, new: NewKey) -> (Access, Credentials) {
    let file = folder.join("keys.toml");
    let id = new.id.clone();
    let secret = add_key(&file, new).unwrap();
    let access = Access::open(AccessSettings {
        keys: Some(Source::File(file)),
        jwt: None,
    });
    (access.unwrap(), key(&id, &secret))
}

fn named(id: &str) -> NewKey {
    NewKey {
        id: id.to_owned(),
        ..NewKey::default()
    }
}

#[test]
fn a_key_allows_what_its_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let new = NewKey {
        indexes: Some(vec!["logs".to_owned()]),
        filter: Some("tenant_id:7".to_owned()),
        ..named("tenant-7")
    };
    let (access, credentials) = keys_in(folder.path(), new);
    assert_eq!(
        access.check_quickly(&credentials),
        None,
        "its secret is hashed first"
    );
    let grant = access.check(&credentials).unwrap();
    let expected = Grant {
        name: "tenant-7".to_owned(),
        indexes: Some(vec!["logs".to_owned()]),
        rights: vec![Right::Read],
        filter: Some("tenant_id:7".to_owned()),
    };
    assert_eq!(grant, expected);
    assert_eq!(access.check_quickly(&credentials), Some(Ok(expected)));
    // A wrong secret is neither accepted nor remembered.
    for _ in 0..2 {
        let wrong = key("tenant-7", "guessed");
        assert_eq!(access.check_quickly(&wrong), None);
        assert_eq!(access.check(&wrong), Err(Denied::Unknown));
    }
    assert_eq!(
        access.check(&key("tenant-8", "guessed")),
        Err(Denied::Unknown)
    );
    let jwt = Credentials::Jwt("a.b.c".to_owned());
    assert_eq!(access.check(&jwt), Err(Denied::Unknown));
    // The file contains no secret, and only its owner may read it.
    let text = std::fs::read_to_string(folder.path().join("keys.toml")).unwrap();
    let Credentials::Key { secret, .. } = credentials else {
        panic!()
    };
    assert!(text.contains("$argon2id$") && !text.contains(&secret));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = folder
            .path()
            .join("keys.toml")
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_key_ends_when_it_expires_or_is_taken_out() {
    let folder = tempfile::tempdir().unwrap();
    let past = NewKey {
        expires: Some("2020-01-01T00:00:00Z".parse().unwrap()),
        ..named("past")
    };
    let (access, credentials) = keys_in(folder.path(), past);
    assert_eq!(access.check(&credentials), Err(Denied::Unknown));

    let (access, credentials) = keys_in(folder.path(), named("present"));
    assert!(access.check(&credentials).is_ok());
    assert_eq!(access.reload(), Ok(false));
    let file = folder.path().join("keys.toml");
    std::fs::write(&file, "[[key").unwrap();
    assert!(access.reload().is_err());
    assert!(
        access.check(&credentials).is_ok(),
        "half a file changes nothing"
    );
    std::fs::write(&file, "").unwrap();
    assert_eq!(access.reload(), Ok(true));
    assert_eq!(access.check(&credentials), Err(Denied::Unknown));
}

#[test]
fn a_key_that_would_mean_something_else_is_not_added() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.toml");
    add_key(&file, named("a")).unwrap();
    let right = std::fs::read_to_string(&file).unwrap();
    assert!(add_key(&file, named("a")).unwrap_err().contains("already"));
    assert!(
        add_key(&file, named("a.b"))
            .unwrap_err()
            .contains("letters")
    );
    let empty = NewKey {
        filter: Some(" ".to_owned()),
        ..named("b")
    };
    assert!(add_key(&file, empty).unwrap_err().contains("empty filter"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), right);
}

const SECRET: &[u8] = b"a secret of these tests, and of nobody else";

fn der(text: &str) -> Vec<u8> {
    STANDARD.decode(text.trim()).unwrap()
}

/// Returns the signing key for each algorithm.
fn signer(algorithm: Algorithm) -> EncodingKey {
    match algorithm {
        Algorithm::RS256 => EncodingKey::from_rsa_der(&der(include_str!("tests/rsa.b64"))),
        Algorithm::EdDSA => EncodingKey::from_ed_der(&der(include_str!("tests/ed25519.b64"))),
        _ => EncodingKey::from_secret(SECRET),
    }
}

fn jwk(algorithm: Algorithm, id: Option<&str>) -> Jwk {
    let mut jwk = Jwk::from_encoding_key(&signer(algorithm), algorithm).unwrap();
    jwk.common.key_id = id.map(str::to_owned);
    jwk
}

fn access(folder: &Path, keys: Vec<Jwk>) -> Result<Access, String> {
    let key_set = folder.join("keys.json");
    std::fs::write(&key_set, serde_json::to_string(&JwkSet { keys }).unwrap()).unwrap();
    let jwt = JwtSettings {
        key_set: Source::File(key_set),
        claim: "canter".to_owned(),
        issuer: Some("https://issuer.example".to_owned()),
        audience: Some("canter".to_owned()),
    };
    Access::open(AccessSettings {
        keys: None,
        jwt: Some(jwt),
    })
}

/// Returns a time one year from now, so that the tokens of these tests never expire.
fn later() -> i64 {
    Timestamp::now().as_second() + 365 * 86_400
}

fn claims() -> Value {
    json!({
        "sub": "dashboard",
        "iss": "https://issuer.example",
        "aud": ["others", "canter"],
        "exp": later(),
        "canter": {"indexes": ["logs*"], "filter": "tenant_id:7"},
    })
}

fn signed(algorithm: Algorithm, id: Option<&str>, claims: &Value) -> Credentials {
    let mut header = Header::new(algorithm);
    header.kid = id.map(str::to_owned);
    Credentials::Jwt(encode(&header, claims, &signer(algorithm)).unwrap())
}

#[test]
fn a_jwt_of_each_algorithm_allows_what_its_claim_says() {
    let folder = tempfile::tempdir().unwrap();
    let algorithms = [
        (Algorithm::HS256, "h"),
        (Algorithm::RS256, "r"),
        (Algorithm::EdDSA, "e"),
    ];
    let keys = algorithms.map(|(algorithm, id)| jwk(algorithm, Some(id)));
    let access = access(folder.path(), keys.into()).unwrap();
    for (algorithm, id) in algorithms {
        let grant = access
            .check(&signed(algorithm, Some(id), &claims()))
            .unwrap();
        assert_eq!(grant.name, "dashboard");
        assert_eq!(grant.indexes, Some(vec!["logs*".to_owned()]));
        assert_eq!(grant.rights, [Right::Read]);
        assert_eq!(grant.filter.as_deref(), Some("tenant_id:7"));
        // Under the id of another key, and without an id.
        for other in [Some("h"), Some("r"), Some("e"), Some("x"), None] {
            if other != Some(id) {
                let credentials = signed(algorithm, other, &claims());
                assert_eq!(
                    access.check(&credentials),
                    Err(Denied::Unknown),
                    "{other:?}"
                );
            }
        }
    }
}

#[test]
fn a_signature_is_of_its_key_and_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let access = access(folder.path(), vec![jwk(Algorithm::RS256, None)]).unwrap();
    let Credentials::Jwt(right) = signed(Algorithm::RS256, None, &claims()) else {
        panic!()
    };
    let jwt = |text: String| access.check(&Credentials::Jwt(text));
    assert!(jwt(right.clone()).is_ok());
    let parts: Vec<&str> = right.split('.').collect();
    let (header, payload, signature) = (parts[0], parts[1], parts[2]);
    let mut widened = claims();
    widened["canter"] = json!({});
    let widened = URL_SAFE_NO_PAD.encode(widened.to_string());
    let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
    let hs = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    for wrong in [
        format!("{header}.{widened}.{signature}"),
        format!("{header}.{payload}."),
        format!("{none}.{payload}."),
        format!("{none}.{payload}.{signature}"),
        format!("{hs}.{payload}.{signature}"),
        format!("{header}.{payload}.{}", &signature[..signature.len() - 4]),
        "..".to_owned(),
    ] {
        assert_eq!(jwt(wrong.clone()), Err(Denied::Unknown), "{wrong}");
    }
    // The public key must not work as an HMAC secret.
    let modulus = serde_json::to_value(jwk(Algorithm::RS256, None)).unwrap()["n"].clone();
    let as_secret = EncodingKey::from_secret(modulus.as_str().unwrap().as_bytes());
    let forged = encode(&Header::new(Algorithm::HS256), &claims(), &as_secret).unwrap();
    assert_eq!(jwt(forged), Err(Denied::Unknown));
}

/// The JWT library panics on such a clock.
#[test]
fn a_clock_before_1970_ends_no_process_and_lets_nobody_in() {
    let folder = tempfile::tempdir().unwrap();
    let access = access(folder.path(), vec![jwk(Algorithm::HS256, None)]).unwrap();
    let Credentials::Jwt(right) = signed(Algorithm::HS256, None, &claims()) else {
        panic!()
    };
    let known = access.known();
    let verifier = known.jwt.as_ref().unwrap();
    assert!(verifier.check(&right, Timestamp::now()).is_some());
    for seconds in [-300_000_000_000, -86_400, -1, 0, 29] {
        let now = Timestamp::from_second(seconds).unwrap();
        assert!(verifier.check(&right, now).is_none(), "{now}");
    }
}
