//! `canter search`: one request, one answer.

use std::io::{self, BufWriter, Write};

use anyhow::Result;
use serde_json::Value;

use super::args::SearchArgs;
use super::output::{Shown, json_of, table_of, write_json, write_text};
use super::run::{OpenIndex, request_of};
use super::{explain, missing, patterns};
use crate::args::Format;
use crate::exit::note;
use crate::render::{Chart, Screen, cost_line};
use crate::simulate::Simulation;

/// Searches and shows the answer.
pub(crate) fn run(args: &SearchArgs, screen: &Screen) -> Result<()> {
    let uri = match args.index() {
        Some(uri) => uri.to_owned(),
        None => args.inputs.index()?,
    };
    let index = OpenIndex::open(args, &uri)?;
    let done = match &args.patterns {
        _ if args.explain.is_asked_for() => explain::run(&index, args, screen),
        Some(field) => patterns::run(&index, args, field, screen),
        None => answer(&index, args, screen),
    };
    // After the answer, so that it does not wait for the cache. Even after a failure, the next search benefits.
    index.settle();
    args.metrics.write(index.metrics());
    done
}

fn answer(index: &OpenIndex, args: &SearchArgs, screen: &Screen) -> Result<()> {
    let (answer, attempts) = index.search(&request_of(args))?;
    if args.profile {
        // The cache's statistics are complete once it has written everything.
        index.settle();
    }
    let simulated = index.simulation().map(Simulation::line);
    let mut facts = vec![cost_line(&answer.response.json)];
    facts.extend(simulated.clone());
    let chart = Chart::of_response(&answer.response, &attempts).titled(args.query(), facts);
    let is_answered = missing::check_answered(&answer.response.json);
    let mut out = BufWriter::new(io::stdout().lock());
    let is_json = matches!(args.format.on(screen), Format::Json);
    let response = if is_json && !screen.is_terminal && args.chart.is_none() {
        // The aggregations are not parsed: they go from the guest to the output unchanged.
        let cache = index.cache_stats();
        write_text(&mut out, answer, args.profile, cache.as_ref())?
    } else {
        let response = answer.parsed()?;
        let shown = Shown {
            response: &response,
            aggs: args.aggs.as_ref().unwrap_or(&Value::Null),
            cache: index.cache_stats(),
            profile: args.profile.then_some(&chart),
            simulated: simulated.as_deref(),
        };
        match is_json {
            true => write_json(&mut out, &json_of(&shown), screen)?,
            false => out.write_all(table_of(&shown, screen).as_bytes())?,
        }
        response
    };
    out.flush()?;
    if is_json {
        // Without a profile the JSON does not contain it.
        simulated.into_iter().for_each(note);
    }
    args.simulate.write_timeline(args.query(), &chart)?;
    if let Some(file) = &args.chart {
        let asked = args.aggs.as_ref().unwrap_or(&Value::Null);
        file.write(args.query(), &response.json["aggregations"], asked)?;
        note(format_args!("chart: {}", file.path().display()));
    }
    missing::warn_of(&response.json);
    is_answered
}
