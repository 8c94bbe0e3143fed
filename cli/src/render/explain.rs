//! A plan for people: the treatment of each split, the reads, and their price.

use canter_runtime::{Explanation, PlannedRead};
use serde_json::Value;

use super::timeline::short_name;
use super::{Align, Cell, Colour, Column, Screen, Table, numbers};
use crate::prices::{Prices, QueryPrice, Usage};

/// Maximum number of splits and ranges shown; the rest are counted.
const MAX_ROWS: usize = 40;

/// Formats the plan's account, its reads and its price.
pub(crate) fn explanation(
    explained: &Explanation,
    usage: &Usage,
    prices: &Prices,
    screen: &Screen,
) -> String {
    let title = |text: &str| screen.paint(Colour::Bold, text);
    let mut text = format!(
        "{}\n{}\n{}\n{}\n{}\n{}",
        title(&splits_line(&explained.plan)),
        splits_table(&explained.plan, screen),
        read_line(explained),
        title(&next_line(&explained.planned)),
        reads_table(&explained.planned, screen),
        needs_lines(usage),
    );
    let of_query = prices.of(usage);
    if !of_query.is_empty() {
        let heading = format!("USD for a million such queries, prices of {}", prices.as_of);
        let assumptions = screen.paint(Colour::Dim, &assumptions_line(prices));
        let table = prices_table(&of_query, screen);
        text.push_str(&format!("\n{}\n{table}{assumptions}\n", title(&heading)));
    }
    text
}

fn splits_of(plan: &Value) -> &[Value] {
    plan["splits"].as_array().map_or(&[], Vec::as_slice)
}

/// Returns `8 splits: 3 to search, 1 answered by its head, 4 left out`.
fn splits_line(plan: &Value) -> String {
    let splits = splits_of(plan);
    let num = plan["num_splits"].as_u64().unwrap_or(splits.len() as u64);
    let becoming = |decision: &str| {
        let with = splits.iter().filter(|split| split["decision"] == decision);
        with.map(num_splits_of).sum::<u64>()
    };
    let parts = [
        (becoming("search"), "to search"),
        (becoming("later"), "if these are not enough"),
        (becoming("head"), "answered by the head"),
        (becoming("cached"), "in the cache"),
        (becoming("pruned"), "left out"),
        (becoming("failed"), "failed"),
    ];
    let parts = parts.iter().filter(|(num, _)| *num > 0);
    let parts: Vec<String> = parts
        .map(|(num, what)| format!("{} {what}", numbers::count(*num)))
        .collect();
    match parts.is_empty() {
        true => numbers::counted(num, "split"),
        false => format!("{}: {}", numbers::counted(num, "split"), parts.join(", ")),
    }
}

/// Returns the number of splits in a row: one, or those of a page.
fn num_splits_of(row: &Value) -> u64 {
    row["num_splits"].as_u64().unwrap_or(1)
}

/// Returns a table with a row for each split, in the guest's order.
fn splits_table(plan: &Value, screen: &Screen) -> String {
    let mut table = Table::new(vec![
        Column::new("split", Align::Whole),
        Column::new("documents", Align::Right),
        Column::new("becomes", Align::Whole),
        Column::new("because", Align::Left),
    ]);
    let splits = splits_of(plan);
    for split in splits.iter().take(MAX_ROWS) {
        let text = |key: &str| split[key].as_str().unwrap_or("");
        let (becomes, colour) = match text("decision") {
            "search" => ("searched", Some(Colour::Green)),
            "later" => ("if needed", Some(Colour::Dim)),
            "head" => ("head only", Some(Colour::Cyan)),
            "cached" => ("cached", Some(Colour::Cyan)),
            "pruned" => ("left out", Some(Colour::Dim)),
            "failed" => ("failed", Some(Colour::Red)),
            other => (other, None),
        };
        let id: String = match num_splits_of(split) {
            1 => text("split_id").chars().take(8).collect(),
            num => numbers::counted(num, "split"),
        };
        let num_docs = split["num_docs"].as_u64().map(numbers::count);
        table.push(vec![
            Cell::new(id),
            Cell::new(num_docs.unwrap_or_default()),
            Cell::new(becomes).in_colour(colour),
            Cell::new(text("reason")),
        ]);
    }
    listed(&table, splits.len(), "split", screen)
}

/// Returns the cost of the plan itself.
fn read_line(explained: &Explanation) -> String {
    let profile = &explained.profile;
    format!(
        "Read for this plan: {}, {}, {}.{}",
        numbers::counted(profile.num_waves, "wave"),
        numbers::counted(profile.num_requests, "request"),
        numbers::bytes(profile.num_bytes),
        vectors_line(&explained.plan["vectors"])
    )
}

