//! Tables of `_cat`, as lines of text or as JSON.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::{Response as HttpResponse, StatusCode};
use axum::response::Response;
use canter_names::matches_pattern;
use serde_json::Value;
use url::form_urlencoded;

use crate::http::{Api, Refuse};
use crate::requests::{Params, Problem};

/// A table: the names of its columns, and its rows, each with as many cells.
pub(super) struct Table {
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

/// The form in which a table is wanted.
pub(super) struct Form {
    is_json: bool,
    is_pretty: bool,
    has_header: bool,
    is_help: bool,
    /// Columns by name; all if absent.
    shown: Option<String>,
    sorted: Option<String>,
}

impl Form {
    /// Takes the form out of a query; returns the other parameters, too.
    pub(super) fn read(query: &str) -> Result<(Self, Params), String> {
        let mut is_json = false;
        let mut others = form_urlencoded::Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match (&*name, &*value) {
                ("format", "json") => is_json = true,
                ("format", "text") => {}
                _ => drop(others.append_pair(&name, &value)),
            }
        }
        let mut params = Params::of(&others.finish())?;
        let form = Self {
            is_json,
            is_pretty: params.is_pretty,
            has_header: params.flag("v")?.unwrap_or(false),
            is_help: params.flag("help")?.unwrap_or(false),
            shown: params.text("h"),
            sorted: params.text("s"),
        };
        Ok((form, params))
    }
}

impl Table {
    /// Adds columns that are asked for, without values.
    pub(super) fn add_asked(&mut self, form: &Form, unknown: &[&'static str]) {
        let asked = form.shown.as_deref().unwrap_or_default();
        for name in asked.split(',').map(str::trim) {
            let found = unknown.iter().find(|own| **own == name);
            let Some(column) = found.filter(|own| !self.columns.contains(*own)) else {
                continue;
            };
            self.columns.push(*column);
            self.rows
                .iter_mut()
                .for_each(|row| row.push("-".to_owned()));
        }
    }

    /// Writes the table.
    ///
    /// # Errors
    /// If a column to sort by has another name.
    pub(super) fn write(mut self, form: &Form, api: Api) -> Result<Response, Problem> {
        if form.is_help {
            let names = self.columns.iter();
            let lines: String = names.map(|name| format!("{name} | {name} |\n")).collect();
            return Ok(text(lines));
        }
        let shown = match &form.shown {
            Some(list) => {
                let columns = self.columns.iter().map(|name| (*name, &[][..]));
                shown_columns(list, columns)
            }
            None => (0..self.columns.len()).collect(),
        };
        for key in form.sorted.as_deref().unwrap_or_default().rsplit(',') {
            let (key, order) = key.split_once(':').unwrap_or((key, "asc"));
            let column = self.columns_of(key)?.first().copied();
            let Some(column) = column else { continue };
            self.rows.sort_by(|one, other| match order {
                "desc" => other.get(column).cmp(&one.get(column)),
                _ => one.get(column).cmp(&other.get(column)),
            });
        }
        let cells = |row: &Vec<String>| -> Vec<String> {
            let cells = shown.iter().map(|column| row.get(*column).cloned());
            cells.map(Option::unwrap_or_default).collect()
        };
        let names: Vec<String> = self.columns.iter().map(|name| (*name).to_owned()).collect();
        let (names, rows) = (cells(&names), self.rows.iter().map(cells));
        if form.is_json {
            let objects = rows.map(|row| {
                let cells = row.into_iter().map(Value::from);
                Value::Object(names.iter().cloned().zip(cells).collect())
            });
            let objects: Vec<Value> = objects.collect();
            return Ok(api.answer(StatusCode::OK, &objects.into(), form.is_pretty));
        }
        let header = form.has_header.then_some(names);
        Ok(text(lines_of(
            &header.into_iter().chain(rows).collect::<Vec<_>>(),
        )))
    }

    fn columns_of(&self, list: &str) -> Result<Vec<usize>, Problem> {
        let names = list
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        names
            .map(|name| {
                let mut all = self.columns.iter();
                all.position(|own| *own == name).ok_or_else(|| {
                    let all = self.columns.join(", ");
                    Problem::illegal(format!("there is no column [{name}]; there are {all}"))
                })
            })
            .collect()
    }
}

/// Returns the places of the columns in a list of names, short names and patterns, each once. Unknown names are ignored, as in
/// Elasticsearch.
pub(in crate::managing) fn shown_columns<'c>(
    list: &str,
    columns: impl Iterator<Item = (&'c str, &'c [&'c str])> + Clone,
) -> Vec<usize> {
    let mut shown = Vec::new();
    for pattern in list.split(',').map(str::trim) {
        for (column, (name, short)) in columns.clone().enumerate() {
            let is_meant = matches_pattern(pattern, name) || short.contains(&pattern);
            if is_meant && !shown.contains(&column) {
                shown.push(column);
            }
        }
    }
    shown
}

/// Returns rows as lines, with columns as wide as their cells.
fn lines_of(rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let line: String = cells
            .map(|(cell, width)| format!("{cell:<width$} "))
            .collect();
        out.push_str(line.trim_end_matches(' '));
        out.push('\n');
    }
    out
}

/// Returns lines of text for people.
pub(super) fn text(lines: String) -> Response {
    let mut response = HttpResponse::new(Body::from(lines));
    let content_type = HeaderValue::from_static("text/plain; charset=UTF-8");
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}
