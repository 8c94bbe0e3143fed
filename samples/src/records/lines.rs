//! Lines with times: logs of programs, and their envelopes of container runtimes.

use serde_json::{Value, json};

use super::super::rng::Rng;
use super::values::WORDS;

type Made = (Vec<u8>, Vec<Value>);

/// Writes Logback's `%d %-5level [%thread] %logger{36} - %msg%n`, sometimes with a stack trace:
/// `https://logback.qos.ch/manual/layouts.html`.
pub(super) fn log(rng: &mut Rng, num_docs: u64) -> Made {
    let (mut text, mut docs) = (String::new(), Vec::new());
    for n in 0..num_docs {
        let (day, time) = rng.may(n);
        let millis = rng.modulo(1_000);
        let level = rng.pick(&["DEBUG", "INFO", "INFO", "INFO", "WARN", "ERROR"]);
        let thread = format!("worker-{}", rng.modulo(8));
        let logger = rng.pick(&["c.e.shop.Cart", "c.e.shop.Order", "c.e.net.Client"]);
        let mut message = format!("{} {} {n}", rng.pick(&WORDS), rng.pick(&WORDS));
        if rng.one_in(10) {
            message.push_str("\njava.lang.IllegalStateException: closed\n\tat c.e.net.Client.read(Client.java:42)");
        }
        let head = format!("2024-05-{day:02} {time},{millis:03} {level:5} [{thread}] {logger} - ");
        docs.push(json!({
            "timestamp": format!("2024-05-{day:02}T{time}.{millis:03}Z"), "level": level, "logger": logger,
            "thread": thread, "message": message, "head": head,
        }));
        text.push_str(&head);
        text.push_str(&message);
        text.push('\n');
    }
    (text.into_bytes(), docs)
}

/// Writes CRI's files with JSON in them, some lines of which the runtime split in two:
/// `https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md`.
pub(super) fn container(rng: &mut Rng, num_docs: u64) -> Made {
    let (mut text, mut docs) = (String::new(), Vec::new());
    for n in 0..num_docs {
        let (day, time) = rng.may(n);
        let timestamp = format!("2024-05-{day:02}T{time}.{:09}Z", rng.modulo(1_000_000_000));
        let stream = rng.pick(&["stdout", "stdout", "stderr"]);
        let (level, message) = (
            rng.pick(&["info", "warn"]),
            format!("{} {}", rng.pick(&WORDS), rng.pick(&WORDS)),
        );
        let (before, after) = (
            format!("{{\"level\":\"{level}\","),
            format!("\"msg\":\"{message}\",\"n\":{n}}}"),
        );
        let mut doc = json!({
            "timestamp": timestamp, "stream": stream, "level": level, "msg": message, "n": n,
        });
        let (name, value) = match rng.one_in(10) {
            true => {
                let lines =
                    format!("{timestamp} {stream} P {before}\n{timestamp} {stream} F {after}");
                text.push_str(&lines);
                ("original", lines)
            }
            false => {
                let head = format!("{timestamp} {stream} F ");
                text.push_str(&format!("{head}{before}{after}"));
                ("head", head)
            }
        };
        if let Some(doc) = doc.as_object_mut() {
            doc.insert(name.into(), json!(value));
        }
        text.push('\n');
        docs.push(doc);
    }
    (text.into_bytes(), docs)
}
