//! `_doc`, `_source` and `_mget`: documents by their ids.
//!
//! Each is a search for the id, whose answer is written in another form. See
//! <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-get>.

use std::collections::BTreeMap;

use canter_protocol::HttpResponse;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::errors::{Stage, elastic_text, error_response};
use super::given::body::{Body, wrong};
use super::given::params::{Common, UrlParams};
use super::listed::{Listed, Shown, listed};
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
    /// The documents, in order.
    documents: Vec<WantedDocument>,
}

/// Document to look up.
#[derive(Debug)]
struct WantedDocument {
    index: String,
    id: String,
    /// The routing that it must have. One without a routing is routed by its id.
    routing: Option<String>,
    /// The version that it must have.
    version: Option<u64>,
    /// The number of the search that looks for it.
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
        let routing = params.take("routing");
        let shown = Shown {
            source: None,
            stored: params.names("stored_fields"),
        };
        let search = read_search(index, &[id], &shown, params, common, settings)?;
        Ok(Self {
            form,
            is_pretty: common.is_pretty,
            searches: vec![Ok(search)],
            documents: vec![WantedDocument {
                index: index.to_owned(),
                id: id.to_owned(),
                routing,
                version,
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
        // The URL applies to all documents.
        let of_url = params.written();
        let routing = params.take("routing");
        let stored = params.names("stored_fields");
        let listed = listed(index, &mut body)?;
        body.finish()?;
        if listed.len() > MAX_DOCUMENTS {
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!("docs: there may be {MAX_DOCUMENTS} documents in a request"),
            ));
        }
        for taken in ["_source", "_source_includes", "_source_excludes"] {
            params.text(taken);
        }
        let mut groups: BTreeMap<(String, Shown), Vec<String>> = BTreeMap::new();
        let key_of = |doc: &Listed| {
            let mut shown = doc.shown.clone();
            shown.stored = shown.stored.or_else(|| stored.clone());
            (doc.index.clone(), shown)
        };
        for doc in &listed {
            groups.entry(key_of(doc)).or_default().push(doc.id.clone());
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
        let mut places: BTreeMap<(String, Shown), usize> = BTreeMap::new();
        for ((index, shown), ids) in groups {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let mut params = UrlParams::of(&of_url)?;
            params.common()?;
            params.flag("realtime")?;
            params.flag("refresh")?;
            params.take("stored_fields");
            let search = check_index(&index)
                .and_then(|()| read_search(&index, &ids, &shown, &mut params, common, settings));
            places.insert((index, shown), searches.len());
            searches.push(search);
        }
        let documents = listed.into_iter().map(|doc| WantedDocument {
            search: places.get(&key_of(&doc)).copied().unwrap_or_default(),
            index: doc.index,
            id: doc.id,
            routing: doc.routing.or_else(|| routing.clone()),
            version: doc.version,
        });
        Ok(Self {
            form: Form::List,
            is_pretty: common.is_pretty,
            documents: documents.collect(),
            searches,
        })
    }

    /// Looks up the documents.
    pub(super) async fn run(self, exchange: &Exchange) -> HttpResponse {
        let found = run_many(self.searches, false, exchange).await;
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
                .and_then(|hits| hits.get(&wanted.id))
                .filter(|hit| wanted.is_routed_as(hit));
            let (status, text) = match (failure, hit) {
                (Some(answer), _) => (answer.status, failed(self.form, wanted, answer)),
                (None, Some(hit)) => match wanted.version.zip(version_of(hit)) {
                    Some((asked, found)) if asked != found => {
                        (409, conflict(self.form, wanted, asked, found))
                    }
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

impl WantedDocument {
    /// Returns whether a hit has the routing that is asked for. In Elasticsearch, a document with another routing is in
    /// another shard.
    fn is_routed_as(&self, hit: &RawValue) -> bool {
        let own = entry_of::<String>(hit, "_routing");
        let own = own.as_deref().unwrap_or(&self.id);
        own == self.routing.as_deref().unwrap_or(&self.id)
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
    entry_of(hit, "_version")
}

/// Returns an entry of a hit.
fn entry_of<T: DeserializeOwned>(hit: &RawValue, name: &str) -> Option<T> {
    let entries = entries(hit.get())?;
    let (_, value) = entries.into_iter().find(|(own, _)| own == name)?;
    serde_json::from_str(value.get()).ok()
}

fn conflict(form: Form, wanted: &WantedDocument, asked: u64, found: u64) -> String {
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
    match form {
        Form::List => json!({"_index": wanted.index, "_id": wanted.id, "error": error}),
        Form::Whole | Form::Source => json!({"error": error, "status": 409}),
    }
    .to_string()
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
    shown: &Shown,
    params: &mut UrlParams,
    common: &Common,
    settings: &ApiSettings,
) -> OneOfMany {
    let mut body = json!({
        "query": {"ids": {"values": ids}}, "size": ids.len(), "track_total_hits": false,
        "version": true, "seq_no_primary_term": true,
    });
    let source = shown.source.as_deref();
    let mut source = source.and_then(|source| serde_json::from_str(source).ok());
    if let Some(stored) = &shown.stored {
        let of_url = ["_source", "_source_includes", "_source_excludes"];
        let is_named = of_url.into_iter().any(|name| params.gives(name));
        if !is_named && !stored.iter().any(|name| name == "_source") {
            source = source.or(Some(Value::Bool(false)));
        }
        // Metadata is always shown.
        let fields = stored.iter().filter(|name| !name.starts_with('_'));
        let fields: Vec<&String> = fields.collect();
        if !fields.is_empty() {
            crate::root::put(&mut body, "fields", json!(fields));
        }
    }
    if let Some(source) = source {
        crate::root::put(&mut body, "_source", source);
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
