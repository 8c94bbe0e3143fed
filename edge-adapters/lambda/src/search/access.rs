//! Access control over HTTP: API keys and JSON Web Tokens like those of `canter serve`, from the
//! environment or from files of the package.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use canter_access::{
    Access, AccessSettings, Credentials, Denied, Grant, JwtSettings, Right, Source, challenges,
};
use canter_runtime::session::HttpResponse;
use canter_runtime::{Api, Caller};

use crate::env::{ConfigError, Environment};

/// API keys in the format of `canter key add`. Without API keys and JWTs, everybody who can reach
/// the function may search.
pub(crate) const API_KEYS: &str = "CANTER_API_KEYS";
/// File of API keys in the package.
pub(crate) const API_KEYS_FILE: &str = "CANTER_API_KEYS_FILE";
/// Keys that sign JWTs.
pub(crate) const JWKS: &str = "CANTER_JWKS";
/// File of these keys in the package.
pub(crate) const JWKS_FILE: &str = "CANTER_JWKS_FILE";
/// Claim with the permissions of a JWT.
pub(crate) const JWT_CLAIM: &str = "CANTER_JWT_CLAIM";
/// Required issuer of a JWT.
pub(crate) const JWT_ISSUER: &str = "CANTER_JWT_ISSUER";
/// Required audience of a JWT.
pub(crate) const JWT_AUDIENCE: &str = "CANTER_JWT_AUDIENCE";

const DEFAULT_CLAIM: &str = "canter";

/// Access control for searches: it admits everybody who can reach the function, unless keys are set.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    access: Option<Arc<Access>>,
}

/// Reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shut {
    Denied(Denied),
    /// The token is valid, but does not permit searches.
    Forbidden,
    /// The token could not be checked; the log has the reason.
    Broken,
}

impl Gate {
    pub(crate) fn from_env(env: &Environment) -> Result<Self, ConfigError> {
        let keys = source(env, API_KEYS, API_KEYS_FILE)?;
        let key_set = source(env, JWKS, JWKS_FILE)?;
        if key_set.is_none() {
            let given = [JWT_CLAIM, JWT_ISSUER, JWT_AUDIENCE]
                .into_iter()
                .find(|name| env.get(name).is_some());
            if let Some(name) = given {
                let what = format!("{name} is of no use without {JWKS} or {JWKS_FILE}");
                return Err(ConfigError(what));
            }
        }
        let text = |name| env.get(name).map(str::to_owned);
        let jwt = key_set.map(|key_set| JwtSettings {
            key_set,
            claim: text(JWT_CLAIM).unwrap_or_else(|| DEFAULT_CLAIM.to_owned()),
            issuer: text(JWT_ISSUER),
            audience: text(JWT_AUDIENCE),
        });
        if keys.is_none() && jwt.is_none() {
            return Ok(Self::default());
        }
        let access = Access::open(AccessSettings { keys, jwt }).map_err(ConfigError)?;
        Ok(Self {
            access: Some(Arc::new(access)),
        })
    }

    /// Returns what the sender of these headers may see of the indexes with these names.
    pub(crate) async fn caller(
        &self,
        headers: &BTreeMap<String, String>,
        indexes: &[String],
    ) -> Result<Caller, Shut> {
        let Some(access) = &self.access else {
            return Ok(Caller::default());
        };
        let header = headers.get("authorization").map(String::as_bytes);
        let credentials = Credentials::read(header).map_err(Shut::Denied)?;
        let grant = grant(Arc::clone(access), credentials).await?;
        match grant.rights.contains(&Right::Read) {
            true => Ok(Caller {
                indexes: grant.indexes_among(indexes),
                forced_filter: grant.filter,
            }),
            false => Err(Shut::Forbidden),
        }
    }
}

/// Returns the permissions of credentials. The first time that this instance sees a secret, it is
/// hashed.
async fn grant(access: Arc<Access>, credentials: Credentials) -> Result<Grant, Shut> {
    if let Some(checked) = access.check_quickly(&credentials) {
        return checked.map_err(Shut::Denied);
    }
    let checking = tokio::task::spawn_blocking(move || access.check(&credentials));
    match checking.await {
        Ok(checked) => checked.map_err(Shut::Denied),
        Err(error) => {
            tracing::error!(target: "canter::lambda", %error, "a token could not be checked");
            Err(Shut::Broken)
        }
    }
}

/// Returns a text from its variable, or from the file that another variable names.
fn source(env: &Environment, text: &str, file: &str) -> Result<Option<Source>, ConfigError> {
    match (env.get(text), env.get(file)) {
        (Some(_), Some(_)) => Err(ConfigError(format!(
            "{text} and {file} are both set: leave one out"
        ))),
        (Some(said), None) => Ok(Some(Source::Setting {
            name: text.to_owned(),
            text: said.to_owned(),
        })),
        (None, Some(path)) => Ok(Some(Source::File(PathBuf::from(path)))),
        (None, None) => Ok(None),
    }
}

