//! Planning of a search.

use canter_aggregations::{Aggregations, Merger};
use canter_doc_mapper::DocMapper;
use canter_split_format::{DeletesRef, ManifestFile, PageRef, SplitEntry, Tags, TimeRange, Totals};

use super::check::{check_question, mapper_of};
use super::count::{Countable, Counted, must_look_at};
use super::filters::{FilterBlocks, Needles};
use super::pages::{ReadPage, read_pages};
use super::prune::{PruneReason, Required};
use crate::exchange::Exchange;
use crate::leaf::{FailedSplit, HitOrder, Leaf, PartialResult};
use crate::query::{QueryShape, required_tags, time_bounds};
use crate::request::{Question, Resolved, Scroll, SortOrder, TimeBounds};
use crate::split::{HeadSource, SearchedIndex};
use crate::{ErrorKind, SearchError};

/// A split that must be searched, with its place in the plan, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct PlannedSplit {
    pub(crate) split_ord: u32,
    pub(crate) source: HeadSource,
}

/// A split or a page of splits that is not opened.
#[derive(Clone, Debug)]
pub(crate) struct Unopened {
    /// The split's id or the page's object.
    pub(crate) name: String,
    pub(crate) num_splits: u64,
    /// Without deleted documents.
    pub(crate) num_docs: u64,
    /// The object with the split's deleted documents, if there are any; a page's name implies it.
    pub(crate) deletes: Option<String>,
}

impl Unopened {
    fn page(page: &PageRef) -> Self {
        Self {
            name: page.object(),
            num_splits: page.num_splits,
            num_docs: page.num_docs.saturating_sub(page.num_deleted),
            deletes: None,
        }
    }

    fn split(entry: &SplitEntry) -> Self {
        Self {
            name: entry.id.clone(),
            num_splits: 1,
            num_docs: entry.num_live_docs(),
            deletes: entry.deletes.as_ref().map(DeletesRef::object),
        }
    }
}

/// The plan of a search.
#[derive(Debug)]
pub(crate) struct SearchPlan {
    pub(crate) splits: Vec<PlannedSplit>,
    /// Live splits of the index.
    pub(crate) num_splits: u64,
    /// Splits and pages that cannot hold a hit.
    pub(crate) pruned: Vec<(Unopened, PruneReason)>,
    /// Splits and pages that are completely answered by the manifest and its pages.
    pub(crate) answered: Vec<Unopened>,
    /// The answer of those, and the pages of the manifest that could not be read.
    pub(crate) known: PartialResult,
    /// The indexes that are searched.
    pub(crate) indexes: Vec<SearchedIndex>,
    /// The timestamp field of the index; of several indexes, that of the first one that has one.
    pub(crate) timestamp_field: Option<String>,
    /// True if the indexes differ in their timestamp field, or one has none.
    pub(crate) mixes_times: bool,
    /// The part of the query that is a time filter.
    pub(crate) time_bounds: Option<TimeBounds>,
    /// Number of splits to search that were dropped because the limit is exceeded anyway.
    pub(super) num_dropped: u64,
    /// Untyped fields whose values are keys in aggregations.
    pub(crate) untyped_keys: Vec<String>,
    /// Fields whose unsigned numbers are keys in aggregations.
    pub(crate) unsigned_keys: Vec<String>,
    /// Date fields of aggregations with the format of their mapping.
    pub(crate) own_formats: Vec<(String, String)>,
    /// True if the splits can be searched separately without loss.
    pub(crate) divisible: bool,
}

impl SearchPlan {
    /// Returns the number of splits pruned for this reason.
    pub(crate) fn num_pruned(&self, reason: PruneReason) -> u64 {
        let pruned = self.pruned.iter().filter(|(_, why)| *why == reason);
        pruned.map(|(unopened, _)| unopened.num_splits).sum()
    }

    /// Returns the time ranges of the splits that must be looked at, by place.
    pub(crate) fn time_ranges(&self) -> Vec<Option<TimeRange>> {
        let splits = self.splits.iter();
        splits.map(|split| split.source.entry.time_range).collect()
    }

    /// Returns all splits that must be looked at as one leaf.
    pub(crate) fn leaf<'a>(&self, question: &'a Question, resolved: &'a Resolved) -> Leaf<'a> {
        let splits = self.splits.iter();
        Leaf {
            time_ranges: self.time_ranges(),
            indexes: self.indexes.clone(),
            splits: splits
                .map(|split| (split.split_ord, split.source.clone()))
                .collect(),
            question,
            resolved,
        }
    }
}

/// Splits that may hold hits.
#[derive(Default)]
struct Found {
    splits: Vec<(HeadSource, Counted)>,
    /// Number of splits whose number of hits is unknown.
    num_unknown: u64,
    /// Number of these that were dropped because the limit is exceeded anyway.
    num_dropped: u64,
}

