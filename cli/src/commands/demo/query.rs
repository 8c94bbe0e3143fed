//! The second half of the demo: the two classic queries, cold and warm, here and in a simulated store.

use std::sync::Arc;

use anyhow::{Result, bail};
use canter_lab::LatencyModel;
use canter_runtime::cache::MemoryCache;
use canter_runtime::fetch::OpenOptions;
use canter_runtime::{Engine, Limits, SearchResponse, Searcher};
use serde_json::{Value, json};

use crate::render::{
    Align, Attempts, Cell, Chart, Colour, Column, Screen, Table, aggregations, cost_line, hits,
    numbers, timeline,
};
use crate::simulate::{CpuChoice, Simulation};

const CACHE_LEN: usize = 256 << 20;

/// A query of the demo.
pub(super) struct DemoQuery {
    pub(super) title: &'static str,
    request: Value,
}

/// Returns the two queries that are common benchmarks of search engines for logs.
pub(super) fn classics() -> [DemoQuery; 2] {
    [
        DemoQuery {
            title: "Find the ten newest errors",
            request: json!({"query": "severity_text:ERROR", "max_hits": 10}),
        },
        DemoQuery {
            title: "Count all events by day and level",
            request: json!({
                "query": "*",
                "max_hits": 0,
                "aggs": {"events": {
                    "date_histogram": {"field": "timestamp", "fixed_interval": "1d"},
                    "aggs": {"log_level": {"terms": {
                        "size": 10, "field": "severity_text", "order": {"_count": "desc"},
                    }}},
                }},
            }),
        },
    ]
}

impl DemoQuery {
    /// Returns the query as it could be written on the command line.
    pub(super) fn described(&self, screen: &Screen) -> String {
        let query = self.request["query"].as_str().unwrap_or_default();
        let mut text = format!("query {query}, max_hits {}", self.request["max_hits"]);
        if let Some(aggs) = self.request.get("aggs") {
            text.push_str(&format!(
                ", aggs\n{}",
                wrapped(&aggs.to_string(), screen.width)
            ));
        }
        screen.paint(Colour::Cyan, &text)
    }

    /// Returns the hits or aggregations of an answer.
    pub(super) fn answer(&self, response: &SearchResponse, screen: &Screen) -> String {
        let num_hits = response.json["num_hits"].as_u64().unwrap_or(0);
        let found = response.json["hits"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let total = match found.len() {
            0 => numbers::counted(num_hits, "document"),
            shown => format!("{}, {shown} shown", numbers::counted(num_hits, "hit")),
        };
        let shown: Vec<Value> = found.iter().map(essence).collect();
        format!(
            "{}{}{}\n",
            hits(&shown, screen, ""),
            aggregations(&response.json["aggregations"], &Value::Null, screen, ""),
            screen.paint(Colour::Bold, &total)
        )
    }
}

/// Breaks JSON into lines of at most `width`, after commas and opening brackets.
fn wrapped(json: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for piece in json.split_inclusive([',', '{']) {
        let line = lines.last().map_or(0, String::len);
        if line > 0 && line + piece.len() > width {
            lines.push("  ".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(piece);
        }
    }
    lines.join("\n")
}

/// Returns the most important parts of a log line, with a readable date.
fn essence(hit: &Value) -> Value {
    let seconds = hit["timestamp"].as_i64();
    let time = seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    json!({
        "timestamp": time.map_or(hit["timestamp"].clone(), |time| time.to_string().into()),
        "severity_text": hit["severity_text"],
        "service": hit["resource"]["service"],
        "body": hit["body"],
    })
}

/// Environment of the demo's queries.
pub(super) struct Laboratory {
    pub(super) uri: String,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) model: LatencyModel,
    pub(super) cpu: CpuChoice,
}

/// One search: in simulated time, and its real time here.
struct Run {
    response: SearchResponse,
    attempts: Attempts,
    here_us: u64,
}

/// One query with an empty cache, and again with the cache that the first run left.
pub(super) struct Runs {
    title: &'static str,
    /// Description of the simulated times.
    simulated: String,
    cold: Run,
    warm: Run,
}

impl Runs {
    /// Runs the query four times: cold and warm, in the folder and in a simulated store.
    pub(super) async fn of(query: &DemoQuery, laboratory: &Laboratory) -> Result<Runs> {
        let uri = &laboratory.uri;
        let builder = || {
            Searcher::builder()
                .engine(Arc::clone(&laboratory.engine))
                .cache(Arc::new(MemoryCache::new(CACHE_LEN)))
        };
        let here = builder().uri(uri, &OpenOptions::default())?.build()?;
        let simulation = Simulation::over(uri, laboratory.model.clone(), laboratory.cpu)?;
        let there = simulation.attach(builder()).build()?;
        let limits = Limits::default();
        let mut request = query.request.clone();
        request["profile"] = true.into();
        let run = async || {
            let real = here.search(&request, &limits).await?;
            let search = there.search_text(&request, &limits);
            let (answer, attempts) = simulation.search(search).await?;
            let response = answer.parsed()?;
            check(&real)?;
            check(&response)?;
            if !is_same_answer(&real, &response) {
                bail!("the answer changes with the store, a defect: please report it");
            }
            Ok(Run {
                response,
                attempts,
                here_us: real.json["elapsed_time_micros"].as_u64().unwrap_or(0),
            })
        };
        let (cold, warm) = (run().await?, run().await?);
        if !is_same_answer(&cold.response, &warm.response) {
            bail!("the answers with and without cache differ, a defect: please report it");
        }
        let title = query.title;
        Ok(Runs {
            title,
            simulated: simulation.line(),
            cold,
            warm,
        })
    }

