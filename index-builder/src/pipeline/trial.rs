//! Trial builds of documents, to find out whether building works.

use std::panic::{AssertUnwindSafe, catch_unwind};

use canter_doc_mapper::{DocMapper, DocShape, IndexConfig};
use canter_split_format::{DocIdentity, SourceId};

use super::parser::PendingDoc;
use super::run::build_splits;
use super::splitter::Splitter;
use crate::error::BuildError;
use crate::ingest::IngestOptions;

/// Builds splits of documents and discards them. Documents that the mapping does not allow are left out.
///
/// # Errors
/// The error of building them, including panics.
pub(crate) fn try_to_build(
    mapper: &DocMapper,
    config: &IndexConfig,
    documents: &[&[u8]],
) -> Result<(), BuildError> {
    let build = || {
        let shape = DocShape::of(mapper.schema());
        let mut splitter = Splitter::new(u64::MAX, u64::MAX, shape);
        let source = SourceId::of(b"trial", &[]);
        let mut encoded = Vec::new();
        for (position, json) in (1..).zip(documents) {
            encoded.clear();
            let Ok(timestamp) = mapper.encode_doc(json, &mut encoded) else {
                continue;
            };
            let timestamp_ns = match timestamp {
                Some(time) => time.into_timestamp_nanos(),
                // In a split it has that of another.
                None => mapper.add_timestamp(0, &mut encoded),
            };
            let doc = PendingDoc {
                timestamp_ns,
                identity: DocIdentity { source, position },
                raw_num_bytes: json.len() as u64,
                range: 0..encoded.len(),
                kept_for: None,
                lacks_time: false,
                is_known: false,
            };
            splitter.add(&doc, &encoded)?;
        }
        match splitter.take_rest() {
            Some(split) => build_splits(mapper, config, &IngestOptions::default(), split).map(drop),
            None => Ok(()),
        }
    };
    // Nothing of it is used any more.
    catch_unwind(AssertUnwindSafe(build)).unwrap_or_else(|panic| Err(BuildError::of_panic(&*panic)))
}
