//! Hits as a table, or one below the other if they have too many fields for a table.

use serde_json::{Map, Value};

use super::terminal::colour_of_level;
use super::{Align, Cell, Colour, Column, Screen, Table};

/// Maximum number of columns of a readable table.
const MAX_COLUMNS: usize = 12;
/// Maximum width of a value that is shown in full.
const MAX_VALUE_WIDTH: usize = 2_000;

/// Formats the hits; an empty string for none.
pub(crate) fn hits(hits: &[Value], screen: &Screen, indent: &str) -> String {
    let rows: Vec<Vec<(String, &Value)>> = hits.iter().map(flatten).collect();
    let mut paths: Vec<&str> = Vec::new();
    for (path, _) in rows.iter().flatten() {
        if !paths.contains(&path.as_str()) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return String::new();
    }
    let table = (paths.len() <= MAX_COLUMNS).then(|| table_of(&paths, &rows));
    match table.and_then(|table| table.fitted(screen, indent)) {
        Some(text) => text,
        None => records(&rows, screen, indent),
    }
}

fn table_of(paths: &[&str], rows: &[Vec<(String, &Value)>]) -> Table {
    let find = |row: &[(String, &Value)], path: &str| -> Option<Value> {
        let found = row.iter().find(|(known, _)| known == path);
        found.map(|(_, value)| (*value).clone())
    };
    let columns = paths.iter().map(|path| {
        let is_number = rows
            .iter()
            .filter_map(|row| find(row, path))
            .all(|value| value.is_number());
        Column::new(*path, if is_number { Align::Right } else { Align::Left })
    });
    let mut table = Table::new(columns.collect());
    for row in rows {
        let cells = paths.iter().map(|path| {
            let text = find(row, path).map_or(String::new(), |value| text_of(&value));
            Cell::new(&text).in_colour(colour_of_level(&text))
        });
        table.push(cells.collect());
    }
    table
}

/// Returns a block of lines per hit.
fn records(rows: &[Vec<(String, &Value)>], screen: &Screen, indent: &str) -> String {
    let mut text = String::new();
    for (ord, row) in rows.iter().enumerate() {
        let heading = format!("hit {}", ord + 1);
        text.push_str(&format!(
            "{indent}{}\n",
            screen.paint(Colour::Bold, &heading)
        ));
        let mut table = Table::new(vec![
            Column::new("", Align::Left),
            Column::new("", Align::Left),
        ]);
        for (path, value) in row {
            let value = text_of(value);
            table.push(vec![
                Cell::new(path).in_colour(Some(Colour::Dim)),
                Cell::new(&value).in_colour(colour_of_level(&value)),
            ]);
        }
        text.push_str(&table.text(screen, &format!("{indent}  ")));
    }
    text
}

/// Returns the leaves of a hit with their paths.
fn flatten(hit: &Value) -> Vec<(String, &Value)> {
    fn walk<'a>(
        prefix: &str,
        object: &'a Map<String, Value>,
        leaves: &mut Vec<(String, &'a Value)>,
    ) {
        for (key, value) in object {
            let path = match prefix {
                "" => key.clone(),
                _ => format!("{prefix}.{key}"),
            };
            match value {
                Value::Object(inner) if !inner.is_empty() => walk(&path, inner, leaves),
                _ => leaves.push((path, value)),
            }
        }
    }
    let mut leaves = Vec::new();
    match hit {
        Value::Object(object) => walk("", object, &mut leaves),
        other => leaves.push(("hit".to_owned(), other)),
    }
    leaves
}

/// Formats a value without quotes; a list by its members.
fn text_of(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(values) if values.iter().all(|value| !value.is_object()) => {
            values.iter().map(text_of).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    match text.char_indices().nth(MAX_VALUE_WIDTH) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(width: usize, answer: Value, expect: &str) {
        let answer = answer.as_array().cloned().unwrap_or_default();
        let text = hits(&answer, &Screen::plain(width, true), "");
        assert_eq!(text, expect.trim_start_matches('\n'));
    }

    #[test]
    fn nested_fields_are_columns_of_their_path() {
        check(
            80,
            json!([
                {"n": 1, "resource": {"service": "a"}, "tags": ["x", "y"]},
                {"n": 23, "resource": {"service": "b"}, "more": true},
            ]),
            "
 n  resource.service  tags  more
 1  a                 x, y
23  b                       true
",
        );
    }

    #[test]
    fn too_many_fields_are_shown_one_below_the_other() {
        let hit: Map<String, Value> = (0..14).map(|n| (format!("f{n:02}"), n.into())).collect();
        let text = hits(&[hit.into()], &Screen::plain(40, true), "");
        assert!(text.starts_with("hit 1\n"), "{text}");
        assert!(text.contains("  f13  13\n"), "{text}");
    }

    #[test]
    fn no_hits_are_no_text() {
        check(80, json!([]), "");
    }
}
