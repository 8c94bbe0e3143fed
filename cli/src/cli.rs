//! The commands.

use anyhow::Result;
use clap::{Parser, Subcommand};

#[cfg(feature = "doctor")]
use crate::commands::doctor;
#[cfg(feature = "mcp")]
use crate::commands::mcp;
use crate::commands::{cache, demo, index, presets, prices, search, split};
#[cfg(feature = "serve")]
use crate::commands::{key, serve};
use crate::observe::LogArgs;
use crate::render::{ColourChoice, Screen};

const AFTER_HELP: &str = "\
Examples:
  canter search --input access.log.gz 'status:404'
  canter index ingest --index ./app --input app.log.gz
  canter demo
  canter index ingest --index ./web --preset access-log --input access.log.gz
  canter index suggest --input app.ndjson > logs.yaml
  canter index create --index ./logs --index-config logs.yaml
  canter index ingest --index ./logs --input app.ndjson.gz
  canter search --index ./logs --query 'severity_text:ERROR' --max-hits 5
  canter search --index https://example.org/logs --query '*' --max-hits 0 --aggs @aggs.json
  canter serve --index s3://bucket/logs
  canter doctor https://example.org/logs
  canter split inspect ./logs/splits/0123abcd.split

An index is a folder, s3://bucket/prefix, gs://bucket/prefix, az://container/prefix or, for reading,
https://host/path. Credentials come from the environment (AWS_…, GOOGLE_…, AZURE_…).

Exit codes: 0 success, 1 failure, 2 wrong use (correct the arguments, query, config or URI).";

/// Edge search over immutable splits on object storage.
#[derive(Debug, Parser)]
#[command(name = "canter", version, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Colours: `auto` (on a terminal, unless NO_COLOR is set), `always` or `never`.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true, display_order = 900)]
    color: ColourChoice,

    #[command(flatten)]
    log: LogArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Generate logs, index them, run two queries in WebAssembly and show the cost of each.
    Demo(demo::DemoArgs),
    /// Create, fill, describe and maintain an index.
    #[command(subcommand)]
    Index(IndexCommand),
    /// Search an index.
    Search(Box<search::SearchArgs>),
    /// Serve searches over HTTP with the APIs of Elasticsearch and Quickwit.
    #[cfg(feature = "serve")]
    Serve(Box<serve::ServeArgs>),
    /// Let language models search: a server of the Model Context Protocol (MCP) on standard input and output.
    #[cfg(feature = "mcp")]
    Mcp(Box<mcp::McpArgs>),
    /// Create API keys for `canter serve`.
    #[cfg(feature = "serve")]
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Check whether a web server or bucket serves byte ranges as Canter and browsers need them.
    #[cfg(feature = "doctor")]
    Doctor(doctor::DoctorArgs),
    /// Inspect a split, or build splits on several machines.
    #[command(subcommand)]
    Split(SplitCommand),
    /// Show or empty a cache folder of `search --cache`.
    #[command(subcommand)]
    Cache(CacheCommand),
    /// List the ready-made index configs, or print one.
    Presets(presets::PresetsArgs),
    /// Print the price table of `search --explain`; pass an edited copy with --prices.
    Prices,
}

#[derive(Debug, Subcommand)]
enum IndexCommand {
    /// Create an empty index from an index config or a preset.
    Create(index::create::CreateArgs),
    /// Build splits from logs and other records, and publish all of them at the end.
    Ingest(Box<index::ingest::IngestArgs>),
    /// Suggest an index config for the records of a file.
    Suggest(index::suggest::SuggestArgs),
    /// Show the figures of an index, its splits and the maintenance that is due.
    Describe(index::describe::DescribeArgs),
    /// Delete the documents that match a query, or verify that none is left.
    Delete(Box<index::delete::DeleteArgs>),
    /// Merge small splits into larger ones, according to the merge policy of the index.
    Merge(index::merge::MergeArgs),
    /// Remove unreferenced objects from the store.
    Gc(index::gc::GcArgs),
    /// Change the config of an index: add fields, change settings.
    Update(index::update::UpdateArgs),
    /// Check that every object of an index is present and intact.
    Verify(index::verify::VerifyArgs),
}

#[derive(Debug, Subcommand)]
enum SplitCommand {
    /// Show the contents of a split's head. Reads only the head, by range.
    Inspect(split::inspect::InspectArgs),
    /// Build and upload one part of a build shared by several machines.
    Build(Box<split::build::BuildArgs>),
    /// Publish the splits of all parts of a shared build at once.
    Publish(split::publish::PublishArgs),
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// Show the number and size of the files in a cache, by class.
    Stats(cache::StatsArgs),
    /// Remove everything from a cache. Searches can continue meanwhile.
    Clear(cache::ClearArgs),
}

