//! `fields` and `docvalue_fields`: values of a document by name, each as a list.

use canter_aggregations::format_date;
use canter_doc_mapper::{DocMapper, FieldKind};
use canter_geo::{Point, read_points};
use canter_names::matches_pattern;
use serde_json::{Map, Value, json};

use super::source::{elements, entries};
use super::usual_date;
use crate::SearchError;
use crate::request::AS_IN_COLUMN;

/// Returns the values of fields that match the wanted names or patterns, with dates in their formats.
///
/// # Errors
/// An unknown format.
pub(in crate::root) fn fields_of(
    document: &str,
    wanted: &[(String, Option<String>)],
    mapper: &DocMapper,
) -> Result<Map<String, Value>, SearchError> {
    let mut fields = Map::new();
    collect(document, "", wanted, mapper, &mut fields)?;
    Ok(fields)
}

fn collect(
    json: &str,
    path: &str,
    wanted: &[(String, Option<String>)],
    mapper: &DocMapper,
    fields: &mut Map<String, Value>,
) -> Result<(), SearchError> {
    if add_places(json, path, wanted, mapper, fields)? {
        return Ok(());
    }
    if let Some(entries) = entries(json) {
        return entries.iter().try_for_each(|(name, value)| {
            let path = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            collect(value.get(), &path, wanted, mapper, fields)
        });
    }
    if let Some(elements) = elements(json) {
        return elements
            .iter()
            .try_for_each(|value| collect(value.get(), path, wanted, mapper, fields));
    }
    let own = wanted.iter().find(|(name, _)| matches_pattern(name, path));
    let others = further_names(path, wanted, mapper);
    if own.is_none() && others.is_empty() {
        return Ok(());
    }
    let value: Value = serde_json::from_str(json).unwrap_or(Value::Null);
    if value.is_null() {
        return Ok(());
    }
    for name in others {
        if let Some(text) = mapper.text_as(&name, &value) {
            add(fields, &name, text.into())?;
        }
    }
    let Some((_, format)) = own else {
        return Ok(());
    };
    let value = match dated(&value, path, mapper) {
        Some(ns) => match format {
            Some(format) if format != AS_IN_COLUMN => format_date(ns, format)
                .map_err(SearchError::invalid)?
                .into(),
            _ => usual_date(ns).into(),
        },
        None => value,
    };
    add(fields, path, value)
}

/// Adds the points of a field of points, however they are written. Returns `false` for another field.
fn add_places(
    json: &str,
    path: &str,
    wanted: &[(String, Option<String>)],
    mapper: &DocMapper,
    fields: &mut Map<String, Value>,
) -> Result<bool, SearchError> {
    let own = wanted.iter().find(|(name, _)| matches_pattern(name, path));
    let Some((_, format)) = own.filter(|_| !path.is_empty()) else {
        return Ok(false);
    };
    if !matches!(mapper.kind_of(path), Some(FieldKind::GeoPoint(_))) {
        return Ok(false);
    }
    let value: Value = serde_json::from_str(json).unwrap_or(Value::Null);
    let mut points = Vec::new();
    // A value that was ignored as malformed is none.
    if read_points(&value, &mut |point| points.push(point)).is_err() {
        return Ok(true);
    }
    for point in points {
        let shown = match format.as_deref() {
            None | Some("geojson") => {
                json!({"type": "Point", "coordinates": [point.lon, point.lat]})
            }
            Some("wkt") => format!("POINT ({:?} {:?})", point.lon, point.lat).into(),
            Some(AS_IN_COLUMN) => {
                let point = Point::of_code(point.code());
                format!("{:?}, {:?}", point.lat, point.lon).into()
            }
            Some(other) => {
                return Err(SearchError::invalid(format!(
                    "{path}: points have the formats geojson and wkt, and not {other:?}"
                )));
            }
        };
        add(fields, path, shown)?;
    }
    Ok(true)
}

fn add(fields: &mut Map<String, Value>, name: &str, value: Value) -> Result<(), SearchError> {
    match fields
        .entry(name)
        .or_insert_with(|| Value::Array(Vec::new()))
    {
        Value::Array(list) => list.push(value),
        _ => return Err(SearchError::internal("the values of a field are no list")),
    }
    Ok(())
}

/// Returns the further names of the value at a path that are wanted: ways in which a text is indexed besides, such as
/// `level.keyword`. A pattern stands for those that the mapping has, and a name for itself.
fn further_names(
    path: &str,
    wanted: &[(String, Option<String>)],
    mapper: &DocMapper,
) -> Vec<String> {
    let mut names = Vec::new();
    for (name, is_mapped) in mapper.further_names(path) {
        let is_wanted = wanted.iter().any(|(wanted, _)| match wanted.contains('*') {
            true => is_mapped && matches_pattern(wanted, &name),
            false => *wanted == name,
        });
        if is_wanted {
            names.push(name);
        }
    }
    names
}

/// Returns the time of a value of a date field.
fn dated(value: &Value, path: &str, mapper: &DocMapper) -> Option<i64> {
    let field = mapper.resolve(path)?;
    if !matches!(field.kind, FieldKind::Date(_)) {
        return None;
    }
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let date = field.parse_date(&text)?;
    Some(date.into_timestamp_nanos())
}
