//! `inner_hits`: the objects of a hit that a nested clause matches.

use canter_doc_mapper::DocMapper;
use serde_json::{Map, Value};
use tantivy::TantivyDocument;

use super::entry;
use super::source::filtered;
use crate::SearchError;
use crate::limits::Limits;
use crate::query::build_nested;
use crate::request::InnerHits;

/// Returns the objects of a document by the names of the clauses, as JSON. `own` has the parts of each that are
/// those of the document.
///
/// # Errors
/// A clause cannot be asked of single objects.
pub(super) fn inner_hits(
    asked: &[InnerHits],
    document: &TantivyDocument,
    mapper: &DocMapper,
    own: &[String],
    limits: &Limits,
) -> Result<String, SearchError> {
    let text = mapper.text_with_objects(document).unwrap_or_default();
    let mut lists = Vec::with_capacity(asked.len());
    for inner in asked {
        let clause = build_nested(&inner.query, &inner.path, mapper, limits)?;
        let matching = match &clause {
            Some(clause) => clause.matching(mapper, text),
            None => Vec::new(),
        };
        let objects = mapper.objects_at(text, &inner.path);
        let shown = matching.iter().skip(inner.from).take(inner.size);
        let shown = shown.filter_map(|place| Some((*place, *objects.get(*place)?)));
        let hits: Vec<String> = shown
            .map(|(place, object)| {
                let nested = serde_json::json!({"field": inner.path, "offset": place});
                let mut parts = own.to_vec();
                parts.push(entry("_nested", &nested));
                parts.push(entry("_score", &1.0.into()));
                if !inner.source.is_off {
                    parts.push(format!("\"_source\":{}", filtered(object, &inner.source)));
                }
                format!("{{{}}}", parts.join(","))
            })
            .collect();
        let mut total = Map::new();
        total.insert("value".to_owned(), matching.len().into());
        total.insert("relation".to_owned(), "eq".into());
        let max_score = match matching.is_empty() {
            true => Value::Null,
            false => 1.0.into(),
        };
        lists.push(format!(
            "{}:{{\"hits\":{{{},{},\"hits\":[{}]}}}}",
            Value::from(inner.name.as_str()),
            entry("total", &total.into()),
            entry("max_score", &max_score),
            hits.join(",")
        ));
    }
    Ok(format!("{{{}}}", lists.join(",")))
}
