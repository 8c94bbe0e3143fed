//! Aggregations, in Elasticsearch's JSON, as tables with bars.
//!
//! Buckets within buckets become stacked bars where there is one level of them with few keys, and
//! indented rows otherwise. What has another shape is shown as the JSON it is.

use serde_json::{Map, Value};

use super::bars::{bar, stacked_bar};
use super::palette::{Fill, fills_of};
use super::{Align, Cell, Colour, Column, Screen, Table, numbers};

/// More keys than this do not make a readable stack.
const MAX_STACK_KEYS: usize = 6;
/// Rows shown at most.
const MAX_ROWS: usize = 200;
const MAX_BAR_WIDTH: usize = 48;
const MIN_BAR_WIDTH: usize = 8;
const MAX_LABEL_WIDTH: usize = 48;
/// How far a bucket stands in from the one it is in.
const STEP: &str = "  ";

/// All aggregations of an answer, one after the other.
pub(crate) fn aggregations(results: &Value, screen: &Screen, indent: &str) -> String {
    let Value::Object(results) = results else {
        return String::new();
    };
    let mut blocks = Vec::new();
    // Single numbers stand together, whatever they are called.
    let mut numbers = Vec::new();
    for (name, result) in results {
        if result.get("buckets").is_none() && result.get("doc_count").is_none() {
            let found = named_numbers(name, result);
            match found.is_empty() {
                true => blocks.push(as_json(name, result, indent)),
                false => numbers.extend(found),
            }
        } else {
            blocks.push(buckets_text(name, result, screen, indent));
        }
    }
    if !numbers.is_empty() {
        blocks.insert(0, number_table(numbers, screen, indent));
    }
    blocks.join("\n")
}

fn buckets_text(name: &str, result: &Value, screen: &Screen, indent: &str) -> String {
    let buckets = match (buckets_of(result), result.as_object()) {
        (Some(buckets), _) => buckets,
        // A filter or the like: one bucket without a key.
        (None, Some(bucket)) => vec![(name.to_owned(), bucket)],
        (None, None) => Vec::new(),
    };
    if buckets.is_empty() {
        return format!("{indent}{}: no buckets\n", Cell::new(name).into_text());
    }
    match Stack::of(&buckets) {
        Some(stack) => bucket_table(name, &stack.rows(&buckets), Some(&stack), screen, indent),
        None => {
            let mut rows = Vec::new();
            push_rows(&mut rows, &buckets, 0);
            bucket_table(name, &rows, None, screen, indent)
        }
    }
}

/// One bucket, ready to be shown.
struct Row {
    label: String,
    depth: usize,
    num_docs: u64,
    parts: Vec<u64>,
    metrics: Vec<(String, String)>,
}

/// A bucket with its label.
type Bucket<'a> = (String, &'a Map<String, Value>);

/// The buckets of a result, if it has any: a list, or an object by key.
fn buckets_of(result: &Value) -> Option<Vec<Bucket<'_>>> {
    let buckets: Vec<Bucket<'_>> = match result.get("buckets")? {
        Value::Array(buckets) => buckets
            .iter()
            .filter_map(|bucket| Some((label_of(bucket), bucket.as_object()?)))
            .collect(),
        Value::Object(buckets) => buckets
            .iter()
            .filter_map(|(key, bucket)| Some((key.clone(), bucket.as_object()?)))
            .collect(),
        _ => return None,
    };
    Some(without_midnight(buckets))
}

fn label_of(bucket: &Value) -> String {
    match bucket.get("key_as_string").or_else(|| bucket.get("key")) {
        Some(Value::String(key)) => key.clone(),
        Some(Value::Number(key)) => key.as_f64().map_or(key.to_string(), plain_number),
        Some(Value::Object(keys)) => keys
            .iter()
            .map(|(name, key)| match key {
                Value::String(key) => format!("{name}: {key}"),
                key => format!("{name}: {key}"),
            })
            .collect::<Vec<_>>()
            .join(", "),
        Some(key) => key.to_string(),
        None => String::new(),
    }
}

/// A key is a name: it is not grouped by thousands.
fn plain_number(key: f64) -> String {
    match key.fract() == 0.0 && key.abs() < 1e15 {
        true => format!("{key:.0}"),
        false => key.to_string(),
    }
}

