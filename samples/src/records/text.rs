//! Lines of text: access logs, tables, syslog, logfmt, plain.

use serde_json::{Map, Value, json};

use super::super::rng::Rng;
use super::values::{AGENTS, PATHS, WORDS};

type Made = (Vec<u8>, Vec<Value>);

/// Writes `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i"`, sometimes without the last two:
/// `https://httpd.apache.org/docs/2.4/logs.html#combined`.
pub(super) fn access_log(rng: &mut Rng, num_docs: u64) -> Made {
    let (mut text, mut docs) = (String::new(), Vec::new());
    for n in 0..num_docs {
        let mut doc = Map::new();
        let (day, time) = rng.may(n);
        let ip = rng.ip();
        let user = rng.pick(&["-", "-", "-", "frank", "jane doe"]);
        let (method, path) = (rng.pick(&["GET", "GET", "POST", "HEAD"]), rng.pick(&PATHS));
        let query = rng.pick(&["", "", "q=a%20b", "page=2&sort=up"]);
        let status = rng.pick(&["200", "200", "200", "304", "404", "500"]);
        let size = rng.modulo(100_000);
        let target = match query {
            "" => path.to_string(),
            query => format!("{path}?{query}"),
        };
        let request = format!("{method} {target} HTTP/1.1");
        doc.insert(
            "timestamp".into(),
            json!(format!("2024-05-{day:02}T{time}Z")),
        );
        doc.insert("client_ip".into(), json!(ip));
        doc.insert("request".into(), json!(request));
        doc.insert("method".into(), json!(method));
        doc.insert("path".into(), json!(path));
        doc.insert("protocol".into(), json!("HTTP/1.1"));
        doc.insert("status".into(), json!(status.parse::<u64>().unwrap_or(0)));
        let size_text = match status {
            "304" => "-".to_string(),
            _ => size.to_string(),
        };
        doc.insert("size".into(), json!(size_text.parse::<u64>().unwrap_or(0)));
        if user != "-" {
            doc.insert("user".into(), json!(user));
        }
        if !query.is_empty() {
            doc.insert("query".into(), json!(query));
        }
        text.push_str(&format!(
            "{ip} - {user} [{day:02}/May/2024:{time} +0000] \"{request}\" {status} {size_text}"
        ));
        if !rng.one_in(10) {
            let referrer = rng.pick(&["-", "http://example.com/a \\\"quoted\\\" page"]);
            let agent = rng.pick(&AGENTS);
            for (name, value) in [("referrer", referrer), ("user_agent", agent)] {
                text.push_str(&format!(" \"{value}\""));
                if value != "-" {
                    doc.insert(name.into(), json!(value.replace("\\\"", "\"")));
                }
            }
        }
        text.push('\n');
        docs.push(Value::Object(doc));
    }
    (text.into_bytes(), docs)
}

/// Writes RFC 4180: a first line of names, quotes where they are needed.
pub(super) fn table(rng: &mut Rng, num_docs: u64, delimiter: char) -> Made {
    let names = ["id", "name", "score", "is_open", "note", "code"];
    let mut text = names.join(&delimiter.to_string());
    text.push('\n');
    let mut docs = Vec::new();
    for n in 0..num_docs {
        let mut doc = Map::new();
        let score = format!("{}.{}", rng.modulo(100), 1 + rng.modulo(9));
        let note = match rng.modulo(6) {
            0 => String::new(),
            1 => format!("two\nlines, {}", rng.pick(&WORDS)),
            2 => format!("a \"quoted\" word\tand {}", rng.pick(&WORDS)),
            3 => "späť, naïve; ünïcode".to_string(),
            _ => rng.pick(&WORDS).to_string(),
        };
        // Text, because of its leading zeros; without them it would be a number.
        let code = format!("0{:03}", rng.modulo(1_000));
        let name = format!("{} {n}", rng.pick(&WORDS));
        let is_open = rng.one_in(2);
        doc.insert("id".into(), json!(n));
        doc.insert("name".into(), json!(name));
        doc.insert(
            "score".into(),
            serde_json::from_str(&score).unwrap_or(Value::Null),
        );
        doc.insert("is_open".into(), json!(is_open));
        if !note.is_empty() {
            doc.insert("note".into(), json!(note));
        }
        doc.insert("code".into(), json!(code));
        let needs_quotes = note.contains(['"', '\n', delimiter]);
        let note = match needs_quotes {
            true => format!("\"{}\"", note.replace('"', "\"\"")),
            false => note,
        };
        let values = [n.to_string(), name, score, is_open.to_string(), note, code];
        text.push_str(&values.join(&delimiter.to_string()));
        text.push('\n');
        docs.push(Value::Object(doc));
    }
    (text.into_bytes(), docs)
}

