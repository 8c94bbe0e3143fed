//! `canter search`: one request, one answer.

use std::fs;
use std::io::{self, Write};

use anyhow::{Result, bail};
use canter_runtime::fetch::OpenOptions;
use canter_runtime::{Limits, SearchResponse, Searcher};
use clap::Args;
use serde_json::{Map, Value, json};

use crate::cli::{Format, FormatArg};
use crate::exit::warn;
use crate::open::{EngineChoice, tokio_runtime};
use crate::render::{Colour, Screen, answer, cost_line, timeline};

const AFTER_HELP: &str = "\
Queries:
  error                       a word in the default search fields
  severity_text:ERROR         a word in a field
  body:\"connection reset\"     a phrase;  body:connect*  a prefix
  tenant_id:[10 TO 20]        a range;  size:>1000
  status: IN [500 503]        any of several;  user:*  any value at all
  a AND (b OR c) AND NOT d    all of them together;  *  every document

Examples:
  canter search --index ./logs --query 'severity_text:ERROR' --sort-by timestamp --max-hits 5
  canter search --index s3://bucket/logs --query '*' --max-hits 0 --format json \\
    --aggs '{\"days\":{\"date_histogram\":{\"field\":\"timestamp\",\"fixed_interval\":\"1d\"}}}'

Every run starts with nothing cached. `--format json` prints one object: hits, num_hits,
elapsed_time_micros, aggregations, failed_splits and, with --profile, profile.
If some splits cannot be searched, the answer is that of the others and warnings name them; if
none can be, the exit code is 1.";

/// Arguments of `canter search`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SearchArgs {
    /// The index: a folder, s3://…, gs://…, az://… or https://….
    #[arg(long, value_name = "URI")]
    index: String,

    /// What to look for; see below.
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    query: String,

    /// Elasticsearch aggregations: JSON, or @FILE that holds it.
    #[arg(long, value_name = "JSON|@FILE", value_parser = parse_aggs)]
    aggs: Option<Value>,

    /// How many hits to return.
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_hits: u64,

    /// How many hits to skip before those.
    #[arg(long, value_name = "N", default_value_t = 0)]
    start_offset: u64,

    /// Up to two fast fields, `_score` or `_doc`, separated by commas; largest first, with `-` in
    /// front smallest first [default: newest first].
    #[arg(long, value_name = "FIELDS", allow_hyphen_values = true)]
    sort_by: Option<String>,

    /// Fields to look into for words that name none, separated by commas.
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    search_field: Vec<String>,

    /// Nothing earlier: seconds since 1970, or a date such as 2016-04-13 or 2016-04-13T08:00:00Z.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    start_timestamp: Option<i64>,

    /// Only what is earlier than this.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    end_timestamp: Option<i64>,

    /// How the guest runs.
    #[arg(long, value_name = "ENGINE", default_value = "wasm")]
    engine: EngineChoice,

    #[command(flatten)]
    format: FormatArg,

    /// Show what the search cost: every request, wave by wave.
    #[arg(long)]
    profile: bool,

    /// Parts of the search that run at once, each in a guest of its own [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Option<u32>,

    #[command(flatten)]
    limits: LimitArgs,
}

/// What one search may take.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Give up after so many milliseconds [default: 30000].
    #[arg(long, value_name = "MS")]
    deadline_ms: Option<u64>,

    /// Largest start_offset + max_hits (`max_hits` in messages) [default: 10000].
    #[arg(long, value_name = "N")]
    max_result_window: Option<u64>,

    /// Most splits that are opened [default: 10000].
    #[arg(long, value_name = "N")]
    max_splits: Option<u64>,

    /// Most buckets that aggregations return [default: 65000].
    #[arg(long, value_name = "N")]
    max_buckets: Option<u64>,

    /// Most memory that aggregations take [default: 500 MB].
    #[arg(long, value_name = "BYTES")]
    max_aggregation_bytes: Option<u64>,

    /// Deepest nesting of the query [default: 50].
    #[arg(long, value_name = "N")]
    max_query_depth: Option<u64>,

    /// Most terms and clauses of the query [default: 1024].
    #[arg(long, value_name = "N")]
    max_query_clauses: Option<u64>,

    /// Longest query [default: 64 KiB].
    #[arg(long, value_name = "BYTES")]
    max_query_bytes: Option<u64>,

    /// Largest manifest [default: 64 MiB].
    #[arg(long, value_name = "BYTES")]
    max_manifest_bytes: Option<u64>,

    /// Most requests in flight at once [default: 64].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    max_concurrent_requests: Option<u16>,

    /// Most memory of one guest in WebAssembly [default: 512 MiB].
    #[arg(long, value_name = "BYTES")]
    max_memory_bytes: Option<usize>,
}

