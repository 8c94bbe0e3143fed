//! Files of a tantivy segment, with names that do not depend on its random id.

use std::path::Path;

use canter_doc_mapper::DocMapper;
use canter_split_format::{
    DOCUMENT_INDEX_FILE, DOCUMENTS_FILE, FILTER_FILE, IDENTITIES_FILE, Identities, KEYS_FILE,
    LISTS_FILE, RARE_WORDS_FILE, RARE_WORDS_INDEX_FILE, SplitFilter, VECTOR_INDEX_FILE,
    VECTORS_FILE, WrittenVectors,
};
use tantivy::directory::{Directory, OwnedBytes, RamDirectory};
use tantivy::index::{Segment, SegmentComponent};
use tantivy::schema::{Field, Schema};
use tantivy::store::StoreWriter;
use tantivy::{Index, IndexMeta};

use super::StoredDocuments;
use super::dictionaries::{CommonTerm, FieldWords, InvertedIndex, RareWords, made_anew};
use crate::BuildError;

/// Id of every packaged segment. Part of the split format.
pub(crate) const SEGMENT_ID: &str = "00000000000000000000000000000000";

/// Extensions in body order: files that small queries read are together at the front.
const EXTENSIONS: [&str; 5] = ["fieldnorm", TERM, LISTS_FILE, "fast", STORE];
const TERM: &str = "term";
/// tantivy's names of the files of postings and of positions, which are a single file in a split.
pub(crate) const POSTINGS: &str = "idx";
pub(crate) const POSITIONS: &str = "pos";
const STORE: &str = "store";

/// Name of tantivy's index metadata.
pub(crate) const META: &str = "meta.json";

/// Writes the metadata of an index whose only segment was written file by file.
pub(crate) fn write_meta(index: &Index, segment: &Segment, num_docs: u32) -> tantivy::Result<()> {
    let meta = IndexMeta {
        index_settings: index.settings().clone(),
        persisted_custom_extensions: Vec::new(),
        segments: vec![index.new_segment_meta(segment.id(), num_docs)],
        schema: index.schema(),
        opstamp: 0,
        payload: None,
    };
    let meta = serde_json::to_vec(&meta).map_err(std::io::Error::from)?;
    index.directory().atomic_write(Path::new(META), &meta)?;
    Ok(())
}

/// Files of one segment, with its metadata.
pub(crate) struct SegmentFiles {
    files: Vec<(&'static str, OwnedBytes)>,
    hot_terms: Vec<(Field, Vec<u8>)>,
    common_terms: Vec<CommonTerm>,
    rare_words: Vec<FieldWords>,
    num_docs: u64,
}

impl SegmentFiles {
    /// Returns the files of the single segment in `directory`, and removes those from it that are
    /// rewritten. The others are not copied. `documents` are its documents in stored form.
    pub(crate) fn of_directory(
        directory: &RamDirectory,
        documents: &StoredDocuments,
        mapper: &DocMapper,
    ) -> Result<Self, BuildError> {
        let index = Index::open(directory.clone())?;
        let metas = index.load_metas()?;
        let [segment] = metas.segments.as_slice() else {
            return Err(BuildError::internal(format!(
                "a split is made of exactly one segment, not {}",
                metas.segments.len()
            )));
        };
        let segment_id = segment.id().uuid_string();
        let mut files = vec![(
            META,
            OwnedBytes::new(normalised_meta(directory, &segment_id, mapper)?),
        )];
        let mut rare = RareWords::new(mapper, segment.max_doc(), &documents.index)?;
        let InvertedIndex {
            terms,
            lists,
            hot,
            common,
        } = made_anew(&index.segment(segment.clone()), Some(&mut rare))?;
        for extension in [TERM, POSTINGS, POSITIONS] {
            let path = format!("{segment_id}.{extension}");
            directory
                .delete(Path::new(&path))
                .map_err(|error| BuildError::internal(format!("segment file {path}: {error}")))?;
        }
        for extension in EXTENSIONS {
            let made = match extension {
                STORE => Some(empty_store(mapper)?),
                TERM => Some(terms.clone()),
                LISTS_FILE => Some(lists.clone()),
                _ => None,
            };
            if let Some(bytes) = made {
                files.push((extension, bytes));
                continue;
            }
            let path = format!("{segment_id}.{extension}");
            // An index's own directory would remove tantivy's footer, which is checked when the
            // file is opened again.
            let failed = |error: &dyn std::fmt::Display| {
                BuildError::internal(format!("segment file {path}: {error}"))
            };
            let file = directory
                .get_file_handle(Path::new(&path))
                .map_err(|error| failed(&error))?;
            let bytes = file.read_bytes(0..file.len()).map_err(|e| failed(&e))?;
            files.push((extension, bytes));
        }
        let mut made = Self {
            files,
            hot_terms: hot,
            common_terms: common,
            rare_words: Vec::new(),
            num_docs: u64::from(segment.max_doc()),
        };
        if let Some(rare) = rare.finish() {
            // A search reads them with the dictionaries.
            made.insert_before(LISTS_FILE, RARE_WORDS_FILE, rare.blocks);
            made.insert_before(LISTS_FILE, RARE_WORDS_INDEX_FILE, rare.index);
            made.rare_words = rare.fields;
        }
        Ok(made)
    }