/// Writes RFC 5424's section 6 and RFC 3164's section 4, in turns. The latter have no year: 2024 is that
/// of the source's end.
pub(super) fn syslog(rng: &mut Rng, num_docs: u64) -> Made {
    let (mut text, mut docs) = (String::new(), Vec::new());
    for n in 0..num_docs {
        let (day, time) = rng.may(n);
        let (facility, number) = [("kern", 0), ("user", 1), ("auth", 4), ("local7", 23)]
            .get(usize::try_from(rng.modulo(4)).unwrap_or(0))
            .copied()
            .unwrap_or(("kern", 0));
        let severity = rng.modulo(8);
        let name = [
            "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug",
        ]
        .get(usize::try_from(severity).unwrap_or(0))
        .copied()
        .unwrap_or("");
        let (host, app) = (
            rng.pick(&["web-1", "db.example.com"]),
            rng.pick(&["sshd", "su"]),
        );
        let message = format!("{} {} {n}", rng.pick(&WORDS), rng.pick(&WORDS));
        let pid = rng.modulo(30_000).to_string();
        let priority = number * 8 + severity;
        let mut doc = json!({
            "facility": facility, "severity": name, "severity_number": severity,
            "hostname": host, "app_name": app, "proc_id": pid, "message": message,
        });
        let fields = doc.as_object_mut();
        match rng.one_in(2) {
            true => {
                let fraction = rng.modulo(1_000);
                let timestamp = format!("2024-05-{day:02}T{time}.{fraction:03}Z");
                text.push_str(&format!(
                    "<{priority}>1 {timestamp} {host} {app} {pid} ID{n} "
                ));
                let has_data = rng.one_in(2);
                text.push_str(match has_data {
                    true => "[meta@32473 class=\"a \\\"b\\\" \\]\" seq=\"7\"] ",
                    false => "- ",
                });
                if let Some(fields) = fields {
                    fields.insert("timestamp".into(), json!(timestamp));
                    fields.insert("msg_id".into(), json!(format!("ID{n}")));
                    if has_data {
                        let data = json!({"meta@32473": {"class": "a \"b\" ]", "seq": "7"}});
                        fields.insert("structured_data".into(), data);
                    }
                }
                text.push_str(&message);
            }
            false => {
                text.push_str(&format!(
                    "<{priority}>May {day:>2} {time} {host} {app}[{pid}]: {message}"
                ));
                if let Some(fields) = fields {
                    let timestamp = format!("2024-05-{day:02}T{time}Z");
                    fields.insert("timestamp".into(), json!(timestamp));
                }
            }
        }
        text.push('\n');
        docs.push(doc);
    }
    (text.into_bytes(), docs)
}

/// Writes logfmt in the style of go-kit and logrus: `https://brandur.org/logfmt`.
pub(super) fn logfmt(rng: &mut Rng, num_docs: u64) -> Made {
    let (mut text, mut docs) = (String::new(), Vec::new());
    for n in 0..num_docs {
        let (day, time) = rng.may(n);
        let level = rng.pick(&["debug", "info", "warn", "error"]);
        let message = format!("{} \"{}\" {n}", rng.pick(&WORDS), rng.pick(&WORDS));
        let (millis, is_cached) = (rng.modulo(5_000), rng.one_in(3));
        let ts = format!("2024-05-{day:02}T{time}Z");
        let mut doc = json!({
            "ts": ts, "level": level, "msg": message, "took": format!("{millis}ms"), "status": 200 + n % 4,
        });
        text.push_str(&format!(
            "ts={ts} level={level} msg=\"{}\" took={millis}ms status={}",
            message.replace('"', "\\\""),
            200 + n % 4
        ));
        if is_cached {
            text.push_str(" cached");
            if let Some(fields) = doc.as_object_mut() {
                fields.insert("cached".into(), json!(true));
            }
        }
        text.push('\n');
        docs.push(doc);
    }
    (text.into_bytes(), docs)
}

/// Writes the output of a program.
pub(super) fn plain(rng: &mut Rng, num_docs: u64) -> Made {
    let (mut text, mut docs) = (String::new(), Vec::new());
    for n in 0..num_docs {
        let line = match rng.modulo(3) {
            0 => format!("Step {n}: {} {}", rng.pick(&WORDS), rng.pick(&WORDS)),
            1 => format!("  {} ... done ({n})", rng.pick(&WORDS)),
            _ => format!("WARNING!! {}, {n}", rng.pick(&WORDS)),
        };
        docs.push(json!({"message": line}));
        text.push_str(&line);
        text.push('\n');
    }
    (text.into_bytes(), docs)
}