/// Days without their `T00:00:00Z`, if all of them are whole days.
fn without_midnight(buckets: Vec<Bucket<'_>>) -> Vec<Bucket<'_>> {
    let short = |label: &str| {
        let day = label
            .strip_suffix("T00:00:00Z")
            .or_else(|| label.strip_suffix("T00:00:00.000Z"))?;
        Some(day.to_owned())
    };
    match buckets.iter().all(|(label, _)| short(label).is_some()) {
        true => buckets
            .into_iter()
            .map(|(label, bucket)| (short(&label).unwrap_or(label), bucket))
            .collect(),
        false => buckets,
    }
}

fn num_docs_of(bucket: &Map<String, Value>) -> u64 {
    bucket.get("doc_count").and_then(Value::as_u64).unwrap_or(0)
}

/// What stands in a bucket beside its key and count: the results of sub-aggregations.
fn sub_results(bucket: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    bucket
        .iter()
        .filter(|(name, value)| value.is_object() && *name != "key")
}

fn push_rows(rows: &mut Vec<Row>, buckets: &[Bucket<'_>], depth: usize) {
    for (label, bucket) in buckets {
        rows.push(Row {
            label: label.clone(),
            depth,
            num_docs: num_docs_of(bucket),
            parts: Vec::new(),
            metrics: metrics_of(bucket),
        });
        for (_, result) in sub_results(bucket) {
            if let Some(inner) = buckets_of(result) {
                push_rows(rows, &inner, depth + 1);
            }
        }
    }
}

/// Name and text of each number that sub-aggregations found in a bucket.
fn metrics_of(bucket: &Map<String, Value>) -> Vec<(String, String)> {
    sub_results(bucket)
        .filter(|(_, result)| result.get("buckets").is_none())
        .flat_map(|(name, result)| named_numbers(name, result))
        .collect()
}

/// `name: 5`, or `name.min: 5`, `name.max: 7`, … for a result of several numbers.
fn named_numbers(name: &str, result: &Value) -> Vec<(String, String)> {
    let shown = |value: &Value| match value {
        Value::Number(number) => number.as_f64().map(numbers::real),
        Value::Null => Some("-".to_owned()),
        _ => None,
    };
    let Value::Object(object) = result else {
        return Vec::new();
    };
    if let Some(text) = object.get("value_as_string").and_then(Value::as_str) {
        return vec![(name.to_owned(), text.to_owned())];
    }
    if let Some(text) = object.get("value").and_then(shown) {
        return vec![(name.to_owned(), text)];
    }
    let inner = match object.get("values") {
        Some(Value::Object(values)) => values,
        _ => object,
    };
    inner
        .iter()
        .filter_map(|(key, value)| Some((format!("{name}.{key}"), shown(value)?)))
        .collect()
}

/// The one sub-aggregation whose buckets are stacked, and its keys, the largest first.
struct Stack {
    name: String,
    keys: Vec<String>,
}

impl Stack {
    fn of(buckets: &[Bucket<'_>]) -> Option<Stack> {
        let mut name: Option<&String> = None;
        let mut totals: Vec<(String, u64)> = Vec::new();
        for (_, bucket) in buckets {
            for (sub_name, result) in sub_results(bucket) {
                let Some(inner) = buckets_of(result) else {
                    continue;
                };
                if *name.get_or_insert(sub_name) != sub_name {
                    return None;
                }
                for (key, inner_bucket) in inner {
                    if sub_results(inner_bucket).next().is_some() {
                        return None;
                    }
                    let num_docs = num_docs_of(inner_bucket);
                    match totals.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, total)) => *total += num_docs,
                        None => totals.push((key, num_docs)),
                    }
                }
            }
        }
        totals.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
        let keys: Vec<String> = totals.into_iter().map(|(key, _)| key).collect();
        (1..=MAX_STACK_KEYS).contains(&keys.len()).then_some(Stack {
            name: name?.clone(),
            keys,
        })
    }

    fn rows(&self, buckets: &[Bucket<'_>]) -> Vec<Row> {
        let part = |bucket: &Map<String, Value>, key: &String| {
            let inner = buckets_of(bucket.get(&self.name)?)?;
            let found = inner.iter().find(|(label, _)| label == key)?;
            Some(num_docs_of(found.1))
        };
        buckets
            .iter()
            .map(|(label, bucket)| Row {
                label: label.clone(),
                depth: 0,
                num_docs: num_docs_of(bucket),
                parts: self
                    .keys
                    .iter()
                    .map(|key| part(bucket, key).unwrap_or(0))
                    .collect(),
                metrics: metrics_of(bucket),
            })
            .collect()
    }
}

fn bucket_table(
    name: &str,
    rows: &[Row],
    stack: Option<&Stack>,
    screen: &Screen,
    indent: &str,
) -> String {
    let keys = stack.map_or(&[][..], |stack| &stack.keys);
    let fills = fills_of(keys, screen);
    let mut metric_names: Vec<&String> = Vec::new();
    for (metric, _) in rows.iter().flat_map(|row| &row.metrics) {
        if !metric_names.contains(&metric) {
            metric_names.push(metric);
        }
    }
    let bar_width = bar_width(name, rows, keys, &metric_names, screen, indent);
    let mut columns = vec![
        Column::new(name, Align::Left),
        Column::new("documents", Align::Right),
        Column::new("", Align::Whole),
    ];
    let more = keys.iter().chain(metric_names.iter().copied());
    columns.extend(more.map(|title| Column::new(title, Align::Right)));
    let mut table = Table::new(columns);
    // A bucket in a bucket is measured against its neighbours, not against the one it is in.
    let max_at = |depth: usize| {
        let at_depth = rows.iter().filter(|row| row.depth == depth);
        at_depth.map(|row| row.num_docs).max().unwrap_or(0)
    };
    for row in rows.iter().take(MAX_ROWS) {
        let max = max_at(row.depth);
        let drawn = match stack {
            Some(_) => stacked(row, &fills, max, bar_width, screen),
            None => bar(
                row.num_docs as f64,
                max as f64,
                bar_width,
                depth_colour(row.depth),
                screen,
            ),
        };
        let mut cells = vec![
            Cell::new(format!("{}{}", STEP.repeat(row.depth), row.label)),
            Cell::new(numbers::count(row.num_docs)),
            Cell::painted(drawn),
        ];
        cells.extend(row.parts.iter().zip(&fills).map(|(part, fill)| {
            let colour = (*part > 0).then_some(fill.colour);
            Cell::new(numbers::count(*part)).in_colour(colour)
        }));
        cells.extend(metric_names.iter().map(|name| {
            let found = row.metrics.iter().find(|(known, _)| known == *name);
            Cell::new(found.map_or("", |(_, text)| text))
        }));
        table.push(cells);
    }
    let mut text = table.text(screen, indent);
    if rows.len() > MAX_ROWS {
        text.push_str(&format!(
            "{indent}and {} more; `--format json` shows all\n",
            numbers::counted((rows.len() - MAX_ROWS) as u64, "bucket")
        ));
    }
    if stack.is_some() && !screen.has_colour {
        text.push_str(&legend(keys, &fills, indent));
    }
    text
}

/// The parts of a row's bar; documents without any of the keys stay blank.
fn stacked(row: &Row, fills: &[Fill], max: u64, width: usize, screen: &Screen) -> String {
    let parts: Vec<(u64, Fill)> = row
        .parts
        .iter()
        .copied()
        .zip(fills.iter().copied())
        .collect();
    stacked_bar(&parts, max, width, screen)
}

fn depth_colour(depth: usize) -> Colour {
    match depth {
        0 => Colour::Cyan,
        _ => Colour::Blue,
    }
}

/// Which character stands for which key, where colours do not tell.
fn legend(keys: &[String], fills: &[Fill], indent: &str) -> String {
    let parts: Vec<String> = keys
        .iter()
        .zip(fills)
        .map(|(key, fill)| format!("{} {}", fill.character, Cell::new(key).into_text()))
        .collect();
    format!("{indent}{}\n", parts.join("   "))
}

/// What the other columns leave of the screen.
fn bar_width(
    name: &str,
    rows: &[Row],
    keys: &[String],
    metric_names: &[&String],
    screen: &Screen,
    indent: &str,
) -> usize {
    let width = |text: &str| console::measure_text_width(text);
    let labels = rows
        .iter()
        .map(|row| width(&row.label) + STEP.len() * row.depth);
    let label = labels
        .max()
        .unwrap_or(0)
        .max(width(name))
        .min(MAX_LABEL_WIDTH);
    let parts = keys.iter().enumerate().map(|(ord, key)| {
        let widest = rows.iter().filter_map(|row| row.parts.get(ord)).max();
        let widest = widest.map_or(0, |part| numbers::count(*part).len());
        widest.max(width(key)) + 2
    });
    let metrics = metric_names.iter().map(|name| {
        let texts = rows.iter().flat_map(|row| &row.metrics);
        let widest = texts
            .filter(|(known, _)| known == *name)
            .map(|(_, text)| text.len());
        widest.max().unwrap_or(0).max(width(name)) + 2
    });
    let widest_count = rows.iter().map(|row| numbers::count(row.num_docs).len());
    let count = widest_count.max().unwrap_or(0).max("documents".len());
    let taken = indent.len() + label + count + 4 + parts.sum::<usize>() + metrics.sum::<usize>();
    screen
        .width
        .saturating_sub(taken)
        .clamp(MIN_BAR_WIDTH, MAX_BAR_WIDTH)
}

/// Numbers under each other.
fn number_table(numbers: Vec<(String, String)>, screen: &Screen, indent: &str) -> String {
    let mut table = Table::new(vec![
        Column::new("", Align::Left),
        Column::new("", Align::Right),
    ]);
    for (name, text) in numbers {
        table.push(vec![Cell::new(name), Cell::new(text)]);
    }
    table.text(screen, indent)
}

/// A result of a shape that is not known here, as it is.
fn as_json(name: &str, result: &Value, indent: &str) -> String {
    let json = serde_json::to_string_pretty(result).unwrap_or_default();
    let json = json.replace('\n', &format!("\n{indent}"));
    format!("{indent}{}: {json}\n", Cell::new(name).into_text())
}

#[cfg(test)]
mod tests;
