//! The second half of the demo: the two classic queries, cold and warm.

use std::sync::Arc;

use anyhow::{Result, bail};
use canter_runtime::cache::MemoryCache;
use canter_runtime::fetch::OpenOptions;
use canter_runtime::{Engine, Limits, SearchResponse, Searcher};
use serde_json::{Value, json};

use crate::render::{
    Align, Cell, Colour, Column, Screen, Table, aggregations, hits, numbers, timeline,
};

const CACHE_LEN: usize = 256 << 20;

/// A query of the demo.
pub(super) struct DemoQuery {
    pub(super) title: &'static str,
    request: Value,
}

/// The two queries that search engines for logs are measured by.
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
    /// What is asked, as it could be written on the command line.
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

    /// Hits or aggregations of an answer.
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
            aggregations(&response.json["aggregations"], screen, ""),
            screen.paint(Colour::Bold, &total)
        )
    }
}

/// JSON in lines of at most `width`, broken behind commas and opening brackets.
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

/// What one wants to see of a log line first, with a date that people can read.
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

/// One query with an empty cache, and again with what the first run left there.
pub(super) struct Runs {
    pub(super) cold: SearchResponse,
    warm: SearchResponse,
}

impl Runs {
    pub(super) async fn of(query: &DemoQuery, uri: &str, engine: Arc<dyn Engine>) -> Result<Runs> {
        let searcher = Searcher::builder()
            .engine(engine)
            .uri(uri, &OpenOptions::default())?
            .cache(Arc::new(MemoryCache::new(CACHE_LEN)))
            .build()?;
        let limits = Limits::default();
        let mut request = query.request.clone();
        request["profile"] = true.into();
        let cold = searcher.search(&request, &limits).await?;
        let warm = searcher.search(&request, &limits).await?;
        for response in [&cold, &warm] {
            check(response)?;
        }
        if cold.json["hits"] != warm.json["hits"]
            || cold.json["aggregations"] != warm.json["aggregations"]
        {
            bail!("the answers with and without cache differ, a defect: please report it");
        }
        Ok(Runs { cold, warm })
    }

    /// What both runs took, side by side.
    pub(super) fn cost_table(&self, screen: &Screen) -> String {
        let titles = [
            "",
            "waves",
            "requests",
            "bytes",
            "time",
            "from cache",
            "splits read",
        ];
        let mut table = Table::new(
            titles
                .into_iter()
                .map(|title| Column::new(title, Align::Right))
                .collect(),
        );
        for (name, run) in [("cold", &self.cold), ("warm", &self.warm)] {
            let (io, profile) = (&run.profile, &run.json["profile"]);
            let elapsed = run.json["elapsed_time_micros"].as_u64().unwrap_or(0);
            table.push(vec![
                Cell::new(name).in_colour(Some(Colour::Bold)),
                Cell::new(numbers::count(io.num_waves)),
                Cell::new(numbers::count(io.num_requests)),
                Cell::new(numbers::bytes(io.num_bytes)),
                Cell::new(numbers::micros(elapsed)),
                Cell::new(numbers::bytes(io.num_cache_bytes)),
                Cell::new(format!(
                    "{} of {}",
                    profile["num_splits_searched"], profile["num_splits"]
                )),
            ]);
        }
        table.text(screen, "")
    }

    /// The requests of the cold run over time.
    pub(super) fn chart(&self, screen: &Screen) -> String {
        let caption = screen.paint(Colour::Dim, "The requests of the cold run:");
        format!("{caption}\n{}", timeline(&self.cold.profile, screen, ""))
    }

    /// What the figures do not say by themselves.
    pub(super) fn remarks(&self, screen: &Screen) -> String {
        let num = |key: &str| self.cold.json["profile"][key].as_u64().unwrap_or(0);
        let mut text = "The manifest is the one object that changes, so it is read every time.\n\
                        It carries the heads of the splits"
            .to_owned();
        let (num_splits, from_heads) = (num("num_splits"), num("num_splits_answered_from_head"));
        if from_heads > 0 {
            text.push_str(&format!(
                ", which alone answered for {from_heads} of {}",
                numbers::counted(num_splits, "split")
            ));
        }
        text.push('.');
        let lines = text.lines().map(|line| screen.paint(Colour::Dim, line));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A demo with holes is none.
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
