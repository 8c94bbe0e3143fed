//! JSON of requests, without duplicate keys.
//!
//! serde_json keeps the last of two values with the same key. Such requests are refused instead, as
//! in Elasticsearch: otherwise a deletion could use a query that its sender overlooked. Documents
//! are not read here; the doc mapper handles their duplicate keys.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

/// Reason for which a text is no valid JSON of a request.
#[derive(Debug)]
pub enum JsonError {
    /// The text is no JSON, or is nested too deep.
    Malformed(serde_json::Error),
    /// An object has a duplicate key.
    DuplicateKey {
        /// Duplicate key.
        key: String,
        /// Keys and list indices that lead to the object, joined by dots; empty for the top level.
        path: String,
    },
}

impl JsonError {
    /// Describes the error; `what` is the name of the text.
    pub fn of(&self, what: &str) -> String {
        match self {
            Self::Malformed(error) => format!("{what} is not JSON: {error}"),
            Self::DuplicateKey { key, path } if path.is_empty() => {
                format!("{what} has a duplicate key {key:?}")
            }
            Self::DuplicateKey { key, path } => {
                format!("{what} has a duplicate key {key:?} at {path:?}")
            }
        }
    }
}

/// Parses a text as JSON.
///
/// # Errors
/// The text is no JSON, or an object has a duplicate key.
pub fn read_json(text: &[u8]) -> Result<Value, JsonError> {
    let found = Found::default();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = Strict(&found).deserialize(&mut reader);
    let read = read.and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| match found.0.into_inner() {
        Some(Duplicate { key, mut path }) => {
            path.reverse();
            JsonError::DuplicateKey {
                key,
                path: path.join("."),
            }
        }
        None => JsonError::Malformed(error),
    })
}

/// First duplicate key, once found.
#[derive(Default)]
struct Found(RefCell<Option<Duplicate>>);

struct Duplicate {
    key: String,
    /// Keys that lead to it, the innermost first.
    path: Vec<String>,
}

impl Found {
    /// Prepends this key to the path of a duplicate key that has just been found below it.
    fn is_below(&self, key: impl fmt::Display) {
        if let Some(found) = self.0.borrow_mut().as_mut() {
            found.path.push(key.to_string());
        }
    }
}

/// Seed for values without duplicate keys.
#[derive(Clone, Copy)]
struct Strict<'f>(&'f Found);

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_bool<E>(self, is: bool) -> Result<Value, E> {
        Ok(Value::Bool(is))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            match list.next_element_seed(self) {
                Ok(Some(value)) => values.push(value),
                Ok(None) => return Ok(Value::Array(values)),
                Err(error) => {
                    self.0.is_below(values.len());
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            match values.entry(key) {
                Entry::Vacant(place) => match object.next_value_seed(self) {
                    Ok(value) => {
                        place.insert(value);
                    }
                    Err(error) => {
                        self.0.is_below(place.key());
                        return Err(error);
                    }
                },
                Entry::Occupied(place) => {
                    *self.0.0.borrow_mut() = Some(Duplicate {
                        key: place.key().clone(),
                        path: Vec::new(),
                    });
                    return Err(A::Error::custom("duplicate key"));
                }
            }
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_each_key_once_is_read_as_serde_reads_it() {
        for text in [
            "null",
            " true ",
            "-7",
            "18446744073709551615",
            "1.5e300",
            "0.1",
            "-0.0",
            r#""a\u00e9\n""#,
            "[]",
            r#"[1, [2, {"a": []}], {"a": 1}, {"a": 2}]"#,
            r#"{"z": 1, "a": {"z": {"a": null}}, "": false, "\u0061b": 2}"#,
        ] {
            let expect: Value = serde_json::from_str(text).unwrap();
            let read = read_json(text.as_bytes()).unwrap();
            assert_eq!(read, expect, "{text}");
            // The order of keys is the same too.
            assert_eq!(read.to_string(), expect.to_string());
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_named_with_its_place() {
        for (text, expect) in [
            (r#"{"a": 1, "a": 1}"#, r#"it has a duplicate key "a""#),
            (
                r#"{"b": {}, "a": null, "\u0061": 2"#,
                r#"it has a duplicate key "a""#,
            ),
            (
                r#"{"q": {"bool": {"must": [{}, {"term": {"x": 1, "y": 2, "x": 3}}]}}}"#,
                r#"it has a duplicate key "x" at "q.bool.must.1.term""#,
            ),
            (
                r#"[[{"a": 1}, {"a": 1, "a": 2}]]"#,
                r#"it has a duplicate key "a" at "0.1""#,
            ),
        ] {
            let refused = read_json(text.as_bytes()).unwrap_err();
            assert_eq!(refused.of("it"), expect, "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused_as_serde_refuses_it() {
        let deep = "[".repeat(200);
        for text in [
            "",
            "{",
            "{\"a\"}",
            "{} {}",
            "[1,]",
            "nul",
            "1e999",
            "\"\u{1}\"",
            &deep,
        ] {
            let expect = serde_json::from_str::<Value>(text).unwrap_err();
            let refused = read_json(text.as_bytes()).unwrap_err();
            assert_eq!(refused.of("it"), format!("it is not JSON: {expect}"));
        }
        assert!(read_json(b"\"\xff\"").is_err());
    }
}
