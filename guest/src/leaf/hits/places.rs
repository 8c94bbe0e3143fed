//! Places of hits in the index, as far as they decide between hits.
//!
//! A place is a time, a source and a position in it. Within a split, documents are in the order of
//! their places, so only hits of different splits have to be compared. Mostly that costs nothing:
//!
//! | hits of two splits | what their places come from |
//! |---|---|
//! | have different sort keys | they do not matter |
//! | lie in different buckets of the time index | the buckets |
//! | may have the same time | the timestamp column |
//! | … and identities of one split lie between those of the other | the file of identities |
//!
//! The last case concerns splits that several sources were mixed into; where documents are in the
//! order of their source, the file is in the head.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use canter_split_format::{IdentityRange, TimeRange};
use futures_util::future::{join, join_all};
use tantivy::DateTime;
use tantivy::columnar::Column;

use super::order::HitOrder;
use crate::SearchError;
use crate::leaf::candidate::Candidate;
use crate::leaf::partial::{HitPlace, PartialHit, compare_keys};
use crate::leaf::split::search::SplitResult;
use crate::leaf::split::times::{bucket_of, timestamps};
use crate::request::SortOrder;
use crate::split::{DocIdentities, OpenSplit, guard, guarded};

/// The hits of one split that get their places.
struct UnplacedHits<'a> {
    split: &'a OpenSplit,
    hits: &'a mut Vec<PartialHit>,
}

/// A split whose hits are in another batch.
pub(in crate::leaf) struct Elsewhere {
    /// All of time if unknown.
    pub(in crate::leaf) time_range: Option<TimeRange>,
    /// `None` if unknown.
    pub(in crate::leaf) identities: Option<IdentityRange>,
}

impl Elsewhere {
    fn has_time_in(&self, start: i64, end: i64) -> bool {
        self.time_range
            .is_none_or(|range| range.start_ns < end && range.end_ns >= start)
    }

    fn may_mix_with(&self, range: &IdentityRange) -> bool {
        self.identities.is_none_or(|other| other.overlaps(range))
    }
}

/// Reads that are needed to compare places of hits: splits by their place in the batch.
#[derive(Default)]
struct Unsure {
    times: BTreeSet<usize>,
    /// A subset of `times`.
    identities: BTreeSet<usize>,
}

/// Data that was read from one split.
#[derive(Default)]
struct Known<'a> {
    times: Option<Column<DateTime>>,
    identities: Option<DocIdentities<'a>>,
}

/// Gives the hits of a batch of splits their places, and drops hits that cannot be among the first `window`. A split
/// whose places cannot be read has failed, and must not have pushed out hits of the others: they are settled again
/// without it. With `by_split`, hits with the same time are ordered by the id of their split and their number there,
/// not by identity.
pub(in crate::leaf) async fn settle_places(
    candidates: &[&Candidate],
    results: &mut [Result<SplitResult, SearchError>],
    order: &HitOrder,
    window: usize,
    elsewhere: &[Elsewhere],
    by_split: bool,
) {
    loop {
        let mut places = Vec::new();
        let mut batch = Vec::new();
        for (place, (candidate, result)) in candidates.iter().zip(results.iter_mut()).enumerate() {
            if let Ok(result) = result {
                places.push(place);
                batch.push(UnplacedHits {
                    split: &candidate.split,
                    hits: &mut result.hits,
                });
            }
        }
        let before: Vec<Vec<PartialHit>> =
            batch.iter().map(|unplaced| unplaced.hits.clone()).collect();
        let mut failures = place_all(&mut batch, order, window, elsewhere, by_split).await;
        if failures.is_empty() {
            return;
        }
        for (unplaced, hits) in batch.into_iter().zip(before) {
            *unplaced.hits = hits;
        }
        for (batch_place, place) in places.into_iter().enumerate() {
            if let Some(error) = failures.remove(&batch_place)
                && let Some(result) = results.get_mut(place)
            {
                *result = Err(error);
            }
        }
    }
}

