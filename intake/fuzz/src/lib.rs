//! Checks of the fuzz targets, one function for each. `intake/tests/fuzz_seeds.rs` runs the same
//! checks on the seeds in `corpus/` and on mutations of them.

use canter_intake::{Action, BulkError, LogsEncoding, LogsLimits, Verb, parse_bulk, read_logs};
use serde_json::{Map, Value};

/// Checks a body of `_bulk`: each line is an action, its document or blank, in order. Writing the
/// parsed actions and parsing them again gives the same actions, and an error names the faulty
/// line.
pub fn bulk(body: &[u8]) {
    let actions = match actions_of(body) {
        Ok(actions) => actions,
        Err(error) => return check_error(body, &error),
    };
    assert!(!actions.is_empty(), "a body without actions was taken");
    check_lines(body, &actions);
    // Unsupported options are reported to the sender, and not written here.
    let plain: Vec<Action<'_>> = actions
        .iter()
        .map(|action| Action {
            unknown: None,
            ..action.clone()
        })
        .collect();
    let written = written(&plain);
    let again = actions_of(&written).expect("what was read can be written");
    assert_eq!(again, plain);
    let twice = [body, body].concat();
    let twice = actions_of(&twice).expect("two bodies are one");
    assert_eq!(twice, [actions.clone(), actions].concat());
}

fn actions_of(body: &[u8]) -> Result<Vec<Action<'_>>, BulkError> {
    parse_bulk(body, usize::MAX).collect()
}

/// Splits a body into lines as the parser does: without line feeds, and without a carriage return
/// before one.
fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let body = body.strip_suffix(b"\n").unwrap_or(body);
    let lines = body.split(|byte| *byte == b'\n');
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// Compares the lines with the actions, in order.
fn check_lines(body: &[u8], actions: &[Action<'_>]) {
    let mut lines = lines(body);
    for action in actions {
        let line = lines.by_ref().find(|line| !is_blank(line));
        let line = line.expect("an action has a line of its own");
        // Values that the parser skips may be numbers that `Value` cannot represent.
        if let Ok(object) = serde_json::from_slice::<Map<String, Value>>(line) {
            let mut keys = object.keys();
            assert_eq!(keys.next().map(String::as_str), Some(action.verb.as_str()));
            // Other keys have no meaning.
            let is_verb =
                |key: &String| ["index", "create", "update", "delete"].contains(&key.as_str());
            assert!(!keys.any(is_verb));
        }
        assert_eq!(action.document.is_none(), action.verb == Verb::Delete);
        if let Some(document) = action.document {
            let line = lines.next().expect("a document has a line of its own");
            assert_eq!(line.as_ptr_range(), document.as_ptr_range());
        }
    }
    assert!(
        lines.all(is_blank),
        "a line behind the last action was lost"
    );
}

/// Writes the actions as an equivalent body without extras. The carriage return protects one at the
/// end of a document.
fn written(actions: &[Action<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for action in actions {
        let mut metadata = Map::new();
        let texts = [
            ("_index", &action.index),
            ("_id", &action.id),
            ("routing", &action.routing),
            ("version_type", &action.version_type),
            ("pipeline", &action.pipeline),
        ];
        for (key, value) in texts {
            if let Some(value) = value {
                metadata.insert(key.to_owned(), value.clone().into());
            }
        }
        if let Some(require_alias) = action.require_alias {
            metadata.insert("require_alias".to_owned(), require_alias.into());
        }
        let numbers = [
            ("if_seq_no", action.if_seq_no),
            ("if_primary_term", action.if_primary_term),
            ("version", action.version),
        ];
        for (key, value) in numbers {
            if let Some(value) = value {
                metadata.insert(key.to_owned(), value.into());
            }
        }
        let is_empty = metadata.is_empty();
        let mut metadata = Value::Object(metadata).to_string();
        if let Some(source) = &action.source {
            // Its text is kept as it is, with blanks, and with numbers that `Value` cannot represent.
            metadata.pop();
            let separator = if is_empty { "" } else { "," };
            metadata = format!("{metadata}{separator}\"_source\":{source}}}");
        }
        let line = format!("{{\"{}\":{metadata}}}\n", action.verb.as_str());
        body.extend_from_slice(line.as_bytes());
        if let Some(document) = action.document {
            body.extend_from_slice(document);
            body.extend_from_slice(b"\r\n");
        }
    }
    body
}

/// Checks that an error has a message, and that the lines before the named one are valid.
fn check_error(body: &[u8], error: &BulkError) {
    assert!(!error.to_string().is_empty());
    let num_lines = lines(body).count();
    let place = match error {
        BulkError::NotTerminated => {
            assert!(!body.is_empty() && !body.ends_with(b"\n"));
            return;
        }
        BulkError::Empty => {
            assert!(lines(body).all(is_blank));
            return;
        }
        BulkError::Malformed { line, message } => {
            assert!(!message.is_empty());
            *line
        }
        BulkError::NoDocument { line } => {
            assert_eq!(*line, num_lines, "the action is the last line");
            *line
        }
        BulkError::TooManyActions { .. } => unreachable!("any number of actions is taken"),
    };
    assert!(
        (1..=num_lines).contains(&place),
        "line {place} of {num_lines}"
    );
    let before = lines(body).take(place - 1);
    let before: Vec<u8> = before.flat_map(|line| [line, b"\r\n"].concat()).collect();
    let before = actions_of(&before);
    assert!(
        matches!(before, Ok(_) | Err(BulkError::Empty)),
        "{before:?}"
    );
}

/// Checks an OTLP request: each accepted record becomes a document, which is a JSON object on one
/// line.
pub fn logs(body: &[u8]) {
    for encoding in [LogsEncoding::Json, LogsEncoding::Protobuf] {
        let logs = match read_logs(body, encoding, &LogsLimits::default()) {
            Ok(logs) => logs,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        assert!(logs.problems.iter().all(|problem| !problem.is_empty()));
        for document in logs.documents {
            let shown = || String::from_utf8_lossy(&document).into_owned();
            assert!(!document.contains(&b'\n'), "{}", shown());
            let value: Value = serde_json::from_slice(&document)
                .unwrap_or_else(|error| panic!("{error}: {}", shown()));
            assert!(value.is_object(), "{value}");
        }
    }
}