    /// Inserts the documents' identities after the columns, with which they are read.
    pub(crate) fn with_identities(mut self, identities: &Identities) -> Self {
        self.insert_before(STORE, IDENTITIES_FILE, identities.as_bytes().to_vec());
        self
    }

    fn insert_before(&mut self, next: &str, name: &'static str, bytes: Vec<u8>) {
        let at = self.files.iter().position(|(name, _)| *name == next);
        let file = (name, OwnedBytes::new(bytes));
        self.files.insert(at.unwrap_or(self.files.len()), file);
    }

    /// Appends the stored documents after everything else that a search reads in parts.
    pub(crate) fn with_documents(mut self, documents: StoredDocuments) -> Self {
        let StoredDocuments { index, blocks } = documents;
        let files = [(DOCUMENTS_FILE, blocks), (DOCUMENT_INDEX_FILE, index)];
        let files = files.map(|(name, bytes)| (name, OwnedBytes::new(bytes)));
        self.files.extend(files);
        self
    }

    /// Appends the vectors.
    pub(crate) fn with_vectors(mut self, written: WrittenVectors) -> Self {
        let WrittenVectors { index, vectors } = written;
        let files = [(VECTORS_FILE, vectors), (VECTOR_INDEX_FILE, index)];
        let files = files.map(|(name, bytes)| (name, OwnedBytes::new(bytes)));
        self.files.extend(files);
        self
    }

    /// Appends the split's filter and the table of its documents' ids, as far as there are any, at the end: searches read the
    /// filter from elsewhere, and only writers read the table.
    pub(crate) fn with_lookups(
        mut self,
        filter: Option<&SplitFilter>,
        keys: Option<Vec<u8>>,
    ) -> Self {
        let filter = filter.map(|filter| (FILTER_FILE, filter.write()));
        let files = filter.into_iter().chain(keys.map(|keys| (KEYS_FILE, keys)));
        let files = files.map(|(name, bytes)| (name, OwnedBytes::new(bytes)));
        self.files.extend(files);
        self
    }

    /// Refuses files that a 32-bit guest could not open.
    pub(crate) fn check_lengths(&self) -> Result<(), BuildError> {
        let is_too_long = |(_, bytes): &&(&str, OwnedBytes)| u32::try_from(bytes.len()).is_err();
        match self.files.iter().find(is_too_long) {
            None => Ok(()),
            Some((name, bytes)) => Err(BuildError::limit(format!(
                "a split's file `{name}` would have {} bytes, and may have {}: make smaller splits \
                 (split_num_docs_target and the merge policy of the index config)",
                bytes.len(),
                u32::MAX,
            ))),
        }
    }

