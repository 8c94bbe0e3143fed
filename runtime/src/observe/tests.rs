//! Tests of the text form of metrics, and of their table in the README.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Metrics;
use super::sources::SearcherSource;
use crate::RangeCache;
use crate::cache::MemoryCache;
use crate::session::ByteClass;

/// Parses the samples of an OpenMetrics text as `name{labels}` → value. Panics on an invalid line.
pub(crate) fn samples(text: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    let mut families = BTreeSet::new();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.last(), Some(&"# EOF"));
    for line in &lines[..lines.len() - 1] {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (keyword, family) = (words.next().unwrap(), words.next().unwrap());
            let rest = words.next().unwrap();
            match keyword {
                "HELP" => assert!(rest.ends_with('.'), "{line}"),
                "TYPE" => {
                    assert!(
                        ["counter", "gauge", "histogram", "info"].contains(&rest),
                        "{line}"
                    );
                    assert!(families.insert(family.to_owned()), "{family} twice");
                }
                _ => panic!("{line}"),
            }
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
        let family = name.split('{').next().unwrap();
        assert!(
            families
                .iter()
                .any(|known| family.starts_with(known.as_str())),
            "{line}: no TYPE came before"
        );
        if let Some((_, labels)) = name.split_once('{') {
            let labels = labels.strip_suffix('}').unwrap_or_else(|| panic!("{line}"));
            for label in labels.split(',') {
                let (key, value) = label.split_once('=').unwrap();
                assert!(
                    key.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
                    "{line}"
                );
                assert!(value.len() > 2 && value.starts_with('"') && value.ends_with('"'));
            }
        }
        assert!(
            samples.insert(name.to_owned(), value).is_none(),
            "{name} twice"
        );
    }
    samples
}

/// Returns the sum over all samples of a metric whose labels contain `part`.
pub(crate) fn sum(text: &str, metric: &str, part: &str) -> f64 {
    let all = samples(text);
    let mut found = all
        .iter()
        .filter(|(name, _)| name.split('{').next() == Some(metric) && name.contains(part))
        .map(|(_, value)| value)
        .peekable();
    assert!(found.peek().is_some(), "no {metric} with {part}");
    found.sum()
}

fn source_of(cache: &Arc<dyn RangeCache>) -> SearcherSource {
    SearcherSource {
        instance_permits: std::sync::Weak::new(),
        max_instances: 1,
        hedges: std::sync::Weak::new(),
        engine: None,
        cache: Some(Arc::downgrade(cache)),
    }
}

/// Returns the rows of the README's table: name, type, labels.
fn documented() -> BTreeSet<(String, String, Vec<String>)> {
    let readme = include_str!("README.md");
    let rows = readme.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let name = cells.first()?.strip_prefix('`')?.strip_suffix('`')?;
        let is_metric = name.starts_with("canter_") || name.starts_with("process_");
        is_metric.then(|| (name.to_owned(), cells[1].to_owned(), labels_of(cells[2])))
    });
    rows.collect()
}

/// Returns the names in a cell such as ``layer` (`memory`, `disk`), `class``.
fn labels_of(cell: &str) -> Vec<String> {
    let mut depth = 0;
    let outside: String = cell
        .chars()
        .filter(|c| {
            depth += i32::from(*c == '(') - i32::from(*c == ')');
            depth == 0
        })
        .collect();
    let mut labels: Vec<String> = outside
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    labels.sort();
    labels
}

/// Returns the metrics of an OpenMetrics text in the same form.
fn exported(text: &str) -> BTreeSet<(String, String, Vec<String>)> {
    let samples = samples(text);
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types
        .map(|line| {
            let (family, kind) = line.split_once(' ').unwrap();
            let (name, sample) = match kind {
                "counter" => (format!("{family}_total"), format!("{family}_total")),
                "info" => (format!("{family}_info"), format!("{family}_info")),
                "histogram" => (family.to_owned(), format!("{family}_count")),
                _ => (family.to_owned(), family.to_owned()),
            };
            let first = samples
                .keys()
                .find(|key| key.split('{').next() == Some(sample.as_str()))
                .unwrap_or_else(|| panic!("{family} has no sample"));
            let labels = first.split_once('{').map_or("", |(_, labels)| labels);
            let mut labels: Vec<String> = labels
                .split(',')
                .filter_map(|label| Some(label.split_once('=')?.0.to_owned()))
                .collect();
            labels.sort();
            (name, kind.to_owned(), labels)
        })
        .collect()
}

