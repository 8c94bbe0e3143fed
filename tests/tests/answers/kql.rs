//! Kibana's query language: queries with the documents that its documentation says they find
//! (<https://www.elastic.co/docs/reference/query-languages/kql>), judged by a scan of the documents.

use std::fmt::Write as _;

use canter_runtime::Searcher;
use canter_tests::TestIndex;
use serde_json::{Value, json};

use super::calls::{call, named};

const CONFIG: &str = r#"
version: 0.9
index_id: kql
doc_mapping:
  mode: dynamic
  index_field_presence: true
  timestamp_field: at
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: at, type: datetime, fast: true}
    - {name: message, type: text, record: position}
    - {name: level, type: text, tokenizer: raw, fast: true}
    - {name: path, type: text, tokenizer: raw, fast: true}
    - {name: status, type: u64, fast: true}
    - {name: took, type: f64, fast: true}
    - {name: ok, type: bool, fast: true}
    - {name: client, type: ip, fast: true}
    - name: host
      type: object
      field_mappings:
        - {name: name, type: text, tokenizer: raw, fast: true}
        - {name: os, type: text, tokenizer: raw, fast: true}
"#;

const NUM_DOCS: u64 = 48;

/// Returns the documents: each value comes round at another pace, and some are missing.
fn documents() -> Vec<Value> {
    const MESSAGES: [&str; 6] = [
        "The quick brown fox",
        "a fox quick as brown",
        "Connection refused by peer",
        "null pointer",
        "pointer to (null)",
        "user said and left",
    ];
    const PATHS: [&str; 5] = [
        "/var/log/nginx.log",
        r"C:\Windows\System32",
        "a b",
        "a*b",
        "what?",
    ];
    const LEVELS: [&str; 4] = ["error", "Error", "info", "warn or worse"];
    let documents = (0..NUM_DOCS).map(|n| {
        let pick = |texts: &[&str], every: u64| {
            let place = usize::try_from(n / every).unwrap() % texts.len();
            texts[place].to_owned()
        };
        let mut document = json!({
            "n": n,
            "at": format!("2024-05-{:02}T{:02}:30:00Z", 1 + n / 8, 3 * (n % 8)),
            "message": pick(&MESSAGES, 1),
            "path": pick(&PATHS, 1),
            "host": {"name": format!("web-{}", n % 7), "os": pick(&["linux", "win 10", "win 11"], 2)},
            "extra": {"code": n % 5, "tag": pick(&["red", "blue fish", "true"], 3)},
        });
        let mut put = |key: &str, value: Value| document[key] = value;
        if n % 4 != 3 {
            put("level", pick(&LEVELS, 2).into());
        }
        if n % 3 != 2 {
            put("status", [200, 401, 404, 500][usize::try_from(n % 4).unwrap()].into());
        }
        if n % 5 != 4 {
            put("took", json!(f64::from(u32::try_from(n).unwrap()) / 4.0));
        }
        if n % 2 == 0 {
            put("ok", (n % 4 == 0).into());
        }
        if n % 6 != 5 {
            put("client", format!("10.0.0.{}", n % 9).into());
        }
        document
    });
    documents.collect()
}

fn searcher() -> Searcher {
    let lines: Vec<String> = documents().iter().map(Value::to_string).collect();
    let index = TestIndex::build(CONFIG, &lines, 3).unwrap();
    named(&index, "logs")
}

fn ask(searcher: &Searcher, path: &str, query: &str, body: &Value) -> (u16, Value) {
    call(searcher, "POST", path, query, body)
}

/// What a document is asked.
type Is = Box<dyn Fn(&Value) -> bool>;

fn text(doc: &Value, path: &str) -> String {
    doc.pointer(path)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// Whole value of a text.
fn whole(path: &'static str, value: &'static str) -> Is {
    Box::new(move |doc| text(doc, path) == value)
}

fn begins(path: &'static str, start: &'static str) -> Is {
    Box::new(move |doc| text(doc, path).starts_with(start))
}

fn ends(path: &'static str, end: &'static str) -> Is {
    Box::new(move |doc| doc.pointer(path).is_some() && text(doc, path).ends_with(end))
}

fn words_of(doc: &Value) -> Vec<String> {
    let message = text(doc, "/message").to_lowercase();
    let words = message.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Any of these words in the message.
fn words(wanted: &'static [&'static str]) -> Is {
    Box::new(move |doc| {
        words_of(doc)
            .iter()
            .any(|word| wanted.contains(&word.as_str()))
    })
}

/// These words one after the other in the message.
fn phrase(wanted: &'static [&'static str]) -> Is {
    Box::new(move |doc| {
        words_of(doc)
            .windows(wanted.len())
            .any(|words| words == wanted)
    })
}

