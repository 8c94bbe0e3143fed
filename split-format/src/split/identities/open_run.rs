//! Decoded run of identities: access to one document, or to all in order.

use super::{DocIdentity, SOURCE_ID_LEN, SourceId, width_of};
use crate::FormatError;
use crate::codec::Reader;
use crate::codec::bits::{bits_at, num_bytes_of};
use crate::version::IDENTITIES_NAME;

/// Consecutive ids of a split's sources.
#[derive(Clone, Copy)]
pub(super) struct SourceTable<'b>(pub(super) &'b [u8]);

impl SourceTable<'_> {
    fn get(self, ord: usize) -> Option<SourceId> {
        let (ids, _) = self.0.as_chunks::<SOURCE_ID_LEN>();
        ids.get(ord).copied().map(SourceId)
    }
}

/// Part of a run: documents of one source.
struct SourceRun {
    /// `None` for a source that is not listed, which makes its documents an error.
    source: Option<SourceId>,
    base: i64,
    /// Number of its documents that [`OpenRun::next`] has passed.
    num_passed: u64,
}

/// Run with its directory of parts.
pub(super) struct OpenRun<'b> {
    num_docs: u32,
    parts: Vec<SourceRun>,
    part_width: u32,
    part_ords: &'b [u8],
    width: u32,
    residuals: &'b [u8],
    /// Next document of the iterator.
    next: u32,
}

fn error(problem: &str) -> FormatError {
    FormatError::new(IDENTITIES_NAME, problem)
}

fn cut() -> FormatError {
    error("a run is cut short")
}

impl<'b> OpenRun<'b> {
    pub(super) fn open(
        bytes: &'b [u8],
        num_docs: u32,
        sources: SourceTable<'_>,
    ) -> Result<Self, FormatError> {
        let mut reader = Reader::new(IDENTITIES_NAME, bytes);
        let num_parts = reader.count(2)?;
        let mut parts = Vec::with_capacity(num_parts);
        for _ in 0..num_parts {
            let source_ord = usize::try_from(reader.varint_u32()?).unwrap_or(usize::MAX);
            parts.push(SourceRun {
                source: sources.get(source_ord),
                base: reader.varint_signed()?,
                num_passed: 0,
            });
        }
        let width = u32::try_from(reader.varint()?)
            .ok()
            .filter(|width| *width <= 64)
            .ok_or_else(|| error("a run has more than 64 bits a document"))?;
        let part_width = width_of((num_parts as u64).saturating_sub(1));
        let num = u64::from(num_docs);
        let part_ords = reader.raw(num_bytes_of(num, part_width).ok_or_else(cut)?)?;
        let residuals = reader.raw(num_bytes_of(num, width).ok_or_else(cut)?)?;
        reader.finish()?;
        Ok(Self {
            num_docs,
            parts,
            part_width,
            part_ords,
            width,
            residuals,
            next: 0,
        })
    }

    fn part_ord(&self, doc: u32) -> Result<usize, FormatError> {
        let ord = bits_at(self.part_ords, u64::from(doc), self.part_width).ok_or_else(cut)?;
        Ok(usize::try_from(ord).unwrap_or(usize::MAX))
    }

    /// Returns the identity of a document with `num_before` earlier documents of its part.
    fn identity(
        &self,
        doc: u32,
        part: &SourceRun,
        num_before: u64,
    ) -> Result<DocIdentity, FormatError> {
        let residual = bits_at(self.residuals, u64::from(doc), self.width).ok_or_else(cut)?;
        let position = part
            .base
            .cast_unsigned()
            .wrapping_add(num_before)
            .wrapping_add(residual);
        Ok(DocIdentity {
            source: part
                .source
                .ok_or_else(|| error("a document is of a source that is not listed"))?,
            position,
        })
    }

    /// Returns the identity of the run's document `doc`, counted from 0.
    pub(super) fn get(&self, doc: u32) -> Result<DocIdentity, FormatError> {
        let part_ord = self.part_ord(doc)?;
        let mut num_before = u64::from(doc);
        if self.part_width > 0 {
            num_before = 0;
            for before in 0..doc {
                num_before += u64::from(self.part_ord(before)? == part_ord);
            }
        }
        let part = self.parts.get(part_ord).ok_or_else(no_part)?;
        self.identity(doc, part, num_before)
    }

    /// Returns the run's documents with one of these ascending identities; counted from 0,
    /// ascending.
    pub(super) fn find(self, wanted: &[DocIdentity]) -> Result<Vec<u32>, FormatError> {
        let wanted: Vec<&DocIdentity> = wanted.iter().filter(|one| self.may_hold(one)).collect();
        let mut found = Vec::new();
        if wanted.is_empty() {
            return Ok(found);
        }
        if let ([part], 0) = (self.parts.as_slice(), self.width) {
            // Their positions are consecutive.
            let docs = wanted.iter().filter_map(|one| {
                u32::try_from(one.position.wrapping_sub(part.base.cast_unsigned())).ok()
            });
            found.extend(docs);
            canter_sorting::sort(&mut found);
            found.dedup();
            return Ok(found);
        }
        for (doc, identity) in (0..).zip(self) {
            let identity = identity?;
            if wanted.binary_search(&&identity).is_ok() {
                found.push(doc);
            }
        }
        Ok(found)
    }

    /// Returns whether a document may have this identity, according to a part's base and width.
    fn may_hold(&self, identity: &DocIdentity) -> bool {
        let residual = match self.width {
            64.. => return true,
            width => (1_u64 << width) - 1,
        };
        let most = residual.saturating_add(u64::from(self.num_docs.saturating_sub(1)));
        self.parts.iter().any(|part| {
            part.source == Some(identity.source)
                && identity.position.wrapping_sub(part.base.cast_unsigned()) <= most
        })
    }

    fn step(&mut self, doc: u32) -> Result<DocIdentity, FormatError> {
        let part_ord = self.part_ord(doc)?;
        let part = self.parts.get(part_ord).ok_or_else(no_part)?;
        let identity = self.identity(doc, part, part.num_passed)?;
        if let Some(part) = self.parts.get_mut(part_ord) {
            part.num_passed += 1;
        }
        Ok(identity)
    }
}

fn no_part() -> FormatError {
    error("a document is of no part of its run")
}

impl Iterator for OpenRun<'_> {
    type Item = Result<DocIdentity, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        let doc = self.next;
        if doc >= self.num_docs {
            return None;
        }
        self.next += 1;
        Some(self.step(doc))
    }
}
