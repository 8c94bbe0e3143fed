//! Search page at `/ui/`, like that of `canter serve`.

use std::collections::BTreeMap;

use canter_page::{Answer, Asked};
use canter_runtime::session::{HttpRequest, HttpResponse};

/// Returns the answer of the search page, or `None` if the request is for the search API.
pub(crate) fn answer(
    request: &HttpRequest,
    headers: &BTreeMap<String, String>,
) -> Option<HttpResponse> {
    let is_head = request.method == "HEAD";
    if !is_head && request.method != "GET" {
        return None;
    }
    let text = |name: &str| headers.get(name).map(String::as_str);
    let answer = canter_page::answer(Asked {
        path: &request.path,
        accept: text("accept"),
        if_none_match: text("if-none-match"),
    })?;
    Some(response(answer, is_head))
}

fn response(answer: Answer, is_head: bool) -> HttpResponse {
    let headers = answer.headers.into_iter();
    HttpResponse {
        status: answer.status,
        headers: headers
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        body: match is_head {
            true => Vec::new(),
            false => answer.body.to_vec(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, path: &str) -> Option<HttpResponse> {
        let request = HttpRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            query: String::new(),
            body: Vec::new(),
        };
        let accept = ("accept".to_owned(), "text/html".to_owned());
        answer(&request, &[accept].into())
    }

    #[test]
    fn the_page_is_answered_with_its_policy_and_the_api_is_left_alone() {
        let page = ask("GET", "/ui/").unwrap();
        assert!(page.status == 200 && page.body.starts_with(b"<!doctype html>"));
        let mut names = page.headers.iter().map(|(name, _)| name.as_str());
        assert!(names.any(|name| name == "content-security-policy"));
        assert_eq!(ask("HEAD", "/ui/").unwrap().body, b"");
        assert_eq!(ask("GET", "/").unwrap().status, 303);
        assert_eq!(ask("POST", "/ui/"), None);
        assert_eq!(ask("GET", "/api/v1/indexes"), None);
    }
}
