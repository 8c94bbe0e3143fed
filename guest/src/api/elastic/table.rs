//! `_cat/indices`: a table of indexes, as JSON or for people.

use std::cmp::Ordering;

use canter_names::matches_pattern;
use canter_split_format::ManifestFile;
use serde_json::{Map, Value};

use super::call::counts;
use super::cluster::text;
use super::errors::elastic_response;
use super::params::UrlParams;
use crate::SearchError;
use crate::api::settings::ApiSettings;
use crate::session::protocol::HttpResponse;

/// The columns there are.
static COLUMNS: [&str; 10] = [
    "health",
    "status",
    "index",
    "uuid",
    "pri",
    "rep",
    "docs.count",
    "docs.deleted",
    "store.size",
    "pri.store.size",
];

/// Units of bytes, each 1,024 times the one before.
const UNITS: [&str; 11] = ["b", "kb", "mb", "gb", "tb", "pb", "k", "m", "g", "t", "p"];

/// How the table is to look.
#[derive(Debug)]
pub(crate) struct Table {
    is_json: bool,
    /// Names, in which `*` stands for any text. What no column is called is not shown, as Elasticsearch has it.
    columns: Vec<String>,
    has_header: bool,
    /// Sizes are numbers of so many bytes.
    unit: Option<u64>,
    /// No index is as the table's are to be.
    is_empty: bool,
    /// Columns, and whether the largest comes first.
    sort: Vec<(String, bool)>,
}

impl Table {
    /// # Errors
    /// If a value is none of those there are.
    pub(super) fn of(params: &mut UrlParams) -> Result<Self, SearchError> {
        let columns = params.names("h").unwrap_or_else(|| vec!["*".to_owned()]);
        let health = params.choice("health", &["green", "yellow", "red"])?;
        let is_empty = health.is_some_and(|health| health != "green");
        let unit = params.choice("bytes", &UNITS)?;
        let unit = unit.and_then(|unit| {
            let initials = "bkmgtp".chars();
            let mut powers = (0_u32..).zip(initials);
            let power = powers.find(|(_, initial)| unit.starts_with(*initial))?.0;
            Some(1_u64 << (10 * power))
        });
        let sort = params.names("s").unwrap_or_default().into_iter();
        let sort = sort.map(|key| {
            let (name, order) = key.split_once(':').unwrap_or((key.as_str(), "asc"));
            match COLUMNS.contains(&name) && matches!(order, "asc" | "desc") {
                true => Ok((name.to_owned(), order == "desc")),
                false => Err(SearchError::invalid(format!(
                    "Unable to sort by unknown sort key `{key}`: there are {}, each with :asc or :desc",
                    COLUMNS.join(", ")
                ))),
            }
        });
        Ok(Self {
            sort: sort.collect::<Result<_, _>>()?,
            is_json: params.is_json()?,
            columns,
            has_header: params.flag("v")?.unwrap_or(false),
            unit,
            is_empty,
        })
    }

    /// The table of these indexes.
    pub(super) fn response(
        &self,
        found: &[(String, ManifestFile)],
        settings: &ApiSettings,
    ) -> HttpResponse {
        let rows = found.iter().filter(|_| !self.is_empty);
        let mut rows: Vec<Map<String, Value>> = rows
            .map(|(name, file)| self.row(name, file, settings))
            .collect();
        canter_sorting::sort_by(&mut rows, |left, right| self.compare(left, right));
        // Each once, however often it is named.
        let mut columns: Vec<&str> = Vec::new();
        for name in &self.columns {
            for own in COLUMNS {
                if matches_pattern(name, own) && !columns.contains(&own) {
                    columns.push(own);
                }
            }
        }
        if self.is_json {
            let rows = rows.iter().map(|row| {
                let cells = columns.iter();
                let cells =
                    cells.filter_map(|name| Some(((*name).to_owned(), row.get(*name)?.clone())));
                Value::Object(cells.collect())
            });
            return elastic_response(200, &rows.collect());
        }
        let mut lines: Vec<Vec<&str>> = Vec::new();
        if self.has_header {
            lines.push(columns.clone());
        }
        for row in &rows {
            let cells = columns.iter().map(|name| cell(row, name).unwrap_or("-"));
            lines.push(cells.collect());
        }
        text(aligned(&lines))
    }

    fn row(&self, name: &str, file: &ManifestFile, settings: &ApiSettings) -> Map<String, Value> {
        let counts = counts(file, settings);
        let shown = |of: fn((u64, u64, u64)) -> u64| match counts {
            Some(counts) => Value::from(of(counts).to_string()),
            None => Value::Null,
        };
        let size = counts.map_or(Value::Null, |(_, _, bytes)| match self.unit {
            Some(unit) => (bytes / unit.max(1)).to_string().into(),
            None => format!("{bytes}b").into(),
        });
        let values = [
            "green".into(),
            "open".into(),
            name.into(),
            name.into(),
            "1".into(),
            "0".into(),
            shown(|(num_live, _, _)| num_live),
            shown(|(_, num_deleted, _)| num_deleted),
            size.clone(),
            size,
        ];
        let names = COLUMNS.iter().map(|column| (*column).to_owned());
        names.zip(values).collect()
    }

    fn compare(&self, left: &Map<String, Value>, right: &Map<String, Value>) -> Ordering {
        // Numbers by their values.
        let number = |text: &str| text.trim_end_matches('b').parse::<u64>();
        for (column, is_descending) in &self.sort {
            let (left, right) = (cell(left, column), cell(right, column));
            let order = match (left.map(number), right.map(number)) {
                (Some(Ok(left)), Some(Ok(right))) => left.cmp(&right),
                _ => left.cmp(&right),
            };
            if order != Ordering::Equal {
                return match is_descending {
                    true => order.reverse(),
                    false => order,
                };
            }
        }
        Ordering::Equal
    }
}

fn cell<'r>(row: &'r Map<String, Value>, name: &str) -> Option<&'r str> {
    row.get(name).and_then(Value::as_str)
}

/// Lines of cells below each other.
fn aligned(lines: &[Vec<&str>]) -> String {
    let mut widths = [0_usize; COLUMNS.len()];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut body = String::new();
    for line in lines {
        for (place, (cell, width)) in line.iter().zip(widths).enumerate() {
            body.push_str(cell);
            if place + 1 < line.len() {
                let missing = width.saturating_sub(cell.chars().count());
                body.push_str(&" ".repeat(missing + 1));
            }
        }
        body.push('\n');
    }
    body
}
