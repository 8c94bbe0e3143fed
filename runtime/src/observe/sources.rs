//! State that is read when metrics are written: caches, instances, the hedging breaker, memory.
//!
//! Parts of a searcher are referenced weakly. The counts of a dropped cache stay in the sums,
//! because a counter must never decrease.

use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use tokio::sync::Semaphore;

use super::process;
use crate::cache::{CacheStats, ClassStats, LayerStats};
use crate::fetch::HedgeState;
use crate::session::ByteClass;
use crate::{Engine, RangeCache};

/// Parts of a searcher whose state is shown.
pub(crate) struct SearcherSource {
    pub(crate) instance_permits: Weak<Semaphore>,
    pub(crate) max_instances: usize,
    pub(crate) hedges: Weak<HedgeState>,
    pub(crate) engine: Option<Weak<dyn Engine>>,
    pub(crate) cache: Option<Weak<dyn RangeCache>>,
}

/// State of a process that is shown.
#[derive(Default)]
pub(super) struct Sources {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    searchers: Vec<SearcherSource>,
    caches: Vec<CacheSource>,
    /// Sums of dropped caches.
    retired: Vec<LayerStats>,
}

struct CacheSource {
    cache: Weak<dyn RangeCache>,
    /// Last known statistics.
    stats: CacheStats,
}

/// Current state of the searchers.
#[derive(Default)]
struct Now {
    instances: u64,
    max_instances: u64,
    guest_bytes: u64,
    paused: u64,
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").finish_non_exhaustive()
    }
}

impl Sources {
    pub(super) fn watch(&self, source: SearcherSource) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cache) = &source.cache {
            let is_known = |known: &CacheSource| ptr::addr_eq(known.cache.as_ptr(), cache.as_ptr());
            if !state.caches.iter().any(is_known) {
                state.caches.push(CacheSource {
                    cache: cache.clone(),
                    stats: CacheStats::default(),
                });
            }
        }
        state
            .searchers
            .retain(|known| known.instance_permits.strong_count() > 0);
        state.searchers.push(source);
    }
}

impl State {
    fn now(&self) -> Now {
        let mut now = Now::default();
        let mut engines: Vec<Arc<dyn Engine>> = Vec::new();
        for searcher in &self.searchers {
            let Some(permits) = searcher.instance_permits.upgrade() else {
                continue;
            };
            let in_use = searcher.max_instances - permits.available_permits();
            now.instances += in_use as u64;
            now.max_instances += searcher.max_instances as u64;
            let is_paused = searcher.hedges.upgrade().is_some_and(|it| it.is_paused());
            now.paused += u64::from(is_paused);
            if let Some(engine) = searcher.engine.as_ref().and_then(Weak::upgrade)
                && !engines.iter().any(|known| Arc::ptr_eq(known, &engine))
            {
                now.guest_bytes += engine.memory_bytes().unwrap_or(0);
                engines.push(engine);
            }
        }
        now
    }

    /// Returns the statistics of all caches, including dropped ones, layer by layer.
    fn layers(&mut self) -> Vec<LayerStats> {
        let retired = &mut self.retired;
        self.caches
            .retain_mut(|source| match source.cache.upgrade() {
                Some(cache) => {
                    source.stats = cache.stats();
                    true
                }
                None => {
                    for layer in &mut source.stats.layers {
                        layer.classes.iter_mut().for_each(|it| it.held_bytes = None);
                    }
                    add(retired, &source.stats.layers);
                    false
                }
            });
        let mut layers = retired.clone();
        for source in &self.caches {
            add(&mut layers, &source.stats.layers);
        }
        layers
    }
}

