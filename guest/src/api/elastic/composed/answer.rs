//! The answer of a search, cut into its parts: values that stay are not parsed, since numbers need not fit any type.

use serde_json::Value;

use crate::SearchError;
use crate::root::{elements, entries};

/// Values by their keys, in order, as JSON text.
type Entries = Vec<(String, String)>;

/// An answer of a search.
pub(super) struct Answer {
    top: Entries,
    around_hits: Entries,
    pub(super) hits: Vec<Hit>,
}

/// A hit of an answer.
#[derive(Clone)]
pub(super) struct Hit(Entries);

fn entries_of(json: &str) -> Result<Entries, SearchError> {
    let unknown = || SearchError::internal("an answer of an unknown form");
    let entries = entries(json).ok_or_else(unknown)?.into_iter();
    Ok(entries
        .map(|(key, value)| (key, value.get().to_owned()))
        .collect())
}

fn written(entries: &Entries) -> String {
    let entries = entries.iter();
    let entries: Vec<String> = entries
        .map(|(key, value)| format!("{}:{value}", Value::from(key.as_str())))
        .collect();
    format!("{{{}}}", entries.join(","))
}

fn found<'e>(entries: &'e Entries, key: &str) -> Option<&'e str> {
    let (_, value) = entries.iter().find(|(name, _)| name == key)?;
    Some(value)
}

fn put(entries: &mut Entries, key: &str, value: String) {
    match entries.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = value,
        None => entries.push((key.to_owned(), value)),
    }
}

impl Answer {
    /// Parses an answer.
    ///
    /// # Errors
    /// If it is no answer of a search: a defect.
    pub(super) fn parse(json: &str) -> Result<Self, SearchError> {
        let top = entries_of(json)?;
        let mut around_hits = entries_of(found(&top, "hits").unwrap_or_default())?;
        let list = found(&around_hits, "hits").and_then(elements);
        let list = list.unwrap_or_default().into_iter();
        let hits = list.map(|hit| Ok(Hit(entries_of(hit.get())?)));
        let hits = hits.collect::<Result<Vec<_>, SearchError>>()?;
        put(&mut around_hits, "hits", String::new());
        Ok(Self {
            top,
            around_hits,
            hits,
        })
    }

    /// Sets the best score.
    pub(super) fn set_max_score(&mut self, score: Option<f64>) {
        put(
            &mut self.around_hits,
            "max_score",
            Value::from(score).to_string(),
        );
    }

    /// Adds a value, as JSON, at the end.
    pub(super) fn put(&mut self, key: &str, value: String) {
        put(&mut self.top, key, value);
    }

    /// Returns the object with the hits.
    pub(super) fn hits_object(&self) -> String {
        let hits: Vec<String> = self.hits.iter().map(|hit| written(&hit.0)).collect();
        let mut around = self.around_hits.clone();
        put(&mut around, "hits", format!("[{}]", hits.join(",")));
        written(&around)
    }

    /// Returns the whole answer as JSON.
    pub(super) fn write(&self) -> String {
        let mut top = self.top.clone();
        put(&mut top, "hits", self.hits_object());
        written(&top)
    }
}

impl Hit {
    /// Returns the value of a key; null if it is absent.
    pub(super) fn value(&self, key: &str) -> Value {
        let json = found(&self.0, key).unwrap_or_default();
        serde_json::from_str(json).unwrap_or_default()
    }

    /// Returns the index and the id of the document.
    pub(super) fn place(&self) -> (String, String) {
        let text = |key: &str| match self.value(key) {
            Value::String(text) => text,
            other => other.to_string(),
        };
        (text("_index"), text("_id"))
    }

    /// Sets the value of a key, as JSON.
    pub(super) fn put(&mut self, key: &str, value: String) {
        put(&mut self.0, key, value);
    }

    /// Removes a key.
    pub(super) fn remove(&mut self, key: &str) {
        self.0.retain(|(name, _)| name != key);
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "scores have the precision of f32"
    )]
    pub(super) fn score(&self) -> f32 {
        self.value("_score").as_f64().unwrap_or_default() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_written_as_it_was_but_for_what_is_set() {
        let json = r#"{"took":1,"hits":{"total":2,"max_score":1.0,"hits":[{"_index":"i","_id":"1","_score":0.5,"_source":{"n":12345678901234567890123}},{"_index":"i","_id":"2","_score":null}]},"aggregations":{}}"#;
        let mut answer = Answer::parse(json).unwrap();
        assert_eq!(answer.write(), json);
        assert_eq!(answer.hits[0].place(), ("i".to_owned(), "1".to_owned()));
        answer.set_max_score(Some(2.5));
        answer.hits.remove(1);
        answer.hits[0].put("_score", "2.5".to_owned());
        answer.hits[0].remove("_source");
        let expected =
            r#"{"total":2,"max_score":2.5,"hits":[{"_index":"i","_id":"1","_score":2.5}]}"#;
        assert_eq!(answer.hits_object(), expected);
    }
}
