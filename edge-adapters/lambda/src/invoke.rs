//! Invocation of a Lambda function: one signed request to Lambda's API.
//!
//! The AWS SDK would be the larger part of this program. `object_store` already contains the code
//! for credentials and signature version 4.

use bytes::Bytes;
use canter_runtime::SearchError;
use canter_stores::http_client;
use object_store::aws::{AwsAuthorizer, AwsCredential};
use object_store::client::{HttpRequest, HttpRequestBody};
use reqwest::{Client, redirect};

use crate::env::{ConfigError, Environment};

const ENDPOINT: &str = "AWS_ENDPOINT_URL_LAMBDA";
const REGION: &str = "AWS_REGION";
const EXAMPLE_REGION: &str = "eu-central-1";
/// Maximum length of an answer: Lambda's 6 MB, and some overhead.
const MAX_ANSWER_BYTES: usize = 8 << 20;

/// Invokes one function, with the identity of this process.
pub(crate) struct Invoker {
    client: Client,
    url: String,
    region: String,
    credential: AwsCredential,
}

impl Invoker {
    /// Creates an invoker for a function by its name or ARN, in the region and with the credentials
    /// that Lambda provides. `self` is this function in its own version.
    pub(crate) fn from_env(env: &Environment, function: &str) -> Result<Self, ConfigError> {
        let (name, qualifier) = named(env, function)?;
        let region = env.require(REGION, EXAMPLE_REGION)?.to_owned();
        let domain = match region.starts_with("cn-") {
            true => "amazonaws.com.cn",
            false => "amazonaws.com",
        };
        let endpoint = match env.get(ENDPOINT) {
            Some(endpoint) => endpoint.trim_end_matches('/').to_owned(),
            None => format!("https://lambda.{region}.{domain}"),
        };
        let query = qualifier.map(|qualifier| format!("?Qualifier={qualifier}"));
        let query = query.unwrap_or_default();
        let client = http_client().redirect(redirect::Policy::none()).build();
        Ok(Self {
            client: client.map_err(|error| ConfigError(format!("no HTTP client: {error}")))?,
            url: format!("{endpoint}/2015-03-31/functions/{name}/invocations{query}"),
            region,
            credential: AwsCredential {
                key_id: env.require("AWS_ACCESS_KEY_ID", "AKIA…")?.to_owned(),
                secret_key: env.require("AWS_SECRET_ACCESS_KEY", "…")?.to_owned(),
                token: env.get("AWS_SESSION_TOKEN").map(str::to_owned),
            },
        })
    }

    /// Returns the function's answer to `payload`. The request is sent only once, because the
    /// function may have run even without an answer.
    pub(crate) async fn invoke(&self, payload: Vec<u8>) -> Result<Bytes, SearchError> {
        let failed =
            |what: String| SearchError::unavailable(format!("an invocation failed: {what}"));
        let request = self.signed(payload).map_err(&failed)?;
        let sent = self.client.execute(request).await;
        let mut response = sent.map_err(|error| failed(error.without_url().to_string()))?;
        let status = response.status();
        let has_thrown = response.headers().contains_key("x-amz-function-error");
        let mut body = Vec::new();
        let mut next = response.chunk().await;
        while let Some(chunk) = next.map_err(|error| failed(error.without_url().to_string()))? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ANSWER_BYTES {
                return Err(failed(format!(
                    "it answers more than {MAX_ANSWER_BYTES} bytes"
                )));
            }
            next = response.chunk().await;
        }
        if status.as_u16() == 200 && !has_thrown {
            return Ok(body.into());
        }
        let said: String = String::from_utf8_lossy(&body).chars().take(500).collect();
        Err(failed(format!("status {status}: {said}")))
    }

    fn signed(&self, payload: Vec<u8>) -> Result<reqwest::Request, String> {
        let body = Bytes::from(payload);
        let mut request: HttpRequest = http::Request::post(&self.url)
            .header("content-type", "application/json")
            .header("x-amz-invocation-type", "RequestResponse")
            .body(HttpRequestBody::from(body.clone()))
            .map_err(|error| error.to_string())?;
        AwsAuthorizer::new(&self.credential, "lambda", &self.region)
            .try_authorize(&mut request, None)
            .map_err(|error| error.to_string())?;
        let headers = request.headers().clone();
        let request = self.client.post(&self.url).headers(headers).body(body);
        request.build().map_err(|error| error.to_string())
    }
}