/// Gives the hits of several splits their places, and drops hits that cannot be among the first
/// `window` of them.
///
/// The start of a hit's time bucket stands for its time wherever no hit of another split with the
/// same sort keys can lie in that bucket, and the first identity of its split stands for its own
/// wherever no identity of such a hit's split can lie in between: they then compare like the true
/// values. Only the other splits read anything; an error belongs to the split at that place.
async fn place_all(
    batch: &mut [UnplacedHits<'_>],
    order: &HitOrder,
    window: usize,
    elsewhere: &[Elsewhere],
    by_split: bool,
) -> BTreeMap<usize, SearchError> {
    drop_late_hits(batch, order, window);
    let unsure = unsure_splits(batch, order, elsewhere);
    let reads = (0..).zip(batch.iter()).map(|(place, unplaced)| {
        let (times, identities) = (
            unsure.times.contains(&place),
            unsure.identities.contains(&place) && !by_split,
        );
        let reading = read(unplaced, times, identities);
        guarded(&unplaced.split.entry.id, reading)
    });
    let reads = join_all(reads).await;
    let mut failures = BTreeMap::new();
    for ((place, unplaced), known) in (0..).zip(batch).zip(reads) {
        let placed = known.and_then(|known| {
            guard(&unplaced.split.entry.id, || {
                place_hits(unplaced, &known, by_split)
            })
        });
        if let Err(error) = placed {
            failures.insert(place, error);
        }
    }
    failures
}

/// Reads the missing places of the hits of one split, all at once.
async fn read<'a>(
    unplaced: &UnplacedHits<'a>,
    times: bool,
    identities: bool,
) -> Result<Known<'a>, SearchError> {
    let split = unplaced.split;
    let times = async {
        match times && split.metadata.sort_field.is_some() {
            true => timestamps(split).await.map(Some),
            false => Ok(None),
        }
    };
    let identities = async {
        if !identities {
            return Ok::<_, SearchError>(None);
        }
        let known = DocIdentities::open(split).await?;
        known.load(unplaced.hits.iter().map(|hit| hit.doc)).await?;
        Ok(Some(known))
    };
    let (times, identities) = join(times, identities).await;
    Ok(Known {
        times: times?,
        identities: identities?,
    })
}

fn place_hits(
    unplaced: &mut UnplacedHits<'_>,
    known: &Known<'_>,
    by_split: bool,
) -> Result<(), SearchError> {
    let split = unplaced.split;
    let first = split.identity_range().first;
    // Ids of splits have 32 hexadecimal digits.
    let split_number = u128::from_str_radix(&split.entry.id, 16).unwrap_or_default();
    for hit in unplaced.hits.iter_mut() {
        let time_ns = match (&known.times, &split.time_index) {
            (Some(times), _) => times.first(hit.doc).map(DateTime::into_timestamp_nanos),
            (None, Some(index)) => Some(index.bucket_of(hit.doc).start),
            (None, None) => None,
        };
        let identity = match &known.identities {
            Some(identities) => identities.get(hit.doc)?,
            None => first,
        };
        hit.place = HitPlace {
            time_ns: time_ns.unwrap_or(0),
            source: match by_split {
                true => split_number,
                false => identity.source.to_u128(),
            },
            position: match by_split {
                true => hit.doc.into(),
                false => identity.position,
            },
        };
    }
    Ok(())
}