    /// The response of the first run.
    pub(super) fn response(&self) -> &SearchResponse {
        &self.cold.response
    }

    fn named(&self) -> [(&'static str, &Run); 2] {
        [("cold", &self.cold), ("warm", &self.warm)]
    }

    /// Returns a table of the costs of both runs, side by side.
    pub(super) fn cost_table(&self, screen: &Screen) -> String {
        let titles = [
            "",
            "waves",
            "requests",
            "bytes",
            "from cache",
            "splits read",
            "here",
            "simulated",
        ];
        let mut table = Table::new(
            titles
                .into_iter()
                .map(|title| Column::new(title, Align::Right))
                .collect(),
        );
        for (name, run) in self.named() {
            let (io, profile) = (&run.response.profile, &run.response.json["profile"]);
            let elapsed = run.response.json["elapsed_time_micros"].as_u64();
            table.push(vec![
                Cell::new(name).in_colour(Some(Colour::Bold)),
                Cell::new(numbers::count(io.num_waves)),
                Cell::new(numbers::count(io.num_requests)),
                Cell::new(numbers::bytes(io.num_bytes)),
                Cell::new(numbers::bytes(io.num_cache_bytes)),
                Cell::new(format!(
                    "{} of {}",
                    profile["num_splits_searched"], profile["num_splits"]
                )),
                Cell::new(numbers::micros(run.here_us)),
                Cell::new(numbers::micros(elapsed.unwrap_or(0))).in_colour(Some(Colour::Bold)),
            ]);
        }
        table.text(screen, "")
    }

    /// Returns the timelines of both runs, on one scale.
    pub(super) fn charts(&self) -> [Chart; 2] {
        Chart::on_one_scale(self.named().map(|(name, run)| {
            let json = &run.response.json;
            let title = format!("{}, {name}", self.title);
            let facts = vec![cost_line(json), self.simulated.clone()];
            Chart::of_response(&run.response, &run.attempts).titled(title, facts)
        }))
    }

    /// Returns the charts as text, each under a caption.
    pub(super) fn timelines(&self, screen: &Screen) -> String {
        let captions = ["The cold run in simulated time:", "The warm run:"];
        let charts = self.charts();
        let shown = captions.iter().zip(&charts).map(|(caption, chart)| {
            let caption = screen.paint(Colour::Dim, caption);
            match timeline(chart, screen, "") {
                rows if rows.is_empty() => format!("{caption} no request was needed.\n"),
                rows => format!("{caption}\n{rows}"),
            }
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    /// Returns remarks that explain the figures.
    pub(super) fn remarks(&self, screen: &Screen) -> String {
        let num = |key: &str| {
            self.cold.response.json["profile"][key]
                .as_u64()
                .unwrap_or(0)
        };
        let mut text =
            "The manifest is the one object that changes, so every search asks for it; if it has\n\
                        not changed, it is not sent again. It carries the heads of the splits"
                .to_owned();
        let (num_splits, from_heads) = (num("num_splits"), num("num_splits_answered_from_head"));
        if from_heads > 0 {
            text.push_str(&format!(
                ",\nwhich alone answered for {from_heads} of {}",
                numbers::counted(num_splits, "split")
            ));
        }
        text.push('.');
        let lines = text.lines().map(|line| screen.paint(Colour::Dim, line));
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn is_same_answer(one: &SearchResponse, other: &SearchResponse) -> bool {
    let same = |key: &str| one.json[key] == other.json[key];
    same("hits") && same("num_hits") && same("aggregations")
}

/// Fails if splits are missing: such a demo would mislead.
fn check(response: &SearchResponse) -> Result<()> {
    match response.json["failed_splits"].as_array().map(Vec::as_slice) {
        None | Some([]) => Ok(()),
        Some([failed, ..]) => bail!(
            "split {} could not be searched: {}",
            failed["split_id"].as_str().unwrap_or("?"),
            failed["message"].as_str().unwrap_or("?")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_json_is_wrapped() {
        let check = |width: usize, expect: &str| {
            assert_eq!(wrapped(r#"{"a":{"b":1,"c":2}}"#, width), expect);
        };
        check(80, r#"{"a":{"b":1,"c":2}}"#);
        check(13, "{\"a\":{\"b\":1,\n  \"c\":2}}");
    }
}
