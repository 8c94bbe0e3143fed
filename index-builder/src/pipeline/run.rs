//! The threads and channels of one ingest.

use super::collector::Collector;
use super::indexer::{BuiltSegment, SegmentsBuilder};
use super::parser::{ParsedBatch, Parser, Scratch};
use super::reader::{Came, PlacedBatch, read};
use super::splitter::CollectedSplit;
use super::standing::{Count, notes_of};
use super::uploader::{Numbered, upload_all};
use crate::error::BuildError;
use crate::index::publisher::{NewSplit, SourceStep};
use crate::index::storage::IndexStore;
use crate::ingest::{CheckpointWriter, Checkpoints, IngestOptions, Meter, RejectsFile, Resumed};
use crate::input::source::{Ledger, ReadSettings, Source};
use crate::packager::{PackagedSplit, SplitFacts, package_split};
use crate::transform::spawn_with_large_stack;
use canter_doc_mapper::{DocMapper, IndexConfig};
use canter_formats::Format;
use canter_split_format::SourceId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

/// Number of batches in the queues before and after each parser.
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
    /// Progress of sources that were ingested before.
    pub(crate) ledger: &'a dyn Ledger,
}

/// Result of building the sources.
pub(crate) struct Built {
    /// In the order of the input.
    pub(crate) splits: Vec<NewSplit>,
    /// One for each existing source.
    pub(crate) inputs: Vec<ReadInput>,
    /// Listed objects that did not exist any more when they were to be read.
    pub(crate) gone: Vec<String>,
    /// Matches that are not logs: a sentence each.
    pub(crate) no_logs: Vec<String>,
    /// Numbers of documents that were kept despite errors, by reason.
    pub(crate) kept_by_reason: BTreeMap<String, u64>,
    /// Numbers of records that the transform dropped, by reason.
    pub(crate) dropped_by_reason: BTreeMap<String, u64>,
    /// Progress of the sources once the splits are published.
    pub(crate) sources: Vec<SourceStep>,
    /// Number of records that were rejected when they were ingested before, and would be documents now.
    pub(crate) num_rejected_before: u64,
    /// Number of splits that an interrupted run had uploaded.
    pub(crate) num_resumed_splits: u64,
}

/// Facts about a source that was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadInput {
    pub(crate) name: String,
    pub(crate) format: Format,
    /// Assumptions about incomplete times.
    pub(crate) times: Option<String>,
    pub(crate) num_docs: u64,
    pub(crate) num_rejects: u64,
    pub(crate) num_dropped: u64,
    /// Reason why it broke off, if it did.
    pub(crate) broken_off: Option<String>,
    /// Number of lines that were appended to its last known record after that was ingested.
    pub(crate) num_late_lines: u64,
    /// Reason for which it counts as a new source, or for which none of it is ingested.
    pub(crate) note: Option<String>,
    /// Reason why its end, or all of it, waits.
    pub(crate) waiting: Option<String>,
}

/// Builds and uploads the splits of `sources`, from the position of an interrupted run. `None` if the input has
/// changed since then.
pub(crate) fn run(
    plan: &Plan<'_>,
    sources: Vec<Source>,
    rejects: &mut RejectsFile,
    checkpoints: &mut Checkpoints<'_>,
    resumed: Option<Resumed>,
) -> Result<Option<Built>, BuildError> {
    let writer = CheckpointWriter::new(checkpoints, resumed.as_ref());
    let (already, standing) = match resumed {
        Some(Resumed { splits, standing }) => (splits, Some(standing)),
        None => (Vec::new(), None),
    };
    let place = standing.as_ref().map(|standing| standing.place);
    let num_already = already.len() as u64;
    let kept: Vec<Kept> = sources.iter().map(Kept::of).collect();
    let names: Vec<String> = sources
        .iter()
        .map(|source| source.name().to_string())
        .collect();
    let (to_parsers, from_reader) =
        channels::<PlacedBatch>(plan.options.num_parsers, QUEUED_BATCHES);
    let (to_splitter, from_parsers) =
        channels::<ParsedBatch>(plan.options.num_parsers, QUEUED_BATCHES);
    // A split is handed over, never queued: the indexers hold all available memory.
    let (to_indexers, from_splitter) = channels::<CollectedSplit>(plan.options.num_indexers, 0);
    let (to_uploader, from_indexers) = sync_channel::<Numbered>(0);

    thread::scope(|scope| {
        let reader = scope.spawn(move || read(plan, sources, place, &to_parsers));
        let parsers = spawn_parsers(scope, plan, from_reader, to_splitter)?;
        let indexers: Vec<_> = (num_already..)
            .zip(from_splitter)
            .map(|(first_ord, splits)| {
                let to_uploader = to_uploader.clone();
                scope.spawn(move || index(plan, first_ord, &splits, &to_uploader))
            })
            .collect();
        drop(to_uploader);
        let uploader = scope
            .spawn(move || upload_all(plan.store, already, &from_indexers, writer, plan.meter));

        // Channels close as their owners return, so every thread below ends.
        let collector = Collector::new(plan, &names, rejects, standing);
        let collected = collector.run(&from_parsers, to_indexers);
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
        let Some(read) = read else {
            return Ok(None);
        };
        let mut results = SourceResults::default();
        let sources = names.into_iter().zip(kept).zip(read).zip(collected.counts);
        for (((name, kept), came), count) in sources {
            results.add(name, &kept, came, count, plan.options.ingested_at_ms);
        }
        Ok(Some(Built {
            kept_by_reason: collected.kept_by_reason,
            dropped_by_reason: collected.dropped_by_reason,
            num_resumed_splits: num_already,
            ..results.checked()?.built(uploaded?)
        }))
    })
}

