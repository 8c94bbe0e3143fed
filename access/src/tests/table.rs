//! The cases of `table/`, on which all hosts that check tokens agree: this crate, and the Worker in
//! TypeScript.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, crypto};
use serde_json::{Map, Value};

use super::{SECRET, signer};
use crate::{Access, AccessSettings, Credentials, Denied, Grant, JwtSettings, Source, matches_any};

const KEYS: &str = include_str!("table/keys.toml");
const KEY_SET: &str = include_str!("table/jwks.json");

fn table() -> Value {
    serde_json::from_str(include_str!("table/cases.json")).unwrap()
}

fn cases<'t>(table: &'t Value, name: &str) -> &'t [Value] {
    let cases = table[name].as_array().unwrap();
    assert!(cases.len() > 5, "{name}");
    cases
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap()
}

fn setting(text: &str) -> Source {
    Source::Setting {
        name: "SETTING".to_owned(),
        text: text.to_owned(),
    }
}

fn open(keys: Option<&str>, key_set: Option<&str>, table: &Value) -> Result<Access, String> {
    let names = &table["jwt"];
    Access::open(AccessSettings {
        keys: keys.map(setting),
        jwt: key_set.map(|key_set| JwtSettings {
            key_set: setting(key_set),
            claim: text(names, "claim").to_owned(),
            issuer: Some(text(names, "issuer").to_owned()),
            audience: Some(text(names, "audience").to_owned()),
        }),
    })
}

/// Returns the result that a case expects.
fn expected(case: &Value) -> Result<Grant, Denied> {
    match case.get("denied").and_then(Value::as_str) {
        Some("missing") => return Err(Denied::Missing),
        Some("unreadable") => return Err(Denied::Unreadable),
        Some("unknown") => return Err(Denied::Unknown),
        Some(other) => panic!("{other}"),
        None => {}
    }
    let grant = case["grant"].clone();
    let of = |name: &str| grant.get(name).cloned();
    Ok(Grant {
        name: text(&grant, "name").to_owned(),
        indexes: of("indexes").map(|list| serde_json::from_value(list).unwrap()),
        rights: serde_json::from_value(grant["rights"].clone()).unwrap(),
        filter: of("filter").map(|filter| serde_json::from_value(filter).unwrap()),
    })
}

fn checked(access: &Access, header: Option<&str>) -> Result<Grant, Denied> {
    let credentials = Credentials::read(header.map(str::as_bytes))?;
    access.check(&credentials)
}

#[test]
fn a_header_allows_what_the_table_says() {
    let table = table();
    let access = open(Some(KEYS), Some(KEY_SET), &table).unwrap();
    // The second pass takes valid secrets from memory.
    for _ in 0..2 {
        for case in cases(&table, "headers") {
            let num_letters = case.get("num_letters").and_then(Value::as_u64);
            let more = "s".repeat(usize::try_from(num_letters.unwrap_or(0)).unwrap());
            let header = case["authorization"].as_str();
            let header = header.map(|header| format!("{header}{more}"));
            let what = text(case, "case");
            assert_eq!(
                checked(&access, header.as_deref()),
                expected(case),
                "{what}"
            );
        }
    }
}

/// Builds the JWT of a case.
fn signed(case: &Value, usual: &Value) -> String {
    let part = |name: &str| case.get(name).unwrap_or(&usual[name]);
    let mut claims: Map<String, Value> = usual["claims"].as_object().unwrap().clone();
    if let Some(changes) = case.get("claims").and_then(Value::as_object) {
        claims.extend(changes.clone());
    }
    if let Some(name) = case.get("without").and_then(Value::as_str) {
        claims.remove(name).unwrap();
    }
    let encoded = |json: String| URL_SAFE_NO_PAD.encode(json);
    let claims = encoded(Value::from(claims).to_string());
    let message = format!("{}.{claims}", encoded(part("header").to_string()));
    let sign = |key: &EncodingKey, algorithm| {
        let signature = crypto::sign(message.as_bytes(), key, algorithm);
        format!("{message}.{}", signature.unwrap())
    };
    match part("signed").as_str() {
        None => format!("{message}."),
        Some("h") => sign(&EncodingKey::from_secret(SECRET), Algorithm::HS256),
        Some("r") => sign(&signer(Algorithm::RS256), Algorithm::RS256),
        Some("e") => sign(&signer(Algorithm::EdDSA), Algorithm::EdDSA),
        Some("public") => {
            let set: Value = serde_json::from_str(KEY_SET).unwrap();
            let mut keys = set["keys"].as_array().unwrap().iter();
            let modulus = keys.find_map(|key| key["n"].as_str()).unwrap();
            sign(
                &EncodingKey::from_secret(modulus.as_bytes()),
                Algorithm::HS256,
            )
        }
        Some(other) => panic!("{other}"),
    }
}

#[test]
fn a_jwt_allows_what_the_table_says() {
    let table = table();
    let access = open(None, Some(KEY_SET), &table).unwrap();
    for case in cases(&table, "tokens") {
        let header = format!("Bearer {}", signed(case, &table["token"]));
        let what = text(case, "case");
        assert_eq!(checked(&access, Some(&header)), expected(case), "{what}");
    }
}

#[test]
fn settings_that_would_mean_something_else_are_refused_as_the_table_says() {
    let table = table();
    let check = |opened: Result<Access, String>, case: &Value| {
        let error = opened.unwrap_err();
        assert!(error.contains(text(case, "says")), "{error}: {case}");
        assert!(error.starts_with("SETTING"), "{error}");
    };
    for case in cases(&table, "refused_keys") {
        check(open(Some(text(case, "keys")), None, &table), case);
    }
    for case in cases(&table, "refused_key_sets") {
        let key_set = case["key_set"].to_string();
        check(open(None, Some(&key_set), &table), case);
    }
}

#[test]
fn a_pattern_is_of_the_names_that_the_table_says() {
    for case in cases(&table(), "patterns") {
        let patterns = [text(case, "pattern").to_owned()];
        let is_matched = matches_any(&patterns, text(case, "name"));
        assert_eq!(Some(is_matched), case["matches"].as_bool(), "{case}");
    }
}
