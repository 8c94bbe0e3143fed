//! Limits of `canter mcp` on expensive calls, and its shutdown.

use std::io::Write;
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{Value, json};

use crate::mcp::{Client, has_note};
use crate::serve::PATIENCE;
use crate::support::{NUM_DOCS, indexed, run};

/// Returns a store that accepts connections but never answers: its address, and a message for each connection.
fn silent_store() -> (String, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, asked) = mpsc::channel();
    thread::spawn(move || {
        let mut open = Vec::new();
        for connection in listener.incoming() {
            open.push(connection.unwrap());
            if sender.send(()).is_err() {
                return;
            }
        }
    });
    (format!("slow=http://{address}/logs"), asked)
}

fn everything(index: &str) -> Value {
    json!({"index": index, "query": "*", "max_hits": 0})
}

#[test]
fn a_budget_gives_a_part_of_the_answer_and_says_so() {
    let folder = indexed();
    // With a cache, repeated reads would cost nothing.
    let allowed = |max: &'static str| ["--max-requests", max, "--no-cache"];
    let mut client = Client::start(folder.path(), &allowed("50"));
    // An aggregation that no head answers: the column of each split is read.
    let asked = |max_requests: u64| {
        json!({
            "index": "logs", "query": "*", "aggs": {"t": {"terms": {"field": "tenant_id"}}},
            "budget": {"max_requests": max_requests},
        })
    };
    let whole = client.call("aggregate", asked(50));
    assert_eq!(whole["is_complete"], true, "{whole}");
    assert_eq!(whole["num_hits"], NUM_DOCS);

    // The manifest, and the column of one of the two splits.
    let part = client.call("aggregate", asked(2));
    assert_eq!(part["is_complete"], false, "{part}");
    assert_eq!(part["num_hits"], NUM_DOCS / 2);
    assert_eq!(part["num_hits_relation"], "gte");
    assert_eq!(part["num_skipped_splits"], 1);
    assert_eq!(part["skipped_splits"].as_array().unwrap().len(), 1);
    assert_eq!(part["cost"]["num_requests"], 2);
    assert!(
        has_note(&part, "`budget.max_requests` (2; this server allows 50)"),
        "{part}"
    );

    // An answer without any split is an error.
    let message = client.failure("aggregate", asked(1));
    assert!(message.contains("no split could be searched"), "{message}");
    assert!(message.contains("budget.max_requests"), "{message}");

    let mut search = asked(2);
    search["max_hits"] = 0.into();
    let explained = client.call("explain_cost", search);
    assert!(has_note(&explained, "max_requests is 2"), "{explained}");

    let mut strict = Client::start(folder.path(), &allowed("2"));
    let aggs = json!({"t": {"terms": {"field": "tenant_id"}}});
    let part = strict.call(
        "aggregate",
        json!({"index": "logs", "query": "*", "aggs": aggs}),
    );
    assert!(has_note(&part, "This server allows no more"), "{part}");
}

#[test]
fn a_long_answer_is_cut_and_says_where() {
    let folder = indexed();
    let folder = folder.path();
    let long = json!({
        "timestamp": 1_464_739_200, "severity_text": "FATAL", "body": "trace ".repeat(20_000), "tenant_id": 1,
        "resource": {"service": "s"}, "attributes": {"class": "c"},
    });
    std::fs::write(folder.join("long.ndjson"), format!("{long}\n")).unwrap();
    run(
        folder,
        &[
            "index",
            "ingest",
            "--index",
            "index",
            "--input",
            "long.ndjson",
        ],
        0,
    );
    let mut client = Client::start(folder, &["--max-answer-bytes", "8KiB"]);
    let length = |answer: &Value| {
        let length = answer.to_string().len();
        assert!(length <= 8 << 10, "{length}: {answer}");
        length
    };

    // One long text.
    let one = client.call(
        "search",
        json!({"index": "logs", "query": "severity_text:FATAL"}),
    );
    assert!(length(&one) > 2 << 10);
    assert_eq!(
        (&one["is_cut"], &one["is_complete"]),
        (&json!(true), &json!(true))
    );
    let body = one["hits"][0]["body"].as_str().unwrap();
    assert!(
        body.starts_with("trace trace") && body.ends_with(" of 120000 bytes]"),
        "{body}"
    );
    assert_eq!(one["cut"][0]["path"], "body");
    assert_eq!(one["cut"][0]["longest"], 120_000);
    assert_eq!(one["cut"][0]["hits"], json!([0]));
    assert!(has_note(&one, "`fields`"), "{one}");

    // More hits than fit, however short their texts are.
    let many = client.call(
        "search",
        json!({"index": "logs", "query": "*", "max_hits": 100}),
    );
    length(&many);
    let num_shown = many["hits"].as_array().unwrap().len() as u64;
    let num_left_out = many["num_left_out"].as_u64().unwrap();
    assert_eq!(num_shown + num_left_out, 100, "{many}");
    assert_eq!(many["is_complete"], false);
    assert!(has_note(&many, "`start_offset`"), "{many}");

    // More buckets than fit.
    let aggs = json!({"times": {"date_histogram": {"field": "timestamp", "fixed_interval": "1h"}}});
    let buckets = client.call(
        "aggregate",
        json!({"index": "logs", "query": "*", "aggs": aggs}),
    );
    length(&buckets);
    assert_eq!(buckets["is_cut"], true);
    let cut = &buckets["cut"][0];
    assert_eq!(
        (&cut["path"], &cut["unit"]),
        (&json!("times.buckets"), &json!("items"))
    );
    let kept = buckets["aggregations"]["times"]["buckets"]
        .as_array()
        .unwrap();
    assert_eq!(kept.len() as u64, cut["kept"].as_u64().unwrap());
    assert!(cut["longest"].as_u64().unwrap() > 700, "{cut}");
}