impl Shut {
    /// Returns the answer to a request for `path` with these headers.
    pub(crate) fn response(self, path: &str, headers: &BTreeMap<String, String>) -> HttpResponse {
        let api = Api::of(path);
        let denied = match self {
            Self::Denied(denied) => denied,
            Self::Forbidden => {
                return HttpResponse::refusal(api, 403, "this token does not allow that");
            }
            Self::Broken => {
                return HttpResponse::refusal(
                    api,
                    500,
                    "the token could not be checked: try again",
                );
            }
        };
        let mut response = HttpResponse::refusal(api, 401, &denied.to_string());
        let text = |name: &str| headers.get(name).map(String::as_str);
        let offered = challenges(text("x-requested-with"), text("sec-fetch-dest"));
        // Lambda's answers have each header only once.
        let offered = offered.collect::<Vec<_>>().join(", ");
        response
            .headers
            .push(("www-authenticate".to_owned(), offered));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of the tests of `canter-access`.
    const KEYS: &str = include_str!("../../../../access/src/tests/table/keys.toml");
    const KEY_SET: &str = include_str!("../../../../access/src/tests/table/jwks.json");

    fn headers(name: &str, value: &str) -> BTreeMap<String, String> {
        [(name.to_owned(), value.to_owned())].into()
    }

    fn open() -> Vec<String> {
        ["logs-web", "logs-app", "traces"].map(str::to_owned).into()
    }

    async fn seen(gate: &Gate, authorization: &str) -> Result<Caller, Shut> {
        let headers = headers("authorization", authorization);
        gate.caller(&headers, &open()).await
    }

    #[tokio::test]
    async fn a_key_says_what_its_holder_may_see() {
        let gate = Gate::from_env(&Environment::of([(API_KEYS, KEYS)])).unwrap();
        let everything = seen(&gate, "Bearer all.secret-of-all").await;
        assert_eq!(everything, Ok(Caller::default()));
        let tenant = seen(&gate, "Bearer tenant-7.secret-of-tenant-7").await;
        let tenant = tenant.unwrap();
        let expected = ["logs-web", "logs-app"].map(str::to_owned);
        assert_eq!(tenant.indexes.as_deref(), Some(&expected[..]));
        assert_eq!(tenant.forced_filter.as_deref(), Some("tenant_id:7"));
        let writer = seen(&gate, "Bearer writer.secret-of-writer").await;
        assert_eq!(writer, Err(Shut::Forbidden));
        let guessed = seen(&gate, "Bearer all.guessed").await;
        assert_eq!(guessed, Err(Shut::Denied(Denied::Unknown)));
        let nobody = gate.caller(&BTreeMap::new(), &open()).await;
        assert_eq!(nobody, Err(Shut::Denied(Denied::Missing)));
        let everybody = Gate::default().caller(&BTreeMap::new(), &open()).await;
        assert_eq!(everybody, Ok(Caller::default()));
    }

    #[test]
    fn a_refusal_is_of_the_api_that_was_asked_and_says_what_is_taken() {
        let denied = Shut::Denied(Denied::Missing);
        let offered = |response: &HttpResponse| {
            let mut headers = response.headers.iter();
            let found = headers.find(|(name, _)| name == "www-authenticate");
            found.map(|(_, value)| value.clone())
        };
        let response = denied.response("/api/v1/logs/search", &BTreeMap::new());
        assert_eq!(response.status, 401);
        assert!(response.body.starts_with(b"{\"message\":\"send a token"));
        let schemes = offered(&response).unwrap();
        assert!(
            schemes.starts_with("ApiKey, Bearer, Basic realm="),
            "{schemes}"
        );
        let of_page = headers("x-requested-with", "XMLHttpRequest");
        let response = denied.response("/logs/_search", &of_page);
        assert_eq!(offered(&response).as_deref(), Some("ApiKey, Bearer"));
        let body: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(body["error"]["type"], "security_exception");
        let response = Shut::Forbidden.response("/logs/_search", &BTreeMap::new());
        assert_eq!((response.status, offered(&response)), (403, None));
    }

    #[test]
    fn settings_that_would_do_something_else_than_meant_are_refused() {
        let check = |variables: &[(&str, &str)], expect: &str| {
            let gate = Gate::from_env(&Environment::of(variables.iter().copied()));
            let error = gate.unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
            assert!(!error.contains("argon2id$"), "{error}");
        };
        let twice = KEYS.repeat(2);
        check(
            &[(API_KEYS, twice.as_str())],
            "CANTER_API_KEYS: there are two keys",
        );
        check(&[(API_KEYS, "all")], "CANTER_API_KEYS is no list of keys");
        check(&[(API_KEYS_FILE, "/no/keys.toml")], "/no/keys.toml");
        check(&[(API_KEYS, KEYS), (API_KEYS_FILE, "/keys")], "both set");
        check(&[(JWKS, "{}")], "CANTER_JWKS is no set of keys");
        check(&[(JWT_ISSUER, "https://a.example")], "without CANTER_JWKS");
        let both = [(API_KEYS, KEYS), (JWKS, KEY_SET)];
        assert!(Gate::from_env(&Environment::of(both)).is_ok());
    }
}
