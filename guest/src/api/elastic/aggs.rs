//! Aggregations in the body of a search: those that cover other documents than its query, and the places of hits in
//! their buckets.

use serde_json::{Map, Value};

use crate::SearchError;

type Object = Map<String, Value>;

/// Function that takes what it wants from an object with a path.
type Take<'f> = &'f mut dyn FnMut(&mut Object, &str) -> Result<(), SearchError>;

/// Aggregations, by the documents that they cover.
#[derive(Default)]
pub(super) struct ByDocuments {
    /// Those of the documents that match the query.
    pub(super) of_query: Object,
    /// Those of all documents.
    pub(super) global: Object,
}

impl ByDocuments {
    pub(super) fn of(aggs: &Value) -> Self {
        let mut divided = Self::default();
        for (name, agg) in aggs.as_object().into_iter().flatten() {
            let into = match agg.get("global").is_some() {
                true => &mut divided.global,
                false => &mut divided.of_query,
            };
            into.insert(name.clone(), agg.clone());
        }
        divided
    }
}

/// Takes what each `top_hits` says about the contents of hits, and leaves the number of its form. `read` returns a form,
/// and what is left of the body.
///
/// # Errors
/// Those of `read`.
pub(super) fn take_forms<T>(
    aggs: &mut Value,
    read: &dyn Fn(Object) -> Result<(T, Object), SearchError>,
) -> Result<Vec<T>, SearchError> {
    let mut forms = Vec::new();
    take_level(aggs, "aggs", &mut |body, path| {
        let form = forms.len();
        let (found, rest) = read(std::mem::take(body)).map_err(|error| error.at(path))?;
        forms.push(found);
        *body = rest;
        body.insert("_form".to_owned(), form.into());
        Ok(())
    })?;
    Ok(forms)
}

/// Calls a function for the body of each `top_hits`, with its path.
fn take_level(aggs: &mut Value, path: &str, take: Take<'_>) -> Result<(), SearchError> {
    for (name, agg) in aggs.as_object_mut().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let Some(agg) = agg.as_object_mut() else {
            continue;
        };
        if let Some(Value::Object(body)) = agg.get_mut("top_hits") {
            take(body, &format!("{path}.top_hits"))?;
        }
        for key in ["aggs", "aggregations"] {
            if let Some(inside) = agg.get_mut(key) {
                take_level(inside, &format!("{path}.aggs"), take)?;
            }
        }
    }
    Ok(())
}