/// Adds layers to those of the same name.
fn add(sums: &mut Vec<LayerStats>, layers: &[LayerStats]) {
    for layer in layers {
        let Some(sum) = sums.iter_mut().find(|sum| sum.layer == layer.layer) else {
            sums.push(layer.clone());
            continue;
        };
        for (sum, more) in sum.classes.iter_mut().zip(&layer.classes) {
            *sum = ClassStats {
                num_hits: sum.num_hits + more.num_hits,
                num_misses: sum.num_misses + more.num_misses,
                num_hit_bytes: sum.num_hit_bytes + more.num_hit_bytes,
                num_put_bytes: sum.num_put_bytes + more.num_put_bytes,
                num_evictions: sum.num_evictions + more.num_evictions,
                num_corrupt: sum.num_corrupt + more.num_corrupt,
                num_dropped_puts: sum.num_dropped_puts + more.num_dropped_puts,
                held_bytes: match (sum.held_bytes, more.held_bytes) {
                    (Some(a), Some(b)) => Some(a + b),
                    (a, b) => a.or(b),
                },
            };
        }
    }
}

/// Name, help and value of a counter of a cache.
type CacheCounter = (&'static str, &'static str, fn(&ClassStats) -> u64);

const CACHE_COUNTERS: [CacheCounter; 7] = [
    (
        "canter_cache_hits",
        "Lookups that found everything they asked for.",
        |stats| stats.num_hits,
    ),
    (
        "canter_cache_misses",
        "Lookups that lacked something.",
        |stats| stats.num_misses,
    ),
    ("canter_cache_hit_bytes", "Bytes handed out.", |stats| {
        stats.num_hit_bytes
    }),
    ("canter_cache_put_bytes", "Bytes taken in.", |stats| {
        stats.num_put_bytes
    }),
    (
        "canter_cache_evictions",
        "Blocks and entries pushed out by others.",
        |stats| stats.num_evictions,
    ),
    (
        "canter_cache_corrupted",
        "Blocks and entries that were damaged and removed.",
        |stats| stats.num_corrupt,
    ),
    (
        "canter_cache_dropped_puts",
        "Puts that came to nothing, because the queue was full or the disk failed.",
        |stats| stats.num_dropped_puts,
    ),
];

impl Collector for Sources {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let (now, layers) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            (state.now(), state.layers())
        };
        let mut gauge = |name: &str, help: &str, value: u64| {
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            gauge_of(value).encode(metric)
        };
        gauge(
            "canter_guest_instances",
            "Guest instances in use.",
            now.instances,
        )?;
        gauge(
            "canter_guest_instances_max",
            "Most guest instances that may be in use.",
            now.max_instances,
        )?;
        gauge(
            "canter_guest_memory_bytes",
            "Linear memory of guest instances in WebAssembly.",
            now.guest_bytes,
        )?;
        gauge(
            "canter_hedging_paused",
            "Searchers that send no hedges because their store slows down.",
            now.paused,
        )?;
        if let Some(bytes) = process::resident_bytes() {
            gauge(
                "process_resident_memory_bytes",
                "Resident memory of this process.",
                bytes,
            )?;
        }
        encode_layers(&mut encoder, &layers)
    }
}

fn gauge_of(value: u64) -> ConstGauge<i64> {
    ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX))
}

/// Writes the statistics of caches by layer and class.
fn encode_layers(encoder: &mut DescriptorEncoder<'_>, layers: &[LayerStats]) -> fmt::Result {
    let classes = || {
        layers.iter().flat_map(|layer| {
            ByteClass::ALL.map(|class| {
                let labels = [("layer", layer.layer), ("class", class.as_str())];
                (labels, layer.class(class))
            })
        })
    };
    for (name, help, value) in CACHE_COUNTERS {
        let counter = MetricType::Counter;
        let mut family = encoder.encode_descriptor(name, help, None, counter)?;
        for (labels, stats) in classes() {
            let count = ConstCounter::new(value(&stats));
            count.encode(family.encode_family(&labels)?)?;
        }
    }
    let (name, help) = ("canter_cache_held_bytes", "Bytes in use, where known.");
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (labels, stats) in classes() {
        if let Some(bytes) = stats.held_bytes {
            gauge_of(bytes).encode(family.encode_family(&labels)?)?;
        }
    }
    Ok(())
}
