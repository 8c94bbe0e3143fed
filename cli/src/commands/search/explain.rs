//! `canter search --explain`: the plan and its price, without the search.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use canter_runtime::Explanation;
use clap::Args;
use serde_json::{Value, json};

use super::args::SearchArgs;
use super::output::write_json;
use super::run::{OpenIndex, request_of};
use crate::args::Format;
use crate::prices::{Prices, Usage, prices_json, usage_of};
use crate::render::{Chart, Colour, Screen, explanation, timeline};
use crate::simulate::Simulation;

/// Arguments about plans and prices.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Print the plan instead of the answer: which splits are searched or left out and why, what would be read, and
    /// its cost. Reads the manifest, heads, and dictionaries where their counts decide.
    #[arg(long)]
    explain: bool,

    /// Price table to use instead of the built-in one, which `canter prices` prints.
    #[arg(long, value_name = "FILE", requires = "explain")]
    prices: Option<PathBuf>,
}

impl ExplainArgs {
    pub(super) fn is_asked_for(&self) -> bool {
        self.explain
    }
}

/// Plans the search and shows the plan.
pub(super) fn run(index: &OpenIndex, args: &SearchArgs, screen: &Screen) -> Result<()> {
    // Before anything is read, so that an invalid table costs nothing.
    let prices = Prices::read(args.explain.prices.as_deref())?;
    let (explained, attempts) = index.explain(&request_of(args))?;
    let simulated = index.simulation().map(Simulation::line);
    let title = format!("The plan of {}", args.query());
    let chart = Chart::of_profile(&explained.profile, 0, &attempts)
        .titled(&title, simulated.clone().into_iter().collect());
    let usage = usage_of(&explained);
    let mut out = io::stdout().lock();
    match args.format.on(screen) {
        Format::Json => {
            let mut json = json_of(&explained, &usage, &prices);
            if let Some(simulation) = index.simulation() {
                simulation.mark(&mut json["profile"]);
            }
            write_json(&mut out, &json, screen)?;
        }
        Format::Table => {
            out.write_all(explanation(&explained, &usage, &prices, screen).as_bytes())?;
            if let Some(line) = simulated {
                writeln!(out, "\n{}", screen.paint(Colour::Dim, &line))?;
            }
            if args.profile {
                let chart = timeline(&chart, screen, "");
                write!(out, "\n{chart}")?;
            }
        }
    }
    out.flush()?;
    args.simulate.write_timeline(&title, &chart)
}

fn json_of(explained: &Explanation, usage: &Usage, prices: &Prices) -> Value {
    json!({
        "plan": explained.plan,
        "profile": explained.profile.to_json(),
        "planned": explained.planned,
        "num_waves": usage.num_waves,
        "num_requests": usage.num_requests,
        "num_bytes": usage.num_bytes,
        "max_documents": usage.max_documents,
        "prices_as_of": prices.as_of,
        "prices": prices_json(&prices.of(usage)),
    })
}
