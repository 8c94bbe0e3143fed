//! Requests to the search API and its answers.

use canter_names::Api;

/// A request to the search API, as it was received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpRequest {
    /// In upper case: `GET`, `POST`.
    pub method: String,
    /// The path of the URL, percent-encoded as received.
    pub path: String,
    /// The query string after the `?`, percent-encoded as received; empty without one.
    pub query: String,
    /// The body; empty without one.
    pub body: Vec<u8>,
}

/// The API's answer. A host adds headers of its own and changes nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// Returns an answer of the host itself, which contains only a message, in the form of the API.
    pub fn refusal(api: Api, status: u16, message: &str) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let body = api.error(status, Api::kind_of(status), message);
        Self {
            status,
            headers: api.headers().map(owned).collect(),
            body: body.to_string().into_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_form_of_the_api_that_was_asked() {
        let plain = HttpResponse::refusal(Api::Quickwit, 403, "no");
        assert_eq!(plain.status, 403);
        assert_eq!(plain.body, b"{\"message\":\"no\"}");
        let elastic = HttpResponse::refusal(Api::Elasticsearch, 403, "no");
        assert_eq!(elastic.status, 403);
        let body: serde_json::Value = serde_json::from_slice(&elastic.body).unwrap();
        assert_eq!(body["status"], 403);
        assert_eq!(body["error"]["type"], "security_exception");
        let product = ("x-elastic-product".to_owned(), "Elasticsearch".to_owned());
        assert!(elastic.headers.contains(&product));
    }
}