/// Drops hits that at least `window` others certainly precede.
fn drop_late_hits(batch: &mut [UnplacedHits<'_>], order: &HitOrder, window: usize) {
    let mut all: Vec<(&PartialHit, Range<i64>)> = batch
        .iter()
        .flat_map(|unplaced| {
            let hits = unplaced.hits.iter();
            hits.map(|hit| (hit, bucket_of(unplaced.split, hit.doc)))
        })
        .collect();
    canter_sorting::sort_by(&mut all, |(left, _), (right, _)| {
        compare_keys(left, right, order)
    });
    let Some((last, _)) = window.checked_sub(1).and_then(|place| all.get(place)) else {
        return;
    };
    // Among hits with the keys of the last one that may be kept, the place decides.
    let last = PartialHit::clone(last);
    let num_before = all.partition_point(|(hit, _)| compare_keys(hit, &last, order).is_lt());
    let mut sure_times: Vec<i64> = all
        .iter()
        .skip(num_before)
        .take_while(|(hit, _)| compare_keys(hit, &last, order).is_eq())
        .map(|(_, bucket)| match order.ties() {
            SortOrder::Descending => !bucket.start,
            SortOrder::Ascending => bucket.end,
        })
        .collect();
    canter_sorting::sort(&mut sure_times);
    let sure_time = (window - 1)
        .checked_sub(num_before)
        .and_then(|place| sure_times.get(place).copied());
    for unplaced in batch {
        let split = unplaced.split;
        unplaced.hits.retain(|hit| {
            let by_keys = compare_keys(hit, &last, order);
            let bucket = bucket_of(split, hit.doc);
            by_keys.is_lt()
                || by_keys.is_eq()
                    && sure_time.is_none_or(|sure_time| match order.ties() {
                        SortOrder::Descending => bucket.end > !sure_time,
                        SortOrder::Ascending => bucket.start < sure_time,
                    })
        });
    }
}

/// Returns the splits with a hit that may tie with a hit of another split while places are unknown.
fn unsure_splits(batch: &[UnplacedHits<'_>], order: &HitOrder, elsewhere: &[Elsewhere]) -> Unsure {
    let ranges: Vec<IdentityRange> = batch
        .iter()
        .map(|unplaced| unplaced.split.identity_range())
        .collect();
    let mut all: Vec<(&PartialHit, Bucket)> = (0..)
        .zip(batch)
        .flat_map(|(place, unplaced)| {
            unplaced.hits.iter().map(move |hit| {
                let bucket = bucket_of(unplaced.split, hit.doc);
                (hit, (bucket.start, bucket.end, place))
            })
        })
        .collect();
    canter_sorting::sort_by(&mut all, |(left, _), (right, _)| {
        compare_keys(left, right, order)
    });
    let mut unsure = Unsure::default();
    for equal in all.chunk_by(|(left, _), (right, _)| compare_keys(left, right, order).is_eq()) {
        let buckets = canter_sorting::set_of(equal.iter().map(|(_, bucket)| *bucket));
        unsure.add(&buckets, &ranges, elsewhere);
    }
    unsure
}

/// Start and end of a time bucket with a hit, and the place of the hit's split.
type Bucket = (i64, i64, usize);

impl Unsure {
    /// Adds the reads that hits with the same sort keys need, by their buckets.
    fn add(
        &mut self,
        buckets: &BTreeSet<Bucket>,
        ranges: &[IdentityRange],
        elsewhere: &[Elsewhere],
    ) {
        for (start, end, place) in buckets {
            let Some(range) = ranges.get(*place) else {
                continue;
            };
            // A split without a time index does not know the times of its hits.
            if *start == i64::MIN {
                self.times.insert(*place);
            }
            for other in elsewhere {
                if other.has_time_in(*start, *end) {
                    self.times.insert(*place);
                    if other.may_mix_with(range) {
                        self.identities.insert(*place);
                    }
                }
            }
            // A range must not run backwards, as it would at the end of time.
            let following = (*start, *end, *place)..(*end, i64::MIN, 0);
            if following.start > following.end {
                self.times.insert(*place);
                self.identities.insert(*place);
                continue;
            }
            for (_, _, other) in buckets.range(following) {
                if other == place {
                    continue;
                }
                self.times.extend([*place, *other]);
                if ranges
                    .get(*other)
                    .is_some_and(|other| other.overlaps(range))
                {
                    self.identities.extend([*place, *other]);
                }
            }
        }
    }
}
