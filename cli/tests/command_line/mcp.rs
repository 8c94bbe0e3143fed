//! `canter mcp` with a real client's messages: lines of JSON-RPC through pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;

use serde_json::{Value, json};

use crate::serve::PATIENCE;
use crate::support::{NUM_DOCS, canter, indexed, run, search};

const INVALID_PARAMS: i64 = -32_602;

/// A client with its own server. Dropping it kills the server.
pub(crate) struct Client {
    child: Child,
    pub(crate) input: Option<ChildStdin>,
    /// Every line of standard output, which must be a message.
    messages: Receiver<Value>,
    last_id: u64,
}

impl Client {
    /// Starts a server of the index in `folder`, and a session.
    pub(crate) fn start(folder: &Path, more: &[&str]) -> Self {
        let args = [&["--index", "logs=index", "--engine", "native"], more].concat();
        Self::of(folder, &args)
    }

    fn of(folder: &Path, args: &[&str]) -> Self {
        let mut client = Self::spawn(folder, args);
        client.begin();
        client
    }

    /// Begins a session.
    pub(crate) fn begin(&mut self) {
        let begun = self.request(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(begun["result"]["protocolVersion"], "2025-06-18", "{begun}");
        assert_eq!(begun["result"]["serverInfo"]["name"], "canter");
        assert!(begun["result"]["capabilities"]["tools"].is_object());
        self.notify("notifications/initialized", json!({}));
    }

    /// Starts a server without a session.
    pub(crate) fn spawn(folder: &Path, args: &[&str]) -> Self {
        let mut child = canter(folder, &[&["mcp"], args].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
                assert_eq!(message["jsonrpc"], "2.0", "{message}");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            messages,
            last_id: 0,
        }
    }

    pub(crate) fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    /// Writes a line that need not be a message.
    pub(crate) fn write_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Returns the next message, which must be an error.
    pub(crate) fn error(&mut self) -> Value {
        let message = self.messages.recv_timeout(PATIENCE).unwrap();
        assert!(message["error"].is_object(), "{message}");
        message
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and does not wait for its answer.
    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Returns the next message, which must answer this request.
    pub(crate) fn answer_to(&mut self, id: u64) -> Value {
        let message = self.messages.recv_timeout(PATIENCE).unwrap();
        assert_eq!(message["id"], id, "{message}");
        message
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer_to(id)
    }

    pub(crate) fn send_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Returns the answer of a successful call. Its text and its structured content are equal.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.send_call(tool, arguments);
        let message = self.answer_to(id);
        let result = &message["result"];
        assert_eq!(result["isError"], false, "{tool}: {message}");
        let text: Value = serde_json::from_str(text_of(&message)).unwrap();
        assert_eq!(text, result["structuredContent"], "{tool}");
        text
    }

    /// Returns the message of a failed call.
    pub(crate) fn failure(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.send_call(tool, arguments);
        let message = self.answer_to(id);
        assert_eq!(message["result"]["isError"], true, "{tool}: {message}");
        text_of(&message).to_owned()
    }

    /// Returns the protocol's error for an invalid call.
    fn refusal(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.send_call(tool, arguments);
        let message = self.answer_to(id);
        assert_eq!(
            message["error"]["code"], INVALID_PARAMS,
            "{tool}: {message}"
        );
        message["error"]["message"].as_str().unwrap().to_owned()
    }

    /// Closes standard input; returns the server's exit status, and its unread messages.
    pub(crate) fn close(mut self) -> (ExitStatus, Vec<Value>) {
        self.input = None;
        let mut rest = Vec::new();
        loop {
            match self.messages.recv_timeout(PATIENCE) {
                Ok(message) => rest.push(message),
                // Standard output is closed, too.
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it goes on after {PATIENCE:?}"),
            }
        }
        (self.child.wait().unwrap(), rest)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text_of(message: &Value) -> &str {
    let text = message["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{message}"))
}

pub(crate) fn has_note(answer: &Value, part: &str) -> bool {
    let notes = answer["notes"].as_array().unwrap().iter();
    notes
        .map(|note| note.as_str().unwrap())
        .any(|note| note.contains(part))
}

#[test]
fn tools_are_listed_with_schemas_that_allow_nothing_else() {
    let folder = indexed();
    let mut client = Client::start(folder.path(), &["--max-hits", "7", "--max-requests", "9"]);
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let expect = [
        "list_indexes",
        "describe_fields",
        "search",
        "aggregate",
        "explain_cost",
    ];
    assert_eq!(names, expect);
    for tool in tools {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object", "{tool}");
        assert_eq!(schema["additionalProperties"], false, "{tool}");
        let budget = &schema["properties"]["budget"];
        assert_eq!(budget["additionalProperties"], false, "{tool}");
        assert_eq!(budget["properties"]["max_requests"]["maximum"], 9, "{tool}");
        for (name, argument) in schema["properties"].as_object().unwrap() {
            assert!(
                argument["description"].as_str().unwrap().len() > 10,
                "{name}: {tool}"
            );
        }
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert!(!tool["description"].as_str().unwrap().is_empty());
    }
    let search = &tools[2]["inputSchema"];
    assert_eq!(search["properties"]["max_hits"]["maximum"], 7);
    assert_eq!(search["required"], json!(["index", "query"]));
    // Every argument in a schema is accepted by the tool.
    let aggs = json!({"tenants": {"terms": {"field": "tenant_id"}}});
    let all = json!({
        "index": "logs", "query": "*", "start_timestamp": "2016-04-13", "end_timestamp": "now",
        "search_fields": ["body"], "max_hits": 1, "start_offset": 1, "sort_by": "tenant_id", "count_up_to": 5,
        "fields": ["body"], "aggs": aggs, "pattern": "*", "max_fields": 3,
        "budget": {"max_requests": 9, "max_bytes": 1_000_000, "max_waves": 9, "deadline_ms": 20_000},
    });
    for tool in tools {
        let schema = tool["inputSchema"]["properties"].as_object().unwrap();
        let known = all.as_object().unwrap().iter();
        let known = known.filter(|(name, _)| schema.contains_key(*name));
        let known = known.map(|(name, value)| (name.clone(), value.clone()));
        let known: serde_json::Map<String, Value> = known.collect();
        assert_eq!(known.len(), schema.len(), "{tool}");
        client.call(tool["name"].as_str().unwrap(), known.into());
    }
}

#[test]
fn both_engines_answer_as_the_command_line_does() {
    let folder = indexed();
    let folder = folder.path();
    let query = "severity_text:WARN OR severity_text:ERROR";
    let aggs = r#"{"tenants":{"terms":{"field":"tenant_id","size":3}}}"#;
    let from_shell = search(
        folder,
        &["--query", query, "--max-hits", "3", "--aggs", aggs],
    );
    for engine in ["native", "wasm"] {
        let index = ["--index", "logs=index", "--engine", engine, "--no-cache"];
        let mut client = Client::of(folder, &index);

        let indexes = client.call("list_indexes", json!({}));
        assert_eq!(indexes["is_complete"], true, "{indexes}");
        let index = &indexes["indexes"][0];
        assert_eq!(index["index"], "logs");
        assert_eq!(index["num_docs"], NUM_DOCS);
        assert_eq!(index["num_splits"], 2);
        let first = index["min_timestamp"].as_str().unwrap();
        assert!(first.starts_with("2016-04-1"), "{index}");

        let described = client.call("describe_fields", json!({"index": "logs"}));
        assert_eq!(described["timestamp_field"], "timestamp");
        assert_eq!(
            described["default_search_fields"],
            json!(["severity_text", "body"])
        );
        let names: Vec<&Value> = described["fields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|field| &field["name"])
            .collect();
        assert_eq!(
            names.len(),
            described["num_fields"].as_u64().unwrap() as usize
        );
        let pattern = json!({"index": "logs", "pattern": "*_*", "max_fields": 1});
        let some = client.call("describe_fields", pattern);
        assert_eq!(
            some["fields"],
            json!([{"name": "tenant_id", "type": "u64", "is_searchable": true, "is_fast": true}])
        );
        assert!(has_note(&some, "first 1 of 2 fields"), "{some}");

        let found = client.call(
            "search",
            json!({"index": "logs", "query": query, "max_hits": 3}),
        );
        assert_eq!(found["hits"], from_shell["hits"]);
        assert_eq!(found["num_hits"], from_shell["num_hits"]);
        assert_eq!(found["num_hits_relation"], "eq");
        assert_eq!(
            (&found["is_complete"], &found["is_cut"]),
            (&json!(true), &json!(false))
        );
        assert_eq!(found["notes"], json!([]));
        assert!(
            found["cost"]["num_requests"].as_u64().unwrap() > 0,
            "{found}"
        );
        assert_eq!(found["cost"]["num_splits"], 2);

        let wanted = json!({
            "index": "logs", "query": query, "max_hits": 1, "start_offset": 1,
            "fields": ["severity_text", "resource.*", "nothing"],
        });
        let part = client.call("search", wanted);
        let hit = &from_shell["hits"][1];
        let expect = json!({"severity_text": hit["severity_text"], "resource": hit["resource"]});
        assert_eq!(part["hits"][0], expect);
        assert!(has_note(&part, "`nothing`"), "{part}");

        let asked: Value = serde_json::from_str(aggs).unwrap();
        let counted = client.call(
            "aggregate",
            json!({"index": "logs", "query": query, "aggs": asked}),
        );
        assert_eq!(counted["aggregations"], from_shell["aggregations"]);
        assert_eq!(counted["num_hits"], from_shell["num_hits"]);

        let ended = json!({"index": "logs", "query": "*", "end_timestamp": "2016-04-13T00:00:00Z"});
        let none = client.call("search", ended);
        assert_eq!(none["num_hits"], 0);
        assert_eq!(none["end_timestamp"], "2016-04-13T00:00:00Z");

        // The column of each split, after the manifest.
        let explained = client.call(
            "explain_cost",
            json!({"index": "logs", "query": "*", "max_hits": 0, "aggs": {"t": {"terms": {"field": "tenant_id"}}}}),
        );
        assert_eq!(explained["at_least"]["num_requests"], 3, "{explained}");
        assert_eq!(explained["reads_next"][0]["class"], "fast_field");
        assert_eq!(explained["num_splits_by_decision"], json!({"search": 2}));
        assert_eq!(explained["splits"].as_array().unwrap().len(), 2);
        assert_eq!(explained["cost"]["num_requests"], 1, "{explained}");
        assert!(explained["prices"]["s3"].is_object());
        assert!(client.close().0.success());
    }
}

#[test]
fn wrong_arguments_are_refused_by_name_and_wrong_requests_say_what_to_do() {
    let folder = indexed();
    let mut client = Client::start(folder.path(), &[]);
    for (tool, arguments, part) in [
        (
            "serach",
            json!({}),
            "there are list_indexes, describe_fields",
        ),
        (
            "search",
            json!({"index": "logs", "query": "*", "qurey": "a"}),
            "\"qurey\" is not known",
        ),
        ("search", json!({"query": "*"}), "\"index\" is missing"),
        (
            "search",
            json!({"index": "logs", "query": 5}),
            "query: this must be text",
        ),
        (
            "search",
            json!({"index": "logs", "query": "*", "max_hits": 101}),
            "100 is the most",
        ),
        (
            "search",
            json!({"index": "logs", "query": "*", "aggs": {}}),
            "\"aggs\" is not known",
        ),
        (
            "search",
            json!({"index": "logs", "query": "*", "budget": {"max_request": 1}}),
            "\"budget.max_request\"",
        ),
        (
            "search",
            json!({"index": "logs", "query": "*", "budget": {"max_requests": 501}}),
            "500 is the most",
        ),
        (
            "aggregate",
            json!({"index": "logs", "query": "*", "aggs": []}),
            "aggs: this must be an object",
        ),
        (
            "list_indexes",
            json!({"index": "logs"}),
            "\"index\" is not known",
        ),
        ("search", json!([]), "a call has a `name`"),
    ] {
        let message = client.refusal(tool, arguments.clone());
        assert!(message.contains(part), "{tool} {arguments}: {message}");
    }
    for (tool, arguments, part) in [
        (
            "search",
            json!({"index": "other", "query": "*"}),
            "there are logs",
        ),
        (
            "search",
            json!({"index": "logs", "query": "(a"}),
            "query, column 1: the query cannot be parsed",
        ),
        (
            "search",
            json!({"index": "logs", "query": "no_field:1"}),
            "no_field",
        ),
        (
            "search",
            json!({"index": "logs", "query": "*", "start_timestamp": "yesterday"}),
            "now-15m",
        ),
        (
            "search",
            json!({"index": "logs", "query": "*", "sort_by": "body"}),
            "not fast",
        ),
        (
            "aggregate",
            json!({"index": "logs", "query": "*", "aggs": {"a": {"tems": {}}}}),
            "is not supported",
        ),
        (
            "describe_fields",
            json!({"index": "../logs"}),
            "there are logs",
        ),
        (
            "explain_cost",
            json!({"index": "logs", "query": "(a"}),
            "query, column 1: the query cannot be parsed",
        ),
    ] {
        let message = client.failure(tool, arguments.clone());
        assert!(message.contains(part), "{tool} {arguments}: {message}");
    }
    // Null counts as absent.
    let null = json!({"index": "logs", "query": "*", "max_hits": 0, "sort_by": null});
    assert_eq!(client.call("search", null)["num_hits"], NUM_DOCS);
    let id = client.send("prompts/make", json!({}));
    assert_eq!(client.answer_to(id)["error"]["code"], -32_601);
    // None of this has ended the session.
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_forced_filter_hides_documents_and_what_would_tell_of_them() {
    let folder = indexed();
    let folder = folder.path();
    let expect = search(
        folder,
        &["--query", "severity_text:WARN", "--max-hits", "2"],
    );
    let filter = ["--forced-filter", "severity_text:WARN"];
    let mut client = Client::start(folder, &filter);

    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(
        tools.iter().all(|tool| tool["name"] != "explain_cost"),
        "{listed}"
    );
    let budget = &tools[2]["inputSchema"]["properties"]["budget"]["properties"];
    let allowed: Vec<&String> = budget.as_object().unwrap().keys().collect();
    assert_eq!(allowed, ["deadline_ms"]);

    let query = json!({"index": "logs", "query": "* OR severity_text:INFO", "max_hits": 2});
    let found = client.call("search", query);
    assert_eq!(found["num_hits"], expect["num_hits"]);
    assert_eq!(found["hits"], expect["hits"]);
    let cost: Vec<&String> = found["cost"].as_object().unwrap().keys().collect();
    assert_eq!(cost, ["elapsed_ms", "not_shown"]);
    let aggs = json!({"levels": {"terms": {"field": "severity_text"}}});
    let counted = client.call(
        "aggregate",
        json!({"index": "logs", "query": "*", "aggs": aggs}),
    );
    let buckets = counted["aggregations"]["levels"]["buckets"]
        .as_array()
        .unwrap();
    assert_eq!(buckets.len(), 1, "{counted}");

    let indexes = client.call("list_indexes", json!({}));
    assert_eq!(indexes["indexes"][0]["num_docs"], Value::Null, "{indexes}");
    assert!(has_note(&indexes, "has a filter"), "{indexes}");
    let message = client.refusal("explain_cost", json!({"index": "logs", "query": "*"}));
    assert!(message.contains("there is no tool"), "{message}");
    let greedy = json!({"index": "logs", "query": "*", "budget": {"max_requests": 1}});
    let message = client.refusal("search", greedy);
    assert!(message.contains("\"budget.max_requests\""), "{message}");

    // An invalid filter is wrong use, reported at the start.
    let args = [
        "mcp",
        "--index",
        "index",
        "--engine",
        "native",
        "--forced-filter",
        "no field",
    ];
    let (stdout, stderr) = run(folder, &args, 2);
    assert_eq!(stdout, "");
    assert!(stderr.contains("--forced-filter"), "{stderr}");
}

#[test]
fn an_index_that_cannot_be_read_is_said_to_be_so_and_the_others_are_listed() {
    let folder = indexed();
    let folder = folder.path();
    std::fs::create_dir_all(folder.join("empty")).unwrap();
    std::fs::create_dir_all(folder.join("damaged")).unwrap();
    std::fs::write(folder.join("damaged/manifest.canter"), "not a manifest").unwrap();
    let check = |more: &[&str], expect: &[(&str, bool)]| {
        let mut client = Client::start(folder, more);
        let listed = client.call("list_indexes", json!({}));
        assert_eq!(listed["is_complete"], false, "{listed}");
        let indexes = listed["indexes"].as_array().unwrap().iter();
        let found: Vec<(&str, bool)> = indexes
            .map(|index| (index["index"].as_str().unwrap(), index["error"].is_null()))
            .collect();
        assert_eq!(found, expect, "{listed}");
    };
    check(&["--index", "empty"], &[("logs", true), ("empty", false)]);
    check(
        &["--index", "damaged", "--index", "empty"],
        &[("logs", true), ("damaged", false), ("empty", false)],
    );
}
