//! Sources to ingest, made of the parts of a batch: one of each spooled object, and one of everything else.

use std::collections::BTreeSet;

use canter_index_builder::{LineIds, Source, spooled_source};

use super::batch::Part;
use super::ids::Resolved;

/// Returns the ids of the lines of each part, and records those of documents that become one source.
pub(super) fn source_ids(parts: &mut [Part], direct_id: &str) -> Vec<Option<LineIds>> {
    let mut next: Option<LineIds> = None;
    let ids = parts
        .iter_mut()
        .map(|part| match (&part.spooled, &part.lines) {
            (Some(id), Some(lines)) => Some(LineIds::of_spooled(id, lines)),
            (None, Some(lines)) => {
                let ids = next.unwrap_or_else(|| LineIds::of_source(direct_id, lines));
                next = Some(ids.behind(num_lines(lines)));
                part.ids = Some(ids);
                Some(ids)
            }
            (_, None) => None,
        });
    ids.collect()
}

/// Builds the sources to ingest.
pub(super) fn sources(parts: &[Part], direct_id: &str, resolved: &Resolved) -> Vec<Source> {
    let mut direct: Vec<u8> = Vec::new();
    let mut direct_left_out: BTreeSet<u64> = BTreeSet::new();
    let mut num_direct_lines = 0;
    let mut sources = Vec::new();
    let mut left_out = resolved.left_out.iter();
    for part in parts {
        let Some(lines) = &part.lines else { continue };
        let left_out = left_out.next().into_iter().flatten();
        match &part.spooled {
            Some(id) => {
                let left_out = left_out.chain(&part.left_out).copied().collect();
                sources.push(spooled_source(id, lines.clone()).without(left_out));
            }
            None => {
                direct_left_out.extend(left_out.map(|line| num_direct_lines + line));
                num_direct_lines += num_lines(lines);
                direct.extend_from_slice(lines);
            }
        }
    }
    if !direct.is_empty() {
        let source = Source::lines("requests", direct).with_id(direct_id);
        sources.push(source.without(direct_left_out));
    }
    sources
}

fn num_lines(lines: &[u8]) -> u64 {
    lines.iter().filter(|byte| **byte == b'\n').count() as u64
}
