//! Rare words of an open split: where they are, and files in which tantivy finds them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use canter_doc_mapper::{ReadOnlyDirectory, SegmentFiles};
use canter_matching::{AddedWord, PatchedFile, SourceFile, WithWords, add_words};
use canter_protocol::ByteClass;
use canter_split_format::{FileTable, RARE_WORDS_FILE, RARE_WORDS_INDEX_FILE, RareWordsIndex};
use tantivy::Directory as _;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{FileHandle, OwnedBytes};
use tantivy::schema::Field;

use super::directory::{BodyFile, SEGMENT_PREFIX, SplitFiles};
use super::open::{OpenSplit, searcher_of};
use crate::SearchError;
use crate::query::{POSITIONS, POSTINGS, TermInfos};

/// tantivy's name for a segment's dictionaries.
const TERMS: &str = "term";

/// Position of a split's rare words.
pub(super) struct RareWordFiles {
    index: BodyFile,
    blocks: BodyFile,
}

impl RareWordFiles {
    /// Returns `None` of a split all of whose words are in its dictionaries.
    pub(super) fn of(files: &FileTable) -> Option<Self> {
        Some(Self {
            index: BodyFile::find(files, RARE_WORDS_INDEX_FILE)?,
            blocks: BodyFile::find(files, RARE_WORDS_FILE)?,
        })
    }
}

/// Files of a split with words added.
#[derive(Clone)]
pub(crate) struct FilesWithWords {
    others: SplitFiles,
    terms: PatchedFile,
    lists: PatchedFile,
    lists_lens: BTreeMap<u32, usize>,
}

impl SegmentFiles for FilesWithWords {
    fn open(&self, path: &Path) -> Option<Arc<dyn FileHandle>> {
        let name = path.to_str()?;
        match name.strip_prefix(SEGMENT_PREFIX).unwrap_or(name) {
            TERMS => Some(Arc::new(self.terms.clone())),
            POSTINGS | POSITIONS => Some(Arc::new(self.lists.clone())),
            _ => self.others.open(path),
        }
    }
}

impl OpenSplit {
    /// Returns the index of the rare words: no request if the head contains it, as heads of our writer do. Returns `None`
    /// if there are none, or if all that a query needs were added before.
    ///
    /// # Errors
    /// If it cannot be fetched, or is damaged.
    pub(crate) async fn rare_words(&self) -> Result<Option<RareWordsIndex>, SearchError> {
        let Some(files) = &self.rare_word_files else {
            return Ok(None);
        };
        let bytes = files.index.whole(&self.body, ByteClass::Dictionary).await?;
        let index = RareWordsIndex::open(&bytes).map_err(|error| self.error(error))?;
        if index.num_docs() != self.metadata.num_docs || index.blocks_len() != files.blocks.len() {
            return Err(self.error("its rare words are of other documents than it has"));
        }
        Ok(Some(index))
    }

    /// Loads blocks of rare words.
    ///
    /// # Errors
    /// If they cannot be fetched.
    pub(crate) async fn load_rare_words(&self, blocks: Vec<Range<u64>>) -> Result<(), SearchError> {
        let Some(files) = &self.rare_word_files else {
            return Ok(());
        };
        let is_cold = |block: &Range<u64>| files.blocks.bytes_here(&self.body, block).is_none();
        let cold = blocks.into_iter().filter(is_cold);
        let cold = cold.map(|block| {
            let in_body = files.blocks.in_body(&block);
            let in_body = in_body.ok_or_else(|| self.error("rare words lie outside of their file"));
            Ok((in_body?, ByteClass::Dictionary))
        });
        let cold = cold.collect::<Result<Vec<_>, SearchError>>()?;
        self.body.load_all(cold).await
    }

    /// Returns a block of rare words that was loaded.
    ///
    /// # Errors
    /// If it was not.
    pub(crate) fn rare_words_block(&self, block: &Range<u64>) -> Result<OwnedBytes, SearchError> {
        let missing = || SearchError::internal("a block of rare words is not resident");
        let files = self.rare_word_files.as_ref().ok_or_else(missing)?;
        files.blocks.loaded(&self.body, block)
    }

    /// Returns files with words added to the dictionaries and lists, by the number of the field.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(crate) fn files_with(
        &self,
        words: &BTreeMap<u32, Vec<AddedWord>>,
    ) -> tantivy::Result<FilesWithWords> {
        let directory = self.searcher.index().directory();
        let source = |name: &str| -> tantivy::Result<SourceFile> {
            let path = PathBuf::from(format!("{SEGMENT_PREFIX}{name}"));
            // The directory would leave out what tantivy puts behind each file.
            let raw = SegmentFiles::open(&self.files, &path);
            Ok(SourceFile {
                raw: raw.ok_or_else(|| OpenReadError::FileDoesNotExist(path.clone()))?,
                content: directory.open_read(&path)?,
            })
        };
        let made = add_words(&source(TERMS)?, &source(POSTINGS)?, words)?;
        let WithWords {
            terms,
            lists,
            lists_lens,
        } = made;
        Ok(FilesWithWords {
            others: self.files.clone(),
            terms,
            lists,
            lists_lens,
        })
    }

    /// Reads these files from now on. Nothing else is added later.
    ///
    /// # Errors
    /// If they are none of a segment.
    pub(crate) fn use_files(&mut self, files: FilesWithWords) -> Result<(), SearchError> {
        let lists_lens = files.lists_lens.clone();
        let searcher = searcher_of(ReadOnlyDirectory(files), |_| Ok(Arc::clone(&self.mapper)));
        let (searcher, _) = searcher.map_err(|error| self.error(error))?;
        self.searcher = searcher;
        self.terms = TermInfos::default();
        self.added_lists = lists_lens;
        // It names terms by their places in the dictionary.
        self.co_occurrence = None;
        Ok(())
    }

    /// Returns whether the lists at this place of a field are of added words, which are here.
    pub(crate) fn is_added(&self, field: Field, postings: &Range<usize>) -> bool {
        let len = self.added_lists.get(&field.field_id());
        // Postings are counted from behind the number of words.
        len.is_some_and(|len| postings.start + 8 >= *len)
    }
}
