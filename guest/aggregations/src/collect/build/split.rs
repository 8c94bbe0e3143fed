//! Parts of a split that aggregations use.

use canter_doc_mapper::DocMapper;
use canter_split_format::TimeIndex;
use tantivy::SegmentReader;

use super::bit_set::BitSet;
use super::objects::Objects;

/// Split whose documents are aggregated.
#[derive(Clone, Copy)]
pub struct Split<'a> {
    /// Columns; those that the request names have been warmed up.
    pub columns: Columns<'a>,
    /// Mapping of the fields.
    pub mapper: &'a DocMapper,
    /// Date field by which the documents are sorted, ascending.
    pub sort_field: Option<&'a str>,
    /// First document of each time bucket, if the head contains it.
    pub time_index: Option<&'a TimeIndex>,
    /// Matches of each filter of the request, by slot.
    pub filters: &'a [BitSet],
    /// Objects of each list of the request, by slot.
    pub objects: &'a [Objects],
    /// Place of the split among others.
    pub origin: Origin<'a>,
}

/// Columns of documents, or of objects in them.
#[derive(Clone, Copy)]
pub enum Columns<'a> {
    /// Those of all documents of a split.
    Segment(&'a SegmentReader),
    /// Those of the objects of a list.
    Objects(&'a Objects),
}

impl Columns<'_> {
    /// Returns the number of documents or objects, including deleted ones.
    pub(super) fn num_docs(self) -> u32 {
        match self {
            Self::Segment(segment) => segment.max_doc(),
            Self::Objects(objects) => objects.places.num_objects(),
        }
    }
}

/// Place of a split among others.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    /// Id of the split.
    pub id: &'a str,
    /// Time, source and position of its first document.
    pub first: (i64, u128, u64),
}
