//! The Lambda search function, invoked through the Runtime API like a function URL does.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Caching, Host, Running};
use crate::conformance::{Answer, Call, HEADERS, Machine, Site};
use crate::{LambdaFunction, LambdaReply};

const PROGRAM: &str = "canter-lambda-search";

/// Host in a Lambda function.
pub(super) struct Lambda;

impl Host for Lambda {
    fn name(&self) -> &'static str {
        "lambda"
    }

    fn title(&self) -> &'static str {
        "AWS Lambda, through the Runtime API"
    }

    fn artifacts(&self, machine: &Machine) -> Result<Vec<PathBuf>, String> {
        machine.built(PROGRAM).map(|_| Vec::new())
    }

    fn start(&self, machine: &Machine, site: &Site, caching: Caching) -> Result<Box<dyn Running>> {
        let folder = tempfile::tempdir()?;
        let program = machine.built(PROGRAM).map_err(anyhow::Error::msg)?;
        let indexes = serde_json::to_string(&site.urls())?;
        let cache = folder.path().display().to_string();
        let mut variables = vec![
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1769"),
            ("CANTER_INDEXES", indexes.as_str()),
            ("CANTER_CACHE", cache.as_str()),
        ];
        if caching == Caching::Off {
            variables.extend([
                ("CANTER_CACHE_BYTES", "0"),
                ("CANTER_MEMORY_CACHE_BYTES", "0"),
            ]);
        }
        Ok(Box::new(Function {
            function: LambdaFunction::start("canter-search", &program, &variables)?,
            _folder: folder,
        }))
    }
}

struct Function {
    function: LambdaFunction,
    _folder: TempDir,
}

impl Running for Function {
    fn send(&mut self, call: &Call) -> Result<Answer> {
        let reply = self.function.invoke(event_of(call).to_string().as_bytes());
        let answer = match reply.with_context(|| self.function.log().join("\n"))? {
            LambdaReply::Answer(answer) => answer,
            LambdaReply::Error(error) => {
                bail!("the function failed: {}", String::from_utf8_lossy(&error))
            }
        };
        answer_of(&answer).with_context(|| {
            let text = String::from_utf8_lossy(&answer);
            let begins: String = text.chars().take(500).collect();
            format!("the function answered {begins}")
        })
    }
}

/// Returns a request in the form of a function URL, payload format 2.0.
fn event_of(call: &Call) -> Value {
    let mut event = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": call.path,
        "rawQueryString": call.query,
        "headers": {
            "host": "canter.lambda-url.us-east-1.on.aws",
            "content-type": "application/json",
            "x-forwarded-for": "127.0.0.1",
            "x-forwarded-proto": "https",
        },
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "canter",
            "domainName": "canter.lambda-url.us-east-1.on.aws",
            "domainPrefix": "canter",
            "http": {
                "method": call.method,
                "path": call.path,
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "conformance",
            },
            "requestId": "00000000-0000-0000-0000-000000000000",
            "routeKey": "$default",
            "stage": "$default",
            "time": "21/Nov/2026:12:00:00 +0000",
            "timeEpoch": 1_795_262_400_000u64,
        },
        "isBase64Encoded": false,
    });
    if !call.body.is_empty() {
        // Function URLs encode every body that they do not consider text.
        event["body"] = BASE64_STANDARD.encode(&call.body).into();
        event["isBase64Encoded"] = true.into();
    }
    event
}

fn answer_of(bytes: &[u8]) -> Result<Answer> {
    let answer: Value = serde_json::from_slice(bytes)?;
    let status = answer["statusCode"].as_u64().context("statusCode")?;
    let body = answer["body"].as_str().unwrap_or_default();
    let headers = answer["headers"].as_object().context("headers")?;
    let header = |name: &str| {
        let mut found = headers.iter();
        let (_, value) = found.find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some((name.to_owned(), value.as_str()?.to_owned()))
    };
    Ok(Answer {
        status: u16::try_from(status)?,
        headers: Some(HEADERS.into_iter().filter_map(header).collect()),
        body: match answer["isBase64Encoded"].as_bool() {
            Some(true) => BASE64_STANDARD.decode(body)?,
            _ => body.as_bytes().to_vec(),
        },
    })
}
