//! `_doc`, `_source` and `_mget`: documents by their ids.
//!
//! Each is a search for the id, whose answer is written in another form. See
//! <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-get>.

use std::collections::BTreeMap;

use canter_protocol::HttpResponse;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::body::{Body, wrong};
use super::errors::{Stage, VALIDATION, elastic_text, error_response};
use super::params::{Common, UrlParams};
use super::search::many::{OneOfMany, run_many};
use super::search::of_indexes::read_search_of;
use crate::api::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::root::{entries, pretty};
use crate::{ErrorKind, SearchError};

/// Maximum number of documents of a request.
const MAX_DOCUMENTS: usize = 10_000;
/// Maximum number of searches of a request: one for each index, and for each selection of `_source`.
const MAX_SEARCHES: usize = 100;

/// Documents to look up.
#[derive(Debug)]
pub(crate) struct WantedDocuments {
    form: Form,
    is_pretty: bool,
    searches: Vec<OneOfMany>,
    /// The version that the only document must have.
    version: Option<u64>,
    /// Index, id and search of each document, in order.
    documents: Vec<WantedDocument>,
}

#[derive(Debug)]
struct WantedDocument {
    index: String,
    id: String,
    search: usize,
}

/// Form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A document, with its metadata.
    Whole,
    /// A document alone.
    Source,
    /// A list of documents.
    List,
}

impl WantedDocuments {
    /// Reads the request for one document.
    ///
    /// # Errors
    /// The index does not exist, or a parameter is invalid.
    pub(super) fn one(
        index: &str,
        id: &str,
        form: Form,
        params: &mut UrlParams,
        common: &Common,
        settings: &ApiSettings,
    ) -> Result<Self, SearchError> {
        check_index(index)?;
        let version = wanted_version(params)?;
        let search = read_search(index, &[id], None, params, common, settings)?;
        Ok(Self {
            form,
            is_pretty: common.is_pretty,
            searches: vec![Ok(search)],
            version,
            documents: vec![WantedDocument {
                index: index.to_owned(),
                id: id.to_owned(),
                search: 0,
            }],
        })
    }

    /// Reads the request for several documents: `docs`, or `ids` of the index in the path. What is wrong with one index is the
    /// answer for its documents, and not for the others.
    ///
    /// # Errors
    /// The body is invalid, or has too many documents.
    pub(super) fn many(
        index: Option<&str>,
        mut body: Body,
        params: &mut UrlParams,
        common: &Common,
        settings: &ApiSettings,
    ) -> Result<Self, SearchError> {
        let listed = listed(index, &mut body)?;
        body.finish()?;
        if listed.len() > MAX_DOCUMENTS {
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!("docs: there may be {MAX_DOCUMENTS} documents in a request"),
            ));
        }
        // The URL applies to all documents.
        let of_url = params.written();
        for taken in [
            "_source",
            "_source_includes",
            "_source_excludes",
            "stored_fields",
        ] {
            params.text(taken);
        }
        let mut groups: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for (index, id, source) in &listed {
            let key = (index.clone(), source.to_string());
            groups.entry(key).or_default().push(id.clone());
        }
        if groups.len() > MAX_SEARCHES {
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!(
                    "docs: there may be {MAX_SEARCHES} different indexes and values of _source"
                ),
            ));
        }
        let mut searches = Vec::new();
        let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
        for ((index, source), ids) in groups {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let of_one = serde_json::from_str::<Value>(&source).unwrap_or(Value::Null);
            let mut params = UrlParams::of(&of_url)?;
            params.common()?;
            params.flag("realtime")?;
            params.flag("refresh")?;
            let of_one = Some(of_one).filter(|source| !source.is_null());
            let search = check_index(&index)
                .and_then(|()| read_search(&index, &ids, of_one, &mut params, common, settings));
            places.insert((index, source), searches.len());
            searches.push(search);
        }
        let documents = listed.into_iter().map(|(index, id, source)| {
            let key = (index, source.to_string());
            let search = places.get(&key).copied().unwrap_or_default();
            let (index, _) = key;
            WantedDocument { index, id, search }
        });
        Ok(Self {
            form: Form::List,
            is_pretty: common.is_pretty,
            documents: documents.collect(),
            searches,
            version: None,
        })
    }

    /// Looks up the documents.
    pub(super) async fn run(self, exchange: &Exchange) -> HttpResponse {
        let found = run_many(self.searches, exchange).await;
        let read = serde_json::from_str::<Answers<'_>>(&found);
        let Ok(Answers { responses }) = read else {
            let error = SearchError::internal("the answer to a search for ids cannot be read");
            return error_response(&error, Stage::Searching, false);
        };
        let hits: Vec<BTreeMap<String, &RawValue>> = responses.iter().map(Answer::by_id).collect();
        let mut texts = Vec::with_capacity(self.documents.len());
        for wanted in &self.documents {
            let failure = responses
                .get(wanted.search)
                .filter(|answer| answer.error.is_some());
            let hit = hits
                .get(wanted.search)
                .and_then(|hits| hits.get(&wanted.id));
            let (status, text) = match (failure, hit) {
                (Some(answer), _) => (answer.status, failed(self.form, wanted, answer)),
                (None, Some(hit)) => match self.version.zip(version_of(hit)) {
                    Some((asked, found)) if asked != found => (409, conflict(wanted, asked, found)),
                    _ => written(self.form, wanted, hit),
                },
                (None, None) => (404, not_found(self.form, wanted)),
            };
            if self.form != Form::List {
                let text = match self.is_pretty {
                    true => pretty(&text),
                    false => text,
                };
                return elastic_text(status, text);
            }
            texts.push(text);
        }
        let list = format!("{{\"docs\":[{}]}}", texts.join(","));
        let list = match self.is_pretty {
            true => pretty(&list),
            false => list,
        };
        elastic_text(200, list)
    }
}

