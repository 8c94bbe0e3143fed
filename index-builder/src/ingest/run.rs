//! One ingest from beginning to end: check, build and upload, publish.

use super::checkpoint::{Checkpoints, Resumed};
use super::options::IngestOptions;
use super::progress::{Counters, Meter, Phase, Progress};
use super::rejects::RejectsFile;
use super::report::{IngestReport, InputReport, SplitReport};
use super::warnings::warnings_of;
use crate::blocking;
use crate::error::BuildError;
use crate::index::publisher::{self, IdBatch, LoadedManifest, NewDocuments, PublishOutcome};
use crate::index::storage::IndexStore;
use crate::input::source::{Ledger, ReadSettings, Source, TakenApart, take_apart};
use crate::pipeline::{self, Built, Plan};
use canter_doc_mapper::{DocMapper, IndexConfig};
use canter_split_format::{SourceEntries, SourceId, SourceProgress};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;

/// Ingests `sources`, in order, into the index at `store`.
///
/// All splits are uploaded first and published at once at the end: until then, and after any
/// failure, the index does not change. Blocks; starts a few threads that end with it. The same list
/// of sources, config and options give the same splits, whatever the timing of threads: after a
/// failure the same ingest may be run again without duplicates.
///
/// # Errors
/// `Invalid` for invalid options, sources or an invalid index, and for a source that is named
/// twice; `Limit` for more rejects than allowed; `Unavailable` if a source cannot be read or
/// storage cannot be written.
pub fn ingest(
    store: &IndexStore,
    options: &IngestOptions,
    sources: Vec<Source>,
    progress: &dyn Progress,
) -> Result<IngestReport, BuildError> {
    let Uploaded {
        config,
        built,
        notes,
        num_known_inputs,
        mut checkpoints,
        meter,
        rejects,
        manifest,
        ..
    } = build(store, options, sources, progress, Phase::Publishing)?;
    let published = publish_built(store, options, &config, &built, manifest)?;
    let Built {
        splits,
        inputs,
        gone,
        ..
    } = &built;
    checkpoints.remove();
    meter.tell(Phase::Done);
    let warnings = warnings_of(
        store,
        &published,
        splits,
        inputs,
        gone,
        notes.iter().chain(&built.no_logs),
        built.num_rejected_before,
    );
    let num_resumed = usize::try_from(built.num_resumed_splits).unwrap_or(usize::MAX);
    let resumed = splits.iter().take(num_resumed);
    let num_resumed_docs = resumed.map(|split| split.entry.num_docs).sum();
    let splits = splits.iter().map(|split| SplitReport::of(&split.entry));
    let splits = splits.collect();
    let counters = meter.counters(Phase::Done);
    let num_skipped_docs = meter.tally.num_known_docs.load(Ordering::Relaxed);
    Ok(IngestReport {
        num_lines: counters.num_lines,
        num_ingested_docs: published.num_published_docs,
        num_known_docs: published.num_known_docs + num_skipped_docs,
        num_rejected_docs: counters.num_rejects,
        num_dropped_docs: counters.num_dropped,
        num_blank_lines: counters.num_blank,
        dropped_by_reason: built.dropped_by_reason,
        num_kept_docs: built.kept_by_reason.values().sum(),
        kept_by_reason: built.kept_by_reason,
        num_resumed_docs,
        num_raw_bytes: counters.num_raw_bytes,
        num_split_bytes: counters.num_split_bytes,
        rejects_by_reason: rejects.by_reason(),
        rejects_path: rejects.written_path(),
        num_unwritten_rejects: rejects.num_unwritten(),
        splits,
        num_published_splits: published.num_published_splits,
        num_known_splits: published.num_known_splits,
        num_live_splits: published.num_live_splits,
        num_manifest_bytes: published.num_manifest_bytes,
        warnings,
        num_known_inputs,
        num_gone_inputs: built.gone.len() as u64,
        inputs: built.inputs.into_iter().map(InputReport::of).collect(),
    })
}

