//! Aggregations, in Elasticsearch's JSON, as tables with bars.
//!
//! Nested buckets become stacked bars if there is one level of them with few keys, and indented rows
//! otherwise. An answer does not contain the kinds of its results, so the request is used as well. A
//! result of an unknown shape is shown as JSON.

mod asked;
mod figures;
mod hits;
mod pages;
mod picture;
mod rows;

use serde_json::Value;

use self::asked::Asked;
use self::figures::{figures, named_numbers};
pub(crate) use self::picture::ChartFile;
use self::rows::{Row, Stack, buckets_of, push_rows};
use super::terminal::{Fill, fills_of};
use super::terminal::{bar, stacked_bar};
use super::{Align, Cell, Colour, Column, Screen, Table, numbers};

/// Maximum number of keys in a readable stack.
const MAX_STACK_KEYS: usize = 6;
/// Maximum number of rows.
const MAX_ROWS: usize = 200;
const MAX_BAR_WIDTH: usize = 48;
const MIN_BAR_WIDTH: usize = 8;
const MAX_LABEL_WIDTH: usize = 48;
/// Indentation of a bucket within its parent.
const STEP: &str = "  ";

/// Formats all aggregations of an answer, one after another. `request` is the request's `aggs`, or
/// null.
pub(crate) fn aggregations(
    results: &Value,
    request: &Value,
    screen: &Screen,
    indent: &str,
) -> String {
    let Value::Object(results) = results else {
        return String::new();
    };
    let asked = Asked::new(request);
    let mut blocks = Vec::new();
    // Single numbers are shown together, whatever their names.
    let mut numbers = Vec::new();
    for (name, result) in results {
        let one = asked.of(name);
        if result.get("after_key").is_some() || one.kind == "composite" {
            blocks.push(pages::page(name, result, one, screen, indent));
        } else if result.get("buckets").is_some() || result.get("doc_count").is_some() {
            blocks.push(buckets_text(name, result, one, screen, indent));
        } else if let Some(hits) = hits::hits_of(result) {
            blocks.push(hits::table(name, hits, one, screen, indent));
        } else if let Some(text) = figures(name, result, one, screen, indent) {
            blocks.push(text);
        } else {
            let found = named_numbers(name, result, one);
            match found.is_empty() {
                true => blocks.push(as_json(name, result, indent)),
                false => numbers.extend(found),
            }
        }
    }
    if !numbers.is_empty() {
        blocks.insert(0, number_table(numbers, screen, indent));
    }
    blocks.join("\n")
}

fn buckets_text(
    name: &str,
    result: &Value,
    one: asked::One<'_>,
    screen: &Screen,
    indent: &str,
) -> String {
    let buckets = match (buckets_of(result, one), result.as_object()) {
        (Some(buckets), _) => buckets,
        // A filter or the like: one bucket without a key.
        (None, Some(bucket)) => vec![(name.to_owned(), bucket)],
        (None, None) => Vec::new(),
    };
    if buckets.is_empty() {
        return format!("{indent}{}: no buckets\n", Cell::new(name).into_text());
    }
    match Stack::of(&buckets, one.inside) {
        Some(stack) => {
            let rows = stack.rows(&buckets, one.inside);
            bucket_table(name, &rows, Some(&stack), screen, indent)
        }
        None => {
            let mut rows = Vec::new();
            push_rows(&mut rows, &buckets, one.inside, 0);
            bucket_table(name, &rows, None, screen, indent)
        }
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
    let metric_names = metric_names_of(rows);
    let bar_width = bar_width(name, rows, keys, &metric_names, screen, indent);
    let mut columns = vec![
        Column::new(name, Align::Left),
        Column::new("documents", Align::Right),
        Column::new("", Align::Whole),
    ];
    let more = keys.iter().chain(metric_names.iter().copied());
    columns.extend(more.map(|title| Column::new(title, Align::Right)));
    let mut table = Table::new(columns);
    // A nested bucket is measured against its siblings, not against its parent.
    let max_at = |depth: usize| {
        let at_depth = rows.iter().filter(|row| row.depth == depth);
        at_depth.filter_map(|row| row.num_docs).max().unwrap_or(0)
    };
    for row in rows.iter().take(MAX_ROWS) {
        if row.num_docs.is_none() {
            let text = format!("{}{}", STEP.repeat(row.depth), row.label);
            table.push_line(Cell::new(text));
            continue;
        }
        let max = max_at(row.depth);
        let drawn = match stack {
            Some(_) => stacked(row, &fills, max, bar_width, screen),
            None => bar(
                row.num_docs.unwrap_or(0) as f64,
                max as f64,
                bar_width,
                depth_colour(row.depth),
                screen,
            ),
        };
        let mut cells = vec![
            Cell::new(format!("{}{}", STEP.repeat(row.depth), row.label)),
            Cell::new(row.num_docs.map(numbers::count).unwrap_or_default()),
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

/// Returns the names of all metrics, in the order in which they appear.
fn metric_names_of(rows: &[Row]) -> Vec<&String> {
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.metrics) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the parts of a row's bar; documents without any of the keys stay blank.
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

/// Returns the character of each key, where colours do not show it.
fn legend(keys: &[String], fills: &[Fill], indent: &str) -> String {
    let parts: Vec<String> = keys
        .iter()
        .zip(fills)
        .map(|(key, fill)| format!("{} {}", fill.character, Cell::new(key).into_text()))
        .collect();
    format!("{indent}{}\n", parts.join("   "))
}

/// Returns the width that the other columns leave on the screen.
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
        .filter(|row| row.num_docs.is_some())
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
    let counts = rows.iter().filter_map(|row| row.num_docs);
    let widest_count = counts.map(|count| numbers::count(count).len());
    let count = widest_count.max().unwrap_or(0).max("documents".len());
    let taken = indent.len() + label + count + 4 + parts.sum::<usize>() + metrics.sum::<usize>();
    screen
        .width
        .saturating_sub(taken)
        .clamp(MIN_BAR_WIDTH, MAX_BAR_WIDTH)
}

/// Returns a table of numbers.
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

/// Returns a result of an unknown shape as JSON.
fn as_json(name: &str, result: &Value, indent: &str) -> String {
    let json = serde_json::to_string_pretty(result).unwrap_or_default();
    let json = json.replace('\n', &format!("\n{indent}"));
    format!("{indent}{}: {json}\n", Cell::new(name).into_text())
}

#[cfg(test)]
mod tests;