impl Found {
    fn push(&mut self, source: HeadSource, counted: Counted, max_splits: u64) {
        let is_unknown = counted.num_hits.is_none();
        self.num_unknown += u64::from(is_unknown);
        match is_unknown && self.num_unknown > max_splits {
            true => self.num_dropped += 1,
            false => self.splits.push((source, counted)),
        }
    }
}

/// Everything that decides which splits are searched.
struct Asked {
    max_splits: u64,
    required: Required,
    /// The direction in time of the hits, if they are ordered by time.
    direction: Option<SortOrder>,
    /// Number of wanted hits.
    window: u64,
    /// Way to count hits without opening a split, if there is one and nothing else is requested.
    countable: Option<Countable>,
    /// The aggregations, if sums may answer them: over all documents, and without hits.
    summed: Option<Aggregations>,
    /// The terms to look up in the splits' filters.
    needles: Option<Needles>,
}

impl Asked {
    fn new(
        question: &Question,
        resolved: &Resolved,
        mapper: &DocMapper,
    ) -> Result<(Self, HitOrder), SearchError> {
        let (order, shape) = check_question(question, resolved, mapper)?;
        let tag_fields: Vec<&str> = mapper.tag_fields().iter().map(String::as_str).collect();
        let window = question.window() as u64;
        let direction = match order {
            HitOrder::Time(direction) => Some(direction),
            _ => None,
        };
        let is_counting = question.aggregations.is_none()
            && !question.list_documents
            && question.min_score.is_none()
            && (window == 0 || direction.is_some());
        let needles = match order.is_scored(question) {
            // Scores depend on the number of documents with a term, including documents that cannot be hits.
            true => None,
            false => Needles::of_question(question, resolved, mapper)?,
        };
        let summed = question.aggregations.as_ref();
        let summed = summed.filter(|_| shape == QueryShape::All && window == 0);
        let asked = Self {
            max_splits: question.limits.max_splits,
            needles,
            required: Required {
                time: resolved.time,
                tags: required_tags(&resolved.query, &tag_fields),
            },
            direction,
            window,
            countable: match is_counting {
                // A value that the field cannot have may exist in splits from before the field was mapped.
                true if shape == QueryShape::Nothing && mapper.has_former_dynamic() => None,
                true => Countable::of_shape(&shape, mapper),
                false => None,
            },
            summed: summed.map(|asked| asked.parsed().clone()),
        };
        Ok((asked, order))
    }

    /// Returns the number of hits of these documents, if it is known.
    fn counted(&self, entry: &SplitEntry, totals: Option<&Totals>) -> Counted {
        let covered = self.required.covers(entry.time_range);
        let countable = self.countable.as_ref().filter(|_| covered);
        Counted {
            time_range: entry.time_range,
            num_hits: countable.and_then(|countable| {
                let num_deleted = entry.num_docs.saturating_sub(entry.num_live_docs());
                countable.count(entry.num_docs, num_deleted, totals)
            }),
        }
    }

    fn counted_page(&self, page: &PageRef) -> Counted {
        let covered = self.required.covers(page.time_range);
        let countable = self.countable.as_ref().filter(|_| covered);
        Counted {
            time_range: page.time_range,
            num_hits: countable
                .and_then(|countable| countable.count(page.num_docs, page.num_deleted, None)),
        }
    }

    fn must_look_at(&self, all: &[Counted]) -> Vec<bool> {
        let direction = self.direction.unwrap_or(SortOrder::Descending);
        must_look_at(all, self.window, direction)
    }
}

/// Skips the splits before the one in which the previous page of a scroll ended.
///
/// # Errors
/// If that split does not exist any more.
fn go_on(plan: &mut SearchPlan, scroll: &Scroll) -> Result<(), SearchError> {
    let Some(after) = &scroll.after else {
        return Ok(());
    };
    let mut places = plan.splits.iter();
    let place = places.position(|split| {
        let index = plan.indexes.get(split.source.index);
        let doc = index.and_then(|index| after.doc_in(index.name(), &split.source.entry));
        doc.is_some()
    });
    let place = place.ok_or_else(|| {
        SearchError::new(
            ErrorKind::NotFound,
            "the scroll cannot go on: the split in which its last page ended was merged or removed; begin again",
        )
    })?;
    plan.splits.drain(..place);
    for (split_ord, split) in (0..).zip(&mut plan.splits) {
        split.split_ord = split_ord;
    }
    Ok(())
}

