//! Head of a split: everything that a reader needs before it reads the body.
//!
//! ```text
//!   0        8         12         20          28
//!   ├────────┼─────────┼──────────┼───────────┼─────────────┬─────────────┬── ─ ─ ──┤ head_len
//!   │ magic  │ version │ head_len │ checksum  │ component   │ component   │   ...   │
//!   └────────┴─────────┴──────────┴───────────┴─────────────┴─────────────┴── ─ ─ ──┘
//!                                  XXH3-64 of   tag u8[4] · version u32 · len u64 · payload
//!                                  all that
//!                                  follows it
//! ```

use serde::{Deserialize, Serialize};

use crate::codec::{Reader, Writer};
use crate::version::{
    BLOCK_CHECKSUMS, CO_OCCURRENCE, ComponentKind, FILE_TABLE, HEAD_PREFIX_LEN, HOTCACHE,
    IDENTITIES_FILE, METADATA, METADATA_WITH_IDENTITIES, RARE_WORDS_FILE, RARE_WORDS_INDEX_FILE,
    ROLLUP, SPLIT_MAGIC, SPLIT_VERSION, SPLIT_WITHOUT_RARE_WORDS, TIME_INDEX, checksum64,
};
use crate::{
    BlockChecksums, CoOccurrence, FileTable, FormatError, Hotcache, IdentityRange, Rollup,
    TimeIndex,
};

const PREFIX: &str = "split head";

/// Range of time in nanoseconds since 1970, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeRange {
    /// Earliest timestamp.
    pub start_ns: i64,
    /// Latest timestamp.
    pub end_ns: i64,
}

impl TimeRange {
    /// Returns the range from the earlier start to the later end.
    pub fn union(self, other: Self) -> Self {
        Self {
            start_ns: self.start_ns.min(other.start_ns),
            end_ns: self.end_ns.max(other.end_ns),
        }
    }
}

/// Metadata of a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitMetadata {
    /// Number of documents.
    pub num_docs: u32,
    /// Number of bytes of the input that the documents came from.
    pub raw_num_bytes: u64,
    /// Earliest and latest timestamp, if the index has a timestamp field.
    pub time_range: Option<TimeRange>,
    /// Fast field by which documents are sorted, ascending.
    pub sort_field: Option<String>,
    /// Range of the documents' identities. Splits of the first version have no identities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identities: Option<IdentityRange>,
    /// Index config that the split was built with, as serialized by the doc mapper.
    pub index_config: serde_json::Value,
}

/// Head of a split.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Metadata of the split.
    pub metadata: SplitMetadata,
    /// Locations of the files in the body.
    pub files: FileTable,
    /// Ranges of the body stored in the head.
    pub hotcache: Hotcache,
    /// First document of each time bucket; absent without a timestamp field.
    pub time_index: Option<TimeIndex>,
    /// Counts by time bucket and value; absent without a timestamp field.
    pub rollup: Option<Rollup>,
    /// Co-occurrence of frequent terms; absent if nothing is known.
    pub co_occurrence: Option<CoOccurrence>,
    /// Checksums of the body.
    pub block_checksums: BlockChecksums,
}

/// Reads the head's length from the first [`HEAD_PREFIX_LEN`] bytes of a split.
///
/// # Errors
/// The bytes are no split, or have an unknown version.
pub fn head_len_of(prefix: &[u8]) -> Result<u64, FormatError> {
    let mut reader = Reader::new(PREFIX, prefix);
    if reader.raw(SPLIT_MAGIC.len())? != SPLIT_MAGIC {
        return Err(reader.error("this is not a Canter split (wrong magic number)"));
    }
    let version = reader.u32()?;
    if !(SPLIT_WITHOUT_RARE_WORDS..=SPLIT_VERSION).contains(&version) {
        return Err(reader.error(format!(
            "split format version {version} is not known (this reader knows \
             {SPLIT_WITHOUT_RARE_WORDS} to {SPLIT_VERSION}): use a newer Canter or rebuild the split"
        )));
    }
    let head_len = reader.u64()?;
    if head_len < HEAD_PREFIX_LEN as u64 {
        return Err(reader.error(format!("a head length of {head_len} is too short")));
    }
    Ok(head_len)
}