impl LimitArgs {
    /// The limits that were given; the guest knows the others' defaults.
    fn of_search(&self) -> Limits {
        let given = [
            ("max_hits", self.max_result_window),
            ("max_splits", self.max_splits),
            ("max_buckets", self.max_buckets),
            ("max_aggregation_bytes", self.max_aggregation_bytes),
            ("max_query_depth", self.max_query_depth),
            ("max_query_clauses", self.max_query_clauses),
            ("max_query_bytes", self.max_query_bytes),
            ("max_manifest_bytes", self.max_manifest_bytes),
        ];
        let mut limits = Limits::default();
        limits.deadline_ms = self.deadline_ms.unwrap_or(limits.deadline_ms);
        limits.guest = given
            .into_iter()
            .filter_map(|(name, limit)| Some((name.to_owned(), limit?.into())))
            .collect();
        limits
    }
}

fn parse_aggs(text: &str) -> Result<Value, String> {
    let json = match text.strip_prefix('@') {
        Some(path) => &fs::read_to_string(path).map_err(|error| format!("`{path}`: {error}"))?,
        None => text,
    };
    match serde_json::from_str(json) {
        Ok(aggs @ Value::Object(_)) => Ok(aggs),
        Ok(_) => Err("aggregations are a JSON object: {\"name\":{\"terms\":{…}}}".to_owned()),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

/// Seconds since 1970, from a number or a date; a date without a time is its midnight in UTC.
fn parse_time(text: &str) -> Result<i64, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(seconds);
    }
    let midnight = || format!("{text}T00:00:00Z").parse::<jiff::Timestamp>();
    text.parse::<jiff::Timestamp>()
        .or_else(|_| midnight())
        .map(jiff::Timestamp::as_second)
        .map_err(|_| {
            "neither seconds since 1970 nor a date such as 2016-04-13T08:00:00Z".to_owned()
        })
}

/// Searches and shows the answer.
pub(crate) fn run(args: &SearchArgs, screen: &Screen) -> Result<()> {
    let response = search(args)?;
    let mut out = io::stdout().lock();
    match args.format.on(screen) {
        Format::Json => {
            let json = json_of(&response.json, args.profile);
            match screen.is_terminal {
                true => writeln!(out, "{json:#}")?,
                false => writeln!(out, "{json}")?,
            }
        }
        Format::Table => out.write_all(table_of(&response, args.profile, screen).as_bytes())?,
    }
    out.flush()?;
    warn_of_failed_splits(&response.json);
    check_answered(&response.json)
}

fn search(args: &SearchArgs) -> Result<SearchResponse> {
    let mut builder = Searcher::builder()
        .engine(args.engine.start(args.limits.max_memory_bytes)?)
        .uri(&args.index, &OpenOptions::default())?;
    if let Some(threads) = args.threads {
        builder = builder.max_parallel_leaves(threads);
    }
    if let Some(max) = args.limits.max_concurrent_requests {
        builder = builder.max_concurrent_requests(usize::from(max));
    }
    let searcher = builder.build()?;
    let limits = args.limits.of_search();
    let request = request_of(args);
    Ok(tokio_runtime()?.block_on(searcher.search(&request, &limits))?)
}

