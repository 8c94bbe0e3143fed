//! What `canter mcp` is told on the command line.

use clap::Args;

use crate::amounts::parse_bytes;
use crate::commands::search::{LimitArgs, ServingCacheArgs};
use crate::commands::serve::parse_index;
use crate::open::EngineArgs;

/// An answer is never too short to say what it lacks.
const MIN_ANSWER_BYTES: u64 = 8 << 10;
/// A longer one fits into no model's context.
const MAX_ANSWER_BYTES: u64 = 16 << 20;

const AFTER_HELP: &str = "\
Tools:
  list_indexes     the indexes: documents, bytes, time range
  describe_fields  the fields of an index: type, whether it can be searched, sorted by, aggregated
  search           documents that match a query
  aggregate        Elasticsearch's aggregations over them
  explain_cost     what a search would read, without reading it; not with --forced-filter

A client starts this program, and speaks with it through its standard input and output: lines of JSON-RPC.
Most clients are told so in a file:
  {\"mcpServers\": {\"logs\": {\"command\": \"canter\",
    \"args\": [\"mcp\", \"--index\", \"logs=s3://bucket/logs\", \"--cache\", \"/var/cache/canter\"]}}}

A call may ask for a smaller budget than this server's, and for no larger one. Answers say what they cost
and what they lack. Nothing can be changed through this server. It ends when its standard input does.";

/// Arguments of `canter mcp`.
#[derive(Debug, Args)]
#[command(
    after_help = AFTER_HELP,
    mut_arg("max_requests", |arg| arg.default_value("500").help(
        "Most requests of a call to the store, repetitions and hedges included. When this or one of the next two is \
         used up, the call is answered with what it has"
    )),
    mut_arg("max_bytes", |arg| arg.default_value("256MiB").help(
        "Most bytes of a call from the store, such as 50MB"
    ))
)]
pub(crate) struct McpArgs {
    /// An index that can be asked: a folder, s3://…, gs://…, az://… or https://…. Without NAME= in front it has
    /// the last part of its URI as its name. May be given several times.
    #[arg(long = "index", value_name = "[NAME=]URI", required = true, value_parser = parse_index)]
    pub(super) indexes: Vec<(String, String)>,

    #[command(flatten)]
    pub(super) engine: EngineArgs,

    /// A query that every hit must match, whatever is asked for; each of its terms names its field. What would tell
    /// of other documents is not shown then: costs, plans and the sizes of indexes.
    #[arg(long, value_name = "QUERY")]
    pub(super) forced_filter: Option<String>,

    /// Parts of a search that run at once, each in a guest of its own [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) threads: Option<u32>,

    #[command(flatten)]
    pub(super) cache: ServingCacheArgs,

    #[command(flatten)]
    pub(super) limits: LimitArgs,

    #[command(flatten)]
    pub(super) calls: CallArgs,
}

/// What clients may take of the server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Calls")]
pub(crate) struct CallArgs {
    /// Most hits that a call may ask for; 10 are shown to one that asks for no number.
    #[arg(long, value_name = "N", default_value = "100")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(super) max_hits: u64,

    /// Longest answer. What is longer has long texts and lists cut, and says which.
    #[arg(long, value_name = "BYTES", default_value = "64KiB", value_parser = parse_answer_bytes)]
    pub(super) max_answer_bytes: usize,

    /// Most calls that run at once.
    #[arg(long, value_name = "N", default_value = "4")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) max_concurrent_calls: u32,

    /// Most calls that wait for those; those beyond are refused.
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
