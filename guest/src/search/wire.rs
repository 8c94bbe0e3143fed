//! The opaque bytes between plan, leaves and root. They are made and read by the same version of
//! the guest: a version mark in front refuses others, there is no compatibility to keep.

use canter_split_format::{PackedHead, SplitEntry, TimeRange};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::SearchError;
use crate::leaf::PartialResult;
use crate::limits::Limits;
use crate::plan::PlannedSplit;
use crate::request::{AnswerForm, Question, SearchRequest};
use crate::root::PlanFacts;
use crate::split::{HeadSource, SearchedIndex};

/// What one leaf session needs.
#[derive(Debug)]
pub(crate) struct LeafRequest {
    pub(crate) request: SearchRequest,
    pub(crate) limits: Limits,
    pub(crate) splits: Vec<PlannedSplit>,
    pub(crate) time_ranges: Vec<Option<TimeRange>>,
    pub(crate) indexes: Vec<SearchedIndex>,
    /// Stands in front of what it asks for.
    pub(crate) prefix: String,
}

/// What the root session needs.
#[derive(Debug)]
pub(crate) struct RootRequest {
    pub(crate) question: Question,
    pub(crate) splits: Vec<PlannedSplit>,
    pub(crate) facts: PlanFacts,
    /// What the plan knew without opening a split.
    pub(crate) known: PartialResult,
    /// Stands in front of what it asks for.
    pub(crate) prefix: String,
}

/// JSON for what describes itself, bytes for the heads.
#[derive(Serialize, Deserialize)]
struct Envelope {
    request: String,
    limits: String,
    splits: String,
    rest: String,
    heads: Vec<Option<ByteBuf>>,
    /// What the plan knew without opening a split.
    known: ByteBuf,
    prefix: String,
    form: AnswerForm,
}

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, SearchError> {
    let mut bytes = crate::version().into_bytes();
    bytes.push(0);
    let body = postcard::to_allocvec(value)
        .map_err(|error| SearchError::internal(format!("encoding for another session: {error}")))?;
    bytes.extend(body);
    Ok(bytes)
}

fn decode<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, SearchError> {
    let version = crate::version();
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

fn to_json<T: Serialize>(value: &T) -> Result<String, SearchError> {
    serde_json::to_string(value)
        .map_err(|error| SearchError::internal(format!("encoding for another session: {error}")))
}

fn from_json<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, SearchError> {
    serde_json::from_str(json).map_err(|error| SearchError::invalid(format!("{what}: {error}")))
}

impl Envelope {
    fn new<R: Serialize>(
        request: &SearchRequest,
        limits: &Limits,
        splits: &[PlannedSplit],
        rest: &R,
        prefix: &str,
    ) -> Result<Self, SearchError> {
        let entries: Vec<(u32, usize, &SplitEntry, &Option<PackedHead>)> = splits
            .iter()
            .map(|split| {
                let source = &split.source;
                (split.split_ord, source.index, &source.entry, &source.packed)
            })
            .collect();
        Ok(Self {
            request: to_json(request)?,
            limits: to_json(limits)?,
            splits: to_json(&entries)?,
            rest: to_json(rest)?,
            heads: splits
                .iter()
                .map(|split| split.source.inlined.clone().map(ByteBuf::from))
                .collect(),
            known: ByteBuf::new(),
            prefix: prefix.to_owned(),
            form: AnswerForm::BARE,
        })
    }

    fn splits(&mut self, what: &str) -> Result<Vec<PlannedSplit>, SearchError> {
        let entries: Vec<(u32, usize, SplitEntry, Option<PackedHead>)> =
            from_json(what, &self.splits)?;
        let heads = std::mem::take(&mut self.heads)
            .into_iter()
            .chain(std::iter::repeat(None));
        Ok(entries
            .into_iter()
            .zip(heads)
            .map(
                |((split_ord, index, entry, packed), inlined)| PlannedSplit {
                    split_ord,
                    source: HeadSource {
                        index,
                        entry,
                        inlined: inlined.map(ByteBuf::into_vec),
                        packed,
                    },
                },
            )
            .collect())
    }
}

impl LeafRequest {
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, SearchError> {
        encode(&Envelope::new(
            &self.request,
            &self.limits,
            &self.splits,
            &(&self.time_ranges, &self.indexes),
            &self.prefix,
        )?)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, SearchError> {
        const WHAT: &str = "leaf request";
        let mut envelope: Envelope = decode(WHAT, bytes)?;
        let (time_ranges, indexes) = from_json(WHAT, &envelope.rest)?;
        Ok(Self {
            splits: envelope.splits(WHAT)?,
            request: from_json(WHAT, &envelope.request)?,
            limits: from_json(WHAT, &envelope.limits)?,
            time_ranges,
            indexes,
            prefix: envelope.prefix,
        })
    }
}

impl RootRequest {
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, SearchError> {
        let Question {
            request,
            limits,
            form,
        } = &self.question;
        encode(&Envelope {
            form: *form,
            known: ByteBuf::from(partial_to_bytes(&self.known)?),
            ..Envelope::new(request, limits, &self.splits, &self.facts, &self.prefix)?
        })
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, SearchError> {
        const WHAT: &str = "root request";
        let mut envelope: Envelope = decode(WHAT, bytes)?;
        Ok(Self {
            splits: envelope.splits(WHAT)?,
            question: Question {
                request: from_json(WHAT, &envelope.request)?,
                limits: from_json(WHAT, &envelope.limits)?,
                form: envelope.form,
            },
            facts: from_json(WHAT, &envelope.rest)?,
            known: partial_from_bytes(&envelope.known)?,
            prefix: envelope.prefix,
        })
    }
}

pub(crate) fn partial_to_bytes(partial: &PartialResult) -> Result<Vec<u8>, SearchError> {
    encode(partial)
}

pub(crate) fn partial_from_bytes(bytes: &[u8]) -> Result<PartialResult, SearchError> {
    decode("partial result", bytes)
}
