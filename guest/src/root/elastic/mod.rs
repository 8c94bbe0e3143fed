//! Answers in Elasticsearch's form.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search>.

pub(super) mod fields;
mod inner_hits;
mod named;
mod own_id;
mod source;

use fields::fields_of;
pub(super) use named::named;
pub(crate) use source::{elements, entries};
pub(super) use source::{own, shows_passages};

use std::net::Ipv6Addr;

use canter_aggregations::format_date;
use canter_doc_mapper::{DocMapper, FieldKind};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tantivy::TantivyDocument;
use tantivy::schema::Value as _;

use self::inner_hits::{OwnParts, inner_hits, shown_object};
use self::own_id::OwnId;
use self::source::filtered;
use super::fetch_docs::Document;
use crate::SearchError;
use crate::leaf::{FailedSplit, HitOrder, PartialHit, place_in, shows_milliseconds};
use crate::query::QueryNode;
use crate::request::{DateFormat, ElasticHits, Question, SortTarget, SortValue};

pub(super) const SOURCE_FIELD: &str = "_source";

/// Number of digits of an id that hides its place: 128 bits. The hash has no key, so the id is the same in every host
/// and at any time: a caller who can guess a source and a line can recognize the document, but cannot count those
/// between two.
const HASHED_ID_LEN: usize = 32;

/// The place of a hit.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The name of its index.
    pub(super) index: &'a str,
    pub(super) split_id: &'a str,
    /// The object that is shown instead of the document.
    pub(super) object: Option<&'a NestedPlace>,
}

/// Path of an object, and its place among all of that path in its document.
pub(super) type NestedPlace = (String, u32);

/// Writer of hits.
pub(super) struct HitWriter<'a> {
    pub(super) question: &'a Question,
    pub(super) shown: &'a ElasticHits,
    pub(super) order: &'a HitOrder,
}

/// Returns the paths of a document's malformed values, which are not indexed.
fn ignored(found: &Document<'_>) -> Vec<Value> {
    let field = found.split.mapper.ignored_field();
    let paths = field
        .into_iter()
        .flat_map(|field| found.document.get_all(field));
    paths
        .filter_map(|path| path.as_str().map(Value::from))
        .collect()
}

