//! The opaque bytes between plan, leaves and root. They are written and read by the same version of
//! the guest: a version mark at the beginning refuses others, so there is no compatibility to keep.
//!
//! Everything is postcard except values that are JSON documents of their own: entries of the manifest, index configs,
//! aggregations.

use canter_split_format::TimeRange;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::SearchError;
use crate::leaf::PartialResult;
use crate::plan::PlannedSplit;
use crate::request::{Question, Resolved};
use crate::root::PlanFacts;
use crate::split::SearchedIndex;
use crate::split::partial_cache::version;

/// Input of one leaf session.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LeafRequest {
    pub(super) question: Question,
    pub(super) resolved: Resolved,
    #[serde(with = "planned")]
    pub(super) splits: Vec<PlannedSplit>,
    pub(super) time_ranges: Vec<Option<TimeRange>>,
    pub(super) indexes: Vec<SearchedIndex>,
    /// Prefix of the names of everything it requests.
    pub(super) prefix: String,
}

/// Input of the root session.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RootRequest {
    pub(crate) question: Question,
    pub(super) resolved: Resolved,
    #[serde(with = "planned")]
    pub(super) splits: Vec<PlannedSplit>,
    pub(super) facts: PlanFacts,
    /// The part of the answer that the plan knew without opening a split.
    pub(super) known: PartialResult,
    /// Prefix of the names of everything it requests.
    pub(super) prefix: String,
}

/// Planned splits: entries as in the manifest, and heads as bytes.
mod planned {
    use canter_split_format::{PackedHead, SplitEntry};
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_bytes::ByteBuf;

    use crate::plan::PlannedSplit;
    use crate::split::HeadSource;

    /// Entries as JSON, and the heads that the manifest contained.
    type Splits = (String, Vec<Option<ByteBuf>>);

    /// A split's place in the plan, its index, its entry, and the place of its packed head.
    type Entry<E, P> = (u32, usize, E, P);

    pub(super) fn serialize<S: Serializer>(
        splits: &[PlannedSplit],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let sources = splits.iter().map(|split| (split.split_ord, &split.source));
        let entries: Vec<Entry<&SplitEntry, &Option<PackedHead>>> = sources
            .map(|(split_ord, source)| (split_ord, source.index, &source.entry, &source.packed))
            .collect();
        let entries = serde_json::to_string(&entries).map_err(S::Error::custom)?;
        let heads = splits.iter().map(|split| split.source.inlined.clone());
        let heads = heads.map(|head| head.map(ByteBuf::from)).collect();
        Splits::serialize(&(entries, heads), serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PlannedSplit>, D::Error> {
        let (entries, heads) = Splits::deserialize(deserializer)?;
        let entries: Vec<Entry<SplitEntry, Option<PackedHead>>> =
            serde_json::from_str(&entries).map_err(D::Error::custom)?;
        let heads = heads.into_iter().chain(std::iter::repeat(None));
        let splits = entries.into_iter().zip(heads);
        let splits = splits.map(
            |((split_ord, index, entry, packed), inlined)| PlannedSplit {
                split_ord,
                source: HeadSource {
                    index,
                    entry,
                    inlined: inlined.map(ByteBuf::into_vec),
                    packed,
                },
            },
        );
        Ok(splits.collect())
    }
}

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, SearchError> {
    let mut bytes = version().into_bytes();
    bytes.push(0);
    let body = postcard::to_allocvec(value)
        .map_err(|error| SearchError::internal(format!("encoding for another session: {error}")))?;
    bytes.extend(body);
    Ok(bytes)
}

fn decode<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, SearchError> {
    let version = version();
    let body = bytes
        .strip_prefix(version.as_bytes())
        .and_then(|rest| rest.strip_prefix(&[0]))
        .ok_or_else(|| {
            SearchError::invalid(format!(
                "{what}: these bytes are not from guest version {version}"
            ))
        })?;
    postcard::from_bytes(body).map_err(|error| SearchError::invalid(format!("{what}: {error}")))
}

impl LeafRequest {
    /// Serializes the request.
    ///
    /// # Errors
    /// If a part of it cannot be serialized: a defect.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, SearchError> {
        encode(self)
    }

    /// Parses a leaf request.
    ///
    /// # Errors
    /// If the bytes are from another version.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, SearchError> {
        decode("leaf request", bytes)
    }
}

impl RootRequest {
    /// Serializes the request.
    ///
    /// # Errors
    /// As [`LeafRequest::to_bytes`].
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, SearchError> {
        encode(self)
    }

    /// Parses a root request.
    ///
    /// # Errors
    /// If the bytes are from another version.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, SearchError> {
        decode("root request", bytes)
    }
}

pub(super) fn partial_to_bytes(partial: &PartialResult) -> Result<Vec<u8>, SearchError> {
    encode(partial)
}

pub(crate) fn partial_from_bytes(bytes: &[u8]) -> Result<PartialResult, SearchError> {
    decode("partial result", bytes)
}