/// Returns the part of the query that is a time filter in this index, if there is one.
fn bounds_of(question: &Question, file: &ManifestFile, mapper: &DocMapper) -> Option<TimeBounds> {
    let (_, field) = mapper.timestamp_field()?;
    // Splits from before the index had a timestamp field have no times.
    let splits = file.manifest.splits.iter().map(|split| split.time_range);
    let mut ranges = splits.chain(file.pages.iter().map(|page| page.time_range));
    let is_scored = HitOrder::of(question, false, Some(field)).is_scored(question);
    if is_scored || !ranges.all(|range| range.is_some()) {
        return None;
    }
    let filter = time_bounds(&question.query, field, mapper, &question.limits)?;
    Some(TimeBounds {
        field: field.to_owned(),
        filter,
    })
}

/// Checks the question against the index's doc mapping, reads the pages that may matter, and prunes splits.
///
/// # Errors
/// If the question is invalid for this index or needs more splits than the limit.
pub(crate) async fn plan_search(
    mut file: ManifestFile,
    question: &Question,
    exchange: &Exchange,
) -> Result<SearchPlan, SearchError> {
    let config_id = file.manifest.index_config.get_mut("index_id");
    if let (Some(name), Some(id)) = (&question.index_name, config_id) {
        *id = name.as_str().into();
    }
    let mapper = mapper_of(&file, exchange.index_name(), question)?;
    let time_bounds = bounds_of(question, &file, &mapper);
    let resolved = Resolved::of(question, time_bounds.as_ref());
    let (asked, order) = Asked::new(question, &resolved, &mapper)?;
    let aggregations = question.aggregations.as_ref();
    let untyped_keys = aggregations.map(|asked| asked.parsed().untyped_keys(&mapper));
    let unsigned_keys = aggregations.map(|asked| asked.parsed().unsigned_keys(&mapper));
    // Quickwit writes all dates alike.
    let own_formats = aggregations
        .filter(|_| question.elastic.is_some())
        .map(|asked| asked.parsed().own_formats(&mapper));
    let mut plan = SearchPlan {
        splits: Vec::new(),
        num_splits: file.num_splits(),
        pruned: Vec::new(),
        answered: Vec::new(),
        known: PartialResult::default(),
        indexes: vec![SearchedIndex {
            prefix: exchange.prefix().to_owned(),
            config: std::mem::take(&mut file.manifest.index_config),
        }],
        mixes_times: false,
        time_bounds,
        num_dropped: 0,
        timestamp_field: mapper.timestamp_field().map(|(_, name)| name.to_owned()),
        untyped_keys: untyped_keys.unwrap_or_default(),
        unsigned_keys: unsigned_keys.unwrap_or_default(),
        own_formats: own_formats.unwrap_or_default(),
        // Scores need statistics of all splits; hits in time order stop early in one place.
        // A comparison is made by the session that has all terms.
        divisible: !order.is_scored(question)
            && !aggregations.is_some_and(|asked| asked.parsed().compares())
            && (aggregations.is_some() || question.list_documents),
    };
    let has_pages = !file.pages.is_empty();
    let mut found = plan.open_pages(&mut file, &asked, exchange).await;
    for entry in std::mem::take(&mut file.manifest.splits) {
        if let Some(reason) = asked.required.prunes(entry.time_range, &entry.tags) {
            plan.pruned.push((Unopened::split(&entry), reason));
            continue;
        }
        let counted = asked.counted(&entry, None);
        let inlined = file.take_head(&entry.id);
        let source = HeadSource {
            index: 0,
            entry,
            inlined,
            packed: None,
        };
        found.push(source, counted, asked.max_splits);
    }
    plan.num_dropped = found.num_dropped;
    plan.choose(found.splits, has_pages, &asked);
    Ok(plan)
}

impl SearchPlan {
    /// Skips the hits of a scroll's earlier pages, and checks the number of remaining splits.
    ///
    /// # Errors
    /// If that is more splits than the limit, or the scroll's place is gone.
    pub(crate) fn finish(&mut self, question: &Question) -> Result<(), SearchError> {
        let limits = &question.limits;
        if let Some(scroll) = &question.scroll {
            go_on(self, scroll)?;
        }
        let num_needed = self.num_dropped.saturating_add(self.splits.len() as u64);
        match num_needed <= limits.max_splits {
            true => Ok(()),
            false => Err(SearchError::new(
                ErrorKind::Limit,
                // A caller with a forced filter must not learn the number.
                format!(
                    "the query needs {} splits, more than the limit max_splits of {}: narrow it by \
                     start_timestamp and end_timestamp, or raise the limit",
                    match question.is_filtered() {
                        true => "too many".to_owned(),
                        false => num_needed.to_string(),
                    },
                    limits.max_splits
                ),
            )),
        }
    }

