//! The hits of `top_hits` and `top_metrics`: as a table, and as a line inside a bucket.

use serde_json::Value;

use super::asked::One;
use super::rows::key_text;
use super::{Align, Cell, Column, Screen, Table};

/// Returns the hits of a result that has them.
pub(super) fn hits_of(result: &Value) -> Option<&Vec<Value>> {
    let hits = result.get("hits").or_else(|| result.get("top"));
    hits.and_then(Value::as_array)
}

/// Returns the names and texts of a hit, its sort values first. A field that is also shown occurs once.
fn fields(hit: &Value, one: One<'_>) -> Vec<(String, String)> {
    let names = one.sort_fields();
    let shown = hit.get("docvalue_fields").or_else(|| hit.get("metrics"));
    let shown = shown.and_then(Value::as_object);
    let is_shown = |name: &str| shown.is_some_and(|shown| shown.contains_key(name));
    let sort = hit.get("sort").and_then(Value::as_array);
    let sort = sort
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(place, value)| {
            let name = names.get(place).map(|name| (*name).to_owned());
            (name.unwrap_or_else(|| "sort".to_owned()), key_text(value))
        });
    let sort = sort.filter(|(name, _)| !is_shown(name));
    let shown = shown.into_iter().flatten();
    let shown = shown.map(|(name, values)| {
        let values = match values {
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        let texts: Vec<String> = values.iter().map(key_text).collect();
        (name.clone(), texts.join(", "))
    });
    sort.chain(shown).collect()
}

/// Returns `duration: 466, time: 2024-05-01T00:00:00Z`.
pub(super) fn line(hit: &Value, one: One<'_>) -> String {
    let fields = fields(hit, one);
    let fields = fields.iter().map(|(name, text)| format!("{name}: {text}"));
    fields.collect::<Vec<_>>().join(", ")
}

/// Returns a table with a row for each hit, and a column for each field.
pub(super) fn table(
    name: &str,
    hits: &[Value],
    one: One<'_>,
    screen: &Screen,
    indent: &str,
) -> String {
    let title = Cell::new(name).into_text();
    let Some(first) = hits.first() else {
        return format!("{indent}{title}: no hits\n");
    };
    let columns = fields(first, one);
    let columns = columns
        .iter()
        .map(|(name, _)| Column::new(name, Align::Left));
    let mut table = Table::new(columns.collect());
    for hit in hits {
        let texts = fields(hit, one).into_iter();
        table.push(texts.map(|(_, text)| Cell::new(text)).collect());
    }
    format!(
        "{indent}{title}\n{}",
        table.text(screen, &format!("{indent}  "))
    )
}