fn word_begins(start: &'static str) -> Is {
    Box::new(move |doc| words_of(doc).iter().any(|word| word.starts_with(start)))
}

fn number(path: &'static str, is: fn(f64) -> bool) -> Is {
    Box::new(move |doc| doc.pointer(path).and_then(Value::as_f64).is_some_and(is))
}

fn has(path: &'static str) -> Is {
    Box::new(move |doc| doc.pointer(path).is_some())
}

fn date(is: fn(&str) -> bool) -> Is {
    Box::new(move |doc| is(&text(doc, "/at")))
}

fn flag(wanted: bool) -> Is {
    Box::new(move |doc| doc["ok"] == wanted)
}

fn both(left: Is, right: Is) -> Is {
    Box::new(move |doc| left(doc) && right(doc))
}

fn either(left: Is, right: Is) -> Is {
    Box::new(move |doc| left(doc) || right(doc))
}

fn no(is: Is) -> Is {
    Box::new(move |doc| !is(doc))
}

fn all() -> Is {
    Box::new(|_| true)
}

fn none() -> Is {
    Box::new(|_| false)
}

/// Conditions on one field, and values without a field.
fn simple() -> Vec<(&'static str, Is)> {
    vec![
        // "Filter for documents where a field exists".
        ("status: *", has("/status")),
        ("level:*", has("/level")),
        ("message: *", all()),
        ("took : *", has("/took")),
        ("client: *", has("/client")),
        ("ok: *", has("/ok")),
        ("extra.code: *", has("/extra/code")),
        ("nowhere: *", none()),
        ("host.name: *", all()),
        ("*", all()),
        ("*: *", all()),
        // "Filter for documents that match a value": exact values, with case and punctuation.
        ("level: error", whole("/level", "error")),
        ("level: Error", whole("/level", "Error")),
        ("level: ERROR", none()),
        ("level: \"error\"", whole("/level", "error")),
        ("level: \"warn or worse\"", whole("/level", "warn or worse")),
        (r"level: warn \or worse", whole("/level", "warn or worse")),
        ("level: warn", none()),
        ("host.os: win 10", whole("/host/os", "win 10")),
        ("host.os: \"win 10\"", whole("/host/os", "win 10")),
        ("host.name:web-3", whole("/host/name", "web-3")),
        (
            "path: /var/log/nginx.log",
            whole("/path", "/var/log/nginx.log"),
        ),
        (
            r"path: C\:\\Windows\\System32",
            whole("/path", r"C:\Windows\System32"),
        ),
        (
            r#"path: "C:\Windows\System32""#,
            whole("/path", r"C:\Windows\System32"),
        ),
        (
            r#"path: "C:\\Windows\\System32""#,
            whole("/path", r"C:\Windows\System32"),
        ),
        ("path: a b", whole("/path", "a b")),
        (r"path: a\*b", whole("/path", "a*b")),
        ("path: \"a*b\"", whole("/path", "a*b")),
        ("path: what?", whole("/path", "what?")),
        ("status: 404", number("/status", |n| n == 404.0)),
        ("status:\"404\"", number("/status", |n| n == 404.0)),
        // "Terms query".
        (
            "status:400 401 404",
            number("/status", |n| n == 401.0 || n == 404.0),
        ),
        ("status: nothing", none()),
        ("took: 1.5", number("/took", |n| n == 1.5)),
        ("ok: true", flag(true)),
        ("ok: false", flag(false)),
        ("client: 10.0.0.4", whole("/client", "10.0.0.4")),
        (
            "client: \"10.0.0.0/30\"",
            Box::new(|doc| {
                matches!(
                    text(doc, "/client").as_str(),
                    "10.0.0.0" | "10.0.0.1" | "10.0.0.2" | "10.0.0.3"
                )
            }),
        ),
        ("extra.code: 3", number("/extra/code", |n| n == 3.0)),
        (
            "extra.code: 1 3",
            number("/extra/code", |n| n == 1.0 || n == 3.0),
        ),
        ("extra.tag: blue fish", whole("/extra/tag", "blue fish")),
        ("extra.tag: true", whole("/extra/tag", "true")),
        ("at: 2024-05-02", date(|at| at.starts_with("2024-05-02"))),
        // A missing day is the first, as in Elasticsearch.
        ("at: \"2024-05\"", date(|at| at.starts_with("2024-05-01"))),
        (
            "at: \"2024-05-02T03:30:00Z\"",
            date(|at| at == "2024-05-02T03:30:00Z"),
        ),
        // Texts are analysed: any of the words, or a phrase in quotes.
        ("message: fox", words(&["fox"])),
        ("message: FOX", words(&["fox"])),
        ("message: null pointer", words(&["null", "pointer"])),
        ("message: \"null pointer\"", phrase(&["null", "pointer"])),
        (
            "message: \"quick brown fox\"",
            phrase(&["quick", "brown", "fox"]),
        ),
        (
            "message: quick brown fox",
            words(&["quick", "brown", "fox"]),
        ),
        (
            "message: quick fox brown",
            words(&["quick", "brown", "fox"]),
        ),
        (r"message: \(null\)", words(&["null"])),
        (r"message: said \and", words(&["said", "and"])),
        (
            "message: \"said and left\"",
            phrase(&["said", "and", "left"]),
        ),
        ("message: peer-refused", words(&["peer", "refused"])),
        // "Filter for documents using wildcards".
        ("level: e*", whole("/level", "error")),
        ("level: *rror", ends("/level", "rror")),
        ("level: E*r", whole("/level", "Error")),
        ("level: warn*", begins("/level", "warn")),
        ("host.os: win*", begins("/host/os", "win")),
        ("host.os: win 1*", begins("/host/os", "win 1")),
        ("host.name: web-*", all()),
        ("host.name: *-4", ends("/host/name", "-4")),
        ("path: *nginx*", whole("/path", "/var/log/nginx.log")),
        (r"path: C\:\\*", begins("/path", "C:")),
        (r"path: a\**", begins("/path", "a*")),
        ("path: wha?*", begins("/path", "wha?")),
        ("path: w?at*", none()),
        ("message: conn*", word_begins("conn")),
        ("message: CONN*", word_begins("conn")),
        ("extra.tag: bl*", begins("/extra/tag", "bl")),
        // Several fields: "machine.os*:windows".
        ("host.*: web-3", whole("/host/name", "web-3")),
        ("host.*: win*", begins("/host/os", "win")),
        ("h*.os: linux", whole("/host/os", "linux")),
        ("extra.*: 3", number("/extra/code", |n| n == 3.0)),
        ("extra.*: red", whole("/extra/tag", "red")),
        ("nowhere*: red", none()),
        ("stat*: *", has("/status")),
        // "Filter for documents within a range".
        ("took > 5", number("/took", |n| n > 5.0)),
        ("took >= 5", number("/took", |n| n >= 5.0)),
        ("took<5", number("/took", |n| n < 5.0)),
        ("took <= 5.0", number("/took", |n| n <= 5.0)),
        (
            "status >= 401 and status < 500",
            number("/status", |n| (401.0..500.0).contains(&n)),
        ),
        ("extra.code > 2", number("/extra/code", |n| n > 2.0)),
        ("at >= \"2024-05-03\"", date(|at| at >= "2024-05-03")),
        ("at > 2024-05-03", date(|at| at >= "2024-05-04")),
        ("at < 2024-05-03", date(|at| at < "2024-05-03")),
        ("at <= 2024-05-03", date(|at| at < "2024-05-04")),
        (
            "at > \"2024-05-03T12:30:00Z\"",
            date(|at| at > "2024-05-03T12:30:00Z"),
        ),
        ("at < \"2024-05-01||+1d\"", date(|at| at < "2024-05-02")),
        ("at < now-2w", all()),
        ("at > now", none()),
        (
            "client >= 10.0.0.7",
            Box::new(|doc| text(doc, "/client").as_str() >= "10.0.0.7"),
        ),
        (
            "level > \"error\"",
            Box::new(|doc| text(doc, "/level").as_str() > "error"),
        ),
        // Values without a field: in all fields.
        ("fox", words(&["fox"])),
        ("red", whole("/extra/tag", "red")),
        ("linux", whole("/host/os", "linux")),
        ("10.0.0.3", whole("/client", "10.0.0.3")),
        ("\"null pointer\"", phrase(&["null", "pointer"])),
        ("\"blue fish\"", whole("/extra/tag", "blue fish")),
        ("nothing", none()),
        ("500", number("/status", |n| n == 500.0)),
        ("ngi*", none()),
        ("*nginx*", whole("/path", "/var/log/nginx.log")),
        ("refus*", word_begins("refus")),
    ]
}

