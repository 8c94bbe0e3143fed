//! Opened input split of a merge.

use std::path::Path;

use canter_doc_mapper::{DocMapper, ReadOnlyDirectory};
use canter_matching::{ColumnKind, check_column, check_columns, check_fields};
use canter_split_format::{
    DocIdentity, FormatError, IDENTITIES_FILE, Identities, SplitEntry, TOO_OLD,
};
use tantivy::columnar::{Column, ColumnType, ColumnarReader};
use tantivy::directory::{CompositeFile, Directory, FileSlice, ManagedDirectory, OwnedBytes};
use tantivy::index::SegmentComponent;
use tantivy::schema::Field;
use tantivy::{BitSet, DateTime, Index, SegmentReader};

use super::directory::SplitFiles;
use super::documents::StoredReader;
use super::fields::FieldMap;
use super::local_copy::fetch_split;
use crate::BuildError;
use crate::index::storage::IndexStore;
use crate::packager::POSTINGS;

/// Split to merge.
#[derive(Clone)]
pub struct MergeInput {
    /// Manifest entry of the split.
    pub entry: SplitEntry,
    /// Documents to leave out: a set over all documents of the split.
    pub deleted: Option<BitSet>,
}

/// Local input after all checks.
pub(super) struct OpenInput {
    pub(super) id: String,
    pub(super) raw_num_bytes: u64,
    pub(super) segment: SegmentReader,
    pub(super) columnar: ColumnarReader,
    /// Postings and positions.
    lists: CompositeFile,
    pub(super) fields: FieldMap,
    pub(super) deleted: Option<BitSet>,
    files: SplitFiles,
    identities: Identities<OwnedBytes>,
    timestamps: Option<Column<DateTime>>,
}

/// Checks the structure of the files that tantivy opens.
fn check_layout(directory: &ManagedDirectory, num_docs: u64) -> std::io::Result<()> {
    let open = |name: &str| {
        let file = directory.open_read(Path::new(name));
        file.map_err(std::io::Error::other)
    };
    for name in ["term", POSTINGS, "fieldnorm"] {
        check_fields(&open(name)?)?;
    }
    check_columns(&open("fast")?, u32::try_from(num_docs).unwrap_or(u32::MAX))
}

/// Checks the structure of each column.
fn check_columns_of(columnar: &ColumnarReader) -> std::io::Result<()> {
    for (_, column) in columnar.list_columns()? {
        let kind = match column.column_type() {
            ColumnType::Str | ColumnType::Bytes => ColumnKind::Terms,
            ColumnType::IpAddr => ColumnKind::Addresses,
            _ => ColumnKind::Numbers,
        };
        let bytes = column.file_slice().read_bytes()?;
        check_column(&bytes, kind, columnar.num_docs())?;
    }
    Ok(())
}

/// Returns an error unless the deleted documents are of a split of this size.
fn check_deleted(input: &MergeInput) -> Result<(), BuildError> {
    let num_docs = input.entry.num_docs;
    match &input.deleted {
        Some(deleted) if u64::from(deleted.max_value()) != num_docs => {
            Err(BuildError::invalid(format!(
                "split {} has {num_docs} documents, and what is deleted of it is said of {}",
                input.entry.id,
                deleted.max_value()
            )))
        }
        _ => Ok(()),
    }
}

