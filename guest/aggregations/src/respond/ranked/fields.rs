//! Hits of buckets that show fields only. Those that show their documents are in `ranked/hits.rs`.

use serde_json::{Map, Value, json};

use super::super::dialect::Dialect;
use super::super::keys::{Dates, part, shown};
use crate::calendar::Zone;
use crate::partial::TopList;
use crate::request::TopHits;

/// Builds the answer of `top_hits` that shows fields only.
pub(in crate::respond) fn top_hits(
    request: &TopHits,
    list: Option<&TopList>,
    dialect: Dialect,
) -> Value {
    let zone = &Zone::utc();
    let format = dialect.dates();
    let dates = Dates { format, zone };
    let hits = list.map_or(&[][..], |list| &list.hits);
    let hits = hits.iter().skip(request.from).map(|hit| {
        let sort: Vec<Value> = hit
            .sort
            .iter()
            .map(|key| part(key.as_ref(), dates))
            .collect();
        let fields = request.fields.iter().zip(&hit.fields);
        let fields = fields.map(|(name, values)| {
            let values: Vec<Value> = values.iter().map(|key| shown(key, format)).collect();
            (name.clone(), Value::from(values))
        });
        match dialect {
            Dialect::Quickwit => {
                json!({ "sort": sort, "docvalue_fields": Value::Object(fields.collect()) })
            }
            Dialect::Elasticsearch => {
                // A field without a value is omitted.
                let fields =
                    fields.filter(|(_, values)| !values.as_array().is_some_and(Vec::is_empty));
                let fields: Map<String, Value> = fields.collect();
                let mut hit = Map::new();
                hit.insert("_score".to_owned(), Value::Null);
                if !fields.is_empty() {
                    hit.insert("fields".to_owned(), Value::Object(fields));
                }
                hit.insert("sort".to_owned(), Value::from(sort));
                Value::Object(hit)
            }
        }
    });
    let hits: Vec<Value> = hits.collect();
    match dialect {
        Dialect::Quickwit => json!({ "hits": hits }),
        Dialect::Elasticsearch => {
            let num_docs = list.map_or(0, |list| list.num_docs);
            let total = json!({ "value": num_docs, "relation": "eq" });
            json!({ "hits": { "total": total, "max_score": null, "hits": hits } })
        }
    }
}