/// Combinations, as the documentation has them.
fn combined() -> Vec<(&'static str, Is)> {
    let error = || whole("/level", "error");
    let info = || whole("/level", "info");
    let ok = || flag(true);
    let slow = || number("/took", |n| n > 6.0);
    vec![
        ("not level: error", no(error())),
        ("NOT level: error", no(error())),
        ("level: error or level: info", either(error(), info())),
        ("level: error OR level: info", either(error(), info())),
        ("level: (error or info)", either(error(), info())),
        ("level:(error OR info)", either(error(), info())),
        ("level: (not error)", no(error())),
        ("level: (not (error or info))", no(either(error(), info()))),
        ("not level: (error or info)", no(either(error(), info()))),
        (
            "message: (quick and fox)",
            both(words(&["quick"]), words(&["fox"])),
        ),
        (
            "message: (fox and not the)",
            both(words(&["fox"]), no(words(&["the"]))),
        ),
        (
            "message: (\"brown fox\" or peer)",
            either(phrase(&["brown", "fox"]), words(&["peer"])),
        ),
        (
            "message: (conn* or pointer)",
            either(word_begins("conn"), words(&["pointer"])),
        ),
        (
            "status: (200 or 500)",
            number("/status", |n| n == 200.0 || n == 500.0),
        ),
        (
            "level: error and ok: true or took > 6",
            either(both(error(), ok()), slow()),
        ),
        (
            "level: error and (ok: true or took > 6)",
            both(error(), either(ok(), slow())),
        ),
        (
            "took > 6 or level: error and ok: true",
            either(slow(), both(error(), ok())),
        ),
        ("not level: error and ok: true", both(no(error()), ok())),
        ("not (level: error and ok: true)", no(both(error(), ok()))),
        ("not not level: error", error()),
        ("(((level: error)))", error()),
        (
            "level: error and not (ok: true or took > 6)",
            both(error(), no(either(ok(), slow()))),
        ),
        (
            "fox and not level: error",
            both(words(&["fox"]), no(error())),
        ),
        (
            "host: { name: web-3 and os: linux }",
            both(whole("/host/name", "web-3"), whole("/host/os", "linux")),
        ),
        (
            "host:{name: web-3 or os: linux}",
            either(whole("/host/name", "web-3"), whole("/host/os", "linux")),
        ),
        ("not host: { name: web-* }", none()),
    ]
}

