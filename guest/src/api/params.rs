//! Parameters of the API, from the URL and from a JSON body: each known by name and checked by type.

use canter_names::{JsonError, read_json};
use canter_protocol::{Budget, HttpRequest};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::indexes::IndexFilter;
use super::settings::ApiSettings;
use crate::SearchError;
use crate::request::{AnswerForm, Question, SearchRequest};

/// Type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    /// A query string, or a query of the DSL; in a URL, only a query string.
    Query,
    /// A whole number, 0 or more.
    Count,
    /// A whole number.
    Integer,
    Flag,
    /// A flag or a whole number, 0 or more.
    Counting,
    /// Names: a list, or one text separated by commas.
    Fields,
    /// A JSON object; in a URL, its text.
    Object,
}

/// The parameters of a search: the name, the canonical name, and the type.
const SEARCH: [(&str, &str, Kind); 20] = [
    ("query", "query", Kind::Query),
    ("language", "language", Kind::Text),
    ("start_timestamp", "start_timestamp", Kind::Integer),
    ("end_timestamp", "end_timestamp", Kind::Integer),
    ("start_offset", "start_offset", Kind::Count),
    ("max_hits", "max_hits", Kind::Count),
    ("search_field", "search_field", Kind::Fields),
    ("search_fields", "search_field", Kind::Fields),
    ("snippet_fields", "snippet_fields", Kind::Fields),
    ("sort_by", "sort_by", Kind::Text),
    ("sort_by_field", "sort_by", Kind::Text),
    ("count_all", "track_total_hits", Kind::Flag),
    ("track_total_hits", "track_total_hits", Kind::Counting),
    ("format", FORMAT, Kind::Text),
    ("aggs", "aggs", Kind::Object),
    ("aggregations", "aggs", Kind::Object),
    ("now_ms", "now_ms", Kind::Integer),
    ("profile", PROFILE, Kind::Flag),
    ("budget", BUDGET, Kind::Object),
    ("pretty", PRETTY, Kind::Flag),
];

/// The parameters of a search that only a host itself may ask for.
const OF_HOST: [(&str, &str, Kind); 4] = [
    ("forced_filter", "forced_filter", Kind::Fields),
    ("explain", "explain", Kind::Flag),
    ("list_documents", "list_documents", Kind::Flag),
    ("index_name", "index_name", Kind::Text),
];

const FORMAT: &str = "format";
const PROFILE: &str = "profile";
const BUDGET: &str = "budget";
const PRETTY: &str = "pretty";
const PATTERNS: &str = "index_id_patterns";

/// The parameters of requests for indexes. Only a list accepts patterns.
const INDEX: [(&str, &str, Kind); 3] = [
    ("format", FORMAT, Kind::Text),
    ("pretty", PRETTY, Kind::Flag),
    (PATTERNS, PATTERNS, Kind::Fields),
];

/// Parses the parameters of a search.
///
/// # Errors
/// If one is unknown, given twice, of another type, has a key twice, or exceeds the limits.
pub(super) fn search_parameters(
    request: &HttpRequest,
    settings: &ApiSettings,
) -> Result<(Question, Budget), SearchError> {
    let mut given = match settings.is_of_host {
        true => Given::new(&[&SEARCH[..], &OF_HOST].concat()),
        false => Given::new(&SEARCH),
    };
    given.read_url(&request.query)?;
    given.read_body(&request.body)?;
    let form = AnswerForm {
        is_of_host: settings.is_of_host,
        has_profile: given.take(PROFILE).is_some_and(|value| value == true),
        is_pretty: given.take_is_pretty()?,
    };
    let budget = match given.take(BUDGET) {
        None => Budget::default(),
        Some(budget) => typed(&budget).map_err(|error| error.at("budget"))?,
    };
    let mut search: SearchRequest =
        typed(&Value::Object(given.values)).map_err(|error| error.at("search request"))?;
    let forced_filter = settings.forced_filter.clone();
    if forced_filter.is_some() {
        check_filtered(form, budget)?;
    }
    search.now_ms = search.now_ms.or(settings.now_ms);
    let question = search.read(forced_filter, &settings.limits, form)?;
    Ok((question, budget))
}

/// Parses a value as its type, through its text: every type then needs only one deserializer, which is compiled
/// once.
pub(super) fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, SearchError> {
    serde_json::from_str(&value.to_string())
        .map_err(|error| SearchError::invalid(error.to_string()))
}

/// Refuses parameters that would reveal documents hidden by a forced filter: the numbers of splits and requests of
/// a search depend on their contents, and so does whether a budget suffices.
fn check_filtered(form: AnswerForm, budget: Budget) -> Result<(), SearchError> {
    let Budget {
        max_requests,
        max_bytes,
        max_waves,
        deadline_ms: _,
    } = budget;
    let refused = |what: &str| {
        Err(SearchError::invalid(format!(
            "{what} is not allowed here: it would tell of documents that may not be searched"
        )))
    };
    if form.has_profile {
        return refused(PROFILE);
    }
    for (name, limit) in [
        ("budget.max_requests", max_requests),
        ("budget.max_bytes", max_bytes),
        ("budget.max_waves", max_waves),
    ] {
        if limit.is_some() {
            return refused(name);
        }
    }
    Ok(())
}

