//! The patterns of messages in place of hits: what programs wrote, without the values, and what is new of it.

use std::io::{self, BufWriter, Write};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::args::SearchArgs;
use super::missing;
use super::output::write_json;
use super::run::{OpenIndex, request_of};
use crate::args::Format;
use crate::render::{Align, Cell, Colour, Column, Screen, Table, cost_line, numbers};

/// Name of the aggregation.
const NAME: &str = "patterns";

/// Name of what is counted inside of each: its documents before the time from which on patterns are new.
const BEFORE: &str = "before";

/// Searches and shows the patterns of a field; an empty name stands for the one that queries search by default.
pub(super) fn run(
    index: &OpenIndex,
    args: &SearchArgs,
    field: &str,
    screen: &Screen,
) -> Result<()> {
    let config = match field.is_empty() || args.new_since.is_some() {
        true => index.config()?,
        false => Value::Null,
    };
    let by_default = &config["search_settings"]["default_search_fields"];
    let field = match (field, by_default[0].as_str()) {
        ("", None) => bail!("no field is searched by default; name one: --patterns=FIELD"),
        ("", Some(field)) => field,
        (field, _) => field,
    };
    let what = json!({"field": field, "size": args.max_hits.max(1)});
    let mut aggs = json!({NAME: {"categorize_text": what}});
    if let Some(since) = args.new_since {
        let time = config["doc_mapping"]["timestamp_field"].as_str();
        let time = time.context("the index has no timestamp field, so no pattern is newer")?;
        let since = jiff::Timestamp::from_second(since)?;
        aggs[NAME]["aggs"] = json!({BEFORE: {"filter": format!("{time}:<\"{since}\"")}});
    }
    let mut request = request_of(args);
    request["max_hits"] = 0.into();
    request["start_offset"] = 0.into();
    request["aggs"] = aggs;
    let (answer, _) = index.search(&request)?;
    let mut response = answer.parsed()?.json;
    let is_answered = missing::check_answered(&response);
    let cost = cost_line(&response);
    if !args.profile
        && let Value::Object(fields) = &mut response
    {
        fields.shift_remove("profile");
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match args.format.on(screen) {
        Format::Json => write_json(&mut out, &response, screen)?,
        _ => {
            out.write_all(table_of(&response, args.new_since.is_some(), screen).as_bytes())?;
            writeln!(out, "{}", screen.paint(Colour::Dim, &cost))?;
        }
    }
    out.flush()?;
    missing::warn_of(&response);
    is_answered
}

/// Returns the patterns, most documents first.
fn table_of(response: &Value, has_news: bool, screen: &Screen) -> String {
    let buckets = response["aggregations"][NAME]["buckets"].as_array();
    let num_hits = response["num_hits"].as_u64().unwrap_or_default();
    let mut columns = vec![
        Column::new("documents", Align::Right),
        Column::new("share", Align::Right),
    ];
    if has_news {
        columns.push(Column::new("", Align::Left));
    }
    columns.push(Column::new("pattern", Align::Left));
    let mut table = Table::new(columns);
    for bucket in buckets.into_iter().flatten() {
        let count = bucket["doc_count"].as_u64().unwrap_or_default();
        let mut row = vec![
            Cell::new(numbers::count(count)),
            Cell::new(numbers::share(count, num_hits).unwrap_or_default()),
        ];
        if has_news {
            let is_new = bucket[BEFORE]["doc_count"] == 0;
            let news = if is_new { "new" } else { "" };
            row.push(Cell::new(news).in_colour(Some(Colour::Green)));
        }
        row.push(Cell::new(bucket["pattern"].as_str().unwrap_or_default()));
        table.push(row);
    }
    let found = numbers::counted(num_hits, "document");
    format!("{}{found}\n", table.text(screen, ""))
}