/// Takes the version that a document must have. A flag is that of a search.
///
/// # Errors
/// It is no number.
fn wanted_version(params: &mut UrlParams) -> Result<Option<u64>, SearchError> {
    params.take("version_type");
    let Some(version) = params.take("version") else {
        return Ok(None);
    };
    match version.parse() {
        Ok(version) => Ok(Some(version)),
        Err(_) if version == "true" || version == "false" => Ok(None),
        Err(_) => Err(wrong("version", "this must be a number")),
    }
}

fn version_of(hit: &RawValue) -> Option<u64> {
    let entries = entries(hit.get())?;
    let (_, version) = entries.into_iter().find(|(name, _)| name == "_version")?;
    version.get().parse().ok()
}

fn conflict(wanted: &WantedDocument, asked: u64, found: u64) -> String {
    let cause = json!({
        "type": "version_conflict_engine_exception",
        "reason": format!(
            "[{}]: version conflict, current version [{found}] is different than the one provided [{asked}]",
            wanted.id
        ),
        "index": wanted.index,
    });
    let mut error = cause.clone();
    crate::root::put(&mut error, "root_cause", json!([cause]));
    json!({"error": error, "status": 409}).to_string()
}

/// Takes the documents that a body lists: index, id and `_source`.
fn listed(
    of_path: Option<&str>,
    body: &mut Body,
) -> Result<Vec<(String, String, Value)>, SearchError> {
    let lacking = |what: &str| SearchError::invalid(format!("{VALIDATION}1: {what};"));
    let missing = || lacking("index is missing");
    let mut listed = Vec::new();
    match (body.take("docs"), body.take("ids")) {
        (Some(Value::Array(docs)), None) => {
            for doc in docs {
                let Value::Object(mut doc) = doc else {
                    return Err(wrong("docs", "each of these must be an object"));
                };
                let index = doc.shift_remove("_index");
                let index = index.as_ref().and_then(Value::as_str).or(of_path);
                let index = index.ok_or_else(missing)?.to_owned();
                let id = text_of(doc.shift_remove("_id").unwrap_or_default())
                    .ok_or_else(|| lacking("id is missing"))?;
                let source = doc.shift_remove("_source").unwrap_or_default();
                doc.shift_remove("_type");
                if let Some(key) = doc.keys().next() {
                    return Err(wrong("docs", format!("{key:?} is not supported")));
                }
                listed.push((index, id, source));
            }
        }
        (None, Some(Value::Array(ids))) => {
            let index = of_path.ok_or_else(missing)?;
            for id in ids {
                let id = text_of(id).ok_or_else(|| wrong("ids", "an id is a text"))?;
                listed.push((index.to_owned(), id, Value::Null));
            }
        }
        (None, None) => return Err(lacking("no documents to get")),
        _ => return Err(wrong("docs", "there must be a list of docs, or of ids")),
    }
    match listed.is_empty() {
        true => Err(lacking("no documents to get")),
        false => Ok(listed),
    }
}

