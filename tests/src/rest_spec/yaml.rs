//! YAML documents as JSON values.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// Parses all documents of a file. Some files of OpenSearch's close a bracket left of where it
/// belongs, which its own parser accepts.
pub(super) fn parse(text: &str) -> Result<Vec<Value>> {
    parse_strictly(text).or_else(|error| parse_strictly(&joined(text)).map_err(|_| error))
}

/// Puts what stands between brackets on one line.
fn joined(text: &str) -> String {
    let (mut out, mut depth) = (String::with_capacity(text.len()), 0_i32);
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        let mut quote = None;
        for c in line.chars() {
            match (quote, c) {
                (Some(open), _) if c == open => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (None, '{' | '[') => depth += 1,
                (None, '}' | ']') => depth -= 1,
                _ => {}
            }
        }
        out.push_str(line);
        out.push(if depth > 0 { ' ' } else { '\n' });
    }
    out
}

fn parse_strictly(text: &str) -> Result<Vec<Value>> {
    let mut builder = Builder::default();
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.context("this is not YAML")?;
        let at = || format!("line {}", span.start.line());
        builder.event(event).with_context(at)?;
    }
    Ok(builder.documents)
}

#[derive(Default)]
struct Builder {
    documents: Vec<Value>,
    open: Vec<(usize, Open)>,
    anchors: HashMap<usize, Value>,
}

/// List or map whose end has not been reached.
enum Open {
    List(Vec<Value>),
    /// The pending key waits for its value.
    Map(Map<String, Value>, Option<String>),
}

impl Builder {
    fn event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Scalar(text, ScalarStyle::Plain, anchor, _) => self.add(plain(&text), anchor),
            Event::Scalar(text, _, anchor, _) => self.add(Value::from(text.into_owned()), anchor),
            Event::SequenceStart(anchor, _) => {
                self.open.push((anchor, Open::List(Vec::new())));
                Ok(())
            }
            Event::MappingStart(anchor, _) => {
                self.open.push((anchor, Open::Map(Map::new(), None)));
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some((anchor, Open::List(items))) => self.add(items.into(), anchor),
                Some((anchor, Open::Map(entries, _))) => self.add(entries.into(), anchor),
                None => bail!("nothing ends here"),
            },
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned();
                self.add(value.context("an alias of nothing")?, 0)
            }
            _ => Ok(()),
        }
    }

    fn add(&mut self, value: Value, anchor: usize) -> Result<()> {
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => self.documents.push(value),
            Some((_, Open::List(items))) => items.push(value),
            Some((_, Open::Map(entries, pending))) => match pending.take() {
                Some(key) => drop(entries.insert(key, value)),
                None => *pending = Some(key_text(&value)?),
            },
        }
        Ok(())
    }
}

fn key_text(key: &Value) -> Result<String> {
    match key {
        Value::String(text) => Ok(text.clone()),
        Value::Null => Ok(String::new()),
        Value::Bool(_) | Value::Number(_) => Ok(key.to_string()),
        _ => bail!("a key must be a scalar"),
    }
}

/// Applies YAML 1.2's core schema to a scalar without quotes.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return true.into(),
        "false" | "False" | "FALSE" => return false.into(),
        _ => {}
    }
    let is_numeric = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && text.bytes().any(|byte| byte.is_ascii_digit());
    let number = || {
        let digits = text.strip_prefix('+').unwrap_or(text);
        let whole = digits.parse::<i64>().map(Number::from).ok();
        let whole = whole.or_else(|| digits.parse::<u64>().map(Number::from).ok());
        whole.or_else(|| Number::from_f64(text.parse().ok()?))
    };
    let number = is_numeric.then(number).flatten();
    number.map_or_else(|| Value::from(text), Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_lists_maps_and_scalars_are_read() {
        let text = "---\nsetup:\n - do: {get: {id: 1, a: '1', b: ~}}\n---\n\"a test\":\n  - x: 1.5\n    1: [true, no]\n";
        let expected = [
            json!({"setup": [{"do": {"get": {"id": 1, "a": "1", "b": null}}}]}),
            json!({"a test": [{"x": 1.5, "1": [true, "no"]}]}),
        ];
        assert_eq!(parse(text).unwrap(), expected);
        let closed = parse("a:\n  b: {\n    c: 1\n}\n").unwrap();
        assert_eq!(closed[0], json!({"a": {"b": {"c": 1}}}));
        let large = parse("[18446744073709551615, -9223372036854775808, 1.1.1]").unwrap();
        assert_eq!(large[0], json!([u64::MAX, i64::MIN, "1.1.1"]));
    }
}
