//! The threads and channels of one ingest.

use super::indexer::build_segment;
use super::kept::LastTimes;
use super::parser::{ParsedBatch, Parser};
use super::sorter::sort_by_place;
use super::splitter::{CollectedSplit, Splitter};
use super::uploader::{Numbered, upload_all};
use crate::error::BuildError;
use crate::ingest::{IngestOptions, Meter, Phase, RejectsFile};
use crate::packager::{PackagedSplit, SplitFacts, package_split};
use crate::publisher::{NewSplit, SourceStep};
use crate::source::{
    Lookup, ReadAhead, ReadSettings, RecordBatch, RecordReader, Source, SourceRead,
};
use crate::storage::IndexStore;
use canter_doc_mapper::{DocMapper, IndexConfig};
use canter_formats::Format;
use canter_split_format::{LinesHash, SourceId, SourceProgress};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, ScopedJoinHandle};

/// Batches that wait for or after each parser.
const QUEUED_BATCHES: usize = 4;

/// Everything that the threads of one ingest share.
pub(crate) struct Plan<'a> {
    pub(crate) store: &'a IndexStore,
    pub(crate) config: &'a IndexConfig,
    pub(crate) mapper: &'a DocMapper,
    pub(crate) options: &'a IngestOptions,
    pub(crate) settings: &'a ReadSettings,
    pub(crate) split_num_docs: u64,
    pub(crate) meter: &'a Meter<'a>,
    /// How much of which source was ingested before.
    pub(crate) lookup: &'a Lookup<'a>,
}

/// What came of the sources.
pub(crate) struct Built {
    /// In the order of the input.
    pub(crate) splits: Vec<NewSplit>,
    /// One for each source that was there.
    pub(crate) inputs: Vec<ReadInput>,
    /// Objects that were listed and not there any more when they were to be read.
    pub(crate) gone: Vec<String>,
    /// How many documents were kept although something was wrong with them, by what it was.
    pub(crate) kept_by_reason: BTreeMap<String, u64>,
    /// How far the sources are ingested when the splits are published.
    pub(crate) sources: Vec<SourceStep>,
    /// Records that were rejected when they were ingested before, and would be documents now.
    pub(crate) num_rejected_before: u64,
}

/// What a source was.
#[derive(Clone, Debug)]
pub(crate) struct ReadInput {
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) num_docs: u64,
    pub(crate) num_rejects: u64,
    /// What is wrong with it, if it broke off.
    pub(crate) broken_off: Option<String>,
}