/// Publishes what was built.
fn publish_built(
    store: &IndexStore,
    options: &IngestOptions,
    config: &IndexConfig,
    built: &Built,
    manifest: Option<LoadedManifest>,
) -> Result<PublishOutcome, BuildError> {
    publisher::create_new(store)?;
    let new = NewDocuments {
        splits: &built.splits,
        sources: &built.sources,
        changes: options.ids.as_deref().map(IdBatch::changes),
    };
    let published = publisher::publish_from(manifest, store, Some(config), &new);
    blocking::run(published)
}

/// Uploaded splits that are not published.
pub(super) struct Uploaded<'a> {
    pub(super) config: IndexConfig,
    pub(super) built: Built,
    /// Notes on omitted members of archives, with the reasons.
    pub(super) notes: Vec<String>,
    /// Number of objects that were ingested before in their current version, and so not read.
    pub(super) num_known_inputs: u64,
    /// To be removed once they are obsolete.
    pub(super) checkpoints: Checkpoints<'a>,
    pub(super) meter: Meter<'a>,
    pub(super) counters: Counters,
    pub(super) rejects: RejectsFile,
    /// The manifest at the beginning of the build, if it was just read.
    pub(super) manifest: Option<LoadedManifest>,
}

/// Builds and uploads all splits of `sources`. `then` is the next phase.
pub(super) fn build<'a>(
    store: &'a IndexStore,
    options: &'a IngestOptions,
    sources: Vec<Source>,
    progress: &'a dyn Progress,
    then: Phase,
) -> Result<Uploaded<'a>, BuildError> {
    options.check()?;
    for source in &sources {
        source.check()?;
    }
    check_named_once(&sources)?;
    let mut prepared = publisher::prepare(store)?;
    let config = &prepared.config;
    let mapper = DocMapper::new(config).map_err(|error| {
        BuildError::invalid(format!(
            "the doc mapping of `{}` cannot be used",
            store.name()
        ))
        .caused_by(error)
    })?;
    let settings = ReadSettings::new(options, config)?;
    let num_all_inputs = sources.len();
    let sources = without_known(store, &prepared, sources)?;
    let num_known_inputs = (num_all_inputs - sources.len()) as u64;
    // After the former, because a known archive need not be opened.
    let TakenApart { sources, notes } = take_apart(sources, options.max_expansion)?;
    let total_stored_bytes = sources.iter().map(Source::stored_num_bytes).sum();
    let mut checkpoints = Checkpoints::new(store, options, config, &sources)?;
    let attempts = Attempts {
        store,
        options,
        config,
        mapper: &mapper,
        settings: &settings,
        known: &KnownSources {
            store,
            prepared: &prepared,
        },
        total_stored_bytes,
        progress,
    };
    let (built, meter, rejects) = attempts.build(sources, &mut checkpoints)?;
    meter.tell(then);
    Ok(Uploaded {
        counters: meter.counters(then),
        checkpoints,
        num_known_inputs,
        built,
        notes,
        meter,
        rejects,
        manifest: prepared.take_manifest(),
        config: prepared.config,
    })
}

/// Everything that attempts to build the same sources share.
struct Attempts<'w, 'a> {
    store: &'a IndexStore,
    options: &'a IngestOptions,
    config: &'w IndexConfig,
    mapper: &'w DocMapper,
    settings: &'w ReadSettings,
    known: &'w KnownSources<'w>,
    total_stored_bytes: Option<u64>,
    progress: &'a dyn Progress,
}

/// Result of an attempt with its counters and rejects.
type Attempt<'a, T> = (T, Meter<'a>, RejectsFile);