impl Cli {
    /// Runs the given command.
    pub(crate) fn run(&self) -> Result<()> {
        let _observing = self.log.start()?;
        let screen = Screen::of_stdout(self.color);
        match &self.command {
            Command::Demo(args) => demo::run(args, &screen),
            Command::Index(IndexCommand::Create(args)) => index::create::run(args),
            Command::Index(IndexCommand::Ingest(args)) => index::ingest::run(args, &screen),
            Command::Index(IndexCommand::Suggest(args)) => index::suggest::run(args),
            Command::Index(IndexCommand::Describe(args)) => index::describe::run(args, &screen),
            Command::Index(IndexCommand::Delete(args)) => index::delete::run(args, &screen),
            Command::Index(IndexCommand::Merge(args)) => index::merge::run(args),
            Command::Index(IndexCommand::Gc(args)) => index::gc::run(args),
            Command::Index(IndexCommand::Update(args)) => index::update::run(args),
            Command::Index(IndexCommand::Verify(args)) => index::verify::run(args),
            Command::Search(args) => search::run(args, &screen),
            #[cfg(feature = "serve")]
            Command::Serve(args) => serve::run(args),
            #[cfg(feature = "mcp")]
            Command::Mcp(args) => mcp::run(args),
            #[cfg(feature = "serve")]
            Command::Key(command) => key::run(command),
            #[cfg(feature = "doctor")]
            Command::Doctor(args) => doctor::run(args, &screen),
            Command::Split(SplitCommand::Inspect(args)) => split::inspect::run(args, &screen),
            Command::Split(SplitCommand::Build(args)) => split::build::run(args),
            Command::Split(SplitCommand::Publish(args)) => split::publish::run(args, &screen),
            Command::Cache(CacheCommand::Stats(args)) => cache::stats(args, &screen),
            Command::Cache(CacheCommand::Clear(args)) => cache::clear(args),
            Command::Presets(args) => presets::run(args),
            Command::Prices => prices::run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn command_lines_parse_or_are_refused() {
        let check = |line: &str, is_right: bool| {
            let words = std::iter::once("canter").chain(line.split_whitespace());
            let parsed = Cli::try_parse_from(words);
            assert_eq!(parsed.is_ok(), is_right, "{line}: {parsed:?}");
        };
        check("demo", true);
        check("demo --docs 1000 --splits 2 --seed 7 --dir d --keep", true);
        check("demo --keep", false);
        check("demo --docs 0", false);
        check("demo --docs 1_000", false);
        check("index create --index i --index-config c", true);
        check("index create --index i", false);
        check("index ingest --index i", true);
        check(
            "index ingest --index i --input a --input - --rejects r",
            true,
        );
        check("index create --index i --preset alb", true);
        check(
            "index create --index i --preset alb --index-config c",
            false,
        );
        check("index ingest --index i --preset alb --dry-run 20", true);
        check(
            "index ingest --index i --input-format csv --columns a,b --year 2024",
            true,
        );
        check("index ingest --index i --input-format yaml", false);
        check("index ingest --index i --multiline-start ^A", true);
        check("index suggest --input f --input g --records 10", true);
        check("presets alb", true);
        check("index ingest --index i --split-num-docs 0", false);
        check(
            "index ingest --index i --max-split-bytes 1GiB --max-line-bytes 64KB",
            true,
        );
        check("index ingest --index i --max-split-bytes 0", false);
        check("index ingest --index i --max-line-bytes 2GiB", false);
        check("index delete --index i --query q --dry-run", true);
        check("index delete --index i --query q --verify --all", true);
        check("index delete --index i --query q --dry-run --verify", false);
        check("index delete --index i", false);
        check("index update --index i --index-config c --dry-run", true);
        check("index update --index i", false);
        check(
            "index ingest --index i --merge --max-merges 2 --max-merge-bytes 1GiB",
            true,
        );
        check("index ingest --index i --max-merges 2", false);
        check("index describe --index i --format json", true);
        check("index describe --index i --format yaml", false);
        check("search --index i --query q", true);
        check("search --index i", false);
        check("search --query q", false);
        check("search --index i q", true);
        check("search --index i q --query q", false);
        check(
            "search --input f.gz --input g status:404 --max-hits 1",
            true,
        );
        check("search --input f --index i q", false);
        check("search --input f", false);
        check("search --input - --time-zone +02:00 q", true);
        check("search --index i --query -a --sort-by -timestamp", true);
        check("search --index i --query q --start-timestamp -5", true);
        check(
            "search --index i --query q --start-timestamp 2016-04-13",
            true,
        );
        check("search --index i --query q --start-timestamp soon", false);
        check("search --index i --query q --aggs {}", true);
        check("search --index i --query q --aggs {", false);
        check("search --index i --query q --engine native --profile", true);
        check("search --index i --query q --engine jit", false);
        check("search --index i --query q --threads 0", false);
        check("search --index i --query q --explain --prices p", true);
        check("search --index i --query q --prices p", false);
        check(
            "search --index i --query q --cache c --cache-bytes 1GiB --manifest-ttl 30s",
            true,
        );
        check("search --index i --query q --cache-bytes 1.5", false);
        check("search --index i --query q --manifest-ttl 30", false);
        check(
            "search --index i --query q --no-cache --manifest-ttl 30s",
            false,
        );
        check(
            "search --index i --query q --max-requests 3 --max-bytes 1MB --max-waves 2",
            true,
        );
        check(
            "serve --index ./logs --index b=s3://b/c --listen 127.0.0.1:0",
            true,
        );
        check("serve", false);
        check(
            "mcp --index ./logs --index b=s3://b/c --max-requests 9 --max-answer-bytes 32KiB",
            true,
        );
        check("mcp", false);
        check("mcp --index ./logs --max-hits 0", false);
        check("mcp --index ./logs --max-answer-bytes 1KB", false);
        check("serve --index ..", false);
        check("doctor https://example.org/logs", true);
        check("doctor s3://b/p --ranges 5 --browser --format json", true);
        check("doctor", false);
        check("doctor u --ranges 0", false);
        check("split inspect p --verify", true);
        check("split inspect", false);
        check("cache stats c --format json", true);
        check("cache clear c", true);
        check("cache", false);
        check("", false);
    }
}