    /// Returns the total length of all files.
    pub(crate) fn num_bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes)| bytes.len() as u64).sum()
    }

    /// Returns `(name, bytes)` in body order. The index of a file is its `file_ord`.
    pub(crate) fn named(&self) -> Vec<(&str, &[u8])> {
        self.files
            .iter()
            .map(|(name, bytes)| (*name, bytes.as_slice()))
            .collect()
    }

    /// Returns the files with their names, without copying them.
    pub(crate) fn into_named(self) -> Vec<(&'static str, OwnedBytes)> {
        self.files
    }

    /// Returns the `file_ord` and bytes of the file that tantivy accesses as `path`.
    pub(crate) fn find(&self, path: &Path) -> Option<(u32, OwnedBytes)> {
        let name = path.to_str()?;
        let name = name
            .strip_prefix(SEGMENT_ID)
            .and_then(|rest| rest.strip_prefix('.'))
            .unwrap_or(name);
        let name = match name {
            POSTINGS | POSITIONS => LISTS_FILE,
            name => name,
        };
        (0..)
            .zip(&self.files)
            .find(|(_, (file, _))| *file == name)
            .map(|(file_ord, (_, bytes))| (file_ord, bytes.clone()))
    }

    /// Returns one term of each dictionary block that belongs in the head.
    pub(super) fn hot_terms(&self) -> &[(Field, Vec<u8>)] {
        &self.hot_terms
    }

    /// Returns the common terms of dictionaries that are not in the head.
    pub(super) fn common_terms(&self) -> &[CommonTerm] {
        &self.common_terms
    }

    /// Returns the words that have left the dictionaries, by field.
    pub(super) fn rare_words(&self) -> &[FieldWords] {
        &self.rare_words
    }

    pub(crate) fn num_docs(&self) -> u64 {
        self.num_docs
    }
}

/// Returns an empty doc store of tantivy's, which it requires when it opens a segment.
fn empty_store(mapper: &DocMapper) -> tantivy::Result<OwnedBytes> {
    let directory = RamDirectory::create();
    let settings = mapper.index_settings();
    let schema = Schema::builder().build();
    let index = Index::create(directory.clone(), schema, settings.clone())?;
    let segment = index.new_segment();
    let file = segment.open_write(SegmentComponent::Store)?;
    StoreWriter::new(
        file,
        settings.docstore_compression,
        settings.docstore_blocksize,
        settings.docstore_compress_dedicated_thread,
    )?
    .close()?;
    let path = segment.relative_path(SegmentComponent::Store);
    let file = directory.get_file_handle(&path)?;
    Ok(file.read_bytes(0..file.len())?)
}

/// Returns tantivy's metadata with a fixed segment id and without anything else that varies. Its
/// schema is that of the mapper, which says which fields are stored. The segment's own schema says
/// that none are, because tantivy stores nothing of them.
fn normalised_meta(
    directory: &RamDirectory,
    segment_id: &str,
    mapper: &DocMapper,
) -> Result<Vec<u8>, BuildError> {
    let bytes = directory
        .atomic_read(Path::new(META))
        .map_err(|error| BuildError::internal(format!("{META}: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|error| BuildError::internal(format!("{META}: {error}")))?;
    let hyphenated = format!(
        "{}-{}-{}-{}-{}",
        &segment_id[..8],
        &segment_id[8..12],
        &segment_id[12..16],
        &segment_id[16..20],
        &segment_id[20..]
    );
    let mut meta: serde_json::Value = serde_json::from_str(
        &text
            .replace(&hyphenated, "00000000-0000-0000-0000-000000000000")
            .replace(segment_id, SEGMENT_ID),
    )
    .map_err(|error| BuildError::internal(format!("{META}: {error}")))?;
    let schema = serde_json::to_value(mapper.schema())
        .map_err(|error| BuildError::internal(format!("{META}: {error}")))?;
    if let Some(place) = meta.get_mut("schema") {
        *place = schema;
    }
    Ok(meta.to_string().into_bytes())
}
