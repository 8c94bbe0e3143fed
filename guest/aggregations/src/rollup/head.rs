//! Results from the head of a split, beside what is left to the columns.

use std::ops::Range;

use canter_split_format::Rollup;

use crate::calendar::RoundingCursor;
use crate::key::Key;
use crate::partial::{Buckets, Metric, Metrics, Node, Partial};
use crate::request::{
    self, Aggregation, Aggregations, DateHistogram, Kind, MetricOf, RateOf, Terms,
};

/// Results from the head of a split for the aggregations of a request.
#[derive(Clone, Debug, Default)]
pub struct FromHead {
    /// Result of each aggregation; `None` if it needs the columns for everything. Empty if all do.
    pub(crate) said: Vec<Option<Said>>,
}

/// Result of one aggregation from the head.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// Result without the documents of `rest`.
    pub(crate) node: Node,
    /// Ascending ranges of documents that are left to the columns.
    pub(crate) rest: Vec<Range<u32>>,
}

impl FromHead {
    /// Returns the result of all aggregations, if no column is needed.
    pub fn whole(&self) -> Option<Partial> {
        let nodes = self.said.iter().map(|said| match said {
            Some(Said { node, rest }) if rest.is_empty() => Some(node.clone()),
            _ => None,
        });
        let nodes: Option<Vec<Node>> = nodes.collect();
        nodes
            .filter(|nodes| !nodes.is_empty())
            .map(|nodes| Partial { nodes })
    }

    /// Returns the result of the aggregation with this index in the request.
    pub(crate) fn of(&self, place: usize) -> Option<&Said> {
        self.said.get(place)?.as_ref()
    }

    /// Returns whether that aggregation reads columns.
    pub(crate) fn reads_columns(&self, place: usize) -> bool {
        self.of(place).is_none_or(|said| !said.rest.is_empty())
    }
}

impl Aggregations {
    /// Returns the result for all documents of a rollup, if it suffices. `sort_field` is the field
    /// by which documents are rolled up.
    pub fn from_rollup(&self, rollup: &Rollup, sort_field: &str) -> Option<Partial> {
        let places = 0..rollup.num_docs().len();
        let slots = places.map(|place| Slot {
            place,
            is_whole: true,
            docs: Vec::new(),
        });
        let rolled_up = RolledUp {
            rollup,
            sort_field,
            slots: slots.collect(),
        };
        let nodes = self.list.iter().map(|aggregation| {
            let (said, is_whole) = rolled_up.one(aggregation)?;
            is_whole.then_some(said.node)
        });
        Some(Partial {
            nodes: nodes.collect::<Option<_>>()?,
        })
    }

    /// Returns the results from the head of a split for some documents, given as ascending ranges
    /// that do not touch. The split has `num_docs` documents, sorted by `sort_field`. Documents
    /// outside of `sure` may not be selected in the end, and are left to the columns.
    pub fn from_head(
        &self,
        rollup: &Rollup,
        sort_field: &str,
        num_docs: u32,
        docs: &[Range<u32>],
        sure: &Range<u32>,
    ) -> FromHead {
        let Some(slots) = slots_of(rollup.num_docs(), num_docs, docs, sure) else {
            return FromHead::default();
        };
        let rolled_up = RolledUp {
            rollup,
            sort_field,
            slots,
        };
        let said = self.list.iter().map(|aggregation| {
            let (said, _) = rolled_up.one(aggregation)?;
            // If the rollup contributes nothing, the columns answer everything at once.
            let is_worth_it = said.rest.is_empty() || said.rest != docs;
            is_worth_it.then_some(said)
        });
        FromHead {
            said: said.collect(),
        }
    }
}

/// Bucket of a rollup with selected documents.
struct Slot {
    place: usize,
    /// True if all of its documents are selected.
    is_whole: bool,
    /// Selected documents, as ascending ranges.
    docs: Vec<Range<u32>>,
}