/// Results of all sources, in the order of the input.
#[derive(Default)]
struct SourceResults {
    read: Vec<ReadInput>,
    gone: Vec<String>,
    no_logs: Vec<BuildError>,
    steps: Steps,
    num_rejected_before: u64,
}

impl SourceResults {
    /// Adds the result of the next source.
    fn add(&mut self, name: String, kept: &Kept, came: Came, count: Count, at_ms: u64) {
        let (said, read) = match came {
            Came::Read(said, read) => (said, read),
            Came::Gone => return self.gone.push(name),
            Came::NoLog(error) => return self.no_logs.push(error),
        };
        let whole = kept.whole_id.filter(|_| said.is_taken);
        let whole = whole.map(|id| count.mark_of(id, read.as_ref(), at_ms));
        self.steps.marks.extend(whole);
        if let Some(read) = read {
            let num_known = read.known.map_or(0, |known| known.num_docs);
            self.num_rejected_before += count.num_known_docs.saturating_sub(num_known);
            if let Some(step) = count.step_of(&read, at_ms).filter(|_| kept.is_kept) {
                let origin = kept.origin.as_ref();
                let notes = origin.map(|origin| notes_of(&step, &read, origin));
                self.steps.notes.extend(notes.into_iter().flatten());
                self.steps.add(step);
            }
        }
        self.read.push(ReadInput {
            name,
            format: said.format,
            times: said.times,
            num_late_lines: said.num_late_lines,
            note: said.note,
            waiting: said.waiting,
            num_docs: count.num_docs,
            num_rejects: count.num_rejects,
            num_dropped: count.num_dropped,
            broken_off: count.broken_off,
        });
    }

    /// Returns the results, or the first failure if no match was a log.
    fn checked(mut self) -> Result<SourceResults, BuildError> {
        match self.read.is_empty() && self.gone.is_empty() && !self.no_logs.is_empty() {
            true => Err(self.no_logs.swap_remove(0)),
            false => Ok(self),
        }
    }

    /// Builds the result of the ingest, without what the collector and the resumed run tell.
    fn built(self, splits: Vec<NewSplit>) -> Built {
        Built {
            splits,
            inputs: self.read,
            gone: self.gone,
            no_logs: self.no_logs.iter().map(ToString::to_string).collect(),
            kept_by_reason: BTreeMap::new(),
            dropped_by_reason: BTreeMap::new(),
            sources: self.steps.all(),
            num_rejected_before: self.num_rejected_before,
            num_resumed_splits: 0,
        }
    }
}

/// Progress of sources; two inputs may be the same source: a file and its copy.
#[derive(Default)]
struct Steps {
    steps: Vec<SourceStep>,
    places: BTreeMap<SourceId, usize>,
    /// Marks of whole objects.
    marks: Vec<SourceStep>,
    notes: Vec<SourceStep>,
}

impl Steps {
    fn add(&mut self, step: SourceStep) {
        let place = *self.places.entry(step.source).or_insert(self.steps.len());
        match self.steps.get_mut(place) {
            // Keeps the beginning of the first one.
            Some(before) => before.to = step.to,
            None => self.steps.push(step),
        }
    }