/// Parses the parameters of a request for indexes.
///
/// # Errors
/// As [`search_parameters`].
pub(super) fn index_parameters(
    request: &HttpRequest,
    is_list: bool,
) -> Result<IndexFilter, SearchError> {
    let [format, pretty, _] = &INDEX;
    let mut given = match is_list {
        true => Given::new(&INDEX),
        false => Given::new(&[*format, *pretty]),
    };
    given.read_url(&request.query)?;
    let patterns = match given.take(PATTERNS) {
        Some(Value::String(patterns)) => patterns,
        _ => "*".to_owned(),
    };
    Ok(IndexFilter {
        patterns: patterns
            .split(',')
            .map(|name| name.trim().to_owned())
            .collect(),
        is_pretty: given.take_is_pretty()?,
    })
}

/// The parameters of a request, by canonical name.
struct Given {
    known: Vec<(&'static str, &'static str, Kind)>,
    values: Map<String, Value>,
}

impl Given {
    fn new(known: &[(&'static str, &'static str, Kind)]) -> Self {
        Self {
            known: known.to_vec(),
            values: Map::new(),
        }
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.values.shift_remove(name)
    }

    /// Returns whether the answer is to have line breaks: `format=pretty_json`, or Elasticsearch's `pretty`.
    fn take_is_pretty(&mut self) -> Result<bool, SearchError> {
        let is_pretty = self.take(PRETTY).is_some_and(|value| value == true);
        match self.take(FORMAT).as_ref().and_then(Value::as_str) {
            None | Some("json") => Ok(is_pretty),
            Some("pretty_json" | "prettyjson" | "pretty-json") => Ok(true),
            Some(other) => Err(SearchError::invalid(format!(
                "format: {other:?} is not known; there are json and pretty_json"
            ))),
        }
    }

    fn put(
        &mut self,
        name: &str,
        read: impl Fn(Kind) -> Result<Value, Unread>,
    ) -> Result<(), SearchError> {
        let Some((_, canonical, kind)) = self.known.iter().find(|(known, ..)| *known == name)
        else {
            let known: Vec<&str> = self.known.iter().map(|(known, ..)| *known).collect();
            return Err(SearchError::invalid(format!(
                "the parameter {name:?} is not known; there are {}",
                known.join(", ")
            )));
        };
        let value = read(*kind).map_err(|unread| {
            SearchError::invalid(match unread {
                Unread::OtherKind => format!("{name}: {}", expected(*kind)),
                Unread::Twice(error) => error.of(name),
            })
        })?;
        if self.values.contains_key(*canonical) {
            return Err(SearchError::invalid(format!("{name} is given twice")));
        }
        self.values.insert((*canonical).to_owned(), value);
        Ok(())
    }

    fn read_url(&mut self, query: &str) -> Result<(), SearchError> {
        for (name, text) in form_urlencoded::parse(query.as_bytes()) {
            self.put(&name, |kind| from_text(&text, kind))?;
        }
        Ok(())
    }

    /// Reads the parameters in a body. An empty body has none. A key with null counts as absent.
    fn read_body(&mut self, body: &[u8]) -> Result<(), SearchError> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let body = read_json(body).map_err(|error| SearchError::invalid(error.of("the body")))?;
        let Value::Object(body) = body else {
            return Err(SearchError::invalid(
                "the body is not a JSON object, such as {\"query\": \"level:error\"}",
            ));
        };
        for (name, value) in body {
            if !value.is_null() {
                self.put(&name, |kind| from_json(&value, kind))?;
            }
        }
        Ok(())
    }
}

/// Reason why a parameter has no value.
enum Unread {
    /// It has another type.
    OtherKind,
    /// It is JSON with a duplicate key.
    Twice(JsonError),
}

fn from_text(text: &str, kind: Kind) -> Result<Value, Unread> {
    let value = match kind {
        Kind::Text | Kind::Query | Kind::Fields => Some(text.into()),
        Kind::Count => text.parse::<u64>().ok().map(Value::from),
        Kind::Integer => text.parse::<i64>().ok().map(Value::from),
        // A flag without a value is set.
        Kind::Flag => match text {
            "true" | "" => Some(true.into()),
            "false" => Some(false.into()),
            _ => None,
        },
        Kind::Counting => match from_text(text, Kind::Flag) {
            Ok(flag) => Some(flag),
            Err(_) => return from_text(text, Kind::Count),
        },
        Kind::Object => match read_json(text.as_bytes()) {
            Ok(value) => Some(value).filter(Value::is_object),
            Err(error @ JsonError::DuplicateKey { .. }) => return Err(Unread::Twice(error)),
            Err(JsonError::Malformed(_)) => None,
        },
    };
    value.ok_or(Unread::OtherKind)
}

fn from_json(value: &Value, kind: Kind) -> Result<Value, Unread> {
    let is_good = match kind {
        Kind::Text => value.is_string(),
        Kind::Query => value.is_string() || value.is_object(),
        Kind::Count => value.is_u64(),
        Kind::Integer => value.is_i64(),
        Kind::Flag => value.is_boolean(),
        Kind::Counting => value.is_boolean() || value.is_u64(),
        Kind::Object => value.is_object(),
        Kind::Fields => match value {
            Value::Array(names) => names.iter().all(Value::is_string),
            value => value.is_string(),
        },
    };
    match is_good {
        true => Ok(value.clone()),
        false => Err(Unread::OtherKind),
    }
}

fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "this must be text",
        Kind::Query => "this must be text, or a query of the DSL as a JSON object",
        Kind::Count => "this must be a whole number, 0 or more",
        Kind::Integer => "this must be a whole number",
        Kind::Flag => "this must be true or false",
        Kind::Counting => "this must be true, false or a whole number, 0 or more",
        Kind::Fields => "this must be names: one, several with commas, or a list of them",
        Kind::Object => "this must be a JSON object",
    }
}
