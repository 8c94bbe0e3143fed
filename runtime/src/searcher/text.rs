//! The guest's response with the host's keys added. Its aggregations are not parsed.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::SearchResponse;
use crate::driver::Driver;
use crate::{ErrorKind, Profile, SearchError};

const AGGREGATIONS: &str = "aggregations";

/// An answer whose aggregations are text.
#[derive(Debug)]
pub struct SearchText {
    /// The answer without its aggregations.
    pub response: SearchResponse,
    aggregations: Option<Aggregations>,
}

#[derive(Debug)]
struct Aggregations {
    text: Box<RawValue>,
    /// Number of keys of the answer before them.
    place: usize,
}

impl SearchText {
    /// Returns the answer with its aggregations.
    ///
    /// # Errors
    /// If the guest did not write valid JSON.
    pub fn parsed(self) -> Result<SearchResponse, SearchError> {
        let mut response = self.response;
        if let (Some(Aggregations { text, place }), Value::Object(json)) =
            (self.aggregations, &mut response.json)
        {
            let parsed: Value =
                serde_json::from_str(text.get()).map_err(|error| no_object(&error))?;
            json.shift_insert(place.min(json.len()), AGGREGATIONS.to_owned(), parsed);
        }
        Ok(response)
    }
}

/// Serializes the answer as one JSON object.
impl Serialize for SearchText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        let mut aggregations = self.aggregations.as_ref();
        for (place, (key, value)) in self
            .response
            .json
            .as_object()
            .into_iter()
            .flatten()
            .enumerate()
        {
            if let Some(found) = aggregations.take_if(|found| found.place == place) {
                out.serialize_entry(AGGREGATIONS, &found.text)?;
            }
            out.serialize_entry(key, value)?;
        }
        if let Some(found) = aggregations {
            out.serialize_entry(AGGREGATIONS, &found.text)?;
        }
        out.end()
    }
}

/// The guest's output.
struct Written {
    json: Map<String, Value>,
    aggregations: Option<Aggregations>,
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Written;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written, A::Error> {
        let mut written = Written {
            json: Map::new(),
            aggregations: None,
        };
        while let Some(key) = map.next_key::<String>()? {
            if key == AGGREGATIONS {
                written.aggregations = Some(Aggregations {
                    text: map.next_value()?,
                    place: written.json.len(),
                });
            } else {
                written.json.insert(key, map.next_value()?);
            }
        }
        Ok(written)
    }
}

/// Adds the host's keys to the guest's response.
pub(super) fn respond(
    json: &str,
    profile: Profile,
    wants_profile: bool,
    driver: &Driver,
) -> Result<SearchText, SearchError> {
    let written: Written = serde_json::from_str(json).map_err(|error| no_object(&error))?;
    let Written {
        json: mut response,
        aggregations,
    } = written;
    let io = &driver.io;
    let elapsed = io.micros(io.shared.clock.now());
    response.insert("elapsed_time_micros".to_owned(), elapsed.into());
    response.insert("timed_out".to_owned(), io.gate.is_timed_out().into());
    response.insert("budget_exhausted".to_owned(), io.gate.exhausted().into());
    let guest_profile = response.shift_remove("profile");
    if wants_profile {
        let mut merged = match guest_profile {
            Some(Value::Object(guest_profile)) => guest_profile,
            _ => Map::new(),
        };
        profile.merge_into(&mut merged);
        response.insert("profile".to_owned(), merged.into());
    }
    Ok(SearchText {
        response: SearchResponse {
            json: response.into(),
            profile,
        },
        aggregations,
    })
}

fn no_object(what: &serde_json::Error) -> SearchError {
    SearchError::new(
        ErrorKind::Internal,
        format!("the guest's response is not a JSON object: {what}"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn aggregations_stay_where_they_were_read_or_not() {
        for text in [
            r#"{"aggregations":{"a":[1,2.50]},"hits":[]}"#,
            r#"{"hits":[],"aggregations":{"a":null},"errors":[]}"#,
            r#"{"hits":[],"aggregations":{}}"#,
            r#"{"hits":[]}"#,
        ] {
            let written: Written = serde_json::from_str(text).unwrap();
            let answer = SearchText {
                response: SearchResponse {
                    json: written.json.into(),
                    profile: Profile::default(),
                },
                aggregations: written.aggregations,
            };
            assert!(answer.response.json.get("aggregations").is_none());
            assert_eq!(serde_json::to_string(&answer).unwrap(), text);
            let whole: Value = serde_json::from_str(text).unwrap();
            let parsed = answer.parsed().unwrap().json;
            assert_eq!(parsed, whole);
            let keys = |json: &Value| {
                json.as_object()
                    .unwrap()
                    .keys()
                    .cloned()
                    .collect::<Vec<_>>()
            };
            assert_eq!(keys(&parsed), keys(&whole));
        }
        assert!(serde_json::from_value::<Written>(json!([])).is_err());
    }
}
