//! Search function: events of every kind, refusals, caches and limits.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use canter_access::{NewKey, Right, add_key};
use canter_tests::LambdaFunction;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::shared::{NUM_DOCS, SEARCH, body_of, index, search_function, url_event, without_time};

const SEARCH_PATH: &str = "/api/v1/hdfs-logs/search";

fn term_query() -> Value {
    json!({"query": "severity_text:ERROR", "max_hits": 3})
}

#[test]
fn every_kind_of_event_has_the_same_answer() -> Result<()> {
    let (index, folder) = index()?;
    let function = search_function(folder.path(), &[])?;
    let expect = without_time(index.search(&term_query())?.json);
    assert!(expect["num_hits"].as_u64() > Some(3), "{expect}");

    let body = term_query();
    let v2 = function.invoke_json(&url_event("POST", SEARCH_PATH, "", Some(&body)))?;
    assert_eq!(without_time(body_of(&v2, 200)), expect);
    assert_eq!(v2["headers"]["content-type"], "application/json");

    let query = "query=severity_text%3AERROR&max_hits=3";
    let get = function.invoke_json(&url_event("GET", SEARCH_PATH, query, None))?;
    assert_eq!(without_time(body_of(&get, 200)), expect);

    let v1 = function.invoke_json(&json!({
        "resource": "/{proxy+}",
        "path": SEARCH_PATH,
        "httpMethod": "GET",
        "headers": {"Accept": "*/*"},
        "queryStringParameters": {"query": "severity_text:ERROR", "max_hits": "3"},
        "multiValueQueryStringParameters": {"query": ["severity_text:ERROR"], "max_hits": ["3"]},
        "requestContext": {"stage": "prod", "httpMethod": "GET", "path": "/prod/api"},
        "body": null,
        "isBase64Encoded": false,
    }))?;
    assert_eq!(without_time(body_of(&v1, 200)), expect);

    let alb = function.invoke_json(&json!({
        "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:x"}},
        "httpMethod": "GET",
        "path": SEARCH_PATH,
        "queryStringParameters": {"query": "severity_text%3AERROR", "max_hits": "3"},
        "headers": {"host": "x"},
        "body": "",
        "isBase64Encoded": false,
    }))?;
    assert_eq!(without_time(body_of(&alb, 200)), expect);
    assert_eq!(alb["statusDescription"], "200 OK");

    let direct = function.invoke_json(&json!({"index": "hdfs-logs", "request": term_query()}))?;
    assert_eq!(without_time(direct), expect);
    let direct = json!({"method": "POST", "path": SEARCH_PATH, "body": term_query()});
    let direct = function.invoke_json(&direct)?;
    assert_eq!(without_time(body_of(&direct, 200)), expect);
    Ok(())
}

#[test]
fn an_answer_says_what_it_cost_and_a_second_one_costs_less() -> Result<()> {
    let (_, folder) = index()?;
    let event = url_event("POST", SEARCH_PATH, "", Some(&term_query()));
    let cost_of = |function: &LambdaFunction| -> Result<(u64, Value)> {
        let answer = function.invoke_json(&event)?;
        body_of(&answer, 200);
        let headers = answer["headers"].clone();
        let requests = headers["x-canter-requests"].as_str().unwrap().parse()?;
        assert!(
            headers["server-timing"]
                .as_str()
                .unwrap()
                .contains("total;dur=")
        );
        Ok((requests, headers))
    };
    let function = search_function(folder.path(), &[])?;
    let (cold, headers) = cost_of(&function)?;
    assert!(cold > 1, "{headers}");
    assert_ne!(headers["x-canter-bytes"], "0");
    // The only request checks whether the manifest has changed.
    let (warm, headers) = cost_of(&function)?;
    assert_eq!(warm, 1, "{headers}");
    assert_ne!(headers["x-canter-cache-hits"], "0");
    drop(function);
    Ok(())
}

#[test]
fn requests_that_cannot_be_answered_say_why() -> Result<()> {
    let (_, folder) = index()?;
    let function = search_function(folder.path(), &[])?;
    for (method, path, query, status, expect) in [
        ("GET", SEARCH_PATH, "query=%28%28a", 400, ""),
        ("GET", SEARCH_PATH, "quary=a", 400, "quary"),
        ("GET", "/api/v1/other/search", "query=a", 404, "other"),
        ("GET", "/nothing/here", "", 404, "/api/v1"),
        ("DELETE", SEARCH_PATH, "", 405, "DELETE"),
    ] {
        let answer = function.invoke_json(&url_event(method, path, query, None))?;
        let message = body_of(&answer, status)["message"].clone();
        assert!(message.as_str().unwrap().contains(expect), "{message}");
    }
    for (payload, kind) in [
        (
            json!({"index": "other", "request": {"query": "a"}}),
            "Canter.NotFound",
        ),
        (
            json!({"index": "hdfs-logs", "request": {"quary": "a"}}),
            "Canter.Invalid",
        ),
        (json!({"hello": "world"}), "Canter.UnknownEvent"),
    ] {
        let error = function.invoke_json(&payload).unwrap_err().to_string();
        assert!(error.contains(kind), "{error}");
    }
    // The function still works.
    let answer = function.invoke_json(&url_event("GET", "/health/livez", "", None))?;
    assert_eq!(body_of(&answer, 200), true);
    Ok(())
}