/// Returns name and qualifier. Names become part of a URL without encoding, so their characters are
/// restricted.
fn named(env: &Environment, function: &str) -> Result<(String, Option<String>), ConfigError> {
    let own = |name| env.require(name, "…").map(str::to_owned);
    let (name, qualifier) = if function == "self" {
        // Instances of the same version have the same guest.
        let version = own("AWS_LAMBDA_FUNCTION_VERSION")?;
        let version = Some(version).filter(|version| version != "$LATEST");
        (own("AWS_LAMBDA_FUNCTION_NAME")?, version)
    } else {
        // arn:aws:lambda:REGION:ACCOUNT:function:NAME[:QUALIFIER]; the call only contains the name,
        // which would be another function in other regions and accounts.
        let rest = match function.split_once(":function:") {
            None => function,
            Some((place, rest)) => {
                let region = place.split(':').nth(3).unwrap_or_default();
                if region != own("AWS_REGION")? {
                    return Err(ConfigError(format!(
                        "{function:?} is in the region {region:?}: leaves run in this function's own \
                         region and account"
                    )));
                }
                rest
            }
        };
        let (name, qualifier) = match rest.split_once(':') {
            Some((name, qualifier)) => (name, Some(qualifier.to_owned())),
            None => (rest, None),
        };
        (name.to_owned(), qualifier)
    };
    let is_plain = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        !text.is_empty() && text.chars().all(plain)
    };
    match is_plain(&name) && qualifier.as_deref().is_none_or(is_plain) {
        true => Ok((name, qualifier)),
        false => Err(ConfigError(format!(
            "{function:?} names no function: give `self`, a name, name:alias or an ARN"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invoker(version: &str, function: &str) -> Result<Invoker, ConfigError> {
        let env = Environment::of([
            ("AWS_REGION", "eu-central-1"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_SESSION_TOKEN", "token"),
            ("AWS_LAMBDA_FUNCTION_NAME", "search"),
            ("AWS_LAMBDA_FUNCTION_VERSION", version),
        ]);
        Invoker::from_env(&env, function)
    }

    #[test]
    fn functions_are_named_in_all_the_usual_ways() {
        let base = "https://lambda.eu-central-1.amazonaws.com/2015-03-31/functions";
        for (version, function, expect) in [
            ("$LATEST", "self", "search/invocations"),
            ("7", "self", "search/invocations?Qualifier=7"),
            ("7", "leaves", "leaves/invocations"),
            ("7", "leaves:live", "leaves/invocations?Qualifier=live"),
            (
                "7",
                "arn:aws:lambda:eu-central-1:000000000000:function:leaves:3",
                "leaves/invocations?Qualifier=3",
            ),
        ] {
            let url = invoker(version, function).unwrap().url;
            assert_eq!(url, format!("{base}/{expect}"));
        }
        let elsewhere = "arn:aws:lambda:us-east-1:000000000000:function:leaves";
        for function in ["", "a/b", "a?b", "a:", "a b", elsewhere] {
            assert!(invoker("7", function).is_err(), "{function}");
        }
    }

    #[test]
    fn a_request_is_signed_with_its_body_and_token() {
        let request = invoker("7", "self")
            .unwrap()
            .signed(b"{}".to_vec())
            .unwrap();
        let header = |name: &str| request.headers()[name].to_str().unwrap().to_owned();
        let signed = "content-type;host;x-amz-content-sha256;x-amz-date;x-amz-invocation-type;\
                      x-amz-security-token";
        let authorization = header("authorization");
        assert!(
            authorization.contains("/eu-central-1/lambda/aws4_request"),
            "{authorization}"
        );
        assert!(authorization.contains(signed), "{authorization}");
        // SHA-256 of `{}`.
        let digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(header("x-amz-content-sha256"), digest);
        assert_eq!(header("x-amz-security-token"), "token");
    }
}