/// Returns the slots, or `None` if the rollup has another number of documents than the split.
fn slots_of(
    counts: &[u32],
    num_docs: u32,
    docs: &[Range<u32>],
    sure: &Range<u32>,
) -> Option<Vec<Slot>> {
    let mut slots = Vec::new();
    let mut rest = docs;
    let mut first = 0u32;
    for (place, count) in counts.iter().enumerate() {
        let end = first.checked_add(*count)?;
        let mut found: Vec<Range<u32>> = Vec::new();
        while let Some((range, others)) = rest.split_first() {
            let part = range.start.max(first)..range.end.min(end);
            if !part.is_empty() {
                found.push(part);
            }
            if range.end > end {
                break;
            }
            rest = others;
        }
        if !found.is_empty() {
            slots.push(Slot {
                place,
                is_whole: matches!(found.as_slice(), [only] if *only == (first..end))
                    && sure.start <= first
                    && end <= sure.end,
                docs: found,
            });
        }
        first = end;
    }
    (first == num_docs).then_some(slots)
}

struct RolledUp<'a> {
    rollup: &'a Rollup,
    sort_field: &'a str,
    slots: Vec<Slot>,
}

/// Buckets of the rollup that make one bucket of a request.
type Row = Vec<Range<usize>>;

impl RolledUp<'_> {
    /// Returns the result of one aggregation, and whether it left nothing to the columns.
    fn one(&self, aggregation: &Aggregation) -> Option<(Said, bool)> {
        let mut rest = Rest::default();
        let node = match &aggregation.kind {
            Kind::DateHistogram(histogram) if histogram.source.field == self.sort_field => {
                self.date_histogram(histogram, &aggregation.inside, &mut rest)
            }
            Kind::Terms(terms) if aggregation.inside.is_empty() => {
                let mut row = Row::new();
                for slot in &self.slots {
                    match slot.is_whole {
                        true => add_to_row(&mut row, slot.place),
                        false => rest.add(slot),
                    }
                }
                self.terms(terms, &[row])
            }
            _ => None,
        };
        let said = Said {
            node: node?,
            rest: rest.docs,
        };
        Some((said, !rest.is_any))
    }

    /// Returns the start of a rollup bucket, and its latest possible end.
    fn times_of(&self, place: usize) -> Option<(i64, i64)> {
        let width_ns = self.rollup.width_ns();
        let bucket = i64::try_from(place).ok()?;
        let bucket = self.rollup.first_bucket().checked_add(bucket)?;
        let first_ns = bucket.checked_mul(width_ns)?;
        Some((first_ns, first_ns.checked_add(width_ns - 1)?))
    }

    fn date_histogram(
        &self,
        request: &DateHistogram,
        inside: &[Aggregation],
        rest: &mut Rest,
    ) -> Option<Node> {
        let num_docs = self.rollup.num_docs();
        let mut cursor = request.rounding.cursor();
        let mut keys: Vec<Key> = Vec::new();
        let mut counts: Vec<u64> = Vec::new();
        let mut rows: Vec<Row> = Vec::new();
        for slot in &self.slots {
            let count = num_docs.get(slot.place).copied().unwrap_or_default();
            if count == 0 {
                continue;
            }
            let times = self.times_of(slot.place).filter(|_| slot.is_whole);
            let bounds = request.row.hard_bounds;
            let start_ns = match times.map(|times| bucket_of(&mut cursor, bounds, times)) {
                Some(InHistogram::Bucket(start_ns)) => start_ns,
                Some(InHistogram::Outside) => continue,
                Some(InHistogram::Divided) | None => {
                    rest.add(slot);
                    continue;
                }
            };
            match (keys.last(), counts.last_mut(), rows.last_mut()) {
                (Some(Key::Date(last)), Some(last_count), Some(row)) if *last == start_ns => {
                    *last_count += u64::from(count);
                    add_to_row(row, slot.place);
                }
                _ => {
                    keys.push(Key::Date(start_ns));
                    counts.push(u64::from(count));
                    let mut row = Row::new();
                    add_to_row(&mut row, slot.place);
                    rows.push(row);
                }
            }
        }
        let num_buckets = u32::try_from(keys.len()).ok()?;
        let inside = inside.iter().map(|inside| match &inside.kind {
            Kind::Terms(terms) if inside.inside.is_empty() => self.terms(terms, &rows),
            Kind::Metric(metric) => no_state_of(metric, rows.len()),
            _ => None,
        });
        Some(Node::Buckets(Buckets {
            keys,
            offsets: vec![0, num_buckets],
            ids: (0..num_buckets).collect(),
            counts,
            dropped: Vec::new(),
            inside: inside.collect::<Option<_>>()?,
        }))
    }

    /// Counts the terms in each row of rollup buckets.
    fn terms(&self, request: &Terms, rows: &[Row]) -> Option<Node> {
        let is_plain = request.source.missing.is_none()
            && request.include.is_none()
            && request.exclude.is_none()
            && request.min_doc_count > 0;
        let field = self
            .rollup
            .field(&request.source.field)
            .filter(|_| is_plain)?;
        let mut order: Vec<usize> = (0..field.keys.len()).collect();
        canter_sorting::sort_by_key(&mut order, |place| field.keys.get(*place));
        let keys = order.iter().filter_map(|place| field.keys.get(*place));
        let keys: Vec<Key> = keys.map(|key| Key::Text(key.clone())).collect();
        let mut offsets = vec![0];
        let mut ids = Vec::new();
        let mut counts = Vec::new();
        for row in rows {
            let mut found = vec![0u64; field.keys.len()];
            for buckets in row {
                let of_buckets = field.counts_in(buckets.clone());
                let pairs = found.iter_mut().zip(of_buckets);
                pairs.for_each(|(sum, count)| *sum += count);
            }
            for (id, place) in order.iter().enumerate() {
                let count = found.get(*place).copied().unwrap_or_default();
                if count > 0 {
                    ids.push(u32::try_from(id).ok()?);
                    counts.push(count);
                }
            }
            offsets.push(u32::try_from(ids.len()).ok()?);
        }
        Some(Node::Buckets(Buckets {
            keys,
            offsets,
            ids,
            counts,
            dropped: Vec::new(),
            inside: Vec::new(),
        }))
    }
}

