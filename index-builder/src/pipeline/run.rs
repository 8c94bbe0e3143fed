//! The threads and channels of one ingest.

use super::indexer::build_segment;
use super::parser::{ParsedBatch, parse_batch};
use super::sorter::sort_by_place;
use super::splitter::{CollectedSplit, Splitter};
use super::uploader::{Numbered, upload_all};
use crate::error::BuildError;
use crate::ingest::{IngestOptions, Meter, Phase, RejectsFile};
use crate::packager::{PackagedSplit, SplitFacts, package_split};
use crate::publisher::{NewSplit, SourceStep};
use crate::source::{LineBatch, LineReader, Lookup, Source, SourceRead};
use crate::storage::IndexStore;
use canter_doc_mapper::{DocMapper, IndexConfig};
use canter_split_format::SourceProgress;
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
    pub(crate) split_num_docs: u64,
    pub(crate) meter: &'a Meter<'a>,
    /// How much of which source was ingested before.
    pub(crate) lookup: &'a Lookup<'a>,
}

/// What came of an input: its splits in its order, and how far its sources are ingested then.
pub(crate) struct Built {
    pub(crate) splits: Vec<NewSplit>,
    pub(crate) sources: Vec<SourceStep>,
    /// Lines that were rejected when they were ingested before, and would be documents now.
    pub(crate) num_lines_rejected_before: u64,
}

/// Builds and uploads the splits of `sources`.
pub(crate) fn run(
    plan: &Plan<'_>,
    sources: Vec<Source>,
    rejects: &mut RejectsFile,
) -> Result<Built, BuildError> {
    let is_kept: Vec<bool> = sources.iter().map(Source::is_kept).collect();
    let names: Vec<String> = sources
        .iter()
        .map(|source| source.name().to_string())
        .collect();
    let (to_parsers, from_reader) = channels::<LineBatch>(plan.options.num_parsers, QUEUED_BATCHES);
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
        let mut docs = vec![DocsOfSource::default(); names.len()];
        let collected = collect(plan, &names, &from_parsers, to_indexers, rejects, &mut docs);
        drop(from_parsers);
        let read = joined(reader);
        let parsed = parsers.into_iter().map(joined).fold(Ok(()), Result::and);
        let indexed = indexers.into_iter().map(joined).fold(Ok(()), Result::and);
        let uploaded = joined(uploader);
        collected?;
        let read = read?;
        parsed.and(indexed)?;
        let num_lines_rejected_before = read.iter().flatten().zip(&docs).map(|(read, docs)| {
            let num_known = read.known.map_or(0, |known| known.num_docs);
            docs.num_known.saturating_sub(num_known)
        });
        let num_lines_rejected_before = num_lines_rejected_before.sum();
        let steps = read.into_iter().zip(is_kept).zip(docs);
        let steps = steps.filter_map(|((read, is_kept), docs)| {
            let read = read.filter(|_| is_kept)?;
            docs.step_of(read, plan.options.ingested_at_ms)
        });
        Ok(Built {
            splits: uploaded?,
            sources: steps.collect(),
            num_lines_rejected_before,
        })
    })
}

/// The documents of one source.
#[derive(Clone, Copy, Debug, Default)]
struct DocsOfSource {
    num_docs: u64,
    /// Of lines that were ingested before.
    num_known: u64,
    last_line: u64,
}

impl DocsOfSource {
    /// How far the source is ingested when its documents are published; `None` if that is no further than before. A last
    /// line that is no document, and that nothing ends, does not count: what was written of it may be a part.
    fn step_of(self, read: SourceRead, at_ms: u64) -> Option<SourceStep> {
        let is_part = self.last_line < read.num_lines;
        let (num_lines, hash) = match read.hash_before_open_line.filter(|_| is_part) {
            Some(before) => (read.num_lines - 1, before),
            None => (read.num_lines, read.hash),
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
        })
    }
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

/// Gives batches to the parsers in turn. Returns what was read of each source.
fn read(
    plan: &Plan<'_>,
    sources: Vec<Source>,
    parsers: &[SyncSender<LineBatch>],
) -> Result<Vec<Option<SourceRead>>, BuildError> {
    let mut in_turn = parsers.iter().cycle();
    let mut all_read = Vec::new();
    for (source_ord, source) in sources.into_iter().enumerate() {
        let origin = source.origin();
        let input = source.open(plan.meter.tally.num_stored_bytes.clone())?;
        let max_line_num_bytes = plan.options.max_line_num_bytes;
        let lookup = plan.lookup;
        let mut lines = LineReader::new(input, source_ord, origin, max_line_num_bytes, lookup);
        while let Some(batch) = lines.next_batch()? {
            let is_received = in_turn
                .next()
                .is_some_and(|parser| parser.send(batch).is_ok());
            if !is_received {
                return Ok(all_read);
            }
        }
        all_read.push(lines.finish()?);
    }
    Ok(all_read)
}

fn parse(
    plan: &Plan<'_>,
    batches: &Receiver<LineBatch>,
    splitter: &SyncSender<ParsedBatch>,
) -> Result<(), BuildError> {
    for batch in batches {
        let parsed = parse_batch(plan.mapper, &batch, plan.options.max_line_num_bytes);
        if splitter.send(parsed).is_err() {
            break;
        }
    }
    Ok(())
}

/// Takes batches from the parsers in turn, so in the order of the input, writes rejects, and gives
/// splits to the indexers in turn.
fn collect(
    plan: &Plan<'_>,
    names: &[String],
    parsers: &[Receiver<ParsedBatch>],
    indexers: Vec<SyncSender<CollectedSplit>>,
    rejects: &mut RejectsFile,
    docs: &mut [DocsOfSource],
) -> Result<(), BuildError> {
    let mut splitter = Splitter::new(plan.split_num_docs, plan.options.max_split_raw_num_bytes);
    let mut in_turn = indexers.iter().cycle();
    let mut hand_over = |split| {
        in_turn
            .next()
            .is_some_and(|indexer| indexer.send(split).is_ok())
    };
    let tally = &plan.meter.tally;
    // The first parser without a batch is where the reader stopped.
    for batch in parsers
        .iter()
        .cycle()
        .map_while(|parser| parser.recv().ok())
    {
        plan.meter.add(&tally.num_raw_bytes, batch.raw_num_bytes);
        let num_docs = batch.docs.len() as u64 + batch.num_known_docs;
        plan.meter.add(&tally.num_docs, num_docs);
        plan.meter.add(&tally.num_known_docs, batch.num_known_docs);
        let of_source = &mut docs[batch.source_ord];
        of_source.num_docs += num_docs;
        of_source.num_known += batch.num_known_docs;
        of_source.last_line = of_source.last_line.max(batch.last_doc_line);
        plan.meter
            .add(&tally.num_rejects, batch.rejects.len() as u64);
        plan.meter.tell(Phase::Indexing);
        for reject in &batch.rejects {
            rejects.add(&names[batch.source_ord], reject)?;
        }
        for doc in batch.docs {
            if let Some(split) = splitter.add(doc)
                && !hand_over(split)
            {
                return Ok(());
            }
        }
    }
    plan.meter.tell(Phase::Finishing);
    if let Some(split) = splitter.finish() {
        hand_over(split);
    }
    Ok(())
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
