//! `inner_hits`: the objects of a hit that a nested clause matches.

use std::cmp::Ordering;

use canter_doc_mapper::DocMapper;
use serde_json::{Map, Value};

use super::entry;
use super::fields::fields_of;
use super::source::{filtered, is_hidden, own, shown_by};
use crate::SearchError;
use crate::query::build_nested;
use crate::request::{ElasticHits, InnerHits, Question, SortOrder, SortTarget};
use crate::root::fetch_docs::Document;
use crate::root::highlight::Highlighters;

/// The parts of a document that its objects have, too.
pub(super) struct OwnParts<'p> {
    /// Its index and id.
    pub(super) shared: &'p [String],
    pub(super) version: String,
    pub(super) seq_no: Option<u64>,
}

/// An object: its place among those at its path, and its JSON text.
type Object<'d> = (usize, &'d str);

/// Returns the objects of a document by the names of the clauses, as JSON.
///
/// # Errors
/// A clause cannot be asked of single objects.
pub(super) fn inner_hits(
    question: &Question,
    shown: &ElasticHits,
    found: &Document<'_>,
    own: &OwnParts<'_>,
) -> Result<String, SearchError> {
    let mapper = &found.split.mapper;
    let text = mapper
        .text_with_objects(&found.document)
        .unwrap_or_default();
    let mut lists = Vec::with_capacity(shown.inner_hits.len());
    for inner in &shown.inner_hits {
        let clause = build_nested(&inner.query, &inner.path, mapper, &question.limits)?;
        let matching = match &clause {
            Some(clause) => clause.matching(mapper, text),
            None => Vec::new(),
        };
        let objects = mapper.objects_at(text, &inner.path);
        let matching = matching.into_iter();
        let mut matching: Vec<Object<'_>> = matching
            .filter_map(|place| Some((place, *objects.get(place)?)))
            .collect();
        let num_matching = matching.len();
        order(&mut matching, inner);
        let mut highlighters = match &inner.highlight {
            None => None,
            Some(highlight) => {
                let query = &inner.query;
                let of_query = Highlighters::of_query(highlight, query, found.split, question)?;
                Some(of_query)
            }
        };
        let wanted = matching.into_iter().skip(inner.from).take(inner.size);
        let hits =
            wanted.map(|object| write(object, inner, question, found, own, highlighters.as_mut()));
        let hits = hits.collect::<Result<Vec<String>, SearchError>>()?;
        let total = match shown.total_is_number {
            true => num_matching.into(),
            false => serde_json::json!({"value": num_matching, "relation": "eq"}),
        };
        let max_score = match num_matching == 0 || !inner.sort.is_empty() {
            true => Value::Null,
            false => 1.0.into(),
        };
        lists.push(format!(
            "{}:{{\"hits\":{{{},{},\"hits\":[{}]}}}}",
            Value::from(inner.name.as_str()),
            entry("total", &total),
            entry("max_score", &max_score),
            hits.join(",")
        ));
    }
    Ok(format!("{{{}}}", lists.join(",")))
}