impl Head {
    /// Encodes the head.
    ///
    /// # Errors
    /// The metadata cannot be serialized to JSON.
    pub fn write(&self) -> Result<Vec<u8>, FormatError> {
        let metadata = serde_json::to_vec(&self.metadata)
            .map_err(|error| FormatError::new(METADATA.name, error.to_string()))?;
        let mut components = Writer::default();
        let mut put_version = |kind: ComponentKind, version: u32, payload: &[u8]| {
            components.raw(&kind.tag);
            components.u32(version);
            components.u64(payload.len() as u64);
            components.raw(payload);
        };
        // A decoded head is written in its original version.
        put_version(METADATA, metadata_version(&self.metadata), &metadata);
        put_version(FILE_TABLE, self.files.version(), &self.files.write());
        let mut put = |kind: ComponentKind, payload: &[u8]| {
            put_version(kind, kind.version, payload);
        };
        if let Some(time_index) = &self.time_index {
            put(TIME_INDEX, &time_index.write());
        }
        if let Some(rollup) = &self.rollup {
            put(ROLLUP, &rollup.write());
        }
        if let Some(co_occurrence) = &self.co_occurrence {
            put(CO_OCCURRENCE, &co_occurrence.write());
        }
        put(BLOCK_CHECKSUMS, &self.block_checksums.write());
        put(HOTCACHE, &self.hotcache.write());
        let components = components.into_bytes();

        let mut out = Writer::default();
        out.raw(&SPLIT_MAGIC);
        out.u32(frame_version(&self.files));
        out.u64((HEAD_PREFIX_LEN + components.len()) as u64);
        out.u64(checksum64(&components));
        out.raw(&components);
        Ok(out.into_bytes())
    }

    /// Decodes and verifies a whole head; `bytes` may continue with the body.
    ///
    /// # Errors
    /// The bytes are no head, or are damaged or truncated.
    pub fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let head_len = head_len_of(bytes)?;
        let error = |problem: String| FormatError::new(PREFIX, problem);
        let head = usize::try_from(head_len)
            .ok()
            .and_then(|len| bytes.get(..len))
            .ok_or_else(|| {
                error(format!(
                    "cut short: it is {head_len} bytes long and {} are here",
                    bytes.len()
                ))
            })?;
        let mut prefix = Reader::new(PREFIX, head);
        prefix.raw(SPLIT_MAGIC.len())?;
        let version = prefix.u32()?;
        prefix.u64()?;
        let wanted = prefix.u64()?;
        let components = prefix.raw(prefix.remaining())?;
        if checksum64(components) != wanted {
            return Err(error(
                "its checksum does not match: the bytes are damaged".into(),
            ));
        }
        let head = Self::open_components(components)?;
        match frame_version(&head.files) == version {
            true => Ok(head),
            false => Err(error(format!(
                "only version {SPLIT_VERSION} has both files of rare words, and that always"
            ))),
        }
    }

    fn open_components(bytes: &[u8]) -> Result<Self, FormatError> {
        let found = find_components(bytes)?;
        let find = |wanted: ComponentKind| {
            found
                .iter()
                .find(|(kind, ..)| *kind == wanted)
                .map(|(_, _, payload)| *payload)
        };
        let need =
            |kind: ComponentKind| find(kind).ok_or_else(|| FormatError::new(kind.name, "missing"));
        let metadata: SplitMetadata = serde_json::from_slice(need(METADATA)?)
            .map_err(|error| FormatError::new(METADATA.name, error.to_string()))?;
        let table_version = found
            .iter()
            .find(|(kind, ..)| *kind == FILE_TABLE)
            .map_or(1, |(_, version, _)| *version);
        let files = FileTable::open(need(FILE_TABLE)?, table_version)?;
        check_identities(&found, &metadata, &files)?;
        let block_checksums = BlockChecksums::open(need(BLOCK_CHECKSUMS)?)?;
        if block_checksums.body_len() != files.body_len() {
            return Err(FormatError::new(
                BLOCK_CHECKSUMS.name,
                "they cover another length than the file table",
            ));
        }
        let time_index = find(TIME_INDEX).map(TimeIndex::open).transpose()?;
        let rollup = find(ROLLUP).map(Rollup::open).transpose()?;
        let counted = [
            (
                TIME_INDEX,
                time_index.as_ref().map(|index| u64::from(index.num_docs())),
            ),
            (ROLLUP, rollup.as_ref().map(Rollup::num_docs_of_all_buckets)),
        ];
        for (kind, num_docs) in counted {
            if num_docs.is_some_and(|num_docs| num_docs != u64::from(metadata.num_docs)) {
                return Err(FormatError::new(
                    kind.name,
                    "it counts other documents than the metadata",
                ));
            }
        }
        Ok(Self {
            hotcache: Hotcache::open(need(HOTCACHE)?, &files)?,
            rollup,
            co_occurrence: find(CO_OCCURRENCE).map(CoOccurrence::open).transpose()?,
            metadata,
            files,
            time_index,
            block_checksums,
        })
    }
}

