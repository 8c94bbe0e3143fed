//! The documents of a new index over time, drawn as a search draws them.

use anyhow::Result;
use canter_index_builder::{IndexStore, TimeHistogram};
use serde_json::{Value, json};

use crate::render::dates::date_of;
use crate::render::{Screen, aggregations};

/// Rows of the histogram; more do not fit a terminal of the usual height.
const MAX_ROWS: usize = 20;

/// The histogram, below an empty line; nothing of an index without times.
pub(super) fn over_time(store: &IndexStore, screen: &Screen) -> Result<String> {
    let histogram = store.histogram(MAX_ROWS)?;
    Ok(histogram.map_or_else(String::new, |histogram| drawn(&histogram, screen)))
}

fn drawn(histogram: &TimeHistogram, screen: &Screen) -> String {
    let times = std::iter::successors(Some(histogram.start_ns), |time_ns| {
        time_ns.checked_add(histogram.width_ns)
    });
    let bucket = |(time_ns, num_docs): (i64, &u64)| {
        json!({
            "key": time_ns / 1_000_000,
            "key_as_string": date_of(time_ns),
            "doc_count": num_docs,
        })
    };
    let buckets: Vec<Value> = times.zip(&histogram.counts).map(bucket).collect();
    let results = json!({"documents over time": {"buckets": buckets}});
    let asked = json!({"documents over time": {"date_histogram": {}}});
    format!("\n{}", aggregations(&results, &asked, screen, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_is_a_row_with_its_time_and_its_documents() {
        let histogram = TimeHistogram {
            width_ns: 3_600_000_000_000,
            start_ns: 1_714_557_600_000_000_000,
            counts: vec![40, 0, 10],
        };
        let text = drawn(&histogram, &Screen::plain(60, false));
        let rows: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("2024-05-01"))
            .collect();
        assert_eq!(rows.len(), 3, "{text}");
        for (row, (time, num, has_bar)) in rows.iter().zip([
            ("2024-05-01T10:00:00Z", " 40", true),
            ("2024-05-01T11:00:00Z", " 0", false),
            ("2024-05-01T12:00:00Z", " 10", true),
        ]) {
            assert!(row.contains(time) && row.contains(num), "{text}");
            assert_eq!(row.contains('#'), has_bar, "{text}");
        }
    }
}