impl HitWriter<'_> {
    /// Returns the id of a document, which does not depend on the split. A caller with a forced filter must not be able
    /// to count the documents between two hits.
    fn id(&self, found: &Document<'_>, own: &OwnId<'_>) -> Value {
        if let Some(id) = &own.id {
            return id.clone();
        }
        let Some(identity) = found.identity else {
            return Value::Null;
        };
        let id = identity.to_string();
        if !self.question.is_filtered() {
            return id.into();
        }
        let mut hashed = blake3::hash(id.as_bytes()).to_hex().to_string();
        hashed.truncate(HASHED_ID_LEN);
        hashed.into()
    }

    fn explanation(&self, hit: &PartialHit) -> Value {
        let score = self.score(hit).map_or(Value::Null, number);
        json!({"value": score, "description": "score of the whole query", "details": []})
    }

    /// Returns the fields of a document that are shown, and that of its group.
    fn fields(
        &self,
        document: &str,
        group: Option<(&str, &SortValue)>,
        found: &Document<'_>,
        own: &OwnId<'_>,
    ) -> Result<Map<String, Value>, SearchError> {
        let mapper = &found.split.mapper;
        let mut fields = fields_of(document, &self.shown.fields, mapper)?;
        if self.shown.fields.iter().any(|own| own.name == "_seq_no") {
            let seq_no = self.seq_no(found, own).into_iter().map(Value::from);
            fields.insert("_seq_no".to_owned(), seq_no.collect());
        }
        if let Some((name, group)) = group {
            let group = self.untyped(group, name, mapper);
            let group = shown(&group, &usual(mapper, name))?;
            fields.insert(name.to_owned(), [group].into());
        }
        Ok(fields)
    }

    /// Returns a document's sequence number, if it has one. Numbers in order would tell a caller with a filter how many
    /// documents it does not see.
    fn seq_no(&self, found: &Document<'_>, own: &OwnId<'_>) -> Option<u64> {
        let in_order = own.seq_no.filter(|_| !self.question.is_filtered());
        in_order.or_else(|| found.identity.map(|identity| identity.seq_no()))
    }

    /// Returns what a hit shows of the document beside its contents.
    fn metadata(&self, found: &Document<'_>, own: &OwnId<'_>) -> Vec<String> {
        let mut parts = Vec::new();
        if self.shown.versions.version {
            parts.push(entry("_version", &own.version.into()));
        }
        if self.shown.versions.seq_no {
            parts.push(entry("_seq_no", &self.seq_no(found, own).into()));
            parts.push(entry("_primary_term", &1.into()));
        }
        let ignored = ignored(found);
        if !ignored.is_empty() {
            parts.push(entry("_ignored", &ignored.into()));
        }
        let routing = own.routing.as_ref();
        parts.extend(routing.map(|routing| entry("_routing", routing)));
        parts
    }

    /// Returns a hit as JSON text.
    ///
    /// # Errors
    /// An unknown date format.
    pub(super) fn write(
        &self,
        hit: &PartialHit,
        place: Place<'_>,
        found: &Document<'_>,
        highlight: Option<&Map<String, Value>>,
    ) -> Result<String, SearchError> {
        let mapper = &found.split.mapper;
        let document = mapper.doc_to_json_text(&found.document);
        let document = source::own(&document, SOURCE_FIELD).unwrap_or(&document);
        let own = OwnId::of(document, mapper.id_field());
        let document = &*own.document;
        let mut parts = vec![entry("_index", &place.index.into())];
        if !self.shown.source.hides_id {
            parts.push(entry("_id", &self.id(found, &own)));
        }
        let num_shared = parts.len();
        let object = place.object.map(|of| object_of(of, found));
        if let Some((nested, _)) = &object {
            parts.push(entry("_nested", nested));
        }
        parts.extend(self.metadata(found, &own));
        parts.push(entry(
            "_score",
            &self.score(hit).map_or(Value::Null, number),
        ));
        if !self.shown.source.is_off && !source::is_hidden(mapper) {
            let part = match (&object, place.object) {
                (Some((_, text)), Some((path, _))) => shown_object(text, path, mapper),
                _ => source::shown_by(document, mapper),
            };
            let whole = object.map_or(document, |(_, text)| text);
            let part = filtered(part.as_deref().unwrap_or(whole), &self.shown.source);
            parts.push(format!("\"{SOURCE_FIELD}\":{part}"));
        }
        if self.shown.explains {
            parts.push(entry("_explanation", &self.explanation(hit)));
        }
        if !self.shown.inner_hits.is_empty() {
            let own = OwnParts {
                shared: parts.get(..num_shared).unwrap_or_default(),
                version: entry("_version", &own.version.into()),
                seq_no: self.seq_no(found, &own),
            };
            let inner = inner_hits(self.question, self.shown, found, &own)?;
            parts.push(format!("\"inner_hits\":{inner}"));
        }
        let group = self.order.collapse().zip(hit.keys.last());
        if !self.shown.fields.is_empty() || group.is_some() {
            let fields = self.fields(document, group, found, &own)?;
            if !fields.is_empty() {
                parts.push(entry("fields", &fields.into()));
            }
        }
        if let Some(highlight) = highlight.filter(|highlight| !highlight.is_empty()) {
            parts.push(entry("highlight", &highlight.clone().into()));
        }
        let names = self.shown.names_of(hit.names);
        if !names.is_empty() {
            parts.push(entry("matched_queries", &names.into()));
        }
        if self.shown.shows_sort {
            let sort = self.sort_values(hit, place, mapper, &found.document)?;
            parts.push(entry("sort", &sort.into()));
        }
        Ok(format!("{{{}}}", parts.join(",")))
    }

    /// Returns the score of a hit, if it has one.
    pub(super) fn score(&self, hit: &PartialHit) -> Option<f64> {
        let mut keys = self.order.keys().iter().zip(&hit.keys);
        match keys.find(|(key, _)| key.target == SortTarget::Score) {
            Some((_, SortValue::Number(score))) => Some(*score),
            _ => self.shown.score.map(f64::from),
        }
    }

    /// Converts a value of an untyped field. The column has integers or floats depending on all documents: a caller
    /// with a forced filter gets an integer wherever the value is one.
    fn untyped(&self, value: &SortValue, name: &str, mapper: &DocMapper) -> SortValue {
        const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
        let is_json = mapper
            .resolve(name)
            .is_some_and(|field| matches!(field.kind, FieldKind::Json(_)));
        match value {
            SortValue::Number(float)
                if self.question.is_filtered()
                    && is_json
                    && float.fract() == 0.0
                    && float.abs() < MOST_EXACT =>
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "it is a whole number of 53 bits"
                )]
                let integer = *float as i64;
                SortValue::Integer(integer.into())
            }
            value => value.clone(),
        }
    }

    fn sort_values(
        &self,
        hit: &PartialHit,
        place: Place<'_>,
        mapper: &DocMapper,
        document: &TantivyDocument,
    ) -> Result<Vec<Value>, SearchError> {
        let mut values = Vec::new();
        let formats = self.shown.date_formats.iter().map(Some);
        let mut formats = formats.chain(std::iter::repeat(None));
        let mut computed = hit.keys.iter();
        for key in &self.question.sort {
            let format = formats.next().flatten();
            let value = match &key.target {
                SortTarget::Doc => {
                    // It would reveal the number of documents before this one.
                    let is_hidden = self.question.is_filtered();
                    values.push(if is_hidden { 0 } else { hit.doc }.into());
                    continue;
                }
                SortTarget::SplitDoc => {
                    SortValue::Text(place_in(place.split_id, hit.doc, place.index))
                }
                // Hits in time order were found without their times.
                SortTarget::Field(_) if matches!(self.order, HitOrder::Time(_)) => {
                    time_of(mapper, document)
                }
                _ => computed.next().cloned().unwrap_or(SortValue::Missing),
            };
            let value = match &key.target {
                SortTarget::Field(name) => self.untyped(&value, name, mapper),
                _ => value,
            };
            let format = match (format, &key.target) {
                (None | Some(DateFormat::Usual), SortTarget::Field(name)) => usual(mapper, name),
                (format, _) => format.cloned().unwrap_or_default(),
            };
            values.push(shown(&value, &format)?);
        }
        Ok(values)
    }
}