/// Returns the version of the frame around these files. A reader that does not know rare words would miss them.
fn frame_version(files: &FileTable) -> u32 {
    let has = |name: &str| files.find(name).is_some();
    match has(RARE_WORDS_FILE) && has(RARE_WORDS_INDEX_FILE) {
        true => SPLIT_VERSION,
        false => SPLIT_WITHOUT_RARE_WORDS,
    }
}

/// Returns the version for this metadata.
fn metadata_version(metadata: &SplitMetadata) -> u32 {
    match metadata.identities {
        Some(_) => METADATA_WITH_IDENTITIES,
        None => 1,
    }
}

/// Checks the identities: each version of the metadata either has them, with a file in the body, or
/// has none.
fn check_identities(
    found: &[Component<'_>],
    metadata: &SplitMetadata,
    files: &FileTable,
) -> Result<(), FormatError> {
    let version = found
        .iter()
        .find(|(kind, ..)| *kind == METADATA)
        .map(|(_, version, _)| *version);
    let error = |problem: &str| Err(FormatError::new(METADATA.name, problem));
    if version != Some(metadata_version(metadata)) {
        return error("only its second version has identities, and that always");
    }
    match metadata.identities {
        Some(range) if range.first > range.last => error("its identities run backwards"),
        Some(_) if files.find(IDENTITIES_FILE).is_none() => {
            error("the file of the documents' identities is missing")
        }
        _ => Ok(()),
    }
}

/// Known component, with its version and payload.
type Component<'a> = (ComponentKind, u32, &'a [u8]);

/// Reads the component directory: the known components, in the order of the bytes.
fn find_components(bytes: &[u8]) -> Result<Vec<Component<'_>>, FormatError> {
    let mut reader = Reader::new(PREFIX, bytes);
    let mut found = Vec::new();
    while !reader.is_empty() {
        let tag = reader.tag()?;
        let version = reader.u32()?;
        let len = usize::try_from(reader.u64()?).unwrap_or(usize::MAX);
        let payload = reader.raw(len)?;
        let known = [
            METADATA,
            FILE_TABLE,
            TIME_INDEX,
            ROLLUP,
            CO_OCCURRENCE,
            BLOCK_CHECKSUMS,
            HOTCACHE,
        ];
        // An unknown component of a later version is optional by definition: changes that readers
        // must understand raise the version of the split.
        let Some(kind) = known.into_iter().find(|kind| kind.tag == tag) else {
            continue;
        };
        if !(1..=kind.version).contains(&version) {
            let known = match kind.version {
                1 => "1".to_owned(),
                newest => format!("1 to {newest}"),
            };
            return Err(FormatError::new(
                kind.name,
                format!("version {version} is not known (this reader knows {known})"),
            ));
        }
        found.push((kind, version, payload));
    }
    Ok(found)
}