#[test]
fn a_call_beyond_those_that_may_wait_is_refused() {
    let folder = indexed();
    let (slow, asked) = silent_store();
    let one = [
        "--index",
        slow.as_str(),
        "--max-concurrent-calls",
        "1",
        "--max-waiting-calls",
        "0",
    ];
    let mut client = Client::start(folder.path(), &one);
    client.send_call("search", everything("slow"));
    asked.recv_timeout(PATIENCE).unwrap();
    let message = client.failure("search", everything("logs"));
    assert!(message.contains("--max-waiting-calls"), "{message}");
}

#[test]
fn a_cancelled_call_makes_room_and_is_not_answered() {
    let folder = indexed();
    let (slow, asked) = silent_store();
    let one_at_a_time = ["--index", slow.as_str(), "--max-concurrent-calls", "1"];
    let mut client = Client::start(folder.path(), &one_at_a_time);
    let cancelled = client.send_call("search", everything("slow"));
    asked.recv_timeout(PATIENCE).unwrap();
    let waiting = client.send_call("search", everything("logs"));
    client.notify(
        "notifications/cancelled",
        json!({"requestId": cancelled, "reason": "no longer needed"}),
    );
    let answer = client.answer_to(waiting);
    assert_eq!(
        answer["result"]["structuredContent"]["num_hits"], NUM_DOCS,
        "{answer}"
    );
    let (status, rest) = client.close();
    assert!(status.success());
    assert_eq!(rest, Vec::<Value>::new());
}

#[test]
fn it_ends_with_standard_input() {
    let folder = indexed();
    let folder = folder.path();
    let args = ["--index", "logs=index", "--engine", "native"];
    let silent = Client::spawn(folder, &args);
    assert!(silent.close().0.success());

    // Running calls are answered first.
    let mut hasty = Client::start(folder, &[]);
    let id = hasty.send_call(
        "search",
        json!({"index": "logs", "query": "*", "max_hits": 0}),
    );
    let (status, rest) = hasty.close();
    assert!(status.success());
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["id"], id);

    let mut stranger = Client::spawn(folder, &args);
    stranger.write(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}));
    let (_, rest) = stranger.close();
    assert_eq!(rest[0]["error"]["code"], -32_602, "{rest:?}");

    let mut endless = Client::start(folder, &[]);
    let input = endless.input.as_mut().unwrap();
    // The server may end before all of it is written.
    let _ = input.write_all("x".repeat(5 << 20).as_bytes());
    let (_, rest) = endless.close();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["error"]["code"], -32_600, "{rest:?}");
}

#[test]
fn a_line_that_is_no_message_is_answered_and_the_session_goes_on() {
    let folder = indexed();
    let args = ["--index", "logs=index", "--engine", "native"];
    // Also before a session.
    let mut client = Client::spawn(folder.path(), &args);
    client.write_line(b"nonsense");
    let error = client.error();
    assert_eq!(
        (&error["id"], &error["error"]["code"]),
        (&Value::Null, &json!(-32_700))
    );
    client.begin();
    let long = vec![b' '; 5 << 20];
    for (line, id, code) in [
        (
            &b"{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"ping\""[..],
            Value::Null,
            -32_700,
        ),
        (b"\xff\xfe", Value::Null, -32_700),
        (
            b"[{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"ping\"}]",
            Value::Null,
            -32_600,
        ),
        (b"{\"id\": 7, \"method\": \"ping\"}", json!(7), -32_600),
        (
            b"{\"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"ping\"}",
            Value::Null,
            -32_600,
        ),
        (&long, Value::Null, -32_600),
    ] {
        client.write_line(line);
        let error = client.error();
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]);
        assert_eq!(
            (&error["id"], &error["error"]["code"]),
            (&id, &json!(code)),
            "{shown}"
        );
        assert!(error["error"]["message"].is_string(), "{shown}");
    }
    let found = client.call(
        "search",
        json!({"index": "logs", "query": "*", "max_hits": 0}),
    );
    assert_eq!(found["num_hits"], NUM_DOCS);
    let (status, rest) = client.close();
    assert!(status.success());
    assert_eq!(rest, Vec::<Value>::new());
}
