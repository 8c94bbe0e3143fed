//! Requests in protobuf, whose records are located without decoding them.
//! <https://protobuf.dev/programming-guides/encoding/>

use std::borrow::Cow;

use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost::{DecodeError, Message};
use serde::Serialize;

use super::LogsError;
use super::documents::{Documents, Encoded, Shared};
use super::nesting::{AROUND_RECORD, AROUND_RESOURCE, AROUND_SCOPE, MAX_VALUES, Problem, check};

/// `ExportLogsServiceRequest.resource_logs`.
const RESOURCE_LOGS: u32 = 1;
/// `ResourceLogs.resource`, and `ScopeLogs.scope`.
const OWNER: u32 = 1;
/// `ResourceLogs.scope_logs`, and `ScopeLogs.log_records`.
const OWNED: u32 = 2;

/// Maximum depth of messages that the protobuf reader supports.
const MAX_DEPTH: usize = 100;

/// Reason for which a message is not decoded.
enum Unread {
    /// Its records are rejected.
    Problem(Problem),
    /// The whole request is unreadable.
    Request(LogsError),
}

impl From<Problem> for Unread {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<LogsError> for Unread {
    fn from(error: LogsError) -> Self {
        Self::Request(error)
    }
}

impl From<DecodeError> for LogsError {
    fn from(error: DecodeError) -> Self {
        Self::malformed(error)
    }
}

/// Separates problems of a message from errors of the request.
fn apart<T>(read: Result<T, Unread>) -> Result<Result<T, Problem>, LogsError> {
    match read {
        Ok(read) => Ok(Ok(read)),
        Err(Unread::Problem(problem)) => Ok(Err(problem)),
        Err(Unread::Request(error)) => Err(error),
    }
}

/// Reads a request.
///
/// # Errors
/// The request cannot be parsed, or exceeds a limit.
pub(super) fn read(body: &[u8], documents: &mut Documents<'_>) -> Result<(), LogsError> {
    for resource_logs in named(body, RESOURCE_LOGS) {
        read_resource(resource_logs?, documents)?;
    }
    Ok(())
}

fn read_resource(resource_logs: &[u8], documents: &mut Documents<'_>) -> Result<(), LogsError> {
    let mut resource = None;
    for scope_logs in named(resource_logs, OWNED) {
        let scope_logs = scope_logs?;
        // A scope without records takes two bytes. A request may contain millions of them.
        if named(scope_logs, OWNED).next().transpose()?.is_none() {
            continue;
        }
        let resource = match &mut resource {
            Some(resource) => resource,
            none => none.insert(part::<Resource>(
                Kind::Resource,
                resource_logs,
                AROUND_RESOURCE,
            )?),
        };
        let scope = part::<InstrumentationScope>(Kind::Scope, scope_logs, AROUND_SCOPE)?;
        let mut shared = Shared::new(resource, &scope);
        for record in named(scope_logs, OWNED) {
            let record = record?;
            documents.add(&mut shared, record.len(), |request| {
                let pieces = std::iter::once(Ok(record));
                let written = write_json::<LogRecord>(Kind::Record, pieces, AROUND_RECORD, request);
                apart(written)
            })?;
        }
    }
    Ok(())
}

/// Returns the resource or the scope of a message.
fn part<M: Message + Default + Serialize>(
    kind: Kind,
    owner: &[u8],
    num_around: usize,
) -> Result<Encoded<'static>, LogsError> {
    let mut json = Vec::new();
    let written = write_json::<M>(kind, named(owner, OWNER), num_around, &mut json);
    apart(written.map(|()| Cow::Owned(json)))
}

/// Writes a message as JSON. It may be split into pieces, which are merged.
fn write_json<'b, M: Message + Default + Serialize>(
    kind: Kind,
    pieces: impl Iterator<Item = Result<&'b [u8], LogsError>>,
    num_around: usize,
    json: &mut Vec<u8>,
) -> Result<(), Unread> {
    let mut message = M::default();
    let mut num_values = 0;
    for piece in pieces {
        let piece = piece?;
        look_through(kind, piece, MAX_DEPTH, &mut num_values)?;
        message.merge(piece).map_err(LogsError::from)?;
    }
    let mut value = serde_json::to_value(&message).map_err(LogsError::malformed)?;
    drop(message);
    if let Some(object) = value.as_object_mut() {
        // In protobuf, an unset number is 0; in JSON, it is absent.
        for name in ["droppedAttributesCount", "severityNumber", "flags"] {
            if object.get(name).is_some_and(|number| *number == 0) {
                object.shift_remove(name);
            }
        }
    }
    let start = json.len();
    serde_json::to_writer(&mut *json, &value).map_err(LogsError::malformed)?;
    check(&json[start..], num_around).map_err(Unread::from)
}

