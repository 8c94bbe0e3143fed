//! The answer as JSON and as text.

use std::io::{self, Write};

use canter_runtime::cache::{CacheStats, ClassStats};
use canter_runtime::session::ByteClass;
use canter_runtime::{SearchResponse, SearchText};
use serde_json::{Map, Value};

use crate::render::{Chart, Colour, Screen, answer, cache_line, cost_line, timeline};

/// Contents of the output.
pub(super) struct Shown<'a> {
    pub(super) response: &'a SearchResponse,
    /// The requested aggregations, if any.
    pub(super) aggs: &'a Value,
    /// The statistics of the cache, if there is one.
    pub(super) cache: Option<CacheStats>,
    /// The timeline of requests, if requested.
    pub(super) profile: Option<&'a Chart>,
    /// Note on simulated times, if they are simulated.
    pub(super) simulated: Option<&'a str>,
}

/// Returns the guest's answer, with the profile only if requested.
pub(super) fn json_of(shown: &Shown<'_>) -> Value {
    let mut answer = shown.response.json.clone();
    trim_profile(&mut answer, shown.profile.is_some(), shown.cache.as_ref());
    answer
}

/// Writes the result of [`json_of`] on a line, without parsing the aggregations. Returns the answer
/// without them.
pub(super) fn write_text(
    out: &mut impl Write,
    mut answer: SearchText,
    has_profile: bool,
    cache: Option<&CacheStats>,
) -> io::Result<SearchResponse> {
    trim_profile(&mut answer.response.json, has_profile, cache);
    serde_json::to_writer(&mut *out, &answer)?;
    writeln!(out)?;
    Ok(answer.response)
}

fn trim_profile(answer: &mut Value, has_profile: bool, cache: Option<&CacheStats>) {
    if !has_profile {
        if let Value::Object(answer) = answer {
            answer.shift_remove("profile");
        }
    } else if let Some(stats) = cache {
        answer["profile"]["cache"] = cache_json(stats);
    }
}

/// Returns statistics layer by layer, for the classes with any lookups or puts.
fn cache_json(stats: &CacheStats) -> Value {
    let layers = stats.layers.iter().map(|layer| {
        let classes = ByteClass::ALL.into_iter();
        let used = classes.map(|class| (class, layer.class(class)));
        let used = used.filter(|(_, stats)| !is_idle(stats));
        let used = used.map(|(class, stats)| {
            let stats = serde_json::to_value(stats).unwrap_or_default();
            (class.as_str().to_owned(), stats)
        });
        (layer.layer.to_owned(), used.collect::<Map<_, _>>().into())
    });
    layers.collect::<Map<_, _>>().into()
}

fn is_idle(stats: &ClassStats) -> bool {
    let unused = ClassStats {
        held_bytes: stats.held_bytes,
        ..ClassStats::default()
    };
    *stats == unused
}

/// Returns the answer, its cost, and with a profile each request.
pub(super) fn table_of(shown: &Shown<'_>, screen: &Screen) -> String {
    let response = shown.response;
    let cache = shown.cache.as_ref();
    let lines = [
        Some(cost_line(&response.json)),
        shown.simulated.map(str::to_owned),
        cache.map(|stats| cache_line(&response.profile, stats)),
    ];
    let mut text = format!("{}\n", answer(&response.json, shown.aggs, screen));
    for line in lines.iter().flatten() {
        text.push_str(&format!("{}\n", screen.paint(Colour::Dim, line)));
    }
    let chart = shown.profile.map(|chart| timeline(chart, screen, ""));
    let chart = chart.unwrap_or_default();
    if !chart.is_empty() {
        text.push_str(&format!("\n{chart}"));
    }
    text
}

/// Writes one JSON object on one line, or indented for a person.
pub(super) fn write_json(out: &mut impl Write, json: &Value, screen: &Screen) -> io::Result<()> {
    match screen.is_terminal {
        true => writeln!(out, "{json:#}"),
        false => writeln!(out, "{json}"),
    }
}

#[cfg(test)]
mod tests {
    use canter_runtime::Profile;
    use canter_runtime::cache::LayerStats;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_profile_is_shown_only_if_it_was_asked_for() {
        let answer = json!({"hits": [], "num_hits": 0, "profile": {"num_waves": 1}});
        let response = SearchResponse {
            json: answer,
            profile: Profile::default(),
        };
        let shown = Shown {
            response: &response,
            aggs: &Value::Null,
            cache: None,
            profile: None,
            simulated: None,
        };
        assert_eq!(json_of(&shown), json!({"hits": [], "num_hits": 0}));
    }

    #[test]
    fn the_cache_is_shown_by_layer_and_class() {
        let mut classes = [ClassStats::default(); ByteClass::ALL.len()];
        classes[ByteClass::Head.ord()].num_hits = 2;
        classes[ByteClass::Postings.ord()].held_bytes = Some(7);
        let layer = "disk";
        let json = cache_json(&CacheStats {
            layers: vec![LayerStats { layer, classes }],
        });
        let keys: Vec<&String> = json["disk"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .collect();
        assert_eq!(keys, ["head"]);
        assert_eq!(json["disk"]["head"]["num_hits"], 2);
        assert_eq!(json["disk"]["head"]["num_corrupt"], 0);
    }
}
