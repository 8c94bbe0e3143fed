//! Aliases as they are: `_alias` and `_cat/aliases`, on servers that only search, too.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use canter_index_builder::{Alias, Aliases};
use canter_names::{MayBeAbsent, listed_names, matches_pattern};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use crate::http::{Api, Refuse};
use crate::indexes::expand;
use crate::managing::tools::shown_columns;
use crate::requests::{Params, Problem};

/// Columns of `_cat/aliases`: the name, shorter names, and a description.
const COLUMNS: [(&str, &[&str], &str); 6] = [
    ("alias", &["a"], "alias name"),
    ("index", &["i", "idx"], "index alias points to"),
    ("filter", &["f", "fi"], "filter"),
    ("routing.index", &["ri", "routingIndex"], "index routing"),
    ("routing.search", &["rs", "routingSearch"], "search routing"),
    ("is_write_index", &["w", "isWriteIndex"], "write index"),
];

/// Cells of a row.
type Row = [String; 6];

/// What is to be shown.
struct Asked {
    is_table: bool,
    /// Names and patterns of indexes and of aliases; all if absent.
    indexes: Option<String>,
    aliases: Option<String>,
}

impl Asked {
    fn of(path: &str) -> Option<Self> {
        let path = path.strip_prefix("/api/v1/_elastic").unwrap_or(path);
        let segments = path.split('/').filter(|part| !part.is_empty());
        let segments: Vec<String> = segments
            .map(|part| percent_decode_str(part).decode_utf8_lossy().into_owned())
            .collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let asked = |indexes: Option<&str>, aliases: Option<&str>, is_table| {
            Some(Self {
                is_table,
                indexes: indexes.map(str::to_owned),
                aliases: aliases.map(str::to_owned),
            })
        };
        let is_index = |name: &str| !name.starts_with('_') || name == "_all";
        match segments[..] {
            ["_cat", "aliases"] => asked(None, None, true),
            ["_cat", "aliases", names] => asked(None, Some(names), true),
            ["_alias" | "_aliases"] => asked(None, None, false),
            ["_alias" | "_aliases", names] => asked(None, Some(names), false),
            [index, "_alias" | "_aliases"] if is_index(index) => asked(Some(index), None, false),
            [index, "_alias" | "_aliases", names] if is_index(index) => {
                asked(Some(index), Some(names), false)
            }
            _ => None,
        }
    }
}

/// Answers a request to show aliases of the indexes that the caller may know of; `None` for other requests.
pub(crate) fn shown(
    parts: &Parts,
    api: Api,
    aliases: &Aliases,
    indexes: impl FnOnce() -> Vec<String>,
) -> Option<Response> {
    let is_read = parts.method == Method::GET || parts.method == Method::HEAD;
    let asked = Asked::of(parts.uri.path()).filter(|_| is_read)?;
    let query = parts.uri.query().unwrap_or_default();
    Some(match answered(&asked, query, api, aliases, &indexes()) {
        Ok(response) => response,
        Err(problem) => api.refusal_of(problem.status, problem.kind, &problem.reason),
    })
}

fn answered(
    asked: &Asked,
    query: &str,
    api: Api,
    aliases: &Aliases,
    indexes: &[String],
) -> Result<Response, Problem> {
    let (mut params, ignores_missing, is_json) = read(query, asked.is_table)?;
    let may_be_absent = match ignores_missing {
        Some(true) => MayBeAbsent::Everything,
        _ => MayBeAbsent::Patterns,
    };
    let list = asked.indexes.as_deref().unwrap_or("_all");
    let list = expand(list, aliases, indexes, 0)?.names;
    let listed = listed_names(&list, indexes, may_be_absent).map_err(Problem::no_index)?;
    let listed: BTreeSet<String> = listed.into_iter().map(|listed| listed.name).collect();
    let (names, missing) = chosen(asked.aliases.as_deref(), aliases, &listed);
    if asked.is_table {
        return table(&names, aliases, &listed, &mut params, is_json, api);
    }
    params.finish().map_err(Problem::illegal)?;
    let mut answer = Map::new();
    for index in &listed {
        let of_index = names.iter().filter_map(|name| {
            let alias = aliases.get(name)?.get(index)?;
            Some((name.clone(), serde_json::to_value(alias).ok()?))
        });
        let of_index: Map<String, Value> = of_index.collect();
        if asked.aliases.is_none() || !of_index.is_empty() {
            answer.insert(index.clone(), json!({"aliases": of_index}));
        }
    }
    let mut status = StatusCode::OK;
    if !missing.is_empty() {
        status = StatusCode::NOT_FOUND;
        let word = if missing.len() == 1 {
            "alias"
        } else {
            "aliases"
        };
        let missing: Vec<String> = missing.into_iter().collect();
        answer.insert(
            "error".to_owned(),
            format!("{word} [{}] missing", missing.join(",")).into(),
        );
        answer.insert("status".to_owned(), status.as_u16().into());
    }
    let answer = Value::from(answer);
    let answer = match &params.filter_path {
        Some(filter) => filter.apply(answer),
        None => answer,
    };
    Ok(api.answer(status, &answer, params.is_pretty))
}

/// Reads the parameters that lists and tables share: these, whether missing indexes are left out, and whether a table is
/// wanted as JSON.
fn read(query: &str, is_table: bool) -> Result<(Params, Option<bool>, bool), Problem> {
    let is_json = form_urlencoded::parse(query.as_bytes())
        .any(|(name, value)| name == "format" && value == "json");
    let without_format: String = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(
            form_urlencoded::parse(query.as_bytes())
                .filter(|(name, _)| name != "format" || !is_table),
        )
        .finish();
    let mut params = Params::of(&without_format).map_err(Problem::illegal)?;
    let ignores_missing = params
        .flag("ignore_unavailable")
        .map_err(Problem::illegal)?;
    for flag in ["local", "allow_no_indices"] {
        params.flag(flag).map_err(Problem::illegal)?;
    }
    for text in [
        "expand_wildcards",
        "master_timeout",
        "cluster_manager_timeout",
    ] {
        params.text(text);
    }
    Ok((params, ignores_missing, is_json))
}

