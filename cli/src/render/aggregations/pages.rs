//! A page of `composite`: a table with a column for each source.

use serde_json::{Map, Value};

use super::asked::One;
use super::rows::{key_text, metrics_of, num_docs_of, push_inner_rows};
use super::{Align, Cell, Column, MAX_ROWS, STEP, Screen, Table, numbers};

pub(super) fn page(
    name: &str,
    result: &Value,
    one: One<'_>,
    screen: &Screen,
    indent: &str,
) -> String {
    let title = Cell::new(name).into_text();
    let buckets: Vec<&Map<String, Value>> = result["buckets"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .collect();
    let keys = buckets
        .first()
        .and_then(|bucket| bucket.get("key")?.as_object());
    let Some(keys) = keys else {
        return format!("{indent}{title}: no buckets\n");
    };
    let mut metrics: Vec<String> = Vec::new();
    for (name, _) in buckets
        .iter()
        .flat_map(|bucket| metrics_of(bucket, one.inside))
    {
        if !metrics.contains(&name) {
            metrics.push(name);
        }
    }
    let mut columns: Vec<Column> = keys
        .keys()
        .map(|key| Column::new(key, Align::Left))
        .collect();
    columns.push(Column::new("documents", Align::Right));
    columns.extend(metrics.iter().map(|name| Column::new(name, Align::Right)));
    let mut table = Table::new(columns);
    for bucket in buckets.iter().take(MAX_ROWS) {
        let own = keys.keys().map(|name| Cell::new(bucket_key(bucket, name)));
        let count = Cell::new(numbers::count(num_docs_of(bucket)));
        let found = metrics_of(bucket, one.inside);
        table.push(
            own.chain([count])
                .chain(metric_cells(&metrics, &found))
                .collect(),
        );
        push_inner_buckets(&mut table, bucket, one, &metrics, keys.len());
    }
    let mut text = format!(
        "{indent}{title}\n{}",
        table.text(screen, &format!("{indent}  "))
    );
    if let Some(more) = buckets.len().checked_sub(MAX_ROWS).filter(|more| *more > 0) {
        let more = numbers::counted(more as u64, "bucket");
        text.push_str(&format!(
            "{indent}  and {more} more; `--format json` shows all\n"
        ));
    }
    if let Some(after) = result.get("after_key") {
        let after = Cell::new(after.to_string()).into_text();
        text.push_str(&format!("{indent}  the next page is after {after}\n"));
    }
    text
}

/// Adds the rows of the aggregations inside of a bucket. `num_keys` columns stand before the count.
fn push_inner_buckets(
    table: &mut Table,
    bucket: &Map<String, Value>,
    one: One<'_>,
    metrics: &[String],
    num_keys: usize,
) {
    let mut rows = Vec::new();
    push_inner_rows(&mut rows, bucket, one.inside, 1);
    for row in rows {
        let label = Cell::new(format!("{}{}", STEP.repeat(row.depth), row.label));
        let Some(num_docs) = row.num_docs else {
            table.push_line(label);
            continue;
        };
        let blank = (1..num_keys).map(|_| Cell::new(""));
        let count = Cell::new(numbers::count(num_docs));
        let cells = [label].into_iter().chain(blank).chain([count]);
        table.push(cells.chain(metric_cells(metrics, &row.metrics)).collect());
    }
}

fn bucket_key(bucket: &Map<String, Value>, name: &str) -> String {
    let key = bucket.get("key").and_then(|keys| keys.get(name));
    key.map(key_text).unwrap_or_default()
}

fn metric_cells(names: &[String], found: &[(String, String)]) -> Vec<Cell> {
    let cells = names.iter().map(|name| {
        let found = found.iter().find(|(known, _)| known == name);
        Cell::new(found.map_or("", |(_, text)| text))
    });
    cells.collect()
}
