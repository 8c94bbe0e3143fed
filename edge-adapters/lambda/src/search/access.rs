//! Who may ask over HTTP: bearer tokens, each with what it may see, and the origins of web pages.

use std::collections::BTreeMap;

use canter_runtime::Caller;
use serde::Deserialize;

use crate::env::{ConfigError, Environment};

/// Bearer tokens; without it everybody who reaches the function may ask.
pub(crate) const TOKENS: &str = "CANTER_TOKENS";
/// Origins of web pages that may ask; without it the function says nothing of CORS.
pub(crate) const CORS_ORIGINS: &str = "CANTER_CORS_ORIGINS";

/// Headers that scripts of other origins may read.
const EXPOSED: &str =
    "server-timing, x-canter-requests, x-canter-bytes, x-canter-waves, x-canter-cache-hits";

type Headers = BTreeMap<String, String>;

/// An entry of [`TOKENS`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenEntry {
    token: String,
    #[serde(default)]
    indexes: Option<Vec<String>>,
    #[serde(default)]
    forced_filter: Option<String>,
}

/// Who may ask.
#[derive(Debug, Default)]
pub(crate) struct Access {
    /// Hashes, which compare in the same time whatever was sent.
    tokens: Vec<(blake3::Hash, Caller)>,
    origins: Vec<String>,
}

impl Access {
    pub(crate) fn from_env(env: &Environment, indexes: &[&str]) -> Result<Self, ConfigError> {
        let expect = "a list such as [{\"token\": \"…\", \"indexes\": [\"logs\"], \
                      \"forced_filter\": \"tenant_id:7\"}]";
        let entries: Option<Vec<TokenEntry>> = env.json(TOKENS, expect)?;
        if entries.as_ref().is_some_and(Vec::is_empty) {
            let what = "is an empty list, so that nobody may ask; leave it out to let everybody";
            return Err(ConfigError(format!("{TOKENS} {what}")));
        }
        let mut tokens = Vec::new();
        for (entry, number) in entries.unwrap_or_default().into_iter().zip(1..) {
            if entry.token.is_empty() {
                return Err(ConfigError(format!("{TOKENS}: token {number} is empty")));
            }
            let mut named = entry.indexes.iter().flatten();
            if let Some(name) = named.find(|name| !indexes.contains(&name.as_str())) {
                let what = format!("token {number} names the index {name:?}, which is not open");
                return Err(ConfigError(format!("{TOKENS}: {what}")));
            }
            let caller = Caller {
                indexes: entry.indexes,
                forced_filter: entry.forced_filter,
            };
            tokens.push((blake3::hash(entry.token.as_bytes()), caller));
        }
        let origins = env.get(CORS_ORIGINS).unwrap_or_default().split(',');
        let origins = origins.map(|origin| origin.trim().trim_end_matches('/').to_owned());
        Ok(Self {
            tokens,
            origins: origins.filter(|origin| !origin.is_empty()).collect(),
        })
    }

    /// Who asks, or why nobody may.
    pub(crate) fn caller(&self, headers: &Headers) -> Result<Caller, &'static str> {
        if self.tokens.is_empty() {
            return Ok(Caller::default());
        }
        let sent = headers.get("authorization").and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        let sent = sent.ok_or("send a token, as in authorization: Bearer …")?;
        let sent = blake3::hash(sent.as_bytes());
        let found = self.tokens.iter().find(|(token, _)| *token == sent);
        found
            .map(|(_, caller)| caller.clone())
            .ok_or("this token is not known")
    }

    /// The headers that let a page of the request's origin read the answer.
    pub(crate) fn cors_headers(&self, headers: &Headers) -> Vec<(String, String)> {
        let Some(origin) = headers.get("origin") else {
            return Vec::new();
        };
        let any = self.origins.iter().any(|allowed| allowed == "*");
        if !any && !self.origins.contains(origin) {
            return Vec::new();
        }
        let allowed = if any { "*" } else { origin.as_str() };
        let mut cors = vec![
            ("access-control-allow-origin", allowed),
            ("access-control-expose-headers", EXPOSED),
            ("timing-allow-origin", allowed),
        ];
        if !any {
            cors.push(("vary", "origin"));
        }
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        cors.into_iter().map(owned).collect()
    }

    /// Whether the request is a browser's question before the request, which the function answers.
    pub(crate) fn is_preflight(&self, method: &str, headers: &Headers) -> bool {
        !self.origins.is_empty()
            && method == "OPTIONS"
            && headers.contains_key("access-control-request-method")
    }
}

/// What a preflight is told besides [`Access::cors_headers`].
pub(crate) fn preflight_headers() -> Vec<(String, String)> {
    [
        ("access-control-allow-methods", "GET, POST"),
        (
            "access-control-allow-headers",
            "authorization, content-type",
        ),
        ("access-control-max-age", "86400"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(name: &str, value: &str) -> Result<Access, ConfigError> {
        Access::from_env(&Environment::of([(name, value)]), &["logs"])
    }

    fn headers(name: &str, value: &str) -> Headers {
        [(name.to_owned(), value.to_owned())].into()
    }

    #[test]
    fn a_token_says_what_its_bearer_may_see() {
        let tokens = r#"[{"token": "a"}, {"token": "b", "forced_filter": "tenant_id:7"}]"#;
        let access = access(TOKENS, tokens).unwrap();
        let of = |value: &str| access.caller(&headers("authorization", value));
        assert_eq!(of("Bearer a").unwrap(), Caller::default());
        let filter = of("bearer b").unwrap().forced_filter;
        assert_eq!(filter.as_deref(), Some("tenant_id:7"));
        assert!(of("Bearer c").is_err());
        assert!(of("Basic a").is_err());
        assert!(access.caller(&Headers::new()).is_err());
    }

    #[test]
    fn tokens_that_would_do_something_else_than_meant_are_refused() {
        for (tokens, expect) in [
            ("[]", "nobody"),
            (r#"[{"token": ""}]"#, "token 1 is empty"),
            (r#"[{"token": "a", "indexes": ["lgos"]}]"#, "lgos"),
            (r#"[{"token": "a", "filter": "b:1"}]"#, "filter"),
            ("a", "not a list"),
        ] {
            let error = access(TOKENS, tokens).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        }
    }

    #[test]
    fn only_named_origins_may_read_answers() {
        let some = access(CORS_ORIGINS, "https://a.example, https://b.example/").unwrap();
        let of = |access: &Access, origin| access.cors_headers(&headers("origin", origin));
        assert_eq!(of(&some, "https://b.example")[0].1, "https://b.example");
        assert_eq!(of(&some, "https://c.example"), []);
        assert_eq!(some.cors_headers(&Headers::new()), []);
        let any = access(CORS_ORIGINS, "*").unwrap();
        assert_eq!(of(&any, "https://c.example")[0].1, "*");
        assert_eq!(of(&Access::default(), "https://c.example"), []);
    }
}