/// Kinds of messages that may contain many others.
#[derive(Clone, Copy)]
enum Kind {
    Resource,
    Scope,
    Record,
    KeyValue,
    KeyValueList,
    AnyValue,
    ArrayValue,
    EntityRef,
}

impl Kind {
    /// Returns the kind of the message in a field, if it is one of these kinds.
    fn of_field(self, number: u32) -> Option<Self> {
        match (self, number) {
            (Self::Record, 5) | (Self::KeyValue, 2) | (Self::ArrayValue, 1) => Some(Self::AnyValue),
            (Self::Record, 6)
            | (Self::Resource, 1)
            | (Self::Scope, 3)
            | (Self::KeyValueList, 1) => Some(Self::KeyValue),
            (Self::AnyValue, 5) => Some(Self::ArrayValue),
            (Self::AnyValue, 6) => Some(Self::KeyValueList),
            (Self::Resource, 3) => Some(Self::EntityRef),
            _ => None,
        }
    }

    /// Returns whether a field of this kind of message is text.
    fn has_text(self, number: u32) -> bool {
        matches!(
            (self, number),
            (Self::Record, 3 | 12)
                | (Self::KeyValue | Self::AnyValue, 1)
                | (Self::Scope, 1 | 2)
                | (Self::EntityRef, 1..=4)
        )
    }
}

/// Scans a message for problems before it is decoded. An empty attribute takes two bytes in
/// protobuf and hundreds as JSON, and errors of the reader only carry text.
fn look_through(
    kind: Kind,
    message: &[u8],
    max_depth: usize,
    num_values: &mut usize,
) -> Result<(), Unread> {
    for field in Fields::of(message) {
        let Field { number, content } = field?;
        let Some(content) = content else {
            continue;
        };
        *num_values += 1;
        if *num_values > MAX_VALUES {
            return Err(Problem::TooManyValues.into());
        }
        if kind.has_text(number) && std::str::from_utf8(content).is_err() {
            return Err(Problem::NotUtf8.into());
        }
        if let Some(kind) = kind.of_field(number) {
            let max_depth = max_depth.checked_sub(1).ok_or(Problem::TooDeep)?;
            look_through(kind, content, max_depth, num_values)?;
        }
    }
    Ok(())
}

/// Returns the messages in a field of another message.
fn named(message: &[u8], number: u32) -> impl Iterator<Item = Result<&[u8], LogsError>> {
    Fields::of(message).filter_map(move |field| match field {
        Ok(field) if field.number != number => None,
        Ok(Field {
            content: Some(content),
            ..
        }) => Some(Ok(content)),
        Ok(_) => Some(Err(LogsError::malformed(format!(
            "field {number} of a message is a number, and not a message"
        )))),
        Err(error) => Some(Err(error)),
    })
}

/// Field of a message.
struct Field<'b> {
    number: u32,
    /// Content of a message, string or bytes field; `None` for other types.
    content: Option<&'b [u8]>,
}

/// Iterator over the fields of a message. It ends after an error.
struct Fields<'b> {
    rest: &'b [u8],
}

impl<'b> Fields<'b> {
    fn of(message: &'b [u8]) -> Self {
        Self { rest: message }
    }

    fn read(&mut self) -> Result<Field<'b>, LogsError> {
        let (number, wire_type) = decode_key(&mut self.rest)?;
        if wire_type != WireType::LengthDelimited {
            skip_field(wire_type, number, &mut self.rest, DecodeContext::default())?;
            let content = None;
            return Ok(Field { number, content });
        }
        let len = decode_varint(&mut self.rest)?;
        let cut = usize::try_from(len).ok();
        let cut = cut.and_then(|len| self.rest.split_at_checked(len));
        let Some((content, rest)) = cut else {
            return Err(LogsError::malformed(format!(
                "field {number} of a message has {len} bytes, and {} are left",
                self.rest.len()
            )));
        };
        self.rest = rest;
        let content = Some(content);
        Ok(Field { number, content })
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = Result<Field<'b>, LogsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}
