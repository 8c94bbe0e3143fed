//! The cache's part in a search, in one line.

use canter_runtime::Profile;
use canter_runtime::cache::{CacheStats, ClassStats};

use super::numbers;

/// Returns how much the cache answered, and the statistics of its blocks.
pub(crate) fn cache_line(profile: &Profile, stats: &CacheStats) -> String {
    let num_hits = profile.num_cache_hits.total();
    let num_lookups = num_hits + profile.num_cache_misses.total();
    let classes = || stats.layers.iter().flat_map(|layer| &layer.classes);
    let sum = |of: fn(&ClassStats) -> u64| classes().map(of).sum::<u64>();
    let mut line = format!(
        "cache: {} of {} answered, {}",
        numbers::count(num_hits),
        numbers::counted(num_lookups, "read"),
        numbers::bytes(profile.num_cache_bytes)
    );
    let events = [
        (sum(|stats| stats.num_evictions), "evicted"),
        (sum(|stats| stats.num_corrupt), "damaged and removed"),
        (sum(|stats| stats.num_dropped_puts), "not kept"),
    ];
    for (num, what) in events {
        if num > 0 {
            line.push_str(&format!("; {} {what}", numbers::count(num)));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use canter_runtime::cache::LayerStats;

    use super::*;

    #[test]
    fn damage_shows_only_where_there_is_some() {
        let check = |num_corrupt: u64, expect: &str| {
            let mut classes = [ClassStats::default(); 7];
            classes[3].num_corrupt = num_corrupt;
            let layer = "disk";
            let layers = vec![LayerStats { layer, classes }];
            let line = cache_line(&Profile::default(), &CacheStats { layers });
            assert_eq!(line, expect);
        };
        check(0, "cache: 0 of 0 reads answered, 0 B");
        check(
            2,
            "cache: 0 of 0 reads answered, 0 B; 2 damaged and removed",
        );
    }
}