#[tokio::test]
async fn the_readme_lists_what_is_exported() {
    let metrics = Metrics::new();
    let cache: Arc<dyn RangeCache> = Arc::new(MemoryCache::new(1 << 20));
    metrics.watch(source_of(&cache));
    let mut documented = documented();
    if !cfg!(target_os = "linux") {
        documented.retain(|(name, _, _)| !name.starts_with("process_"));
    }
    assert_eq!(exported(&metrics.encode()), documented);
}

#[test]
fn everything_is_at_zero_in_the_beginning() {
    let text = Metrics::new().encode();
    for (name, value) in samples(&text) {
        let is_fixed = name.starts_with("canter_build") || name.starts_with("process_");
        assert!(is_fixed || value == 0.0, "{name} {value}");
    }
    // Label values exist before the first event.
    for (metric, part) in [
        ("canter_queries_total", "outcome=\"budget_exhausted\""),
        ("canter_requests_total", "outcome=\"not_found\""),
        ("canter_fetches_total", "class=\"doc_store\""),
        ("canter_reads_total", "result=\"hit\""),
    ] {
        assert_eq!(sum(&text, metric, part), 0.0);
    }
}

#[test]
fn buckets_reach_from_a_millisecond_to_thirty_seconds() {
    let metrics = Metrics::new();
    metrics.count_wave(std::time::Duration::from_micros(900));
    metrics.count_wave(std::time::Duration::from_secs(31));
    let text = metrics.encode();
    let upto = |bound: &str| {
        let part = format!("le=\"{bound}\"");
        sum(&text, "canter_wave_duration_seconds_bucket", &part)
    };
    assert_eq!((upto("0.001"), upto("30.0"), upto("+Inf")), (1.0, 1.0, 2.0));
}

#[tokio::test]
async fn a_cache_is_counted_once_and_its_counts_outlive_it() {
    let metrics = Metrics::new();
    let cache: Arc<dyn RangeCache> = Arc::new(MemoryCache::new(1 << 20));
    metrics.watch(source_of(&cache));
    metrics.watch(source_of(&cache));
    let class = ByteClass::Postings;
    cache.put("x/a", 0, vec![7; 100].into(), class).await;
    assert_eq!(cache.get("x/a", 0..100, class).await.len(), 1);
    cache.get("x/b", 0..100, class).await;
    let check = |held: f64| {
        let text = metrics.encode();
        let of = |metric: &str| sum(&text, metric, "layer=\"memory\",class=\"postings\"");
        assert_eq!(of("canter_cache_hits_total"), 1.0);
        assert_eq!(of("canter_cache_misses_total"), 1.0);
        assert_eq!(of("canter_cache_hit_bytes_total"), 100.0);
        assert_eq!(of("canter_cache_put_bytes_total"), 100.0);
        let held_bytes: f64 = samples(&text)
            .iter()
            .filter(|(name, _)| name.starts_with("canter_cache_held_bytes"))
            .map(|(_, value)| value)
            .sum();
        assert_eq!(held_bytes, held);
    };
    let layers = cache.stats().layers;
    let held = layers[0].classes.iter().filter_map(|it| it.held_bytes);
    let held: u64 = held.sum();
    assert!(held >= 100);
    check(held as f64);
    drop(cache);
    check(0.0);
    // Another cache begins at zero, and the sum continues.
    let cache: Arc<dyn RangeCache> = Arc::new(MemoryCache::new(1 << 20));
    metrics.watch(source_of(&cache));
    cache.get("x/b", 0..100, class).await;
    let labels = "layer=\"memory\",class=\"postings\"";
    assert_eq!(
        sum(&metrics.encode(), "canter_cache_misses_total", labels),
        2.0
    );
}
