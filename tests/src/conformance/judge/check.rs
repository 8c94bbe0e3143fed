//! Correctness of the native engine's answers.

use serde_json::{Value, json};

use crate::conformance::faults::{name_in, told_faults};
use crate::conformance::{Answer, Request, Site};
use crate::normalised;

/// Checker of answers by the expectations of their requests.
pub struct Checker<'a> {
    site: &'a Site,
}

impl<'a> Checker<'a> {
    /// Creates a checker for the indexes of a site.
    pub fn new(site: &'a Site) -> Self {
        Self { site }
    }

    /// Returns the problem of an answer, if any.
    pub fn problem(&self, request: &Request, answer: &Answer) -> Option<String> {
        let expected = &request.expected;
        if answer.status != expected.status {
            return Some(format!(
                "status {} was expected: {}",
                expected.status,
                answer.shortened(500)
            ));
        }
        self.missing_part(request, answer)
            .or_else(|| wrong_faults(request, answer))
            .or_else(|| self.against_oracle(request, answer))
    }

    fn missing_part(&self, request: &Request, answer: &Answer) -> Option<String> {
        let text = String::from_utf8_lossy(&answer.body);
        let is_error = request.expected.status >= 400;
        let text = match (is_error, serde_json::from_str::<Value>(&text)) {
            (false, _) => text.into_owned(),
            (true, Ok(body))
                if body
                    .as_object()
                    .is_some_and(|body| body.len() == 1 && body.contains_key("message")) =>
            {
                body["message"].as_str().unwrap_or_default().to_owned()
            }
            // Error in Elasticsearch's form.
            (true, Ok(body)) if body["error"].is_object() || body["error"].is_string() => {
                body.to_string()
            }
            // A document that is not there, or that does not match.
            (true, Ok(body)) if body["matched"].is_boolean() || body["found"].is_boolean() => {
                body.to_string()
            }
            (true, _) => return Some(format!("no error object: {}", answer.shortened(500))),
        };
        let mut missing = request.expected.contains.iter();
        let missing = missing.find(|part| !text.contains(&***part))?;
        Some(format!(
            "{missing:?} was expected in: {}",
            answer.shortened(500)
        ))
    }

    fn against_oracle(&self, request: &Request, answer: &Answer) -> Option<String> {
        let (index, asked) = request.expected.oracle.as_ref()?;
        let oracle = match self.site.oracle(index) {
            Some(oracle) => oracle.search(asked),
            None => return Some(format!("there is no oracle for the index {index:?}")),
        };
        let expected = match oracle {
            Ok(expected) => normalised(&expected),
            Err(error) => return Some(format!("the oracle cannot tell: {error:#}")),
        };
        let body: Value = match serde_json::from_slice(&answer.body) {
            Ok(body) => body,
            Err(error) => return Some(format!("no JSON: {error}")),
        };
        let mut found = json!({"hits": body["hits"], "num_hits": body["num_hits"]});
        let aggregations = body.get("aggregations").filter(|value| !value.is_null());
        if let Some(aggregations) = aggregations {
            found["aggregations"] = aggregations.clone();
        }
        let found = normalised(&found);
        if body["errors"] != json!([]) || body["failed_splits"] != json!([]) {
            return Some(format!("splits failed: {}", answer.shortened(1_000)));
        }
        (found != expected).then(|| {
            let (found, expected) = (found.to_string(), expected.to_string());
            format!(
                "the oracle says\n    {}\n  not\n    {}",
                cut(&expected),
                cut(&found)
            )
        })
    }
}

/// Returns a problem unless the reported faults are exactly the expected ones.
fn wrong_faults(request: &Request, answer: &Answer) -> Option<String> {
    let expected = request.expected.faults.as_ref()?;
    let told = told_faults(answer);
    let names: Vec<&str> = told.iter().map(|place| name_in(place)).collect();
    let is_right = !told.is_empty()
        && names.iter().all(|name| expected.iter().any(|e| e == name))
        && expected.iter().all(|name| names.contains(&&**name));
    (!is_right).then(|| {
        format!(
            "the faults {expected:?} were expected, not {told:?}: {}",
            answer.shortened(800)
        )
    })
}

fn cut(text: &str) -> String {
    text.chars().take(700).collect()
}
