//! `wasi:cli/run`: runs one search and prints its answer to standard output.
//!
//! WASI 0.2 only supports success and failure as exit codes, so invalid requests and unreachable
//! stores both result in 1; the messages differ.

use std::io::Write;

use canter_edge_io::{Host, parse_url};
use serde_json::Value;
use wasip2::cli::environment::get_arguments;

use crate::args::{Command, SearchArgs, USAGE, parse};
use crate::calls::Wasi;
use crate::store;

/// Runs the command in the arguments.
pub(crate) fn run() -> Result<(), ()> {
    let arguments = get_arguments();
    let arguments = arguments.get(1..).unwrap_or_default();
    let done = match parse(arguments) {
        Ok(Command::Help) => print(USAGE),
        Ok(Command::Search(args)) => search(&args),
        Err(message) => Err(format!("{message}\n\n{USAGE}")),
    };
    done.map_err(|message| eprintln!("error: {message}"))
}

fn search(args: &SearchArgs) -> Result<(), String> {
    let index = parse_url(&args.index)?;
    let cache = store::open(args.cache_bytes)?;
    let mut host = Host::of_one(Wasi, cache, args.options.clone(), index);
    let answer = host
        .search(&args.request.to_string())
        .map_err(|error| error.message)?;
    let mut answer: Value = serde_json::from_str(&answer)
        .map_err(|error| format!("the engine's answer is not JSON: {error}"))?;
    let profile = match (answer.as_object_mut(), args.shows_profile) {
        (Some(answer), false) => answer.shift_remove("profile"),
        _ => answer.get("profile").cloned(),
    };
    print(&answer.to_string())?;
    // The cache is written after the answer, so that the caller does not wait for it.
    host.settle();
    warn_of(&answer);
    check_answered(&answer, &profile.unwrap_or_default())
}

fn print(text: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot write the answer: {error}"))
}

fn splits<'a>(answer: &'a Value, key: &str) -> &'a [Value] {
    answer[key].as_array().map_or(&[], Vec::as_slice)
}

/// Prints the missing parts of the answer to standard error.
fn warn_of(answer: &Value) {
    for split in splits(answer, "failed_splits") {
        let text = |key: &str| split[key].as_str().unwrap_or("?");
        eprintln!(
            "warning: split {} is not in the answer ({}): {}",
            text("split_id"),
            text("kind"),
            text("message")
        );
    }
    let limit = match answer["budget_exhausted"].as_str() {
        Some(limit) => format!("--{}", limit.replace('_', "-")),
        None if answer["timed_out"] == true => "--deadline-ms".to_owned(),
        None => return,
    };
    let skipped = match splits(answer, "skipped_splits").len() {
        1 => "1 split is".to_owned(),
        num => format!("{num} splits are"),
    };
    eprintln!(
        "warning: {skipped} not in the answer, because {limit} was reached; raise it or narrow the query"
    );
}

/// Returns an error if splits are missing and no others were answered.
fn check_answered(answer: &Value, profile: &Value) -> Result<(), String> {
    let num = |key: &str| profile[key].as_u64().unwrap_or(0);
    let num_answered = num("num_splits_searched")
        + num("num_splits_answered_from_head")
        + num("num_splits_answered_from_cache");
    let num_missing =
        splits(answer, "failed_splits").len() + splits(answer, "skipped_splits").len();
    match num_missing > 0 && num_answered == 0 {
        true => Err("no split could be searched; the warnings above say why".to_owned()),
        false => Ok(()),
    }
}