/// Returns the place of an object, and its text.
fn object_of<'d>((path, nth): &NestedPlace, found: &'d Document<'_>) -> (Value, &'d str) {
    let mapper = &found.split.mapper;
    let text = mapper
        .text_with_objects(&found.document)
        .unwrap_or_default();
    let objects = mapper.objects_at(text, path);
    let object = usize::try_from(*nth)
        .ok()
        .and_then(|nth| objects.get(nth).copied());
    (
        json!({"field": path, "offset": nth}),
        object.unwrap_or("{}"),
    )
}

/// Returns the default format of a field's dates as sort values: milliseconds as for Elasticsearch's `date`, or
/// nanoseconds as for its `date_nanos` if the field is more precise. It is lossless, so the next page begins where this
/// one ends.
fn usual(mapper: &DocMapper, name: &str) -> DateFormat {
    match mapper.resolve(name).map(|field| field.kind) {
        Some(FieldKind::Date(date)) if !shows_milliseconds(date.precision) => {
            DateFormat::Nanoseconds
        }
        Some(FieldKind::Date(_)) => DateFormat::Milliseconds,
        // In JSON dates are kept as they are.
        _ => DateFormat::Usual,
    }
}

/// Returns the time of a document, with the precision of its column.
fn time_of(mapper: &DocMapper, document: &TantivyDocument) -> SortValue {
    let Some((field, name)) = mapper.timestamp_field() else {
        return SortValue::Missing;
    };
    let time = document
        .get_first(field)
        .and_then(|value| value.as_datetime());
    let precision = mapper.resolve(name).and_then(|field| match field.kind {
        FieldKind::Date(date) => Some(date.precision),
        _ => None,
    });
    match (time, precision) {
        (Some(time), Some(precision)) => {
            SortValue::Date(time.truncate(precision).into_timestamp_nanos())
        }
        _ => SortValue::Missing,
    }
}

fn entry(name: &str, value: &Value) -> String {
    format!("\"{name}\":{value}")
}

fn number(number: f64) -> Value {
    if number == f64::INFINITY {
        // The distance of a document without a point.
        return "Infinity".into();
    }
    serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// Formats a sort value so that a request for the next hits can send it back.
fn shown(value: &SortValue, format: &DateFormat) -> Result<Value, SearchError> {
    const MILLISECOND_NS: i64 = 1_000_000;
    const FINEST: &str = "strict_date_optional_time_nanos";
    Ok(match value {
        SortValue::Integer(integer) => match (i64::try_from(*integer), u64::try_from(*integer)) {
            (Ok(integer), _) => integer.into(),
            (_, Ok(integer)) => integer.into(),
            _ => Value::Null,
        },
        SortValue::Number(float) => number(*float),
        SortValue::Bool(flag) => (*flag).into(),
        SortValue::Date(ns) => match format {
            DateFormat::Usual if ns % MILLISECOND_NS != 0 => format_date(*ns, FINEST)
                .map_err(SearchError::invalid)?
                .into(),
            DateFormat::Usual | DateFormat::Milliseconds => ns.div_euclid(MILLISECOND_NS).into(),
            DateFormat::Nanoseconds => (*ns).into(),
            DateFormat::Named(format) => format_date(*ns, format)
                .map_err(SearchError::invalid)?
                .into(),
        },
        SortValue::Text(text) => text.clone().into(),
        SortValue::Address(bits) => {
            let address = Ipv6Addr::from_bits(*bits);
            match address.to_ipv4_mapped() {
                Some(address) => address.to_string().into(),
                None => address.to_string().into(),
            }
        }
        SortValue::Bytes(bytes) => {
            use base64::Engine as _;
            base64::prelude::BASE64_STANDARD.encode(bytes).into()
        }
        SortValue::Missing => Value::Null,
    })
}

/// Facts about the whole search for an answer.
pub(super) struct Search<'a> {
    pub(super) took_us: u64,
    pub(super) timed_out: bool,
    pub(super) num_splits: u64,
    pub(super) num_pruned: u64,
    pub(super) missing: Vec<&'a FailedSplit>,
    pub(super) num_hits: u64,
    pub(super) is_lower_bound: bool,
    /// The best score of the hits that are shown, if they have any.
    pub(super) max_score: Option<f64>,
    pub(super) aggregations: Option<&'a str>,
    pub(super) scroll_id: Option<&'a str>,
    /// How the search was carried out, as JSON, if the answer tells it.
    pub(super) profile: Option<String>,
}