/// Returns the state of a metric that only needs document counts, for `num_buckets` buckets; `None`
/// for any other metric.
fn no_state_of(metric: &request::Metric, num_buckets: usize) -> Option<Node> {
    let is_of_documents =
        matches!(&metric.what, MetricOf::Rate(rate) if rate.of == RateOf::Documents);
    is_of_documents.then(|| {
        Node::Metric(Metric {
            is_date: false,
            states: Metrics::Counts(vec![0; num_buckets]),
        })
    })
}

/// Documents that are left to the columns.
#[derive(Default)]
struct Rest {
    is_any: bool,
    docs: Vec<Range<u32>>,
}

impl Rest {
    fn add(&mut self, slot: &Slot) {
        self.is_any = true;
        for docs in &slot.docs {
            match self.docs.last_mut() {
                Some(last) if last.end == docs.start => last.end = docs.end,
                _ => self.docs.push(docs.clone()),
            }
        }
    }
}

fn add_to_row(row: &mut Row, place: usize) {
    match row.last_mut() {
        Some(last) if last.end == place => last.end = place + 1,
        _ => row.push(place..place + 1),
    }
}

/// Position of a rollup bucket's times in a histogram.
enum InHistogram {
    /// All in the bucket with this start.
    Bucket(i64),
    /// All outside of the bounds.
    Outside,
    /// In several buckets.
    Divided,
}

fn bucket_of(
    cursor: &mut RoundingCursor<'_>,
    bounds: Option<(i64, i64)>,
    (first_ns, last_ns): (i64, i64),
) -> InHistogram {
    if let Some((from_ns, to_ns)) = bounds {
        if last_ns < from_ns || to_ns < first_ns {
            return InHistogram::Outside;
        }
        if first_ns < from_ns || to_ns < last_ns {
            return InHistogram::Divided;
        }
    }
    let start_ns = cursor.start_of(first_ns);
    match cursor.start_of(last_ns) == start_ns {
        true => InHistogram::Bucket(start_ns),
        false => InHistogram::Divided,
    }
}

#[cfg(test)]
mod tests;
