//! `canter index delete`: deletes the documents that match a query, and verifies that none is left.

use std::io::{self, Write};

use anyhow::Result;
use canter_index_builder::{DeleteReport, IndexStore, WriteOptions, delete_documents};
use canter_split_format::ListedSplit;
use clap::Args;
use serde_json::{Map, Value, json};

use super::lister::Lister;
use super::remains;
use crate::args::{EngineArgs, Format, FormatArg, ScopeArgs};
use crate::exit::WrongUse;
use crate::render::{Screen, numbers};

const AFTER_HELP: &str = "\
Documents that match when the command begins are deleted, all of them at once or none. Documents
that are ingested afterwards stay, and ingesting the same sources again restores nothing. Searches
leave deleted documents out from then on. Their bytes stay in the store until `canter index merge
--rewrite-deleted` rewrites their splits and `canter index gc` removes the old ones. --verify
reports where they remain.

If any split cannot be searched, nothing is deleted.

Examples:
  canter index delete --index ./logs --query 'user_id:4711' --dry-run   # counts them
  canter index delete --index ./logs --query 'user_id:4711'
  canter index delete --index ./logs --query 'user_id:4711' --verify    # shows remaining ones
  canter index delete --index ./logs --query '*' --all --end-timestamp 2024-01-01";

/// Arguments of `canter index delete`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DeleteArgs {
    /// Index: a folder, s3://…, gs://… or az://….
    #[arg(long, value_name = "URI")]
    pub(super) index: String,

    /// Query that selects the documents to delete, as in `canter search`.
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    pub(super) query: String,

    #[command(flatten)]
    pub(super) scope: ScopeArgs,

    /// Required for the query `*`: delete every document, or every document of the time range.
    #[arg(long)]
    pub(super) all: bool,

    /// Count the documents that would be deleted, and delete nothing.
    #[arg(long, conflicts_with = "verify")]
    pub(super) dry_run: bool,

    /// Delete nothing: report whether the query still finds documents, and which objects of the store still contain
    /// matching ones. Every split in the store is searched, live or not.
    #[arg(long)]
    pub(super) verify: bool,

    /// Time limit of one search of the index, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 600_000)]
    pub(super) deadline_ms: u64,

    /// Write even if the store ignores conditional writes; no other process may write at the same time.
    #[arg(long)]
    pub(super) unsafe_single_writer: bool,

    #[command(flatten)]
    pub(super) engine: EngineArgs,

    #[command(flatten)]
    pub(super) format: FormatArg,
}

impl DeleteArgs {
    /// Returns the search whose matches are listed.
    fn request(&self) -> Value {
        let mut request = Map::new();
        request.insert("query".to_owned(), self.query.as_str().into());
        self.scope.add_to(&mut request);
        request.insert("max_hits".to_owned(), 0.into());
        request.insert("list_documents".to_owned(), true.into());
        request.into()
    }

    fn check(&self) -> Result<()> {
        let is_everything = self.query.trim().chars().all(|c| "*()".contains(c));
        match is_everything && !self.all && !self.verify && !self.dry_run {
            true => Err(WrongUse(
                "the query matches every document: say --all if that is meant, or give another query".to_owned(),
            )
            .into()),
            false => Ok(()),
        }
    }
}

/// Deletes, counts or verifies, and reports the result.
pub(crate) fn run(args: &DeleteArgs, screen: &Screen) -> Result<()> {
    args.check()?;
    let store = IndexStore::open(&args.index)?.with_write_options(WriteOptions {
        unsafe_single_writer: args.unsafe_single_writer,
    });
    let lister = Lister::start(&args.index, args.request(), args.deadline_ms, &args.engine)?;
    if args.verify {
        return remains::run(args, &store, &lister, screen);
    }
    let (json, text) = match args.dry_run {
        true => {
            let listed = lister.list()?;
            (counted_json(&listed), counted_text(&listed))
        }
        false => {
            let report = delete_documents(&store, || lister.list())?;
            (serde_json::to_string(&report)?, text_of(&report))
        }
    };
    show(args, screen, &json, &text)
}

pub(super) fn show(args: &DeleteArgs, screen: &Screen, json: &str, text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match args.format.on(screen) {
        Format::Json => writeln!(out, "{json}")?,
        Format::Table => out.write_all(text.as_bytes())?,
    }
    Ok(out.flush()?)
}

pub(in crate::commands::index) fn num_docs(listed: &[ListedSplit]) -> u64 {
    listed.iter().map(|split| split.num_listed).sum()
}

fn counted_json(listed: &[ListedSplit]) -> String {
    json!({"num_matching_docs": num_docs(listed), "num_splits": listed.len()}).to_string()
}

fn counted_text(listed: &[ListedSplit]) -> String {
    format!(
        "{} in {} would be deleted\n",
        numbers::counted(num_docs(listed), "document"),
        numbers::counted(listed.len() as u64, "split")
    )
}

fn text_of(report: &DeleteReport) -> String {
    if report.num_deleted_docs == 0 {
        return "nothing matches: nothing is deleted\n".to_owned();
    }
    let mut text = format!(
        "{} in {} deleted, {} written\n",
        numbers::counted(report.num_deleted_docs, "document"),
        numbers::counted(report.num_splits, "split"),
        numbers::bytes(report.num_bytes_written)
    );
    if report.num_emptied_splits > 0 {
        text.push_str(&format!(
            "nothing is left of {}\n",
            numbers::counted(report.num_emptied_splits, "split")
        ));
    }
    text.push_str(
        "their bytes stay in the store until `canter index merge --rewrite-deleted` and `canter index gc`; --verify \
         says where\n",
    );
    text
}
