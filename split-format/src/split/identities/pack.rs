//! Writer of identities: assigns documents to runs, and packs the runs.

use std::collections::BTreeMap;

use super::{DocIdentity, SourceId, sources_of, width_of, wrapped};
use crate::codec::Writer;
use crate::codec::bits::BitWriter;
use crate::codec::groups::write_groups;
use crate::version::IDENTITIES_VERSION;

/// Minimum number of documents in a run whose positions are not consecutive.
const RUN_NUM_DOCS: usize = 1_024;
/// Maximum number of such runs, except for short ones between straight runs, of which there are
/// about as many: the directory is in the heads of splits, which every search reads.
const MAX_PACKED_RUNS: usize = 1_024;
/// Minimum number of consecutive documents for a run of their own. Long splits need more, so that
/// straight runs do not outnumber packed ones.
const MIN_STRAIGHT_RUN: usize = 64;

/// Returns the file with the identities of all documents.
pub(super) fn pack(docs: &[DocIdentity]) -> Vec<u8> {
    let mut packer = Packer {
        sources: sources_of(docs),
        run_num_docs: RUN_NUM_DOCS.max(docs.len().div_ceil(MAX_PACKED_RUNS)),
        nums_docs: Vec::new(),
        lens: Vec::new(),
        runs: Writer::default(),
    };
    let min_straight_run = MIN_STRAIGHT_RUN.max(docs.len().div_ceil(MAX_PACKED_RUNS));
    // Documents that wait for a common run, because too few of them are consecutive.
    let mut waiting: &[DocIdentity] = &[];
    let mut rest = docs;
    let mut left = docs;
    while !left.is_empty() {
        let (straight, next) = left.split_at(straight_len(left));
        if straight.len() >= min_straight_run || straight.len() == rest.len() {
            packer.push_waiting(waiting);
            packer.push_run(straight);
            (waiting, rest) = (&[], next);
        } else {
            (waiting, _) = rest.split_at(rest.len() - next.len());
        }
        left = next;
    }
    packer.push_waiting(waiting);
    packer.into_file(docs.len())
}

/// Runs so far.
struct Packer {
    sources: Vec<SourceId>,
    run_num_docs: usize,
    /// Number of documents in each run.
    nums_docs: Vec<u64>,
    /// Length of each run in bytes.
    lens: Vec<u64>,
    runs: Writer,
}

impl Packer {
    fn push_waiting(&mut self, docs: &[DocIdentity]) {
        for run in docs.chunks(self.run_num_docs) {
            self.push_run(run);
        }
    }

    fn push_run(&mut self, docs: &[DocIdentity]) {
        let bytes = self.packed_run(docs);
        self.nums_docs.push(docs.len() as u64);
        self.lens.push(bytes.len() as u64);
        self.runs.raw(&bytes);
    }

    fn packed_run(&self, docs: &[DocIdentity]) -> Vec<u8> {
        // For each source: its index in the run, its number of documents, and its base.
        let mut parts: BTreeMap<SourceId, (usize, i128, i128)> = BTreeMap::new();
        for doc in docs {
            let (_, num_docs, base) = parts.entry(doc.source).or_insert((0, 0, i128::MAX));
            *base = (*base).min(i128::from(doc.position) - *num_docs);
            *num_docs += 1;
        }
        let mut out = Writer::default();
        out.varint(parts.len() as u64);
        for (part_ord, (source, (ord, num_docs, base))) in parts.iter_mut().enumerate() {
            (*ord, *num_docs) = (part_ord, 0);
            let source_ord = self.sources.binary_search(source).unwrap_or_default();
            out.varint(source_ord as u64);
            // At the ends of 64 bits this wraps, and so does the reader's sum.
            out.varint_signed(wrapped(*base));
        }
        let part_width = width_of((parts.len() as u64).saturating_sub(1));
        let mut part_ords = BitWriter::default();
        let mut residuals = Vec::with_capacity(docs.len());
        for doc in docs {
            if let Some((ord, num_docs, base)) = parts.get_mut(&doc.source) {
                part_ords.push(*ord as u64, part_width);
                let residual = i128::from(doc.position) - *base - *num_docs;
                residuals.push(wrapped(residual).cast_unsigned());
                *num_docs += 1;
            }
        }
        let width = width_of(residuals.iter().copied().max().unwrap_or(0));
        out.varint(u64::from(width));
        out.raw(&part_ords.into_bytes());
        let mut packed = BitWriter::default();
        for residual in residuals {
            packed.push(residual, width);
        }
        out.raw(&packed.into_bytes());
        out.into_bytes()
    }

    fn into_file(self, num_docs: usize) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(IDENTITIES_VERSION);
        out.varint(num_docs as u64);
        out.varint(self.nums_docs.len() as u64);
        write_groups(&mut out, [&self.nums_docs, &self.lens]);
        out.varint(self.sources.len() as u64);
        for source in &self.sources {
            out.raw(&source.0);
        }
        out.raw(&self.runs.into_bytes());
        out.into_bytes()
    }
}

/// Returns the number of leading documents that are consecutive in one source.
fn straight_len(docs: &[DocIdentity]) -> usize {
    let follows = |(left, right): &(&DocIdentity, &DocIdentity)| {
        left.source == right.source && left.position.checked_add(1) == Some(right.position)
    };
    let pairs = docs.iter().zip(docs.iter().skip(1));
    1 + pairs.take_while(follows).count()
}