#[test]
fn a_start_that_cannot_work_tells_the_runtime_api_why() {
    for (variables, expect) in [
        (&[][..], "CANTER_INDEXES is not set"),
        (
            &[("CANTER_INDEXES", "logs=ftp://host/x")],
            "no store is known for",
        ),
        (
            &[("CANTER_INDEXES", "logs=/no/such/folder")],
            "/no/such/folder",
        ),
    ] {
        let started = LambdaFunction::start("search", Path::new(SEARCH), variables);
        let error = started.err().unwrap().to_string();
        assert!(error.contains("Canter.InvalidConfiguration"), "{error}");
        assert!(error.contains(expect), "{error}");
    }
}

/// Adds keys to a file in `folder`. Returns the token of each, and the text of the file.
fn keys(folder: &Path, new: Vec<NewKey>) -> Result<(Vec<String>, String)> {
    let file = folder.join("keys.toml");
    let mut tokens = Vec::new();
    for key in new {
        let id = key.id.clone();
        let secret = add_key(&file, key).map_err(Error::msg)?;
        tokens.push(format!("{id}.{secret}"));
    }
    Ok((tokens, fs::read_to_string(&file)?))
}

fn named(id: &str) -> NewKey {
    NewKey {
        id: id.to_owned(),
        ..NewKey::default()
    }
}

#[test]
fn tokens_say_who_may_see_what() -> Result<()> {
    let (_, folder) = index()?;
    let errors = NewKey {
        filter: Some("severity_text:ERROR".to_owned()),
        ..named("errors")
    };
    let writer = NewKey {
        rights: Some(vec![Right::Write]),
        ..named("writer")
    };
    let (tokens, text) = keys(folder.path(), vec![named("all"), errors, writer])?;
    let variables = [
        ("CANTER_API_KEYS", text.as_str()),
        ("CANTER_CORS_ORIGINS", "https://a.example"),
    ];
    let function = search_function(folder.path(), &variables)?;
    let ask = |authorization: Option<&str>, path: &str| -> Result<Value> {
        let body = json!({"query": "*", "max_hits": 0});
        let mut event = url_event("POST", path, "", Some(&body));
        event["headers"]["origin"] = "https://a.example".into();
        if let Some(authorization) = authorization {
            event["headers"]["authorization"] = authorization.into();
        }
        function.invoke_json(&event)
    };
    let all = body_of(
        &ask(Some(&format!("Bearer {}", tokens[0])), SEARCH_PATH)?,
        200,
    );
    assert_eq!(all["num_hits"], NUM_DOCS);
    // The token is accepted in each of these forms.
    let encoded = STANDARD.encode(tokens[1].replacen('.', ":", 1));
    let mut answers = Vec::new();
    for form in [
        format!("Bearer {}", tokens[1]),
        format!("ApiKey {encoded}"),
        format!("Basic {encoded}"),
    ] {
        let answer = ask(Some(&form), SEARCH_PATH)?;
        let errors = body_of(&answer, 200);
        let num_errors = errors["num_hits"].as_u64().unwrap();
        assert!((1..NUM_DOCS).contains(&num_errors), "{errors}");
        // Costs depend on documents that the filter hides.
        assert_eq!(answer["headers"].get("x-canter-requests"), None);
        answers.push(num_errors);
    }
    assert!(answers.iter().all(|num_errors| *num_errors == answers[0]));
    for form in [None, Some("Bearer all.guessed"), Some("Bearer a.b.c")] {
        let answer = ask(form, SEARCH_PATH)?;
        body_of(&answer, 401);
        let schemes = answer["headers"]["www-authenticate"].as_str().unwrap();
        assert!(schemes.starts_with("ApiKey, Bearer, Basic "), "{schemes}");
        // A page must be able to read the error.
        let origin = &answer["headers"]["access-control-allow-origin"];
        assert_eq!(origin, "https://a.example");
    }
    // A valid token without the permission, with the error in the form that Elasticsearch's clients
    // expect.
    let writer = format!("Bearer {}", tokens[2]);
    let refused = body_of(&ask(Some(&writer), SEARCH_PATH)?, 403);
    assert_eq!(refused["message"], "this token does not allow that");
    let refused = body_of(&ask(Some(&writer), "/hdfs-logs/_search")?, 403);
    assert_eq!(refused["error"]["type"], "security_exception");
    let mut preflight = url_event("OPTIONS", SEARCH_PATH, "", None);
    preflight["headers"] = json!({
        "origin": "https://a.example", "access-control-request-method": "POST",
    });
    let answer = function.invoke_json(&preflight)?;
    assert_eq!(answer["statusCode"], 204);
    let allowed = &answer["headers"]["access-control-allow-headers"];
    assert_eq!(allowed, "authorization, content-encoding, content-type");
    Ok(())
}