fn expected(is: &Is) -> Vec<u64> {
    let documents = documents();
    let found = documents.iter().filter(|doc| is(doc));
    found.map(|doc| doc["n"].as_u64().unwrap()).collect()
}

fn found(answer: &Value) -> Vec<u64> {
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    let mut found: Vec<u64> = hits
        .map(|hit| hit["_source"]["n"].as_u64().unwrap())
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn queries_find_what_their_documentation_says() {
    let searcher = searcher();
    let mut wrong = String::new();
    let mut check = |query: &str, is: &Is| {
        let wanted = expected(is);
        let body = json!({"query": {"kql": {"query": query}}, "size": NUM_DOCS});
        let (status, answer) = ask(&searcher, "/logs/_search", "", &body);
        if status != 200 || found(&answer) != wanted {
            let hits = answer["hits"]["hits"].as_array().map(|_| found(&answer));
            writeln!(
                wrong,
                "{query}: {hits:?} instead of {wanted:?}: {}",
                answer["error"]
            )
            .unwrap();
        }
        let body = json!({"query": query, "language": "kql", "max_hits": 0});
        let (status, answer) = ask(&searcher, "/api/v1/logs/search", "", &body);
        if status != 200 || answer["num_hits"] != wanted.len() {
            writeln!(
                wrong,
                "{query}, as a text: {answer} instead of {}",
                wanted.len()
            )
            .unwrap();
        }
    };
    let mut num_queries = 0;
    for (query, is) in simple().into_iter().chain(combined()) {
        check(query, &is);
        num_queries += 1;
    }
    // Each beside others of its list, with every operator.
    for (place, (query, is)) in simple().into_iter().enumerate() {
        let others = simple();
        let (other, is_other) = others.into_iter().nth((place * 37 + 11) % 100).unwrap();
        let (text, is): (String, Is) = match place % 5 {
            0 => (format!("{query} and {other}"), both(is, is_other)),
            1 => (format!("{query} or {other}"), either(is, is_other)),
            2 => (
                format!("not {query} and not ({other})"),
                both(no(is), no(is_other)),
            ),
            3 => (
                format!("({query}) OR NOT {other}"),
                either(is, no(is_other)),
            ),
            _ => (
                format!("not ({query} or {other}) or status: 200"),
                either(no(either(is, is_other)), number("/status", |n| n == 200.0)),
            ),
        };
        check(&text, &is);
        num_queries += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(num_queries >= 200, "{num_queries}");
}

#[test]
fn settings_of_a_query_change_what_it_finds() {
    let searcher = searcher();
    let count = |kql: Value| {
        let body = json!({"query": {"kql": kql}, "size": NUM_DOCS});
        let (status, answer) = ask(&searcher, "/logs/_search", "", &body);
        assert_eq!(status, 200, "{answer}");
        found(&answer)
    };
    let is: Is = Box::new(|doc| text(doc, "/level").to_lowercase().starts_with("err"));
    let kql = json!({"query": "level: ERR*", "case_insensitive": true});
    assert_eq!(count(kql), expected(&is));
    let kql = json!({"query": "fox or linux", "default_field": "host.os"});
    assert_eq!(count(kql), expected(&whole("/host/os", "linux")));
    let kql = json!({"query": "fox or linux", "default_field": "*"});
    assert_eq!(
        count(kql),
        expected(&either(words(&["fox"]), whole("/host/os", "linux")))
    );
    let kql = json!({"query": "at >= 2024-05-03", "time_zone": "-06:00"});
    assert_eq!(count(kql), expected(&date(|at| at >= "2024-05-03T06:00")));
    assert_eq!(count(json!({"query": ""})).len(), 48);
}

#[test]
fn both_apis_take_the_language_of_a_text() {
    let searcher = searcher();
    let num = expected(&whole("/level", "error")).len();
    let query = "q=level%3A%20error%20and%20n%3A*&language=kql";
    let (status, answer) = ask(&searcher, "/logs/_search", query, &Value::Null);
    assert_eq!(
        (status, &answer["hits"]["total"]["value"]),
        (200, &json!(num)),
        "{answer}"
    );
    let (status, answer) = ask(
        &searcher,
        "/api/v1/logs/search",
        "query=level%3A%20error&language=kql",
        &Value::Null,
    );
    assert_eq!(
        (status, &answer["num_hits"]),
        (200, &json!(num)),
        "{answer}"
    );
    let (status, answer) = ask(&searcher, "/logs/_search", "q=a&language=sql", &Value::Null);
    assert_eq!(status, 400, "{answer}");
    let body = json!({"query": {"match_all": {}}, "language": "kql"});
    let (status, answer) = ask(&searcher, "/api/v1/logs/search", "", &body);
    assert_eq!(status, 400, "{answer}");
    let body = json!({"query": {"kql": {"query": "level: (error or"}}});
    let (status, answer) = ask(&searcher, "/logs/_search", "", &body);
    assert_eq!(status, 400);
    assert!(
        answer.to_string().contains("query.kql.query, column 17"),
        "{answer}"
    );
}
