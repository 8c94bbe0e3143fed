//! From a manifest entry to an open split.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use canter_doc_mapper::{DocMapper, IndexConfig, ReadOnlyDirectory, SegmentFiles};
use canter_matching::{Matcher, check_columns, check_fields};
use canter_protocol::{ByteClass, FetchErrorKind};
use canter_split_format::{
    CoOccurrence, DeletedDocs, Head, IDENTITIES_FILE, IdentityRange, PackedHead, Rollup,
    SplitEntry, SplitMetadata, TOO_OLD, TimeIndex, split_object,
};
use futures_util::future::join;
use tantivy::directory::{Directory as _, ManagedDirectory, OwnedBytes};
use tantivy::query::Query;
use tantivy::schema::Schema;
use tantivy::{Index, ReloadPolicy, Searcher, SegmentReader};

use super::body::SplitBody;
use super::directory::{BodyFile, SplitFiles};
use super::documents::DocumentFiles;
use super::rare_words::RareWordFiles;
use super::vectors::VectorFiles;
use crate::SearchError;
use crate::exchange::Exchange;
use crate::limits::Limits;
use crate::query::{BuiltQuery, POSTINGS, QueryNode, TermInfos, build_for_split, compile};

/// A manifest entry, with the split's head if the manifest contains it, or the place of the head.
#[derive(Clone, Debug)]
pub(crate) struct HeadSource {
    /// The position of its index among the searched ones.
    pub(crate) index: usize,
    pub(crate) entry: SplitEntry,
    pub(crate) inlined: Option<Vec<u8>>,
    /// The head in a page, among those of its neighbours.
    pub(crate) packed: Option<PackedHead>,
}

/// A split ready to be searched.
pub(crate) struct OpenSplit {
    /// The name of its index; empty where the host knows only one index.
    pub(crate) index: String,
    pub(crate) entry: SplitEntry,
    pub(crate) metadata: SplitMetadata,
    pub(crate) time_index: Option<TimeIndex>,
    pub(crate) rollup: Option<Rollup>,
    /// Co-occurrence of frequent terms.
    pub(crate) co_occurrence: Option<CoOccurrence>,
    pub(crate) mapper: Arc<DocMapper>,
    pub(crate) body: Arc<SplitBody>,
    pub(crate) searcher: Searcher,
    /// Positions of posting lists, as far as they were looked up.
    pub(crate) terms: TermInfos,
    /// Deleted documents; `None` without any.
    pub(crate) deleted: Option<DeletedDocs>,
    pub(super) files: SplitFiles,
    pub(super) document_files: DocumentFiles,
    pub(super) vector_files: Option<VectorFiles>,
    /// `None` if all words are in dictionaries.
    pub(super) rare_word_files: Option<RareWordFiles>,
    /// Lengths of the lists of fields to which words were added, without those of the words.
    pub(super) added_lists: BTreeMap<u32, usize>,
    pub(super) identities: BodyFile,
    identity_range: IdentityRange,
    /// The paths inside JSON fields in which documents have values, if queries apply to fields that they do not name.
    pub(crate) found_paths: Option<Vec<String>>,
}

impl OpenSplit {
    /// Builds a query for this split.
    ///
    /// # Errors
    /// If it names a field that does not exist, or that does not support it.
    pub(crate) fn build(
        &self,
        query: &QueryNode,
        search_fields: &[String],
        scoring: bool,
        limits: &Limits,
    ) -> Result<BuiltQuery, SearchError> {
        let paths = self.found_paths.as_deref();
        let id = Some(self.entry.id.as_str());
        build_for_split(
            query,
            &self.mapper,
            id,
            paths,
            search_fields,
            scoring,
            limits,
        )
    }

    /// Compiles a query into a matcher. Everything that the query reads must be resident.
    ///
    /// # Errors
    /// Errors of tantivy; a read that missed.
    pub(crate) fn compile(&self, query: &dyn Query) -> tantivy::Result<Matcher> {
        compile(query, &self.searcher, &self.terms)
    }

    /// Returns the split's one segment.
    pub(crate) fn segment(&self) -> &SegmentReader {
        self.searcher.segment_reader(0)
    }

    /// Returns the documents of a range that are not deleted, as ascending ranges.
    pub(crate) fn live_ranges(&self, docs: Range<u32>) -> Vec<Range<u32>> {
        match &self.deleted {
            Some(deleted) => deleted.left_of(docs).collect(),
            None if docs.is_empty() => Vec::new(),
            None => vec![docs],
        }
    }

    /// Returns the number of documents of a range that are not deleted.
    pub(crate) fn num_live(&self, docs: Range<u32>) -> u64 {
        let len = |docs: Range<u32>| u64::from(docs.end.saturating_sub(docs.start));
        match &self.deleted {
            None => len(docs),
            Some(deleted) => deleted.left_of(docs).map(len).sum(),
        }
    }