#[test]
fn headers_say_how_a_body_is_compressed() -> Result<()> {
    let (index, folder) = index()?;
    let function = search_function(folder.path(), &[])?;
    let expect = without_time(index.search(&term_query())?.json);
    let ask = |body: &[u8], encoding: &str| -> Result<Value> {
        let mut event = url_event("POST", SEARCH_PATH, "", None);
        event["headers"] = json!({"content-encoding": encoding});
        event["body"] = STANDARD.encode(body).into();
        event["isBase64Encoded"] = true.into();
        function.invoke_json(&event)
    };
    let gzipped = |bytes: &[u8]| -> Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes)?;
        Ok(encoder.finish()?)
    };
    let body = term_query().to_string();
    let answer = ask(&gzipped(body.as_bytes())?, "gzip")?;
    assert_eq!(without_time(body_of(&answer, 200)), expect);
    let unread = body_of(&ask(body.as_bytes(), "br")?, 415);
    assert!(unread["message"].as_str().unwrap().contains("send gzip"));
    let bomb = gzipped(&vec![b' '; 64 << 20])?;
    let unread = body_of(&ask(&bomb, "gzip")?, 413);
    assert!(unread["message"].as_str().unwrap().contains("longer than"));
    Ok(())
}

#[test]
fn clients_of_elasticsearch_are_answered_in_their_media_type() -> Result<()> {
    let (_, folder) = index()?;
    let function = search_function(folder.path(), &[])?;
    let ask = |path: &str, headers: Value| -> Result<Value> {
        let mut event = url_event("GET", path, "", None);
        event["headers"] = headers;
        function.invoke_json(&event)
    };
    let own = "application/vnd.elasticsearch+json;compatible-with=8";
    for (path, status) in [("/hdfs-logs/_count", 200), ("/_sql", 400)] {
        let answer = ask(path, json!({"accept": own}))?;
        body_of(&answer, status);
        assert_eq!(answer["headers"]["content-type"], own, "{path}");
        let product = &answer["headers"]["x-elastic-product"];
        assert_eq!(product, "Elasticsearch", "{path}");
    }
    let listed = ask("/_cat/indices", json!({"accept": "application/json"}))?;
    assert_eq!(body_of(&listed, 200)[0]["index"], "hdfs-logs");
    let other = "application/vnd.elasticsearch+json; compatible-with=7";
    let refused = body_of(&ask("/hdfs-logs/_count", json!({"accept": other}))?, 400);
    assert_eq!(refused["error"]["type"], "media_type_header_exception");
    Ok(())
}

#[test]
fn a_token_may_be_good_for_some_indexes_only() -> Result<()> {
    let (_, folder) = index()?;
    let place = folder.path().join("hdfs-logs").display().to_string();
    let indexes = format!("hdfs-logs={place},secret={place}");
    let logs = NewKey {
        indexes: Some(vec!["hdfs-*".to_owned()]),
        ..named("logs")
    };
    let (tokens, _) = keys(folder.path(), vec![named("all"), logs])?;
    let file = folder.path().join("keys.toml").display().to_string();
    let variables = [
        ("CANTER_INDEXES", indexes.as_str()),
        ("CANTER_API_KEYS_FILE", file.as_str()),
    ];
    let function = search_function(folder.path(), &variables)?;
    let ask = |token: Option<usize>, path: &str| -> Result<Value> {
        let mut event = url_event("GET", path, "", None);
        if let Some(ord) = token {
            event["headers"]["authorization"] = format!("Bearer {}", tokens[ord]).into();
        }
        function.invoke_json(&event)
    };
    let search = |index: &str| format!("/api/v1/{index}/search");
    let (all, logs) = (0, 1);
    for (token, index, status) in [
        (all, "secret", 200),
        (all, "hdfs-logs", 200),
        (logs, "hdfs-logs", 200),
        (logs, "secret", 404),
        (logs, "nowhere", 404),
    ] {
        body_of(&ask(Some(token), &search(index))?, status);
    }
    let listed = |token| -> Result<usize> {
        let list = body_of(&ask(Some(token), "/api/v1/indexes")?, 200);
        Ok(list.as_array().map_or(0, Vec::len))
    };
    assert_eq!((listed(all)?, listed(logs)?), (2, 1));
    // The liveness check is public; the readiness check of the indexes is not.
    body_of(&ask(None, "/health/livez")?, 200);
    body_of(&ask(None, "/health/readyz")?, 401);
    body_of(&ask(Some(logs), "/health/readyz")?, 200);
    // The page is also public; it asks for a token itself.
    let page = ask(None, "/ui/")?;
    assert_eq!(page["statusCode"], 200, "{page}");
    let policy = page["headers"]["content-security-policy"].as_str().unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    Ok(())
}
