//! Command line with the applicable flags of `canter search`. It is parsed by hand, because an
//! argument parser would be a tenth of the component.

use canter_doc_mapper::parse_seconds;
use canter_edge_io::{Options, parse_bytes};
use serde_json::{Map, Value};

pub(crate) const USAGE: &str = "\
usage: canter-wasi.wasm search --index URL --query QUERY [FLAGS]

  --index URL             the index: http://… or https://…
  --query QUERY           the query, as in `canter search`
  --aggs JSON|@FILE       Elasticsearch aggregations
  --max-hits N            maximum number of hits to return [default: 20]
  --start-offset N        number of hits to skip first [default: 0]
  --sort-by FIELDS        fast fields, _score or _doc, comma-separated [default: newest first]
  --search-field FIELDS   fields for words that name no field
  --start-timestamp TIME  start of the time range (inclusive): seconds since 1970, or a date
  --end-timestamp TIME    end of the time range (exclusive)
  --profile               show the profile of the search
  --cache-bytes BYTES     maximum size of /cache, such as 1GiB; 0 keeps nothing [default: 1GiB]
  --manifest-ttl-ms MS    how long a cached manifest is used without revalidation [default: 0]
  --deadline-ms MS        time limit in milliseconds [default: 30000]
  --max-requests N        maximum number of requests to the store [default: no limit]
  --max-bytes BYTES       maximum number of bytes from the store [default: no limit]
  --max-waves N           maximum number of successive rounds of requests [default: no limit]
  --max-concurrent-requests N   maximum number of requests in flight [default: 64]
  --limits JSON           the engine's own limits, such as {\"max_splits\":100}

The cache is the folder that is mapped to /cache (wasmtime run --dir FOLDER::/cache …). As a web service
(wasmtime serve -S cli) the same component answers the search API of the indexes in CANTER_INDEXES.";

/// Search to run, with its options.
#[derive(Debug)]
pub(crate) struct SearchArgs {
    pub(crate) index: String,
    /// Search request, a JSON object.
    pub(crate) request: Value,
    pub(crate) options: Options,
    pub(crate) cache_bytes: u64,
    pub(crate) shows_profile: bool,
}

/// Parsed command.
#[derive(Debug)]
pub(crate) enum Command {
    Help,
    Search(Box<SearchArgs>),
}

/// Parses the arguments after the program's name.
///
/// # Errors
/// An argument is invalid; the message names it.
pub(crate) fn parse(arguments: &[String]) -> Result<Command, String> {
    let mut arguments = arguments.iter();
    match arguments.next().map(String::as_str) {
        Some("search") => {}
        None | Some("help" | "--help" | "-h") => return Ok(Command::Help),
        Some(other) => return Err(format!("there is no command {other:?}, only search")),
    }
    let mut args = SearchArgs {
        index: String::new(),
        request: Value::Null,
        options: Options::default(),
        cache_bytes: crate::store::MAX_CACHE_BYTES,
        shows_profile: false,
    };
    let mut request = Map::new();
    request.insert("max_hits".to_owned(), 20.into());
    // Always: the exit code depends on it.
    request.insert("profile".to_owned(), true.into());
    while let Some(flag) = arguments.next() {
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (flag.as_str(), None),
        };
        match name {
            "--help" | "-h" => return Ok(Command::Help),
            "--profile" => {
                args.shows_profile = true;
                continue;
            }
            _ => {}
        }
        let value = value.or_else(|| arguments.next().cloned());
        let value = value.ok_or_else(|| format!("{name} needs a value"))?;
        set(&mut args, &mut request, name, &value).map_err(|error| format!("{name}: {error}"))?;
    }
    if args.index.is_empty() {
        return Err("--index is missing: where is the index?".to_owned());
    }
    if !request.contains_key("query") {
        return Err("--query is missing: what is looked for? (* is every document)".to_owned());
    }
    args.request = Value::Object(request);
    Ok(Command::Search(Box::new(args)))
}

fn set(
    args: &mut SearchArgs,
    request: &mut Map<String, Value>,
    name: &str,
    value: &str,
) -> Result<(), String> {
    let budget = &mut args.options.budget;
    let mut ask = |key: &str, value: Value| {
        request.insert(key.to_owned(), value);
    };
    match name {
        "--index" => args.index = value.to_owned(),
        "--query" => ask("query", value.into()),
        "--aggs" => ask("aggs", aggregations(value)?),
        "--max-hits" => ask("max_hits", number(value)?.into()),
        "--start-offset" => ask("start_offset", number(value)?.into()),
        "--sort-by" => ask("sort_by", value.into()),
        "--search-field" => ask("search_field", value.split(',').collect()),
        "--start-timestamp" => ask("start_timestamp", parse_seconds(value)?.into()),
        "--end-timestamp" => ask("end_timestamp", parse_seconds(value)?.into()),
        "--cache-bytes" => args.cache_bytes = parse_bytes(value)?,
        "--manifest-ttl-ms" => args.options.manifest_ttl_ms = number(value)?,
        "--deadline-ms" => budget.deadline_ms = Some(number(value)?),
        "--max-requests" => budget.max_requests = Some(number(value)?),
        "--max-bytes" => budget.max_bytes = Some(parse_bytes(value)?),
        "--max-waves" => budget.max_waves = Some(number(value)?),
        "--max-concurrent-requests" => {
            let number = usize::try_from(number(value)?).unwrap_or(usize::MAX);
            args.options.max_concurrent_requests = number.max(1);
        }
        "--limits" => match serde_json::from_str(value) {
            Ok(Value::Object(limits)) => args.options.guest_limits = limits,
            _ => return Err(format!("{value:?} is no JSON object")),
        },
        _ => return Err("there is no such flag; --help shows all".to_owned()),
    }
    Ok(())
}

fn number(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is no whole number"))
}

fn aggregations(text: &str) -> Result<Value, String> {
    let json = match text.strip_prefix('@') {
        Some(path) => {
            &std::fs::read_to_string(path).map_err(|error| format!("`{path}`: {error}"))?
        }
        None => text,
    };
    match canter_names::read_json(json.as_bytes()) {
        Ok(aggs @ Value::Object(_)) => Ok(aggs),
        Ok(_) => Err("aggregations are a JSON object: {\"name\":{\"terms\":{…}}}".to_owned()),
        Err(error) => Err(error.of("--aggs")),
    }
}