/// Builds and uploads the splits of `sources`.
pub(crate) fn run(
    plan: &Plan<'_>,
    sources: Vec<Source>,
    rejects: &mut RejectsFile,
) -> Result<Built, BuildError> {
    let kept: Vec<Kept> = sources.iter().map(Kept::of).collect();
    let names: Vec<String> = sources
        .iter()
        .map(|source| source.name().to_string())
        .collect();
    let (to_parsers, from_reader) =
        channels::<RecordBatch>(plan.options.num_parsers, QUEUED_BATCHES);
    let (to_splitter, from_parsers) =
        channels::<ParsedBatch>(plan.options.num_parsers, QUEUED_BATCHES);
    // A split is handed over, never queued: the indexers hold all the memory they may.
    let (to_indexers, from_splitter) = channels::<CollectedSplit>(plan.options.num_indexers, 0);
    let (to_uploader, from_indexers) = sync_channel::<Numbered>(0);

    thread::scope(|scope| {
        let reader = scope.spawn(move || read(plan, sources, &to_parsers));
        let parsers: Vec<_> = from_reader
            .into_iter()
            .zip(to_splitter)
            .map(|(batches, parsed)| scope.spawn(move || parse(plan, &batches, &parsed)))
            .collect();
        let indexers: Vec<_> = from_splitter
            .into_iter()
            .enumerate()
            .map(|(indexer_ord, splits)| {
                let to_uploader = to_uploader.clone();
                scope.spawn(move || index(plan, indexer_ord, &splits, &to_uploader))
            })
            .collect();
        drop(to_uploader);
        let uploader = scope.spawn(move || upload_all(plan.store, &from_indexers, plan.meter));

        // Channels close as their owners return, so every thread below ends.
        let collected = collect(plan, &names, &from_parsers, to_indexers, rejects);
        drop(from_parsers);
        let read = joined(reader);
        let parsed = parsers.into_iter().map(joined).fold(Ok(()), Result::and);
        let indexed = indexers.into_iter().map(joined).fold(Ok(()), Result::and);
        let uploaded = joined(uploader);
        let (collected, read) = match (collected, read) {
            (Ok(collected), Ok(read)) => (collected, read),
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        parsed.and(indexed)?;
        let (mut steps, mut num_rejected_before) = (Vec::new(), 0);
        let (mut inputs, mut gone) = (Vec::with_capacity(read.len()), Vec::new());
        let sources = names.into_iter().zip(kept).zip(read);
        for (((name, kept), came), count) in sources.zip(collected.counts) {
            let Came::Read(format, read) = came else {
                gone.push(name);
                continue;
            };
            let at_ms = plan.options.ingested_at_ms;
            steps.extend(kept.whole_id.map(|id| count.mark_of(id, read, at_ms)));
            if let Some(read) = read {
                let num_known = read.known.map_or(0, |known| known.num_docs);
                num_rejected_before += count.num_known_docs.saturating_sub(num_known);
                let step = count.step_of(read, at_ms);
                steps.extend(step.filter(|_| kept.is_kept));
            }
            inputs.push(ReadInput {
                name,
                format,
                num_docs: count.num_docs,
                num_rejects: count.num_rejects,
                broken_off: count.broken_off,
            });
        }
        Ok(Built {
            inputs,
            gone,
            splits: uploaded?,
            kept_by_reason: collected.kept_by_reason,
            sources: steps,
            num_rejected_before,
        })
    })
}

/// What the ledger can say of a source.
struct Kept {
    is_kept: bool,
    whole_id: Option<SourceId>,
}

impl Kept {
    fn of(source: &Source) -> Kept {
        Kept {
            is_kept: source.is_kept(),
            whole_id: source.whole_id(),
        }
    }
}

/// What became of a source when it was to be read.
enum Came {
    Read(Format, Option<SourceRead>),
    Gone,
}

type Channels<T> = (Vec<SyncSender<T>>, Vec<Receiver<T>>);

fn channels<T>(num: usize, num_queued: usize) -> Channels<T> {
    (0..num).map(|_| sync_channel(num_queued)).unzip()
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, BuildError>>) -> Result<T, BuildError> {
    thread.join().unwrap_or_else(|panic| {
        let what = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(BuildError::internal(format!(
            "a thread of the ingest panicked: {what}"
        )))
    })
}

/// Gives batches to the parsers in turn.
fn read(
    plan: &Plan<'_>,
    sources: Vec<Source>,
    parsers: &[SyncSender<RecordBatch>],
) -> Result<Vec<Came>, BuildError> {
    let mut all_read = Vec::with_capacity(sources.len());
    let objects = sources.iter().filter_map(Source::as_object).cloned();
    let mut ahead = ReadAhead::start(objects.collect())?;
    let mut in_turn = parsers.iter().cycle();
    for (source_ord, source) in sources.into_iter().enumerate() {
        let origin = source.origin();
        let object = match source.as_object() {
            None => None,
            Some(_) => {
                let object = ahead.next()?;
                if object.is_none() {
                    all_read.push(Came::Gone);
                    continue;
                }
                object
            }
        };
        let input = source.open_with(object, plan.meter.tally.num_stored_bytes.clone())?;
        let (settings, lookup) = (plan.settings, plan.lookup);
        let mut records = RecordReader::new(input, source_ord, &origin, settings, lookup)?;
        let format = records.format();
        while let Some(batch) = records.next_batch()? {
            let is_received = in_turn
                .next()
                .is_some_and(|parser| parser.send(batch).is_ok());
            if !is_received {
                return Ok(all_read);
            }
        }
        all_read.push(Came::Read(format, records.finish()?));
        plan.meter.add(&plan.meter.tally.num_inputs, 1);
    }
    Ok(all_read)
}

fn parse(
    plan: &Plan<'_>,
    batches: &Receiver<RecordBatch>,
    splitter: &SyncSender<ParsedBatch>,
) -> Result<(), BuildError> {
    let parser = Parser {
        mapper: plan.mapper,
        max_record_num_bytes: plan.settings.max_record_num_bytes(),
        keeps_all: plan.settings.keeps_all,
    };
    for batch in batches {
        if splitter.send(parser.parse(&batch)).is_err() {
            break;
        }
    }
    Ok(())
}

/// What the splitter counted.
struct Collected {
    counts: Vec<Count>,
    kept_by_reason: BTreeMap<String, u64>,
}

/// Of one source.
#[derive(Clone, Default)]
struct Count {
    num_docs: u64,
    /// Of records that were ingested before.
    num_known_docs: u64,
    num_rejects: u64,
    /// The last record that is a document, by its place from 1.
    last_doc_record: u64,
    broken_off: Option<String>,
}

impl Count {
    /// How far the source is ingested when its documents are published; `None` if that is no further than before. A last
    /// record that is no document, and that nothing ends, does not count: what was written of it may be a part.
    fn step_of(&self, read: SourceRead, at_ms: u64) -> Option<SourceStep> {
        let is_part = self.last_doc_record < read.num_records;
        let (num_lines, hash) = match read.hash_before_open_record.filter(|_| is_part) {
            Some(before) => (read.num_records - 1, before),
            None => (read.num_records, read.hash),
        };
        let num_known = read.known.map_or(0, |known| known.num_lines);
        (num_lines > num_known).then_some(SourceStep {
            source: read.source_id,
            from: read.known,
            to: SourceProgress {
                num_lines,
                num_docs: self.num_docs,
                hash,
                at_ms,
            },
            marks_whole: false,
        })
    }

    /// Says that all of this version of an object is ingested, so that it is not read again: also one without a
    /// record, and one that is damaged, which no later read could change.
    fn mark_of(&self, whole_id: SourceId, read: Option<SourceRead>, at_ms: u64) -> SourceStep {
        SourceStep {
            source: whole_id,
            from: None,
            to: SourceProgress {
                num_lines: read.map_or(0, |read| read.num_records),
                num_docs: self.num_docs,
                hash: read.map_or_else(LinesHash::default, |read| read.hash),
                at_ms,
            },
            marks_whole: true,
        }
    }
}

/// Takes batches from the parsers in turn, so in the order of the input, writes rejects, and gives
/// splits to the indexers in turn.
fn collect(
    plan: &Plan<'_>,
    names: &[String],
    parsers: &[Receiver<ParsedBatch>],
    indexers: Vec<SyncSender<CollectedSplit>>,
    rejects: &mut RejectsFile,
) -> Result<Collected, BuildError> {
    let mut collected = Collected {
        counts: vec![Count::default(); names.len()],
        kept_by_reason: BTreeMap::new(),
    };
    let mut last_times = LastTimes::new(names.len());
    let mut splitter = Splitter::new(plan.split_num_docs, plan.options.max_split_raw_num_bytes);
    let mut in_turn = indexers.iter().cycle();
    let mut hand_over = |split| {
        in_turn
            .next()
            .is_some_and(|indexer| indexer.send(split).is_ok())
    };
    let tally = &plan.meter.tally;
    // The first parser without a batch is where the reader stopped.
    for mut batch in parsers
        .iter()
        .cycle()
        .map_while(|parser| parser.recv().ok())
    {
        plan.meter.add(&tally.num_raw_bytes, batch.raw_num_bytes);
        plan.meter.add(&tally.num_docs, batch.docs.len() as u64);
        plan.meter
            .add(&tally.num_rejects, batch.rejects.len() as u64);
        plan.meter.tell(Phase::Indexing);
        for reject in &batch.rejects {
            rejects.add(&names[batch.source_ord], reject)?;
        }
        last_times.fill_in(plan.mapper, batch.source_ord, &mut batch.docs);
        let count = &mut collected.counts[batch.source_ord];
        let first_position = count.num_docs + count.num_rejects;
        count.num_docs += batch.docs.len() as u64;
        let mut num_known_docs = batch.docs.iter().filter(|doc| doc.is_known).count() as u64;
        // No record that is known is the rest that was kept where the source broke off, but it was counted.
        let num_before = count.num_known_docs + num_known_docs;
        if batch.num_docs_at_break.is_some_and(|num| num > num_before)
            && let Some(rest) = batch.docs.last_mut().filter(|doc| doc.kept_for.is_some())
        {
            rest.is_known = true;
            num_known_docs += 1;
        }
        count.num_known_docs += num_known_docs;
        plan.meter.add(&tally.num_known_docs, num_known_docs);
        count.last_doc_record = count.last_doc_record.max(batch.last_doc_record);
        count.num_rejects += batch.rejects.len() as u64;
        count.broken_off = count.broken_off.take().or(batch.broken_off);
        for mut doc in batch.docs {
            doc.identity.position += first_position;
            // It was needed to know the time and the place of those after it.
            if doc.is_known {
                continue;
            }
            if let Some(reason) = doc.kept_for {
                *collected
                    .kept_by_reason
                    .entry(reason.to_string())
                    .or_default() += 1;
            }
            if let Some(split) = splitter.add(doc)
                && !hand_over(split)
            {
                return Ok(collected);
            }
        }
    }
    plan.meter.tell(Phase::Finishing);
    if let Some(split) = splitter.finish() {
        hand_over(split);
    }
    Ok(collected)
}

/// Sorts, indexes and packages splits. Indexer `i` of `n` gets splits `i`, `i + n`, and so on.
fn index(
    plan: &Plan<'_>,
    indexer_ord: usize,
    splits: &Receiver<CollectedSplit>,
    uploader: &SyncSender<Numbered>,
) -> Result<(), BuildError> {
    let mut split_ord = indexer_ord as u64;
    for split in splits {
        let packaged = build_split(plan, split)?;
        plan.meter.add(&plan.meter.tally.num_splits_packaged, 1);
        if uploader.send((split_ord, packaged)).is_err() {
            break;
        }
        split_ord += plan.options.num_indexers as u64;
    }
    Ok(())
}

fn build_split(plan: &Plan<'_>, split: CollectedSplit) -> Result<PackagedSplit, BuildError> {
    let CollectedSplit {
        mut docs,
        raw_num_bytes,
    } = split;
    sort_by_place(&mut docs);
    let identities = docs.iter().map(|doc| doc.identity).collect();
    let segment = build_segment(plan.mapper, docs)?;
    let facts = SplitFacts {
        raw_num_bytes,
        identities,
    };
    package_split(segment, plan.mapper, plan.config, facts)
}
