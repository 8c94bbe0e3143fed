//! Results that are numbers: one, several, or points of a distribution.

use serde_json::Value;

use super::super::terminal::bar;
use super::asked::One;
use super::rows::key_text;
use super::{Align, Cell, Colour, Column, MAX_BAR_WIDTH, MIN_BAR_WIDTH, Screen, Table, numbers};

/// Extended statistics that fit into a row; the others follow from these.
const SPREAD: [&str; 5] = ["count", "min", "max", "avg", "std_deviation"];

/// Formats percentiles, ranks and extended statistics. `None` for anything else.
pub(super) fn figures(
    name: &str,
    result: &Value,
    one: One<'_>,
    screen: &Screen,
    indent: &str,
) -> Option<String> {
    let title = format!("{indent}{}\n", Cell::new(name).into_text());
    if result.get("std_deviation_bounds").is_some() {
        return Some(format!("{title}{}", spread(result, screen, indent)));
    }
    let points = points(result)?;
    let text = match one.kind {
        "percentile_ranks" => ranks(&points, screen, indent),
        _ => percentiles(&points, screen, indent),
    };
    Some(title + &text)
}

/// Returns `name: 5`, or `name.min: 5`, `name.max: 7`, … for a result of several numbers.
pub(super) fn named_numbers(name: &str, result: &Value, one: One<'_>) -> Vec<(String, String)> {
    let Value::Object(object) = result else {
        return Vec::new();
    };
    let as_text = |key: &str| {
        object
            .get(&format!("{key}_as_string"))
            .and_then(Value::as_str)
    };
    let text_of = |key: &str| match (as_text(key), object.get(key)?) {
        (Some(text), _) => Some(text.to_owned()),
        (None, value) => shown(value),
    };
    if let Some(text) = text_of("value") {
        return vec![(name.to_owned(), text)];
    }
    if let Some(points) = points(result) {
        let mark = match one.kind {
            "percentile_ranks" => "up to ",
            _ => "p",
        };
        let named = points.iter().map(|(key, value)| {
            let text = value.map_or("-".to_owned(), numbers::real);
            (format!("{name} {mark}{key}"), text)
        });
        return named.collect();
    }
    let has_spread = object.contains_key("std_deviation_bounds");
    let keys = object.keys().map(String::as_str);
    let keys = keys.filter(|key| !has_spread || SPREAD.contains(key));
    keys.filter_map(|key| Some((format!("{name}.{key}"), text_of(key)?)))
        .collect()
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => number.as_f64().map(numbers::real),
        Value::Null => Some("-".to_owned()),
        _ => None,
    }
}

/// Returns the names and values of a distribution's points, given by name or in a list.
fn points(result: &Value) -> Option<Vec<(String, Option<f64>)>> {
    let short = |key: &str| match key.parse::<f64>() {
        Ok(number) => numbers::real(number),
        Err(_) => key.to_owned(),
    };
    match result.get("values")? {
        Value::Object(values) => {
            let values = values
                .iter()
                .filter(|(key, _)| !key.ends_with("_as_string"));
            Some(
                values
                    .map(|(key, value)| (short(key), value.as_f64()))
                    .collect(),
            )
        }
        Value::Array(values) => {
            let points = values.iter().map(|point| {
                let key = short(&key_text(point.get("key")?));
                Some((key, point.get("value")?.as_f64()))
            });
            points.collect()
        }
        _ => None,
    }
}

/// Formats the points below each other, and a line from the smallest to the largest with a mark at each.
fn percentiles(points: &[(String, Option<f64>)], screen: &Screen, indent: &str) -> String {
    let mut table = Table::new(vec![
        Column::new("", Align::Left),
        Column::new("", Align::Right),
    ]);
    for (key, value) in points {
        let text = value.map_or("-".to_owned(), numbers::real);
        table.push(vec![Cell::new(format!("p{key}")), Cell::new(text)]);
    }
    let indent = format!("{indent}  ");
    table.text(screen, &indent) + &line(points, screen, &indent).unwrap_or_default()
}