impl OpenInput {
    /// Downloads the split and opens it.
    pub(super) fn open(
        store: &IndexStore,
        input: &MergeInput,
        target: &DocMapper,
        folder: &Path,
    ) -> Result<Self, BuildError> {
        let MergeInput { entry, deleted } = input;
        let named = |error: &dyn std::fmt::Display| {
            BuildError::data(format!(
                "split {}: {error}: restore the object or build the split again",
                entry.id
            ))
        };
        let num_docs = entry.num_docs;
        check_deleted(input)?;
        let (head, body) = fetch_split(store, entry, folder)?;
        if head.files.is_too_old() {
            let what = format!("split {}: {TOO_OLD}", entry.id);
            return Err(BuildError::invalid(what));
        }
        let directory = SplitFiles::new(body, head.files);
        let ids = directory.read(IDENTITIES_FILE).map_err(|e| named(&e))?;
        let ids = ids.ok_or_else(|| named(&"it has no identities"))?;
        let identities = Identities::open(ids).map_err(|error| named(&error))?;
        let sort_field = target.timestamp_field().map(|(_, name)| name);
        if head.metadata.sort_field.as_deref() != sort_field {
            return Err(BuildError::invalid(format!(
                "split {} is sorted by {:?} and the index by {sort_field:?}: they cannot be merged",
                entry.id, head.metadata.sort_field
            )));
        }
        let index =
            Index::open(ReadOnlyDirectory(directory.clone())).map_err(|error| named(&error))?;
        check_layout(index.directory(), num_docs).map_err(|error| named(&error))?;
        let segments = index.searchable_segments().map_err(|error| named(&error))?;
        let [segment] = segments.as_slice() else {
            return Err(named(&"it holds no segment, or several"));
        };
        let path = segment.relative_path(SegmentComponent::FastFields);
        let columns = index.directory().open_read(&path).map_err(|e| named(&e))?;
        let columnar = ColumnarReader::open(columns).map_err(|error| named(&error))?;
        check_columns_of(&columnar).map_err(|error| named(&error))?;
        let path = segment.relative_path(SegmentComponent::Postings);
        let lists = index.directory().open_read(&path).map_err(|e| named(&e))?;
        let lists = CompositeFile::open(&lists).map_err(|error| named(&error))?;
        let segment = SegmentReader::open(segment).map_err(|error| named(&error))?;
        if u64::from(identities.num_docs()) != num_docs || u64::from(segment.max_doc()) != num_docs
        {
            return Err(named(&"its parts have different numbers of documents"));
        }
        let timestamps = match sort_field {
            Some(name) => Some(segment.fast_fields().date(name).map_err(|e| named(&e))?),
            None => None,
        };
        let fields = FieldMap::new(&entry.id, segment.schema(), target.schema())?;
        fields.check_dynamic(&entry.id, &segment, &columnar, target)?;
        Ok(Self {
            id: entry.id.clone(),
            raw_num_bytes: entry.raw_num_bytes,
            segment,
            columnar,
            lists,
            fields,
            deleted: deleted.clone(),
            files: directory,
            identities,
            timestamps,
        })
    }

    /// Returns the files of the split.
    pub(super) fn files(&self) -> &SplitFiles {
        &self.files
    }

    pub(super) fn num_docs(&self) -> u32 {
        self.segment.max_doc()
    }

    pub(super) fn is_deleted(&self, doc: u32) -> bool {
        self.deleted
            .as_ref()
            .is_some_and(|deleted| deleted.contains(doc))
    }

    /// Returns the postings and positions of a field. Position offsets are relative to the start of
    /// this slice.
    pub(super) fn lists(&self, field: Field) -> FileSlice {
        let lists = self.lists.open_read(field);
        lists.unwrap_or_else(FileSlice::empty)
    }

    /// Returns the identities of the documents in order.
    pub(super) fn identities(&self) -> impl Iterator<Item = Result<DocIdentity, FormatError>> + '_ {
        self.identities.iter()
    }

    /// Reads a whole file that tantivy does not know; `None` if the split does not have it.
    pub(super) fn file(&self, name: &str) -> std::io::Result<Option<OwnedBytes>> {
        self.files.read(name)
    }

    /// Opens the stored documents.
    pub(super) fn documents(&self) -> std::io::Result<StoredReader> {
        let reader = StoredReader::open(&self.files)?;
        match reader.num_docs() == self.num_docs() {
            true => Ok(reader),
            false => Err(std::io::Error::other(
                "it stores other documents than it has",
            )),
        }
    }

    /// Returns the time of a document in nanoseconds, or 0 if the index has no timestamp field.
    pub(super) fn timestamp(&self, doc: u32) -> Option<i64> {
        match &self.timestamps {
            Some(column) => Some(column.first(doc)?.into_timestamp_nanos()),
            None => Some(0),
        }
    }

    /// Returns an error about this split.
    pub(super) fn damaged(&self, problem: impl std::fmt::Display) -> BuildError {
        BuildError::data(format!(
            "split {}: {problem}: build the split again",
            self.id
        ))
    }
}