    /// Opens the splits of the pages that may hold hits and that no sum answers.
    async fn open_pages(
        &mut self,
        file: &mut ManifestFile,
        asked: &Asked,
        exchange: &Exchange,
    ) -> Found {
        let mut pages = Vec::new();
        for page in std::mem::take(&mut file.pages) {
            match asked.required.prunes(page.time_range, &page.tags) {
                Some(reason) => self.pruned.push((Unopened::page(&page), reason)),
                None => pages.push(page),
            }
        }
        // The splits named in the manifest itself may hold all wanted hits.
        let newest = file.manifest.splits.iter();
        let newest = newest.filter(|entry| {
            asked
                .required
                .prunes(entry.time_range, &entry.tags)
                .is_none()
        });
        let counted: Vec<Counted> = pages
            .iter()
            .map(|page| asked.counted_page(page))
            .chain(newest.map(|entry| asked.counted(entry, None)))
            .collect();
        let mut wanted = Vec::new();
        for ((page, counted), is_wanted) in pages
            .into_iter()
            .zip(&counted)
            .zip(asked.must_look_at(&counted))
        {
            match is_wanted {
                true => wanted.push(page),
                false => self.answer(Unopened::page(&page), counted.num_hits),
            }
        }
        let needles = asked.needles.as_ref();
        let read = read_pages(&wanted, asked.summed.as_ref(), needles, exchange).await;
        let mut sums = Merger::default();
        let mut found = Found::default();
        for (page, (read, blocks)) in wanted.into_iter().zip(read) {
            let taken =
                read.and_then(|read| self.take(&page, read, blocks, asked, &mut sums, &mut found));
            if let Err(error) = taken {
                let failed = FailedSplit::new(&page.object(), error);
                self.known.failed_splits.push(failed);
            }
        }
        self.known.aggregations = sums.finish();
        found
    }

    /// Takes a page: its sum, if that is an answer, or else its splits that may hold hits.
    fn take(
        &mut self,
        page: &PageRef,
        read: ReadPage,
        blocks: FilterBlocks,
        asked: &Asked,
        sums: &mut Merger,
        found: &mut Found,
    ) -> Result<(), SearchError> {
        let summed = asked.summed.as_ref().zip(self.timestamp_field.as_deref());
        let summed =
            summed.filter(|_| asked.required.covers(page.time_range) && page.num_deleted == 0);
        if let Some((aggregations, field)) = summed
            && let Some(sum) = read.summary(page)?
            && let Some(sum) = aggregations.from_rollup(&sum, field)
        {
            // All of them belong to one request.
            let is_added = sums.add(sum);
            debug_assert!(is_added);
            self.answer(Unopened::page(page), Some(page.num_docs));
            return Ok(());
        }
        let splits = read.splits(page)?;
        let needles = asked.needles.as_ref();
        let holders = needles.map(|needles| needles.holders(page, &splits, blocks));
        for mut split in splits {
            let may_hold = holders.as_ref().is_none_or(|all| all.may_match(&split));
            let reason = asked
                .required
                .prunes(split.entry.time_range, &split.entry.tags)
                .or((!may_hold).then_some(PruneReason::Filter));
            if let Some(reason) = reason {
                self.pruned.push((Unopened::split(&split.entry), reason));
                continue;
            }
            let counted = asked.counted(&split.entry, Some(&split.totals));
            // Tags are not needed after pruning.
            split.entry.tags = Tags::new();
            let source = HeadSource {
                index: 0,
                entry: split.entry,
                inlined: None,
                packed: split.head,
            };
            found.push(source, counted, asked.max_splits);
        }
        Ok(())
    }

    /// Records a split or page that need not be opened because only its number of hits is needed.
    fn answer(&mut self, unopened: Unopened, num_hits: Option<u64>) {
        self.known.num_hits += num_hits.unwrap_or(0);
        self.known.num_splits_from_head += unopened.num_splits;
        self.answered.push(unopened);
    }

    /// Takes the splits that must be searched into the plan, oldest first.
    fn choose(&mut self, mut found: Vec<(HeadSource, Counted)>, has_pages: bool, asked: &Asked) {
        canter_sorting::sort_by(&mut found, |(left, _), (right, _)| {
            left.entry.order().cmp(&right.entry.order())
        });
        let counted: Vec<Counted> = found.iter().map(|(_, counted)| *counted).collect();
        // Without pages, all missing heads are one wave, and tell more than the counts.
        let is_wanted = asked.must_look_at(&counted);
        for ((source, counted), is_wanted) in found.into_iter().zip(is_wanted) {
            if is_wanted || !has_pages {
                self.splits.push(PlannedSplit {
                    split_ord: u32::try_from(self.splits.len()).unwrap_or(u32::MAX),
                    source,
                });
            } else {
                self.answer(Unopened::split(&source.entry), counted.num_hits);
            }
        }
    }
}