    /// Returns whether a document is not deleted.
    pub(crate) fn is_live(&self, doc: u32) -> bool {
        let deleted = self.deleted.as_ref();
        deleted.is_none_or(|deleted| !deleted.contains(doc))
    }

    /// Returns the range of its documents' identities.
    pub(crate) fn identity_range(&self) -> IdentityRange {
        self.identity_range
    }

    /// Returns an error that names this split. A failure of its bytes takes precedence: any error
    /// of tantivy after that is a consequence.
    pub(crate) fn error(&self, error: impl std::fmt::Display) -> SearchError {
        self.body
            .failure()
            .unwrap_or_else(|| SearchError::data(format!("split {}: {error}", self.entry.id)))
    }
}

/// The index's config compiled for the schemas of its splits: they mostly share one, and compiling costs more than
/// opening a split. Splits from before a field was added lack it, and earlier versions numbered fields in another
/// order.
pub(super) struct Mappers {
    name: String,
    config: Result<IndexConfig, String>,
    known: Mutex<Vec<Arc<DocMapper>>>,
}

impl Mappers {
    /// `index_config` comes from the index's manifest, and `name` is the name under which the index is searched.
    pub(super) fn new(index_config: &serde_json::Value, name: &str) -> Self {
        let config = serde_json::from_value(index_config.clone());
        Self {
            name: name.to_owned(),
            config: config.map_err(|error| format!("index config: {error}")),
            known: Mutex::default(),
        }
    }

    fn get(&self, schema: &Schema) -> Result<Arc<DocMapper>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|mapper| mapper.schema() == schema);
        if let Some(mapper) = found {
            return Ok(Arc::clone(mapper));
        }
        let config = self.config.as_ref().map_err(String::clone)?;
        let mapper = DocMapper::of_segment(config, schema)
            .map_err(|error| format!("index config: {error}"))?;
        let mapper = Arc::new(mapper.named(&self.name));
        known.push(Arc::clone(&mapper));
        Ok(mapper)
    }
}

/// Opens a split. This takes no read if its head is inlined and undamaged, otherwise one, and another in
/// the same wave if documents of it are deleted and the manifest does not list them.
///
/// # Errors
/// If the head or the deleted documents cannot be fetched or do not match the manifest.
pub(super) async fn open_split(
    source: HeadSource,
    exchange: &Exchange,
    mappers: &Mappers,
) -> Result<OpenSplit, SearchError> {
    let HeadSource {
        entry,
        inlined,
        packed,
        index: _,
    } = source;
    let what = format!("split {}", entry.id);
    let head = async {
        match inlined.filter(|head| entry.is_head(head)) {
            Some(head) => Ok(OwnedBytes::new(head)),
            None => read_head(&entry, packed, exchange).await,
        }
    };
    let (head, deleted) = join(head, read_deleted(&entry, exchange)).await;
    let (head, deleted) = (head?, deleted?);
    let head = Head::open(&head).map_err(|error| SearchError::data(format!("{what}: {error}")))?;
    from_head(entry, head, deleted, exchange, mappers)
        .map_err(|message| SearchError::data(format!("{what}: {message}")))
}

/// Reads the head from the page that has it, or else from the split.
async fn read_head(
    entry: &SplitEntry,
    packed: Option<PackedHead>,
    exchange: &Exchange,
) -> Result<OwnedBytes, SearchError> {
    let object = split_object(&entry.id);
    if let Some(kept) = exchange.kept(&object, 0) {
        return Ok(kept);
    }
    let head = read_sound_head(entry, packed, exchange).await?;
    exchange.keep(&object, 0, &head, false);
    Ok(head)
}

async fn read_sound_head(
    entry: &SplitEntry,
    packed: Option<PackedHead>,
    exchange: &Exchange,
) -> Result<OwnedBytes, SearchError> {
    let read = async |object: &str, offset: u64| {
        exchange
            .read(object, offset, Some(entry.head_len), ByteClass::Head)
            .await
    };
    if let Some(packed) = packed {
        match read(&packed.object, packed.offset).await {
            Ok(head) if entry.is_head(&head) => return Ok(head),
            Err(failure) if failure.kind == FetchErrorKind::Budget => {
                return Err(failure.into_search_error(&packed.object));
            }
            // The split has the head too.
            _ => {}
        }
    }
    let what = format!("split {}", entry.id);
    let object = split_object(&entry.id);
    for _ in 0..2 {
        let head = read(&object, 0)
            .await
            .map_err(|failure| failure.into_search_error(&format!("{what}: head")))?;
        // The host may have served another version from a cache: a second request bypasses that.
        if entry.is_head(&head) {
            return Ok(head);
        }
    }
    Err(SearchError::data(format!(
        "{what}: the head is not the one that the manifest names (checksum or length mismatch): \
         restore the object or build the split again"
    )))
}