impl<'a> Attempts<'_, 'a> {
    /// Builds the sources from where an interrupted run ended, or, if they are not what they were then, from the
    /// beginning.
    fn build(
        &self,
        sources: Vec<Source>,
        checkpoints: &mut Checkpoints<'_>,
    ) -> Result<Attempt<'a, Built>, BuildError> {
        let resumed = checkpoints.load(self.total_stored_bytes)?;
        let again: Option<Vec<Source>> = match &resumed {
            Some(_) => sources.iter().map(Source::for_retry).collect(),
            None => None,
        };
        if let (Some(built), meter, rejects) = self.attempt(sources, checkpoints, resumed)? {
            return Ok((built, meter, rejects));
        }
        checkpoints.remove();
        let changed = || {
            BuildError::unavailable(
                "the input is not what it was when the same ingest was interrupted: what was noted of that is \
                 forgotten now, so run it again",
            )
        };
        let (built, meter, rejects) =
            self.attempt(again.ok_or_else(changed)?, checkpoints, None)?;
        Ok((built.ok_or_else(changed)?, meter, rejects))
    }

    /// Builds the sources from a position. `None` if the input has changed before it.
    fn attempt(
        &self,
        sources: Vec<Source>,
        checkpoints: &mut Checkpoints<'_>,
        resumed: Option<Resumed>,
    ) -> Result<Attempt<'a, Option<Built>>, BuildError> {
        let options = self.options;
        let meter = Meter::new(sources.len() as u64, self.total_stored_bytes, self.progress);
        let mut rejects = RejectsFile::new(
            options.rejects_path.clone(),
            options.max_rejects,
            options.max_rejects_num_bytes,
        );
        let target = self.config.indexing_settings.split_num_docs_target;
        let plan = Plan {
            store: self.store,
            config: self.config,
            mapper: self.mapper,
            options,
            settings: self.settings,
            split_num_docs: options.split_num_docs(target),
            meter: &meter,
            ledger: self.known,
        };
        let built = pipeline::run(&plan, sources, &mut rejects, checkpoints, resumed);
        // Records rejected before a failure help to understand it.
        let flushed = rejects.flush();
        let built = built?;
        flushed?;
        Ok((built, meter, rejects))
    }
}

/// The sources that the index knew at the beginning of the ingest.
struct KnownSources<'a> {
    store: &'a IndexStore,
    prepared: &'a publisher::Prepared,
}

impl Ledger for KnownSources<'_> {
    fn find(&self, source: SourceId) -> Result<Option<SourceProgress>, BuildError> {
        self.prepared.find_source(self.store, source)
    }

    fn within(&self, range: &RangeInclusive<u128>) -> Result<SourceEntries, BuildError> {
        self.prepared.sources_within(self.store, range)
    }
}

/// Returns the sources that are not completely ingested according to the index.
fn without_known(
    store: &IndexStore,
    prepared: &publisher::Prepared,
    sources: Vec<Source>,
) -> Result<Vec<Source>, BuildError> {
    let ids_of = |source: &Source| {
        let ids = [source.whole_id(), source.old_whole_id()];
        ids.map(|id| id.map(SourceId::to_u128))
    };
    let ids: Vec<[Option<u128>; 2]> = sources.iter().map(ids_of).collect();
    let known =
        prepared.known_sources(store, &ids.iter().flatten().flatten().copied().collect())?;
    let is_new = |ids: &[Option<u128>; 2]| !ids.iter().flatten().any(|id| known.contains(id));
    let sources = sources.into_iter().zip(&ids);
    Ok(sources
        .filter(|(_, ids)| is_new(ids))
        .map(|(source, _)| source)
        .collect())
}

/// Refuses a source that is named twice, which would be duplicated, or dropped silently.
fn check_named_once(sources: &[Source]) -> Result<(), BuildError> {
    let mut known: BTreeMap<Vec<u8>, &str> = BTreeMap::new();
    for source in sources {
        for key in BTreeSet::from_iter(source.place().into_iter().chain([source.origin()])) {
            if let Some(before) = known.insert(key, source.name()) {
                let name = source.name();
                let also = match before == name {
                    true => String::new(),
                    false => format!(", as `{before}` too"),
                };
                return Err(BuildError::invalid(format!(
                    "the source `{name}` is named twice{also}: name it once (lines that are meant to \
                     be in the index twice must come from two sources)"
                )));
            }
        }
    }
    Ok(())
}