/// Builds an answer. `hits` are JSON.
pub(super) fn write_search(shown: &ElasticHits, search: &Search<'_>, hits: &[String]) -> String {
    let shards = shards(search);
    if shown.is_count {
        return json!({"count": search.num_hits, "_shards": shards}).to_string();
    }
    let most = shown.most_counted.unwrap_or(u64::MAX);
    let relation = match search.is_lower_bound || search.num_hits > most {
        true => "gte",
        false => "eq",
    };
    let value = search.num_hits.min(most);
    let total = match (shown.most_counted, shown.total_is_number) {
        (None, false) => String::new(),
        (None, true) => "\"total\":-1,".to_owned(),
        (Some(_), true) => format!("\"total\":{value},"),
        (Some(_), false) => {
            format!("\"total\":{{\"value\":{value},\"relation\":\"{relation}\"}},")
        }
    };
    let max_score = search.max_score.map_or(Value::Null, number);
    let aggregations = search
        .aggregations
        .map_or_else(String::new, |aggregations| {
            format!(",\"aggregations\":{aggregations}")
        });
    let profile = search.profile.as_deref();
    let profile = profile.map_or_else(String::new, |profile| format!(",\"profile\":{profile}"));
    let named = [
        ("_scroll_id", search.scroll_id),
        ("pit_id", shown.pit_id.as_deref()),
    ];
    let named = named.into_iter().filter_map(|(name, id)| Some((name, id?)));
    let ids: String = named
        .map(|(name, id)| entry(name, &id.into()) + ",")
        .collect();
    format!(
        "{{{ids}\"took\":{},\"timed_out\":{},\"_shards\":{shards},\"hits\":{{{total}\"max_score\":{max_score},\
         \"hits\":[{}]}}{aggregations}{profile}}}",
        search.took_us / 1_000,
        search.timed_out,
        hits.join(","),
    )
}

/// Returns the profile of a search in Elasticsearch's shape: one shard, whose query took all the time. Our own numbers are
/// under `canter`.
pub(super) fn profiled<T: Serialize>(query: &QueryNode, elapsed_us: u64, own: &T) -> String {
    let kind = match query {
        QueryNode::All => "MatchAllDocsQuery",
        _ => "BooleanQuery",
    };
    let query = json!({
        "type": kind, "description": "the whole query", "time_in_nanos": elapsed_us.saturating_mul(1_000),
        "breakdown": {}, "children": [],
    });
    let collector =
        json!({"name": "QueryPhaseCollector", "reason": "search_query_phase", "time_in_nanos": 0});
    let search = json!({"query": [query], "rewrite_time": 0, "collector": [collector]});
    let shard = json!({"id": "[canter][all][0]", "searches": [search], "aggregations": []});
    let own = serde_json::to_value(own).unwrap_or_default();
    json!({"shards": [shard], "canter": own}).to_string()
}

/// Inserts a value under a key of an object.
pub(crate) fn put(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(object) = object {
        object.insert(key.to_owned(), value);
    }
}

fn shards(search: &Search<'_>) -> Value {
    let num_failed = search.missing.len() as u64;
    let mut shards = json!({
        "total": search.num_splits,
        "successful": search.num_splits.saturating_sub(num_failed),
        "skipped": search.num_pruned,
        "failed": num_failed,
    });
    if num_failed > 0 {
        let failures = search.missing.iter().map(|split| {
            json!({
                "shard": 0,
                "node": split.split_id,
                "reason": {"type": "exception", "reason": split.message()},
            })
        });
        put(&mut shards, "failures", failures.collect());
    }
    shards
}
