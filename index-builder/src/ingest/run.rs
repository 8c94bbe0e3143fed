//! One ingest from beginning to end: check, build and upload, publish.

use super::options::IngestOptions;
use super::progress::{Counters, Meter, Phase, Progress};
use super::rejects::RejectsFile;
use super::report::{IngestReport, InputReport, SplitReport};
use super::warnings::warnings_of;
use crate::blocking;
use crate::error::BuildError;
use crate::pipeline::{self, Plan, ReadInput};
use crate::publisher::{self, NewSplit, SourceStep};
use crate::source::{ReadSettings, Source};
use crate::storage::IndexStore;
use canter_doc_mapper::{DocMapper, IndexConfig};
use canter_split_format::SourceId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

/// Ingests `sources`, one after the other, into the index at `store`.
///
/// All splits are uploaded first and published at once at the end: until then, and after any
/// failure, the index is what it was. Blocks; starts a few threads that end with it. The same list
/// of sources, config and options give the same splits, however the threads take turns: after a
/// failure the same ingest may be run again, and nothing is there twice.
///
/// # Errors
/// `Invalid` for options, sources or an index that cannot be used, and for a source that is named
/// twice; `Limit` for more rejects than allowed; `Unavailable` if a source
/// cannot be read or storage cannot be written.
pub fn ingest(
    store: &IndexStore,
    options: &IngestOptions,
    sources: Vec<Source>,
    progress: &dyn Progress,
) -> Result<IngestReport, BuildError> {
    let Uploaded {
        config,
        splits,
        sources: steps,
        inputs,
        kept_by_reason,
        num_rejected_before,
        num_known_inputs,
        gone,
        meter,
        rejects,
        ..
    } = build(store, options, sources, progress, Phase::Publishing)?;
    let published = blocking::run(publisher::publish(store, Some(&config), &splits, &steps))?;
    meter.tell(Phase::Done);
    let counters = meter.counters(Phase::Done);
    let num_skipped_docs = meter.tally.num_known_docs.load(Ordering::Relaxed);
    Ok(IngestReport {
        num_lines: counters.num_lines,
        num_ingested_docs: published.num_published_docs,
        num_known_docs: published.num_known_docs + num_skipped_docs,
        num_rejected_docs: counters.num_rejects,
        num_kept_docs: kept_by_reason.values().sum(),
        kept_by_reason,
        num_raw_bytes: counters.num_raw_bytes,
        num_split_bytes: counters.num_split_bytes,
        rejects_by_reason: rejects.by_reason(),
        rejects_path: rejects.written_path(),
        splits: splits
            .iter()
            .map(|split| SplitReport::of(&split.entry))
            .collect(),
        num_published_splits: published.num_published_splits,
        num_known_splits: published.num_known_splits,
        num_live_splits: published.num_live_splits,
        num_manifest_bytes: published.num_manifest_bytes,
        warnings: warnings_of(
            store,
            &published,
            &splits,
            &inputs,
            &gone,
            num_rejected_before,
        ),
        num_known_inputs,
        num_gone_inputs: gone.len() as u64,
        inputs: inputs.into_iter().map(InputReport::of).collect(),
    })
}

/// Splits that are uploaded and not published.
pub(super) struct Uploaded<'a> {
    pub(super) config: IndexConfig,
    pub(super) splits: Vec<NewSplit>,
    /// How far the sources are ingested when they are published.
    pub(super) sources: Vec<SourceStep>,
    /// One for each source that was read.
    pub(super) inputs: Vec<ReadInput>,
    /// Objects that were ingested before, in the version that they have, and so not read.
    pub(super) num_known_inputs: u64,
    /// Objects that were listed and not there any more when they were to be read.
    pub(super) gone: Vec<String>,
    pub(super) kept_by_reason: BTreeMap<String, u64>,
    /// Records that were rejected when they were ingested before, and would be documents now.
    pub(super) num_rejected_before: u64,
    pub(super) meter: Meter<'a>,
    pub(super) counters: Counters,
    pub(super) rejects: RejectsFile,
}

/// Builds and uploads all splits of `sources`. `then` is the phase that follows.
pub(super) fn build<'a>(
    store: &IndexStore,
    options: &IngestOptions,
    sources: Vec<Source>,
    progress: &'a dyn Progress,
    then: Phase,
) -> Result<Uploaded<'a>, BuildError> {
    options.check()?;
    for source in &sources {
        source.check()?;
    }
    check_named_once(&sources)?;
    let prepared = publisher::prepare(store)?;
    let config = &prepared.config;
    let mapper = DocMapper::new(config).map_err(|error| {
        BuildError::invalid(format!(
            "the doc mapping of `{}` cannot be used",
            store.uri()
        ))
        .caused_by(error)
    })?;
    let settings = ReadSettings::new(options, config)?;
    let num_all_inputs = sources.len();
    let sources = without_known(store, &prepared, sources)?;
    let num_known_inputs = (num_all_inputs - sources.len()) as u64;
    let total_stored_bytes = sources.iter().map(Source::stored_num_bytes).sum();
    let meter = Meter::new(sources.len() as u64, total_stored_bytes, progress);
    let mut rejects = RejectsFile::new(options.rejects_path.clone(), options.max_rejects);
    let plan = Plan {
        store,
        config,
        mapper: &mapper,
        options,
        settings: &settings,
        split_num_docs: options.split_num_docs(config.indexing_settings.split_num_docs_target),
        meter: &meter,
        lookup: &|source| prepared.find_source(store, source),
    };
    let built = pipeline::run(&plan, sources, &mut rejects);
    // What was rejected before a failure helps to understand it.
    let flushed = rejects.flush();
    let built = built?;
    flushed?;

    meter.tell(then);
    Ok(Uploaded {
        counters: meter.counters(then),
        config: prepared.config,
        splits: built.splits,
        sources: built.sources,
        inputs: built.inputs,
        num_known_inputs,
        gone: built.gone,
        kept_by_reason: built.kept_by_reason,
        num_rejected_before: built.num_rejected_before,
        meter,
        rejects,
    })
}

/// The sources of which the index does not say that all of them is ingested.
fn without_known(
    store: &IndexStore,
    prepared: &publisher::Prepared,
    sources: Vec<Source>,
) -> Result<Vec<Source>, BuildError> {
    let ids = sources.iter().map(Source::whole_id);
    let ids: Vec<Option<u128>> = ids.map(|id| id.map(SourceId::to_u128)).collect();
    let known = prepared.known_sources(store, &ids.iter().flatten().copied().collect())?;
    let is_new = |id: &Option<u128>| id.is_none_or(|id| !known.contains(&id));
    let sources = sources.into_iter().zip(&ids);
    Ok(sources
        .filter(|(_, id)| is_new(id))
        .map(|(source, _)| source)
        .collect())
}

/// A source that is named twice would be there twice, or else be dropped in silence.
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