/// Returns the aliases that a list of names and patterns matches, and the names that match none.
fn chosen(
    list: Option<&str>,
    aliases: &Aliases,
    indexes: &BTreeSet<String>,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let there = aliases
        .iter()
        .filter(|(_, of)| of.keys().any(|index| indexes.contains(index)));
    let there: Vec<&String> = there.map(|(name, _)| name).collect();
    let mut names = BTreeSet::new();
    let mut missing = BTreeSet::new();
    // Names may begin with `-`, too.
    let mut is_first = true;
    for part in list
        .unwrap_or("_all")
        .split(',')
        .filter(|part| !part.is_empty())
    {
        if let Some(excluded) = part.strip_prefix('-').filter(|_| !is_first) {
            names.retain(|name: &String| !matches_pattern(excluded, name));
            continue;
        }
        let pattern = if part == "_all" { "*" } else { part };
        let num_before = names.len();
        let matching = there.iter().filter(|name| matches_pattern(pattern, name));
        names.extend(matching.map(|name| (*name).clone()));
        is_first = false;
        if names.len() == num_before && !pattern.contains('*') && !names.contains(part) {
            missing.insert(part.to_owned());
        }
    }
    (names, missing)
}

fn table(
    names: &BTreeSet<String>,
    aliases: &Aliases,
    indexes: &BTreeSet<String>,
    params: &mut Params,
    is_json: bool,
    api: Api,
) -> Result<Response, Problem> {
    let flag = |flag: Result<Option<bool>, String>| {
        flag.map(|flag| flag == Some(true))
            .map_err(Problem::illegal)
    };
    let (is_help, has_header) = (flag(params.flag("help"))?, flag(params.flag("v"))?);
    let columns = match params.text("h") {
        Some(list) => shown_columns(
            &list,
            COLUMNS.iter().map(|(name, short, _)| (*name, *short)),
        ),
        None => (0..COLUMNS.len()).collect(),
    };
    let sorted = params.text("s");
    params.text("time");
    params.finish().map_err(Problem::illegal)?;
    if is_help {
        let lines = COLUMNS.map(|(name, short, about)| {
            format!("{name:<16} | {:<16} | {about} \n", short.join(","))
        });
        return Ok(text(&lines.concat()));
    }
    let mut rows: Vec<Row> = Vec::new();
    for name in names {
        for (index, alias) in aliases.get(name).into_iter().flatten() {
            if indexes.contains(index) {
                rows.push(row(name, index, alias));
            }
        }
    }
    for key in sorted
        .as_deref()
        .unwrap_or_default()
        .split(',')
        .rev()
        .filter(|key| !key.is_empty())
    {
        let (key, order) = key.split_once(':').unwrap_or((key, "asc"));
        let column = columns_of(key)?.first().copied().unwrap_or_default();
        rows.sort_by(|one, other| match order {
            "desc" => other[column].cmp(&one[column]),
            _ => one[column].cmp(&other[column]),
        });
    }
    if is_json {
        let object = |row: &Row| {
            let cells = columns
                .iter()
                .map(|column| (COLUMNS[*column].0.to_owned(), row[*column].clone().into()));
            Value::Object(cells.collect())
        };
        let answer: Vec<Value> = rows.iter().map(object).collect();
        return Ok(api.answer(StatusCode::OK, &answer.into(), params.is_pretty));
    }
    if has_header {
        rows.insert(0, COLUMNS.map(|(name, ..)| name.to_owned()));
    }
    Ok(text(&lines_of(&rows, &columns)))
}

/// Returns rows as lines, with the chosen columns as wide as their cells.
fn lines_of(rows: &[Row], columns: &[usize]) -> String {
    let width = |column: &usize| {
        rows.iter()
            .map(|row| row[*column].chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = columns.iter().map(width).collect();
    let mut out = String::new();
    for row in rows {
        for (column, width) in columns.iter().zip(&widths) {
            out.push_str(&format!("{:<width$} ", row[*column]));
        }
        // Empty cells and the last column end their line.
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
    out
}

fn row(name: &str, index: &str, alias: &Alias) -> Row {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    [
        name.to_owned(),
        index.to_owned(),
        if alias.filter.is_some() { "*" } else { "-" }.to_owned(),
        or_none(&alias.index_routing),
        or_none(&alias.search_routing),
        alias
            .is_write_index
            .map_or_else(|| "-".to_owned(), |flag| flag.to_string()),
    ]
}

/// Returns the columns to sort by.
///
/// # Errors
/// If there is none of a name.
fn columns_of(list: &str) -> Result<Vec<usize>, Problem> {
    let column = |name: &str| {
        let mut all = COLUMNS.iter();
        let found = all.position(|(own, short, _)| *own == name || short.contains(&name));
        found
            .ok_or_else(|| Problem::illegal(format!("there is no column [{name}] of _cat/aliases")))
    };
    list.split(',').map(str::trim).map(column).collect()
}

fn text(lines: &str) -> Response {
    let mut response = Response::new(Body::from(lines.to_owned()));
    let content_type = axum::http::HeaderValue::from_static("text/plain; charset=UTF-8");
    response
        .headers_mut()
        .insert(axum::http::header::CONTENT_TYPE, content_type);
    response
}
