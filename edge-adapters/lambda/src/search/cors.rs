//! CORS: access of web pages from other origins.

use std::collections::BTreeMap;

use crate::env::Environment;

/// Origins of web pages that may search. Without it, the function sends no CORS headers.
pub(crate) const CORS_ORIGINS: &str = "CANTER_CORS_ORIGINS";

/// Headers that scripts of other origins may read.
const EXPOSED: &str =
    "server-timing, x-canter-requests, x-canter-bytes, x-canter-waves, x-canter-cache-hits";

type Headers = BTreeMap<String, String>;

/// Permitted origins.
#[derive(Debug, Default)]
pub(crate) struct Cors {
    origins: Vec<String>,
}

impl Cors {
    pub(crate) fn from_env(env: &Environment) -> Self {
        let origins = env.get(CORS_ORIGINS).unwrap_or_default().split(',');
        let origins = origins.map(|origin| origin.trim().trim_end_matches('/').to_owned());
        Self {
            origins: origins.filter(|origin| !origin.is_empty()).collect(),
        }
    }

    /// Returns the headers that let a page of the request's origin read the answer.
    pub(crate) fn headers(&self, asked: &Headers) -> Vec<(String, String)> {
        let Some(origin) = asked.get("origin") else {
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

    /// Returns whether the request is a preflight of a browser, which the function answers itself.
    pub(crate) fn is_preflight(&self, method: &str, asked: &Headers) -> bool {
        !self.origins.is_empty()
            && method == "OPTIONS"
            && asked.contains_key("access-control-request-method")
    }
}

/// Returns the headers of a preflight's answer besides [`Cors::headers`].
pub(crate) fn preflight_headers() -> Vec<(String, String)> {
    [
        ("access-control-allow-methods", "GET, POST"),
        (
            "access-control-allow-headers",
            "authorization, content-encoding, content-type",
        ),
        ("access-control-max-age", "86400"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_origins_may_read_answers() {
        let cors = |value| Cors::from_env(&Environment::of([(CORS_ORIGINS, value)]));
        let some = cors("https://a.example, https://b.example/");
        let of = |cors: &Cors, origin: &str| {
            let asked = [("origin".to_owned(), origin.to_owned())].into();
            cors.headers(&asked)
        };
        assert_eq!(of(&some, "https://b.example")[0].1, "https://b.example");
        assert_eq!(of(&some, "https://c.example"), []);
        assert_eq!(some.headers(&Headers::new()), []);
        assert_eq!(of(&cors("*"), "https://c.example")[0].1, "*");
        assert_eq!(of(&Cors::default(), "https://c.example"), []);
    }
}
