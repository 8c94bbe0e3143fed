//! The arguments of `canter search`.

use std::fs;

use canter_doc_mapper::parse_seconds;
use clap::Args;
use serde_json::{Value, json};

use super::explain::ExplainArgs;
use super::inputs::InputArgs;
use crate::args::{CacheArgs, FormatArg, ScopeArgs, SearcherArgs};
use crate::observe::MetricsArg;
use crate::render::ChartFile;
use crate::simulate::SimulateArgs;

const AFTER_HELP: &str = "\
Queries:
  error                       a word in the default search fields
  severity_text:ERROR         a word in a field
  body:\"connection reset\"     a phrase;  body:connect*  a prefix
  tenant_id:[10 TO 20]        a range;  size:>1000
  status: IN [500 503]        any of several;  user:*  any value at all
  a AND (b OR c) AND NOT d    all of them together;  *  every document

Examples:
  canter search --input access.log.gz 'status:404'
  canter search --input './logs/**/*.gz' 'timeout' --start-timestamp 2026-11-01
  canter search --index ./logs --query 'severity_text:ERROR' --sort-by timestamp --max-hits 5
  canter search --index ./logs 'level:ERROR' --patterns --new-since 2026-11-02
  canter search --index ./notes --knn 'meaning:@vector.json' --k 10
  canter search --index s3://bucket/logs --query '*' --max-hits 0 --format json \\
    --aggs '{\"days\":{\"date_histogram\":{\"field\":\"timestamp\",\"fixed_interval\":\"1d\"}}}'

With --format json the answer is one object: hits, num_hits, elapsed_time_micros, aggregations,
errors (in words), failed_splits (damaged or unreachable), skipped_splits (a limit was reached
before their turn), timed_out, budget_exhausted (the name of that limit, or null) and, with
--profile, profile. If some splits fail or are skipped, the answer covers the other splits and
warnings name the missing ones. If no split answers, the exit code is 1.

With --explain the object has: plan (whether and why each split is searched), profile (the cost of
planning), planned (the next requests), num_waves, num_requests and num_bytes (the least that an
answer takes), max_documents (the most documents to fetch for its hits), prices_as_of and prices.

Without --cache, every run starts with an empty cache.

With --input, the inputs are indexed first, into your cache folder and as `canter index ingest` does
without a config. The next search of the same inputs finds the index there; inputs that have changed
are indexed anew. Above 2 GiB, make an index with `canter index ingest`.";

/// Arguments of `canter search`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[command(group(clap::ArgGroup::new("what").args(["index", "input"]).required(true)))]
#[command(group(clap::ArgGroup::new("which_query").args(["query", "bare_query", "knn"]).required(true)))]
pub(crate) struct SearchArgs {
    /// Index: a folder, s3://…, gs://…, az://… or https://….
    #[arg(long, value_name = "URI")]
    index: Option<String>,

    /// Query to run; see Queries below.
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    query: Option<String>,

    /// Query to run, in place of --query.
    #[arg(value_name = "QUERY", id = "bare_query")]
    bare_query: Option<String>,

    /// Look for the nearest vectors, in place of a query: a field, and a vector as JSON or in a file.
    #[arg(long, value_name = "KNN", value_parser = parse_knn)]
    pub(super) knn: Option<Value>,

    /// Number of documents that --knn looks for [default: 10].
    #[arg(long, value_name = "N", requires = "knn")]
    pub(super) k: Option<u32>,

    /// Language of the query: canter, or kql for Kibana's.
    #[arg(long, value_name = "LANGUAGE", value_parser = ["canter", "kql"])]
    pub(super) language: Option<String>,

    /// Elasticsearch aggregations as JSON, or @FILE that contains the JSON.
    #[arg(long, value_name = "JSON|@FILE", value_parser = parse_aggs)]
    pub(super) aggs: Option<Value>,

    /// Show the patterns of the texts in FIELD in place of hits: what programs wrote, without the values, most
    /// documents first [default: the field that queries search by default].
    #[arg(
        long,
        value_name = "FIELD",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with_all = ["aggs", "explain"]
    )]
    pub(super) patterns: Option<String>,

    /// Mark the patterns that no document before TIME has: seconds since 1970, or a date.
    #[arg(long, value_name = "TIME", requires = "patterns", value_parser = parse_seconds)]
    pub(super) new_since: Option<i64>,

    /// Maximum number of hits to return.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(super) max_hits: u64,

    /// Number of hits to skip first.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) start_offset: u64,

    /// Sort keys, separated by commas: fast fields, `_score` or `_doc`. Each key orders the hits that are equal by
    /// the keys before it. Largest first; with `-` in front, smallest first [default: newest first].
    #[arg(long, value_name = "FIELDS", allow_hyphen_values = true)]
    pub(super) sort_by: Option<String>,

    /// Count at least N hits. The search then ends as soon as it has the hits to return, and skips splits that they
    /// do not need [default: count all].
    #[arg(long, value_name = "N")]
    pub(super) count_up_to: Option<u64>,

    #[command(flatten)]
    pub(super) scope: ScopeArgs,

    #[command(flatten)]
    pub(super) searcher: SearcherArgs<CacheArgs>,

    #[command(flatten)]
    pub(super) format: FormatArg,

    /// Draw the buckets of the aggregations to FILE.svg, or to FILE.html with tables.
    #[arg(long, value_name = "FILE", requires = "aggs")]
    pub(super) chart: Option<ChartFile>,

    /// Show the cost of the search: every request, wave by wave.
    #[arg(long)]
    pub(super) profile: bool,

    #[command(flatten)]
    pub(super) explain: ExplainArgs,

    #[command(flatten)]
    pub(super) simulate: SimulateArgs,

    #[command(flatten)]
    pub(super) metrics: MetricsArg,

    #[command(flatten)]
    pub(super) inputs: InputArgs,
}

impl SearchArgs {
    /// Returns the query.
    pub(super) fn query(&self) -> &str {
        let query = self.query.as_deref().or(self.bare_query.as_deref());
        query.unwrap_or("knn")
    }

    /// Returns the given index, if no input is given.
    pub(super) fn index(&self) -> Option<&str> {
        self.index.as_deref()
    }
}

/// Reads a field with a vector, as the clause of a query without `k`.
fn parse_knn(text: &str) -> Result<Value, String> {
    let (field, vector) = text
        .split_once(':')
        .ok_or("this is a field and a vector: meaning:@vector.json, or meaning:[0.1,0.2]")?;
    let json = match vector.strip_prefix('@') {
        Some(path) => &fs::read_to_string(path).map_err(|error| format!("`{path}`: {error}"))?,
        None => vector,
    };
    let vector =
        canter_names::read_json(json.as_bytes()).map_err(|error| error.of("the vector"))?;
    Ok(json!({"field": field, "query_vector": vector}))
}

fn parse_aggs(text: &str) -> Result<Value, String> {
    let json = match text.strip_prefix('@') {
        Some(path) => &fs::read_to_string(path).map_err(|error| format!("`{path}`: {error}"))?,
        None => text,
    };
    match canter_names::read_json(json.as_bytes()) {
        Ok(aggs @ Value::Object(_)) => Ok(aggs),
        Ok(_) => Err("aggregations are a JSON object: {\"name\":{\"terms\":{…}}}".to_owned()),
        Err(error) => Err(error.of("the value")),
    }
}