/// Returns what of this was read to find the nearest vectors; nothing if none were wanted.
fn vectors_line(vectors: &Value) -> String {
    let num = |key: &str| vectors[key].as_u64().unwrap_or(0);
    let Some(is_exact) = vectors["exact"].as_bool() else {
        return String::new();
    };
    format!(
        "\nThe nearest vectors: {} and {} compared, {}.",
        numbers::counted(num("clusters"), "cluster"),
        numbers::counted(num("compared"), "exact vector"),
        match is_exact {
            true => "which is exact",
            false => "which is approximate",
        }
    )
}

/// Returns the size of the next wave.
fn next_line(planned: &[PlannedRead]) -> String {
    match planned.len() as u64 {
        0 => "No split has to be read".to_owned(),
        num => format!(
            "To read next, in one wave: {}, {}",
            numbers::counted(num, "request"),
            numbers::bytes(planned.iter().map(|read| read.length).sum())
        ),
    }
}

/// Returns a table with a row for each range of the next wave.
fn reads_table(planned: &[PlannedRead], screen: &Screen) -> String {
    let mut table = Table::new(vec![
        Column::new("object", Align::Left),
        Column::new("holds", Align::Whole),
        Column::new("from byte", Align::Right),
        Column::new("bytes", Align::Right),
        Column::new("reads", Align::Right),
    ]);
    for read in planned.iter().take(MAX_ROWS) {
        table.push(vec![
            Cell::new(short_name(&read.object)),
            Cell::new(read.class.as_str().replace('_', " ")),
            Cell::new(numbers::count(read.offset)),
            Cell::new(numbers::bytes(read.length)),
            Cell::new(numbers::count(u64::from(read.num_reads))),
        ]);
    }
    listed(&table, planned.len(), "request", screen)
}

/// Returns the minimum needs of the answer, and possible additional ones.
fn needs_lines(usage: &Usage) -> String {
    let documents = match usage.max_documents {
        0 => String::new(),
        max => format!(
            "Up to {} more fetch the documents of its hits.\n",
            numbers::counted(max, "request")
        ),
    };
    format!(
        "An answer takes at least {}, {} and {}.\n{documents}",
        numbers::counted(usage.num_waves, "wave"),
        numbers::counted(usage.num_requests, "request"),
        numbers::bytes(usage.num_bytes)
    )
}

/// Returns a table with a row for each service, in USD for a million queries.
fn prices_table(prices: &[QueryPrice], screen: &Screen) -> String {
    let mut table = Table::new(vec![
        Column::new("service", Align::Left),
        Column::new("requests", Align::Right),
        Column::new("transfer", Align::Right),
        Column::new("compute", Align::Right),
        Column::new("together", Align::Right),
        Column::new("documents", Align::Right),
    ]);
    for price in prices {
        let millions = |usd: f64| Cell::new(dollars(usd * 1e6));
        let documents = match price.documents > 0.0 {
            true => Cell::new(format!("+ {} at most", dollars(price.documents * 1e6))),
            false => Cell::new(""),
        };
        table.push(vec![
            Cell::new(&price.service),
            millions(price.requests),
            millions(price.transfer),
            millions(price.compute),
            millions(price.total()).in_colour(Some(Colour::Bold)),
            documents,
        ]);
    }
    table.text(screen, "")
}

fn assumptions_line(prices: &Prices) -> String {
    let assumed = &prices.assumptions;
    format!(
        "Assumed: {} ms a wave, {} ms of computing, {} GB; edit with --prices FILE.",
        assumed.wave_ms.0, assumed.cpu_ms.0, assumed.memory_gb.0
    )
}

/// Formats a price: `0.20`, `1,234.50`; zero is a dash.
fn dollars(usd: f64) -> String {
    let cents = (usd * 100.0).round();
    if usd == 0.0 {
        return "-".to_owned();
    }
    if cents < 1.0 {
        return "< 0.01".to_owned();
    }
    let cents = cents as u64;
    format!("{}.{:02}", numbers::count(cents / 100), cents % 100)
}

/// Returns the table and the number of omitted rows; empty if it has no rows.
fn listed(table: &Table, num_rows: usize, noun: &str, screen: &Screen) -> String {
    if table.is_empty() {
        return String::new();
    }
    let mut text = table.text(screen, "");
    if num_rows > MAX_ROWS {
        let num_more = (num_rows - MAX_ROWS) as u64;
        text.push_str(&format!("and {} more\n", numbers::counted(num_more, noun)));
    }
    text
}

#[cfg(test)]
mod tests;
