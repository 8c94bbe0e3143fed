//! The threads and channels of one ingest.

use super::indexer::build_segment;
use super::parser::{ParsedBatch, parse_batch};
use super::sorter::sort_by_place;
use super::splitter::{CollectedSplit, Splitter};
use super::uploader::{Numbered, upload_all};
use crate::error::BuildError;
use crate::ingest::{IngestOptions, Meter, Phase, RejectsFile};
use crate::packager::{PackagedSplit, SplitFacts, package_split};
use crate::publisher::NewSplit;
use crate::source::{LineBatch, LineReader, Source};
use crate::storage::IndexStore;
use canter_doc_mapper::{DocMapper, IndexConfig};
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
}

/// Builds and uploads the splits of `sources`, and returns them in the order of the input.
pub(crate) fn run(
    plan: &Plan<'_>,
    sources: Vec<Source>,
    rejects: &mut RejectsFile,
) -> Result<Vec<NewSplit>, BuildError> {
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
        let collected = collect(plan, &names, &from_parsers, to_indexers, rejects);
        drop(from_parsers);
        let read = joined(reader);
        let parsed = parsers.into_iter().map(joined).fold(Ok(()), Result::and);
        let indexed = indexers.into_iter().map(joined).fold(Ok(()), Result::and);
        let uploaded = joined(uploader);
        collected.and(read).and(parsed).and(indexed)?;
        uploaded
    })
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
    parsers: &[SyncSender<LineBatch>],
) -> Result<(), BuildError> {
    let mut in_turn = parsers.iter().cycle();
    for (source_ord, source) in sources.into_iter().enumerate() {
        let origin = source.origin();
        let input = source.open(plan.meter.tally.num_stored_bytes.clone())?;
        let max_line_num_bytes = plan.options.max_line_num_bytes;
        let mut lines = LineReader::new(input, source_ord, origin, max_line_num_bytes);
        while let Some(batch) = lines.next_batch()? {
            let is_received = in_turn
                .next()
                .is_some_and(|parser| parser.send(batch).is_ok());
            if !is_received {
                return Ok(());
            }
        }
    }
    Ok(())
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
        plan.meter.add(&tally.num_docs, batch.docs.len() as u64);
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
