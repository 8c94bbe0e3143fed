//! `_analyze` with parts of an analyzer: Elasticsearch's parts → those of an index config, which the guest knows.

use canter_intake::analyzer_parts;
use canter_names::read_json;
use canter_runtime::session::HttpRequest;
use serde_json::Value;

/// Writes the parts of an analyzer as an index config has them. A request that names no parts, or parts that cannot be had,
/// stays as it is: the guest answers it.
pub(crate) fn with_parts(request: HttpRequest) -> HttpRequest {
    let path = request.path.trim_end_matches('/');
    let path = path.strip_prefix("/api/v1/_elastic").unwrap_or(path);
    if !path.ends_with("/_analyze") || request.body.is_empty() {
        return request;
    }
    let Ok(Value::Object(mut body)) = read_json(&request.body) else {
        return request;
    };
    // An index may have an analyzer of that name.
    let Some(parts) = analyzer_parts(&body, path == "/_analyze") else {
        return request;
    };
    body.shift_remove("analyzer");
    body.extend(parts);
    HttpRequest {
        body: Value::Object(body).to_string().into_bytes(),
        ..request
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_written_as_configs_have_them() {
        let rewritten = |path: &str, body: Value| {
            let request = with_parts(HttpRequest {
                method: "POST".to_owned(),
                path: path.to_owned(),
                query: String::new(),
                body: body.to_string().into_bytes(),
            });
            serde_json::from_slice::<Value>(&request.body).unwrap()
        };
        let cut = json!({"type": "char_group", "tokenize_on_chars": ["-"]});
        let marked = json!({"type": "keyword_marker", "keywords": ["jumping"]});
        let body = json!({"tokenizer": cut, "filter": [marked, "porter_stem"], "text": "a-b"});
        let written = rewritten("/_analyze", body);
        assert_eq!(written["tokenizer"]["type"], "regex");
        assert_eq!(written["filter"][0]["overrides"][0], "jumping => jumping");
        assert_eq!(written["text"], "a-b");
        let german = json!({"analyzer": "german", "text": "Häuser"});
        assert_eq!(
            rewritten("/_analyze", german.clone())["analyzer"],
            Value::Null
        );
        assert_eq!(rewritten("/logs/_analyze", german.clone()), german);
        let unknown = json!({"tokenizer": "standard", "filter": ["kstem"], "text": "a"});
        assert_eq!(rewritten("/_analyze", unknown.clone()), unknown);
    }
}