fn request_of(args: &SearchArgs) -> Value {
    let mut request = Map::new();
    let mut put = |key: &str, value: Value| request.insert(key.to_owned(), value);
    put("query", args.query.as_str().into());
    put("max_hits", args.max_hits.into());
    put("start_offset", args.start_offset.into());
    // Always: the cost line and the exit code need it.
    put("profile", true.into());
    if let Some(aggs) = &args.aggs {
        put("aggs", aggs.clone());
    }
    if let Some(sort_by) = &args.sort_by {
        put("sort_by", sort_by.as_str().into());
    }
    if !args.search_field.is_empty() {
        put("search_field", args.search_field.clone().into());
    }
    if let Some(start) = args.start_timestamp {
        put("start_timestamp", start.into());
    }
    if let Some(end) = args.end_timestamp {
        put("end_timestamp", end.into());
    }
    request.into()
}

/// The answer in its documented shape, each key always there.
fn json_of(response: &Value, has_profile: bool) -> Value {
    let mut object = json!({
        "hits": response["hits"],
        "num_hits": response["num_hits"],
        "elapsed_time_micros": response["elapsed_time_micros"],
        "aggregations": response["aggregations"],
        "failed_splits": response["failed_splits"],
    });
    if has_profile {
        object["profile"] = response["profile"].clone();
    }
    object
}

fn table_of(response: &SearchResponse, has_profile: bool, screen: &Screen) -> String {
    let cost = screen.paint(Colour::Dim, &cost_line(&response.json));
    let mut text = format!("{}\n{cost}\n", answer(&response.json, screen));
    let chart = match has_profile {
        true => timeline(&response.profile, screen, ""),
        false => String::new(),
    };
    if !chart.is_empty() {
        text.push_str(&format!("\n{chart}"));
    }
    text
}

/// Names the splits that are missing from the answer.
fn warn_of_failed_splits(response: &Value) {
    let text = |split: &Value, key: &str| split[key].as_str().unwrap_or("?").to_owned();
    for split in failed_splits(response) {
        warn(format_args!(
            "split {} is not in the answer ({}): {}",
            text(split, "split_id"),
            text(split, "kind"),
            text(split, "message")
        ));
    }
}

/// An error if splits failed and none is in the answer.
fn check_answered(response: &Value) -> Result<()> {
    let num = |key: &str| response["profile"][key].as_u64().unwrap_or(0);
    let num_answered = num("num_splits_searched") + num("num_splits_answered_from_head");
    if !failed_splits(response).is_empty() && num_answered == 0 {
        bail!("no split could be searched; the warnings above say why");
    }
    Ok(())
}

fn failed_splits(response: &Value) -> &[Value] {
    response["failed_splits"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_or_dates() {
        let check = |text: &str, expect: Option<i64>| {
            assert_eq!(parse_time(text).ok(), expect, "{text}");
        };
        check("0", Some(0));
        check("-5", Some(-5));
        check("1460505600", Some(1_460_505_600));
        check("2016-04-13", Some(1_460_505_600));
        check("2016-04-13T01:00:00Z", Some(1_460_509_200));
        check("2016-04-13T01:00:00+01:00", Some(1_460_505_600));
        check("yesterday", None);
        check("", None);
    }

    #[test]
    fn an_answer_from_no_split_is_a_failure() {
        let check = |failed: Value, num_answered: u64, expect: bool| {
            let profile = json!({"num_splits_answered_from_head": num_answered});
            let response = json!({"failed_splits": failed, "profile": profile});
            assert_eq!(check_answered(&response).is_ok(), expect);
        };
        let failed = json!([{"split_id": "a", "kind": "data", "message": "damaged"}]);
        check(json!([]), 0, true);
        check(failed.clone(), 1, true);
        check(failed, 0, false);
    }

    #[test]
    fn the_answer_has_each_key() {
        let json = json_of(&json!({"num_hits": 0, "hits": [], "profile": {}}), false);
        let keys: Vec<&String> = json.as_object().into_iter().flat_map(Map::keys).collect();
        let expect = "hits num_hits elapsed_time_micros aggregations failed_splits";
        assert_eq!(keys, expect.split(' ').collect::<Vec<_>>());
    }
}
