//! The arguments of `canter mcp`.

use clap::Args;

use crate::args::{SearcherArgs, ServingCacheArgs, parse_bytes, parse_index};

/// Minimum size of an answer, enough to say what it lacks.
const MIN_ANSWER_BYTES: u64 = 8 << 10;
/// Maximum size of an answer; a longer one exceeds every model's context.
const MAX_ANSWER_BYTES: u64 = 16 << 20;

const AFTER_HELP: &str = "\
Tools:
  list_indexes     the indexes: documents, bytes, time range
  describe_fields  the fields of an index: type, whether it can be searched, sorted by, aggregated
  search           documents that match a query
  aggregate        Elasticsearch's aggregations over them
  explain_cost     what a search would read, without reading it; not with --forced-filter

A client starts this program and exchanges lines of JSON-RPC with it over standard input and output.
Most clients read this from a config file:
  {\"mcpServers\": {\"logs\": {\"command\": \"canter\",
    \"args\": [\"mcp\", \"--index\", \"logs=s3://bucket/logs\", \"--cache\", \"/var/cache/canter\"]}}}

A call may lower the budget of this server. Answers state their cost and what they lack. The
server is read-only, and exits when its standard input ends.";

/// Arguments of `canter mcp`.
#[derive(Debug, Args)]
#[command(
    after_help = AFTER_HELP,
    mut_arg("max_requests", |arg| arg.default_value("500").help(
        "Maximum number of requests of a call to the store, including retries and hedges. When this, --max-bytes or \
         --max-waves is used up, the call is answered with what it has"
    )),
    mut_arg("max_bytes", |arg| arg.default_value("256MiB").help(
        "Maximum number of bytes that a call reads from the store, such as 50MB"
    ))
)]
pub(crate) struct McpArgs {
    /// Index that clients can search: a folder, s3://…, gs://…, az://… or https://…. Without NAME=, its name is the
    /// last part of the URI. May be given several times.
    #[arg(long = "index", value_name = "[NAME=]URI", required = true, value_parser = parse_index)]
    pub(super) indexes: Vec<(String, String)>,

    #[command(flatten)]
    pub(super) searcher: SearcherArgs<ServingCacheArgs>,

    /// Query that every hit must match, whatever the request; each of its terms must name its field. Costs, plans and
    /// index sizes are then hidden, because they reveal other documents.
    #[arg(long, value_name = "QUERY")]
    pub(super) forced_filter: Option<String>,

    #[command(flatten)]
    pub(super) calls: CallArgs,
}

/// Limits on what clients may use.
#[derive(Debug, Args)]
#[command(next_help_heading = "Calls")]
pub(crate) struct CallArgs {
    /// Maximum number of hits that a call may ask for; a call without a number gets 10.
    #[arg(long, value_name = "N", default_value = "100")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(super) max_hits: u64,

    /// Maximum size of an answer. In a longer answer, long texts and lists are cut, and the answer names them.
    #[arg(long, value_name = "BYTES", default_value = "64KiB", value_parser = parse_answer_bytes)]
    pub(super) max_answer_bytes: usize,

    /// Maximum number of calls that run at once.
    #[arg(long, value_name = "N", default_value = "4")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) max_concurrent_calls: u32,

    /// Maximum number of waiting calls; further calls are refused.
    #[arg(long, value_name = "N", default_value = "32")]
    #[arg(value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub(super) max_waiting_calls: u32,
}

fn parse_answer_bytes(text: &str) -> Result<usize, String> {
    let num_bytes = parse_bytes(text)?;
    let range = MIN_ANSWER_BYTES..=MAX_ANSWER_BYTES;
    let fits = usize::try_from(num_bytes)
        .ok()
        .filter(|_| range.contains(&num_bytes));
    fits.ok_or_else(|| "an answer may have 8KiB to 16MiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_sensible_length() {
        assert_eq!(parse_answer_bytes("64KiB"), Ok(64 << 10));
        for wrong in ["0", "1KB", "1GB", "long"] {
            assert!(parse_answer_bytes(wrong).is_err(), "{wrong}");
        }
    }
}
