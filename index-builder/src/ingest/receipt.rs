//! Builds shared by several machines: each builds and uploads splits, and returns a receipt; one of them publishes
//! all receipts at once.

use super::options::IngestOptions;
use super::progress::{Phase, Progress};
use super::run::{Uploaded, build};
use super::warnings::warnings_of_inputs;
use crate::blocking;
use crate::error::BuildError;
use crate::index::publisher::{self, NewDocuments, NewSplit, PublishOutcome, SourceStep};
use crate::index::storage::IndexStore;
use crate::input::source::Source;
use crate::transform::Transform;
use canter_doc_mapper::IndexConfig;
use canter_split_format::split_object;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the receipt format.
const VERSION: u32 = 1;

/// The uploaded splits of one part of a shared build, and the counts of its input. Receipts are transported as JSON.
///
/// Building the same part again (a repeated task, or one that ran twice) yields the same splits, which are published
/// once.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    version: u32,
    /// The config of the splits.
    index_config: IndexConfig,
    /// The program that transformed its documents, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transform: Option<String>,
    /// Uploaded splits that no manifest names yet.
    splits: Vec<NewSplit>,
    /// Progress of their sources once they are published.
    sources: Vec<SourceStep>,
    /// Number of lines that were read.
    pub num_lines: u64,
    /// Number of rejected lines.
    pub num_rejected_docs: u64,
    /// Number of lines that the transform dropped.
    #[serde(default)]
    pub num_dropped_docs: u64,
    /// Number of lines that were kept despite errors.
    pub num_kept_docs: u64,
    /// Number of bytes of all lines, after decompression and with line endings.
    pub num_raw_bytes: u64,
    /// Numbers of rejected lines by reason.
    pub rejects_by_reason: BTreeMap<String, u64>,
    /// Number of blank lines, which were skipped.
    #[serde(default)]
    pub num_blank_lines: u64,
    /// Notes on inputs of which nothing, or not everything, is in the splits: a sentence each.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl Receipt {
    /// Parses a receipt.
    ///
    /// # Errors
    /// `Data` if the text is not a receipt, or one of another version.
    pub fn from_json(json: &str) -> Result<Receipt, BuildError> {
        let receipt: Receipt = serde_json::from_str(json).map_err(|error| {
            BuildError::data("this is no receipt of `canter split build`").caused_by(error)
        })?;
        match receipt.version {
            VERSION => Ok(receipt),
            other => Err(BuildError::data(format!(
                "a receipt of version {other}: this program knows version {VERSION}; build the part again"
            ))),
        }
    }

    /// Serializes the receipt as JSON.
    ///
    /// # Errors
    /// `Internal`, never in practice.
    pub fn to_json(&self) -> Result<String, BuildError> {
        serde_json::to_string(self)
            .map_err(|error| BuildError::internal("a receipt cannot be written").caused_by(error))
    }

    /// Returns the objects that it names.
    pub(crate) fn objects(&self) -> Vec<String> {
        let ids = self.splits.iter().map(|split| &split.entry.id);
        ids.map(|id| split_object(id)).collect()
    }

    /// Returns the number of uploaded splits.
    #[must_use]
    pub fn num_splits(&self) -> u64 {
        self.splits.len() as u64
    }

    /// Returns the number of documents in them.
    #[must_use]
    pub fn num_docs(&self) -> u64 {
        self.splits.iter().map(|split| split.entry.num_docs).sum()
    }
}

/// Builds and uploads the splits of one part of a shared build. The index does not change until [`publish_receipts`];
/// garbage collection removes splits that are never published after its grace period.
///
/// # Errors
/// As [`super::ingest`].
pub fn build_part(
    store: &IndexStore,
    options: &IngestOptions,
    sources: Vec<Source>,
    progress: &dyn Progress,
) -> Result<Receipt, BuildError> {
    let Uploaded {
        config,
        built,
        notes,
        mut checkpoints,
        counters,
        rejects,
        ..
    } = build(store, options, sources, progress, Phase::Done)?;
    checkpoints.remove();
    let left_out = notes.iter().chain(&built.no_logs);
    let warnings = warnings_of_inputs(&built.inputs, &built.gone, left_out);
    let warnings = warnings.map(|warning| warning.message);
    let noted = built.inputs.iter().filter_map(|input| {
        let note = input.note.as_ref()?;
        Some(format!("{}: {note}", input.name))
    });
    let warnings = warnings.chain(noted).collect();
    Ok(Receipt {
        version: VERSION,
        index_config: config,
        transform: options.transform.as_ref().map(Transform::fingerprint),
        splits: built.splits,
        sources: built.sources,
        num_lines: counters.num_lines,
        num_rejected_docs: counters.num_rejects,
        num_dropped_docs: counters.num_dropped,
        num_kept_docs: built.kept_by_reason.values().sum(),
        num_raw_bytes: counters.num_raw_bytes,
        rejects_by_reason: rejects.by_reason(),
        num_blank_lines: counters.num_blank,
        warnings,
    })
}

/// Publishes the uploads of all parts of a build at once. A split that is in several receipts, or that is live
/// already, is published once.
///
/// # Errors
/// `Invalid` if the parts were built with another config than the index has, or with different transforms; otherwise as [`IndexStore::publish`].
pub fn publish_receipts(
    store: &IndexStore,
    receipts: &[Receipt],
) -> Result<PublishOutcome, BuildError> {
    let Some(first) = receipts.first() else {
        return Err(BuildError::invalid("there is no receipt to publish"));
    };
    let config = &first.index_config;
    if receipts
        .iter()
        .any(|receipt| receipt.index_config != *config)
    {
        return Err(BuildError::invalid(
            "the parts were built with different configs of the index: build them again, with one",
        ));
    }
    if receipts
        .iter()
        .any(|receipt| receipt.transform != first.transform)
    {
        return Err(BuildError::invalid(
            "the parts were built with different transforms: build them again, with one",
        ));
    }
    let mut prepared = publisher::prepare(store)?;
    let mut published = PublishOutcome::default();
    let (mut splits, mut steps): (Vec<NewSplit>, Vec<SourceStep>) = (Vec::new(), Vec::new());
    for receipt in receipts {
        // A part that is published already, or occurs twice here, is skipped completely: its sources are already at
        // its end.
        let mut is_known = !receipt.sources.is_empty();
        for step in receipt.sources.iter().filter(|step| !step.is_note) {
            let now = prepared.find_source(store, step.source)?;
            is_known &= step.is_done(now) || steps.iter().any(|other| other.is_same(step));
        }
        if is_known {
            published.num_known_splits += receipt.num_splits();
            published.num_known_docs += receipt.num_docs();
        } else {
            splits.extend(receipt.splits.iter().cloned());
            steps.extend(&receipt.sources);
        }
    }
    let manifest = prepared.take_manifest();
    let new = NewDocuments {
        splits: &splits,
        sources: &steps,
        changes: None,
    };
    let publishing = publisher::publish_from(manifest, store, Some(config), &new);
    let outcome = blocking::run(publishing)?;
    Ok(PublishOutcome {
        num_known_splits: outcome.num_known_splits + published.num_known_splits,
        num_known_docs: outcome.num_known_docs + published.num_known_docs,
        ..outcome
    })
}