/// Checks the layout of the files that tantivy opens.
fn check_layout(directory: &ManagedDirectory, num_docs: u32) -> Result<(), String> {
    let open = |name: &str| {
        let file = directory.open_read(Path::new(name));
        file.map_err(|error| error.to_string())
    };
    for name in ["term", POSTINGS, "fieldnorm"] {
        check_fields(&open(name)?).map_err(|error| error.to_string())?;
    }
    check_columns(&open("fast")?, num_docs).map_err(|error| error.to_string())
}

/// Opens the files of a segment, whose mapper `mapper_of` returns.
pub(super) fn searcher_of<F: SegmentFiles>(
    files: ReadOnlyDirectory<F>,
    mapper_of: impl FnOnce(&Index) -> Result<Arc<DocMapper>, String>,
) -> Result<(Searcher, Arc<DocMapper>), String> {
    let mut index = Index::open(files).map_err(|error| error.to_string())?;
    let mapper = mapper_of(&index)?;
    index.set_tokenizers(mapper.tokenizers());
    index.set_fast_field_tokenizers(mapper.fast_field_tokenizers());
    let reader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()
        .map_err(|error: tantivy::TantivyError| error.to_string())?;
    Ok((reader.searcher(), mapper))
}

fn from_head(
    entry: SplitEntry,
    head: Head,
    deleted: Option<DeletedDocs>,
    exchange: &Exchange,
    mappers: &Mappers,
) -> Result<OpenSplit, String> {
    if head.files.is_too_old() {
        return Err(TOO_OLD.to_owned());
    }
    let body = Arc::new(SplitBody::new(
        &entry.id,
        entry.head_len,
        head.block_checksums,
        head.hotcache,
        exchange.clone(),
    ));
    let identities = BodyFile::find(&head.files, IDENTITIES_FILE);
    let identities = identities.ok_or_else(|| TOO_OLD.to_owned())?;
    let identity_range = head.metadata.identities.ok_or_else(|| TOO_OLD.to_owned())?;
    let document_files = DocumentFiles::of(&head.files)?;
    let vector_files = VectorFiles::of(&head.files);
    let rare_word_files = RareWordFiles::of(&head.files);
    let files = SplitFiles::new(Arc::clone(&body), head.files);
    let (searcher, mapper) = searcher_of(ReadOnlyDirectory(files.clone()), |index| {
        check_layout(index.directory(), head.metadata.num_docs)?;
        mappers.get(&index.schema())
    })?;
    let [segment] = searcher.segment_readers() else {
        return Err(format!(
            "it holds {} segments, not one",
            searcher.segment_readers().len()
        ));
    };
    if segment.max_doc() != head.metadata.num_docs {
        return Err("its segment counts other documents than its metadata".to_owned());
    }
    Ok(OpenSplit {
        index: exchange.index_name().to_owned(),
        metadata: head.metadata,
        time_index: head.time_index,
        rollup: head.rollup,
        co_occurrence: head.co_occurrence,
        mapper,
        body,
        searcher,
        terms: TermInfos::default(),
        deleted,
        files,
        document_files,
        vector_files,
        rare_word_files,
        added_lists: BTreeMap::new(),
        identities,
        identity_range,
        found_paths: None,
        entry,
    })
}

/// Reads the deleted documents of a split: no read if its entry lists them all.
///
/// # Errors
/// If they cannot be fetched, or do not match the entry: an answer without them could show deleted
/// documents.
async fn read_deleted(
    entry: &SplitEntry,
    exchange: &Exchange,
) -> Result<Option<DeletedDocs>, SearchError> {
    let Some(deletes) = &entry.deletes else {
        return Ok(None);
    };
    let object = deletes.object();
    let what = format!("split {}: {object}", entry.id);
    let max_doc = u32::try_from(entry.num_docs).unwrap_or(u32::MAX);
    if let Some(bytes) = &deletes.inlined
        && let Ok(docs) = deletes.open(bytes, max_doc)
    {
        return Ok(Some(docs));
    }
    let mut problem = String::new();
    for _ in 0..2 {
        let bytes = exchange
            .read(&object, 0, Some(deletes.len), ByteClass::Head)
            .await
            .map_err(|failure| failure.into_search_error(&what))?;
        // The host may have served another version from a cache: a second request bypasses that.
        match deletes.open(&bytes, max_doc) {
            Ok(docs) => return Ok(Some(docs)),
            Err(error) => problem = error.to_string(),
        }
    }
    Err(SearchError::data(format!(
        "{what}: {problem}: restore the object from a copy of the index"
    )))
}