/// Returns an object as JSON.
fn write(
    (place, object): Object<'_>,
    inner: &InnerHits,
    question: &Question,
    found: &Document<'_>,
    own: &OwnParts<'_>,
    highlighters: Option<&mut Highlighters<'_>>,
) -> Result<String, SearchError> {
    let nested = serde_json::json!({"field": inner.path, "offset": place});
    let mut parts = own.shared.to_vec();
    if inner.versions.version {
        parts.push(own.version.clone());
    }
    if inner.versions.seq_no {
        parts.push(entry("_seq_no", &own.seq_no.into()));
        parts.push(entry("_primary_term", &1.into()));
    }
    parts.push(entry("_nested", &nested));
    let is_sorted = !inner.sort.is_empty();
    parts.push(match is_sorted {
        true => entry("_score", &Value::Null),
        false => entry("_score", &1.0.into()),
    });
    let whole = at_path(object, &inner.path);
    if !inner.source.is_off && !is_hidden(&found.split.mapper) {
        let part = shown_object(object, &inner.path, &found.split.mapper);
        let part = part.as_deref().unwrap_or(object);
        parts.push(format!("\"_source\":{}", filtered(part, &inner.source)));
    }
    if !inner.fields.is_empty() {
        let mut fields = fields_of(&whole, &inner.fields, &found.split.mapper)?;
        if inner.fields.iter().any(|own| own.name == "_seq_no") {
            let seq_no: Vec<Value> = own.seq_no.into_iter().map(Value::from).collect();
            fields.insert("_seq_no".to_owned(), seq_no.into());
        }
        if !fields.is_empty() {
            parts.push(entry("fields", &fields.into()));
        }
    }
    if let Some(highlighters) = highlighters {
        let passages = highlighters.passages(found.split, &whole, question)?;
        let passages = passages.into_iter();
        let passages = passages.filter(|(_, passages)| !passages.is_empty());
        let passages: Map<String, Value> = passages
            .map(|(name, passages)| (name, passages.into()))
            .collect();
        if !passages.is_empty() {
            parts.push(entry("highlight", &passages.into()));
        }
    }
    if is_sorted {
        let values = inner.sort.iter().map(|key| match &key.target {
            SortTarget::Field(name) => sort_value(object, name, &inner.path, key.order),
            SortTarget::Score => 1.0.into(),
            _ => place.into(),
        });
        parts.push(entry("sort", &values.collect()));
    }
    Ok(format!("{{{}}}", parts.join(",")))
}

/// Returns the JSON of a document that has only this object.
fn at_path(object: &str, path: &str) -> String {
    path.rsplit('.').fold(object.to_owned(), |inside, name| {
        format!("{{{}:{inside}}}", Value::from(name))
    })
}

/// Returns the part of an object at a path that its index shows; `None` for all of it.
pub(super) fn shown_object(object: &str, path: &str, mapper: &DocMapper) -> Option<String> {
    let shown = shown_by(&at_path(object, path), mapper)?;
    let mut names = path.split('.');
    let below = names.try_fold(shown.as_str(), |inside, name| own(inside, name));
    Some(below.unwrap_or("{}").to_owned())
}

/// Sorts objects by their values.
fn order(objects: &mut [Object<'_>], inner: &InnerHits) {
    for key in inner.sort.iter().rev() {
        let SortTarget::Field(name) = &key.target else {
            if matches!(key.target, SortTarget::Doc) && key.order == SortOrder::Descending {
                canter_sorting::sort_by(objects, |(left, _), (right, _)| right.cmp(left));
            }
            continue;
        };
        let value = |object: &str| sort_value(object, name, &inner.path, key.order);
        canter_sorting::sort_by(objects, |(_, left), (_, right)| {
            let (left, right) = (value(left), value(right));
            match (left.is_null(), right.is_null()) {
                (true, true) => Ordering::Equal,
                // Absent values come last in both orders, unless the request says otherwise.
                (true, false) if key.missing_first => Ordering::Less,
                (false, true) if key.missing_first => Ordering::Greater,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => match key.order {
                    SortOrder::Ascending => compared(&left, &right),
                    SortOrder::Descending => compared(&right, &left),
                },
            }
        });
    }
}

/// Returns the value of an object by which it is sorted: the least of several in ascending order, or the greatest.
fn sort_value(object: &str, name: &str, path: &str, order: SortOrder) -> Value {
    let own = name
        .strip_prefix(path)
        .and_then(|rest| rest.strip_prefix('.'));
    let object: Value = serde_json::from_str(object).unwrap_or_default();
    let mut found = &object;
    for part in own.unwrap_or(name).split('.') {
        found = found.get(part).unwrap_or(&Value::Null);
    }
    let Value::Array(values) = found else {
        return found.clone();
    };
    let values = values.iter().filter(|value| !value.is_null());
    let best = values.reduce(|best, value| {
        let is_better = match order {
            SortOrder::Ascending => compared(value, best) == Ordering::Less,
            SortOrder::Descending => compared(value, best) == Ordering::Greater,
        };
        if is_better { value } else { best }
    });
    best.cloned().unwrap_or_default()
}

fn compared(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => {
                let float = |number: &serde_json::Number| number.as_f64().unwrap_or_default();
                float(left).total_cmp(&float(right))
            }
        },
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (left, right) => left.to_string().cmp(&right.to_string()),
    }
}