    fn all(mut self) -> Vec<SourceStep> {
        let mut seen = BTreeSet::new();
        self.notes.retain(|note| seen.insert(note.source));
        self.steps.extend(self.marks);
        self.steps.extend(self.notes);
        self.steps
    }
}

/// Facts about a source for the ledger.
struct Kept {
    is_kept: bool,
    whole_id: Option<SourceId>,
    /// Origin of a file that is identified by its content.
    origin: Option<Vec<u8>>,
}

impl Kept {
    fn of(source: &Source) -> Kept {
        Kept {
            is_kept: source.is_kept(),
            whole_id: source.whole_id(),
            origin: source.log_name().map(|_| source.origin()),
        }
    }
}

type Channels<T> = (Vec<SyncSender<T>>, Vec<Receiver<T>>);

fn channels<T>(num: usize, num_queued: usize) -> Channels<T> {
    (0..num).map(|_| sync_channel(num_queued)).unzip()
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, BuildError>>) -> Result<T, BuildError> {
    thread
        .join()
        .unwrap_or_else(|panic| Err(BuildError::of_panic(&*panic)))
}

/// Starts a parser for each pair of queues. Programs of a transform need a large stack.
fn spawn_parsers<'scope>(
    scope: &'scope Scope<'scope, '_>,
    plan: &'scope Plan<'_>,
    batches: Vec<Receiver<PlacedBatch>>,
    splitter: Vec<SyncSender<ParsedBatch>>,
) -> Result<Vec<ScopedJoinHandle<'scope, Result<(), BuildError>>>, BuildError> {
    let queues = batches.into_iter().zip(splitter);
    queues
        .map(|(batches, parsed)| {
            let parse = move || parse(plan, &batches, &parsed);
            match plan.options.transform {
                Some(_) => spawn_with_large_stack(scope, parse),
                None => Ok(scope.spawn(parse)),
            }
        })
        .collect()
}

fn parse(
    plan: &Plan<'_>,
    batches: &Receiver<PlacedBatch>,
    splitter: &SyncSender<ParsedBatch>,
) -> Result<(), BuildError> {
    let parser = Parser {
        mapper: plan.mapper,
        keeps_all: plan.settings.keeps_all,
        transform: plan.options.transform.as_ref(),
        ids: plan.options.ids.as_deref(),
    };
    let mut scratch = Scratch::default();
    for (place, batch) in batches {
        let parsed = parser.parse(place, &batch, &mut scratch);
        if splitter.send(parsed).is_err() {
            break;
        }
    }
    Ok(())
}

/// Sorts, indexes and packages splits: every `n`th of `n` indexers, from `first_ord` on.
fn index(
    plan: &Plan<'_>,
    first_ord: u64,
    splits: &Receiver<CollectedSplit>,
    uploader: &SyncSender<Numbered>,
) -> Result<(), BuildError> {
    let mut split_ord = first_ord;
    for mut split in splits {
        let standing = split.standing.take();
        let packaged = build_splits(plan.mapper, plan.config, plan.options, split)?;
        let num_packaged = packaged.len() as u64;
        plan.meter
            .add(&plan.meter.tally.num_splits_packaged, num_packaged);
        if uploader.send((split_ord, packaged, standing)).is_err() {
            break;
        }
        split_ord += plan.options.num_indexers as u64;
    }
    Ok(())
}

/// Builds one split of the documents that were collected for one, or several if they take too much memory for one.
pub(super) fn build_splits(
    mapper: &DocMapper,
    config: &IndexConfig,
    options: &IngestOptions,
    split: CollectedSplit,
) -> Result<Vec<PackagedSplit>, BuildError> {
    let (docs, identities) = split.docs.sort()?;
    let num_docs = identities.len();
    let all_facts = SplitFacts::new(split.raw_num_bytes, &identities)?;
    // Building takes all the remaining memory.
    drop(identities);
    let mut segments = SegmentsBuilder::new(mapper, docs, options.max_segment_num_bytes)?;
    let (mut splits, mut first_doc) = (Vec::new(), 0);
    while let Some(segment) = segments.next_segment()? {
        let docs = first_doc..first_doc + segment.num_docs;
        first_doc = docs.end;
        let facts = match docs.len() == num_docs {
            true => all_facts.clone(),
            false => all_facts.of_part(docs)?,
        };
        let BuiltSegment {
            directory,
            documents,
            vectors,
            ..
        } = segment;
        let split = package_split(directory, documents, &vectors, mapper, config, facts)?;
        splits.push(split);
    }
    Ok(splits)
}
