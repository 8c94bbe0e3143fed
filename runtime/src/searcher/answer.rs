//! A search that this host makes itself, and its answer.

use serde::Deserialize;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Caller, SearchEnd, Searcher};
use crate::observe::{Answered, OK, observe_query};
use crate::{ErrorKind, Limits, Profile, SearchError};

const AGGREGATIONS: &str = "aggregations";

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResponse {
    /// The guest's response. If the request says `"profile": true`, it has a `profile`: the guest's counters and the I/O
    /// together.
    pub json: Value,
    /// The I/O of the search, asked for or not.
    pub profile: Profile,
}

/// An answer whose aggregations are text.
#[derive(Debug)]
pub struct SearchText {
    /// The answer; of aggregations it says `null`.
    pub response: SearchResponse,
    aggregations: Option<Box<RawValue>>,
}

impl SearchText {
    /// Reads the guest's response, and adds what the search took to its profile.
    fn new(text: &str, profile: Profile) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Found<'a> {
            #[serde(borrow)]
            aggregations: Option<&'a RawValue>,
        }
        let Found { aggregations } = serde_json::from_str(text)?;
        let mut json: Value = match aggregations.map(RawValue::get) {
            None => serde_json::from_str(text)?,
            Some(found) => {
                let start = found.as_ptr().addr() - text.as_ptr().addr();
                let end = start + found.len();
                serde_json::from_str(&[&text[..start], "null", &text[end..]].concat())?
            }
        };
        if let Some(Value::Object(of_guest)) = json.get_mut("profile") {
            profile.merge_into(of_guest);
        }
        Ok(Self {
            response: SearchResponse { json, profile },
            aggregations: aggregations.map(ToOwned::to_owned),
        })
    }

    /// The answer with its aggregations.
    ///
    /// # Errors
    /// If the guest wrote something that is not JSON.
    pub fn parsed(mut self) -> Result<SearchResponse, SearchError> {
        if let Some(text) = self.aggregations {
            let parsed = serde_json::from_str(text.get()).map_err(|error| no_object(&error))?;
            self.response.json[AGGREGATIONS] = parsed;
        }
        Ok(self.response)
    }
}

/// As one JSON object.
impl Serialize for SearchText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        for (key, value) in self.response.json.as_object().into_iter().flatten() {
            match &self.aggregations {
                Some(text) if key == AGGREGATIONS => out.serialize_entry(key, text)?,
                _ => out.serialize_entry(key, value)?,
            }
        }
        out.end()
    }
}

impl Answered for SearchResponse {
    fn outcome(&self) -> &'static str {
        let failed = self.json["failed_splits"].as_array();
        if self.json["timed_out"] == Value::Bool(true) {
            "timed_out"
        } else if !self.json["budget_exhausted"].is_null() {
            "budget_exhausted"
        } else if failed.is_some_and(|failed| !failed.is_empty()) {
            "partial"
        } else {
            OK
        }
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }
}

impl Answered for SearchText {
    fn outcome(&self) -> &'static str {
        self.response.outcome()
    }

    fn profile(&self) -> &Profile {
        &self.response.profile
    }
}

impl Searcher {
    /// Answers one search request, a JSON object, over all indexes of this searcher.
    ///
    /// It has the keys of the search API, and some that the API does not have: `explain`, `list_documents`, `forced_filter`,
    /// `index_name`. Its `budget` (see [`crate::Budget`]) can only lower `limits`. Runs on tokio, with the guest on threads
    /// of its own. Dropping the future cancels the search.
    pub async fn search(
        &self,
        request: &Value,
        limits: &Limits,
    ) -> Result<SearchResponse, SearchError> {
        self.search_text(request, limits).await?.parsed()
    }

    /// As [`Searcher::search`], with aggregations as the text that the guest wrote: there may be megabytes of
    /// them, and what only passes them on need not read them.
    pub async fn search_text(
        &self,
        request: &Value,
        limits: &Limits,
    ) -> Result<SearchText, SearchError> {
        observe_query(&self.shared, "search", self.answer(request, limits)).await
    }

    async fn answer(&self, request: &Value, limits: &Limits) -> Result<SearchText, SearchError> {
        let session = self.own_session(request, &Caller::default(), limits, self.max_leaves());
        let search = self.open(session, limits, &self.shared, false).await?;
        let (end, profile, _) = self.run(search).await?;
        let SearchEnd::Answered(response) = end else {
            return Err(super::unexpected("HTTP"));
        };
        let text = std::str::from_utf8(&response.body)
            .map_err(|_| SearchError::internal("the guest's response is not UTF-8"))?;
        SearchText::new(text, profile).map_err(|error| no_object(&error))
    }
}

fn no_object(what: &serde_json::Error) -> SearchError {
    SearchError::new(
        ErrorKind::Internal,
        format!("the guest's response is not a JSON object: {what}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aggregations_stay_as_they_are_and_where_they_are() {
        for text in [
            r#"{"aggregations":{"a":[1,2.50]},"hits":[]}"#,
            r#"{"hits":[],"aggregations":{"a":null},"errors":[]}"#,
            r#"{"hits":[],"aggregations":{}}"#,
            r#"{"hits":[]}"#,
        ] {
            let answer = SearchText::new(text, Profile::default()).unwrap();
            assert_eq!(answer.response.json["aggregations"], Value::Null);
            assert_eq!(serde_json::to_string(&answer).unwrap(), text);
            let parsed = answer.parsed().unwrap().json;
            let whole: Value = serde_json::from_str(text).unwrap();
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
        assert!(SearchText::new("[]", Profile::default()).is_err());
    }
}
