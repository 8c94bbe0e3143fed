//! `canter index describe`: figures of an index, its splits on a time line, and the maintenance that is due.

use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use canter_index_builder::{IndexDescription, IndexStore};
use canter_runtime::fetch::{ByteRange, FetchErrorKind, OpenOptions, open_uri};
use canter_runtime::observe::redact_urls;
use canter_runtime::{ErrorKind, SearchError};
use canter_split_format::{MANIFEST_OBJECT, ManifestFile, TimeRange};
use clap::Args;
use serde::Serialize;

use super::outlook::{self, Outlook};
use super::time_line;
use crate::args::{Format, FormatArg};
use crate::exit::WrongUse;
use crate::open::{about_index, tokio_runtime};
use crate::render::dates::{date_of, short_date_of};
use crate::render::{Align, Cell, Colour, Column, Screen, Table, numbers};

/// Arguments of `canter index describe`.
#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// Index: a folder, s3://…, gs://…, az://… or https://….
    #[arg(long, value_name = "URI")]
    index: String,

    /// Look for garbage, too: unreferenced objects. Lists the store.
    #[arg(long)]
    garbage: bool,

    #[command(flatten)]
    format: FormatArg,
}

/// An index and its due maintenance, as JSON.
#[derive(Serialize)]
struct Described<'a> {
    #[serde(flatten)]
    index: &'a IndexDescription,
    #[serde(flatten)]
    outlook: Option<&'a Outlook>,
}

/// Describes the index.
pub(crate) fn run(args: &DescribeArgs, screen: &Screen) -> Result<()> {
    // Maintenance does not concern readers without write access.
    let (description, outlook) = match is_on_web(&args.index) {
        true if args.garbage => bail!(WrongUse(
            "--garbage lists the store, which a web server has no way to: give the index as a folder or bucket".to_owned()
        )),
        true => (describe_on_web(&args.index)?, None),
        false => {
            let store = IndexStore::open(&args.index)?;
            let description = store.describe()?;
            let outlook = outlook::look(&store, &description, args.garbage)?;
            (description, Some(outlook))
        }
    };
    let described = Described {
        index: &description,
        outlook: outlook.as_ref(),
    };
    let mut out = io::stdout().lock();
    match args.format.on(screen) {
        Format::Json => writeln!(out, "{}", serde_json::to_string_pretty(&described)?)?,
        Format::Table => out.write_all(table_of(&described, screen).as_bytes())?,
    }
    Ok(out.flush()?)
}

fn is_on_web(uri: &str) -> bool {
    uri.starts_with("http://") || uri.starts_with("https://")
}

fn describe_on_web(uri: &str) -> Result<IndexDescription> {
    // The builder neither writes to web servers nor reads from them.
    let fetcher = open_uri(uri, &OpenOptions::default())?;
    let runtime = tokio_runtime()?;
    let fetch = |object: &str, range: ByteRange| {
        let fetched = runtime.block_on(fetcher.fetch(object, range));
        fetched.map(|fetched| fetched.bytes).map_err(|error| {
            let kind = match error.kind {
                FetchErrorKind::NotFound => ErrorKind::NotFound,
                _ => ErrorKind::Unavailable,
            };
            about_index(uri)(SearchError::new(kind, error.message))
        })
    };
    let manifest = ManifestFile::from_bytes(&fetch(MANIFEST_OBJECT, ByteRange::from(0))?)
        .with_context(|| format!("the manifest of `{uri}` cannot be read"))?;
    let mut paged = Vec::new();
    for page in &manifest.pages {
        let object = page.object();
        let entries = fetch(
            &object,
            ByteRange::new(page.entries.start, page.entries.len),
        )?;
        let splits = page
            .open_entries(&entries)
            .with_context(|| format!("`{object}` of `{uri}` cannot be read"))?;
        paged.extend(splits.into_iter().map(|split| split.entry));
    }
    Ok(IndexDescription::of_manifest(
        &redact_urls(uri),
        &manifest,
        paged,
    ))
}

fn table_of(described: &Described<'_>, screen: &Screen) -> String {
    let index = described.index;
    let mut parts = vec![facts_of(described).text(screen, "")];
    if index.num_splits > 0 {
        parts.push(time_line::time_line(
            &index.splits,
            index.time_range,
            screen,
        ));
        parts.extend(
            described
                .outlook
                .map(|outlook| outlook::cost_table(outlook, screen)),
        );
        parts.push(split_table(index).text(screen, ""));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn facts_of(described: &Described<'_>) -> Table {
    let index = described.index;
    let mut facts = Table::new(vec![
        Column::new("", Align::Left),
        Column::new("", Align::Left),
    ]);
    let mut fact = |name: &str, text: String| {
        facts.push(vec![
            Cell::new(name).in_colour(Some(Colour::Dim)),
            Cell::new(text),
        ]);
    };
    fact("index", index.index_id.clone());
    fact("at", index.index_uri.clone());
    fact("documents", numbers::count(index.num_docs));
    if index.num_deleted_docs > 0 {
        fact(
            "deleted",
            format!(
                "{} more, in the splits until they are merged",
                numbers::count(index.num_deleted_docs)
            ),
        );
    }
    fact("input", numbers::bytes(index.num_raw_bytes));
    let share = numbers::share(index.num_split_bytes, index.num_raw_bytes);
    fact(
        "on storage",
        format!(
            "{} in {}{}",
            numbers::bytes(index.num_split_bytes),
            numbers::counted(index.num_splits, "split"),
            share.map_or(String::new(), |share| format!(", {share} of the input")),
        ),
    );
    fact(
        "heads",
        format!(
            "{}, {} of {} in the manifest",
            numbers::bytes(index.num_head_bytes),
            numbers::count(index.num_inlined_heads),
            numbers::count(index.num_splits)
        ),
    );
    if index.num_pages > 0 {
        fact(
            "pages",
            format!(
                "{} of splits that the manifest does not name itself, {}",
                numbers::counted(index.num_pages, "page"),
                numbers::bytes(index.num_page_bytes)
            ),
        );
    }
    if let Some(field) = &index.timestamp_field {
        fact("timestamp", field.clone());
    }
    if let Some(range) = index.time_range {
        fact("from", date_of(range.start_ns));
        fact("to", date_of(range.end_ns));
    }
    for (name, text) in described.outlook.map(outlook::lines).unwrap_or_default() {
        fact(name, text);
    }
    facts
}

fn split_table(index: &IndexDescription) -> Table {
    let mut table = Table::new(vec![
        Column::new("split", Align::Left),
        Column::new("documents", Align::Right),
        Column::new("size", Align::Right),
        Column::new("head", Align::Right),
        Column::new("from", Align::Left),
        Column::new("to", Align::Left),
    ]);
    for split in &index.splits {
        let date = |of: fn(TimeRange) -> i64| {
            let range = split.time_range.map(of);
            Cell::new(range.map_or(String::new(), short_date_of))
        };
        table.push(vec![
            Cell::new(&split.id),
            Cell::new(numbers::count(split.num_live_docs())),
            Cell::new(numbers::bytes(split.len)),
            Cell::new(numbers::bytes(split.head_len)),
            date(|range| range.start_ns),
            date(|range| range.end_ns),
        ]);
    }
    table
}