/// Returns `12.5 |------|---------| 420`, with the names of the marks below where they fit.
fn line(points: &[(String, Option<f64>)], screen: &Screen, indent: &str) -> Option<String> {
    let marks: Vec<(&str, f64)> = points
        .iter()
        .filter_map(|(key, value)| Some((key.as_str(), (*value)?)))
        .collect();
    let values = marks.iter().map(|(_, value)| *value);
    let least = values.clone().reduce(f64::min)?;
    let most = values.reduce(f64::max)?;
    let (from, to) = (numbers::real(least), numbers::real(most));
    let span = most - least;
    let room = screen
        .width
        .checked_sub(indent.len() + from.len() + to.len() + 2)?;
    if span <= 0.0 || !span.is_finite() || room < MIN_BAR_WIDTH {
        return None;
    }
    let width = room.min(MAX_BAR_WIDTH);
    let mut drawn = vec![screen.either('─', '-'); width];
    let mut below = vec![' '; width + 8];
    let mut next_free = 0;
    for (key, value) in marks {
        let place = ((value - least) / span * (width - 1) as f64).round() as usize;
        if let Some(mark) = drawn.get_mut(place) {
            *mark = screen.either('┼', '|');
        }
        let name: Vec<char> = format!("p{key}").chars().collect();
        let fits = place >= next_free && place + name.len() <= below.len();
        if let Some(free) = below.get_mut(place..place + name.len()).filter(|_| fits) {
            free.copy_from_slice(&name);
            next_free = place + name.len() + 1;
        }
    }
    let drawn: String = drawn.into_iter().collect();
    let drawn = screen.paint(Colour::Cyan, &drawn);
    let below: String = below.into_iter().collect();
    let below = format!("{indent}{}{below}", " ".repeat(from.len() + 1));
    Some(format!(
        "{indent}{from} {drawn} {to}\n{}\n",
        below.trim_end()
    ))
}

/// Formats the percentage up to each value.
fn ranks(points: &[(String, Option<f64>)], screen: &Screen, indent: &str) -> String {
    let mut table = Table::new(vec![
        Column::new("up to", Align::Right),
        Column::new("percent", Align::Right),
        Column::new("", Align::Whole),
    ]);
    let width = screen
        .width
        .saturating_sub(40)
        .clamp(MIN_BAR_WIDTH, MAX_BAR_WIDTH);
    for (key, value) in points {
        let text = value.map_or("-".to_owned(), |value| format!("{value:.2}"));
        let drawn = bar(value.unwrap_or(0.0), 100.0, width, Colour::Cyan, screen);
        table.push(vec![Cell::new(key), Cell::new(text), Cell::painted(drawn)]);
    }
    table.text(screen, &format!("{indent}  "))
}

/// Formats extended statistics in four rows: of all values, of their squares, and the bounds around the average.
fn spread(result: &Value, screen: &Screen, indent: &str) -> String {
    let text = |value: &Value| shown(value).unwrap_or_default();
    let stat = |key: &str| match result.get(format!("{key}_as_string")) {
        Some(Value::String(text)) => text.clone(),
        _ => text(&result[key]),
    };
    let bounds = &result["std_deviation_bounds"];
    let rows = [
        ["count", "min", "max"].map(|key| (key, stat(key))),
        ["avg", "sum", "sum_of_squares"].map(|key| (key, stat(key))),
        [
            ("deviation", stat("std_deviation")),
            ("lower", text(&bounds["lower"])),
            ("upper", text(&bounds["upper"])),
        ],
        [
            ("of a sample", stat("std_deviation_sampling")),
            ("its lower", text(&bounds["lower_sampling"])),
            ("its upper", text(&bounds["upper_sampling"])),
        ],
    ];
    let indent = format!("{indent}  ");
    // If four rows are too wide, each number has its own.
    let wide = pairs(rows.iter().map(|row| row.as_slice()), 3);
    wide.fitted(screen, &indent).unwrap_or_else(|| {
        let narrow = rows.iter().flatten().map(std::slice::from_ref);
        pairs(narrow, 1).text(screen, &indent)
    })
}

/// Returns a table of names and texts, with `num_pairs` pairs per row.
fn pairs<'a>(rows: impl Iterator<Item = &'a [(&'static str, String)]>, num_pairs: usize) -> Table {
    let pair = [Align::Whole, Align::Right].map(|align| Column::new("", align));
    let columns = (0..num_pairs).flat_map(|_| pair.clone());
    let mut table = Table::new(columns.collect());
    for row in rows {
        let cells = row.iter().flat_map(|(key, text)| {
            let key = key.replace('_', " ");
            [Cell::new(key).in_colour(Some(Colour::Dim)), Cell::new(text)]
        });
        table.push(cells.collect());
    }
    table
}