fn text_of(id: Value) -> Option<String> {
    match id {
        Value::String(id) => Some(id),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// # Errors
/// The name stands for several indexes.
fn check_index(index: &str) -> Result<(), SearchError> {
    match index.contains(['*', ',']) || index == "_all" {
        true => Err(SearchError::invalid(format!(
            "[{index}] stands for several indexes: a document is in one"
        ))),
        false => Ok(()),
    }
}

/// Reads a search for ids in an index.
fn read_search(
    index: &str,
    ids: &[&str],
    source: Option<Value>,
    params: &mut UrlParams,
    common: &Common,
    settings: &ApiSettings,
) -> OneOfMany {
    let mut body = json!({
        "query": {"ids": {"values": ids}}, "size": ids.len(), "track_total_hits": false,
        "version": true, "seq_no_primary_term": true,
    });
    if let (Value::Object(body), Some(source)) = (&mut body, source) {
        body.insert("_source".to_owned(), source);
    }
    let body = body.to_string();
    let search = read_search_of(index, body.as_bytes(), params, common, settings)?;
    Ok(search.map(|(indexes, search)| (indexes, Box::new(search))))
}

/// Answer to several searches.
#[derive(Deserialize)]
struct Answers<'a> {
    #[serde(borrow)]
    responses: Vec<Answer<'a>>,
}

/// Answer to one of them: hits, or an error.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    hits: Option<Hits<'a>>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    status: u16,
}

#[derive(Deserialize)]
struct Hits<'a> {
    #[serde(borrow)]
    hits: Vec<&'a RawValue>,
}

impl<'a> Answer<'a> {
    fn by_id(&self) -> BTreeMap<String, &'a RawValue> {
        let hits = self.hits.iter().flat_map(|hits| &hits.hits);
        let by_id = hits.filter_map(|hit| {
            let entries = entries(hit.get())?;
            let (_, id) = entries.into_iter().find(|(name, _)| name == "_id")?;
            Some((serde_json::from_str::<String>(id.get()).ok()?, *hit))
        });
        let mut found = BTreeMap::new();
        for (id, hit) in by_id {
            found.insert(id, hit);
        }
        found
    }
}

/// Returns the status and the text of a document that was found.
fn written(form: Form, wanted: &WantedDocument, hit: &RawValue) -> (u16, String) {
    let entries = entries(hit.get()).unwrap_or_default();
    let source = entries.iter().find(|(name, _)| name == "_source");
    if form == Form::Source {
        return match source {
            Some((_, source)) => (200, source.get().to_owned()),
            None => (404, not_found(form, wanted)),
        };
    }
    let mut parts = Vec::new();
    for (name, value) in &entries {
        match name.as_str() {
            "_score" | "_source" | "sort" => {}
            name => parts.push(format!("\"{name}\":{value}")),
        }
    }
    parts.push("\"found\":true".to_owned());
    parts.extend(source.map(|(_, source)| format!("\"_source\":{source}")));
    (200, format!("{{{}}}", parts.join(",")))
}

fn not_found(form: Form, WantedDocument { index, id, .. }: &WantedDocument) -> String {
    if form != Form::Source {
        return json!({"_index": index, "_id": id, "found": false}).to_string();
    }
    let cause = json!({
        "type": "resource_not_found_exception",
        "reason": format!("Document not found [{index}]/[_doc]/[{id}]"),
    });
    let mut error = cause.clone();
    crate::root::put(&mut error, "root_cause", json!([cause]));
    json!({"error": error, "status": 404}).to_string()
}

fn failed(
    form: Form,
    WantedDocument { index, id, .. }: &WantedDocument,
    answer: &Answer<'_>,
) -> String {
    let error = answer.error.map_or("null", RawValue::get);
    match form {
        Form::List => format!(
            "{{\"_index\":{},\"_id\":{},\"error\":{error}}}",
            Value::from(index.as_str()),
            Value::from(id.as_str())
        ),
        Form::Whole | Form::Source => {
            format!("{{\"error\":{error},\"status\":{}}}", answer.status)
        }
    }
}
