//! Parser of `_bulk` bodies: lines of actions, each followed by a document. It reads one action at
//! a time and stores none: a body of 16 MiB may contain over a million actions without documents.
//! <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk>

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Maximum length of an action line. Elasticsearch accepts ids and names of up to 512 bytes.
const MAX_ACTION_BYTES: usize = 64 << 10;

/// Maximum length of an error message that quotes the request.
const MAX_MESSAGE_BYTES: usize = 400;

/// Operation on a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Adds a document.
    Index,
    /// Adds a document, unless its id exists.
    Create,
    /// Changes a part of the document with this id.
    Update,
    /// Deletes the document with this id.
    Delete,
}

impl Verb {
    fn of(name: &str) -> Option<Self> {
        let all = [Self::Index, Self::Create, Self::Update, Self::Delete];
        all.into_iter().find(|verb| verb.as_str() == name)
    }

    /// Returns the name used in requests and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// One action of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action<'b> {
    /// Operation to perform.
    pub verb: Verb,
    /// Target index, unless it is that of the path.
    pub index: Option<String>,
    /// Document id given by the sender.
    pub id: Option<String>,
    /// Unsupported option of the action, if there is one.
    pub unknown: Option<&'static str>,
    /// Pipeline that is to change the document.
    pub pipeline: Option<String>,
    /// Sequence number that the document must have.
    pub if_seq_no: Option<u64>,
    /// Primary term that the document must have.
    pub if_primary_term: Option<u64>,
    /// Version that the document gets, or must have.
    pub version: Option<u64>,
    /// Kind of that version.
    pub version_type: Option<String>,
    /// Routing of the document.
    pub routing: Option<String>,
    /// Parts of an updated document that the answer shows, as JSON.
    pub source: Option<String>,
    /// Whether the index must be named by an alias, if the action says so.
    pub require_alias: Option<bool>,
    /// Document that follows the action: a line without its end.
    pub document: Option<&'b [u8]>,
}

/// Error in a body. No action of such a body is performed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BulkError {
    /// The body lacks the final line feed, and may have been truncated.
    #[error("the bulk request must end with a line feed [\\n]")]
    NotTerminated,
    /// The body contains no action.
    #[error("the bulk request has no action")]
    Empty,
    /// An action cannot be parsed.
    #[error(
        "Malformed action/metadata line [{line}], {message}: line {line} is no action such as {{\"create\": {{}}}}"
    )]
    Malformed {
        /// Line number, from 1.
        line: usize,
        /// Description of the problem.
        message: String,
    },
    /// The last action has no document.
    #[error("no document follows the action in line {line}")]
    NoDocument {
        /// Line number, from 1.
        line: usize,
    },
    /// The body has too many actions: send them in several requests.
    #[error(
        "the bulk request has more than {max_actions} actions: send fewer at once, or raise --max-write-items"
    )]
    TooManyActions {
        /// Maximum number of actions.
        max_actions: usize,
    },
}

impl BulkError {
    /// Returns whether the same actions would be accepted in several requests.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::TooManyActions { .. })
    }
}

/// Parses a body, one action at a time. Documents are not parsed.
///
/// An error is the last item: the roles of the lines after it are unknown, so nothing of the body
/// can be performed. Callers therefore iterate over all actions before they perform the first.
/// `max_actions` is the maximum number of actions.
pub fn parse_bulk(body: &[u8], max_actions: usize) -> Actions<'_> {
    Actions {
        rest: body.strip_suffix(b"\n"),
        is_empty: body.is_empty(),
        line: 0,
        num_actions: 0,
        max_actions,
    }
}

/// Iterator over the actions of a body.
#[derive(Clone, Debug)]
pub struct Actions<'b> {
    /// Unread part without the last line feed; `None` at the end, and for a body without that line
    /// feed.
    rest: Option<&'b [u8]>,
    /// True if the body is empty.
    is_empty: bool,
    /// Number of the last line read, from 1.
    line: usize,
    num_actions: usize,
    max_actions: usize,
}

impl<'b> Actions<'b> {
    fn next_line(&mut self) -> Option<&'b [u8]> {
        let rest = self.rest?;
        self.line += 1;
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (line, rest) = match end {
            Some(end) => (&rest[..end], Some(&rest[end + 1..])),
            None => (rest, None),
        };
        self.rest = rest;
        Some(without_return(line))
    }

    fn read(&mut self) -> Result<Option<Action<'b>>, BulkError> {
        if self.line == 0 && self.rest.is_none() {
            self.line = 1;
            return Err(match self.is_empty {
                true => BulkError::Empty,
                false => BulkError::NotTerminated,
            });
        }
        let text = loop {
            match self.next_line() {
                Some(text) if text.iter().all(u8::is_ascii_whitespace) => {}
                Some(text) => break text,
                None if self.num_actions == 0 => return Err(BulkError::Empty),
                None => return Ok(None),
            }
        };
        let line = self.line;
        self.num_actions += 1;
        let max_actions = self.max_actions;
        if self.num_actions > max_actions {
            return Err(BulkError::TooManyActions { max_actions });
        }
        let Command { verb, metadata } = command_of(text, line)?;
        let verb = match (verb, metadata.op_type.as_deref()) {
            (Verb::Index, Some("create")) => Verb::Create,
            (verb, _) => verb,
        };
        let document = match verb {
            Verb::Delete => None,
            _ => Some(self.next_line().ok_or(BulkError::NoDocument { line })?),
        };
        let unknown = metadata.unsupported();
        let version = metadata.version.as_ref().map(|Id(text)| text.parse());
        let version = version.transpose().map_err(|_| BulkError::Malformed {
            line,
            message: "[version] is no number".to_owned(),
        })?;
        Ok(Some(Action {
            verb,
            index: metadata.index,
            id: metadata.id.map(|Id(id)| id),
            unknown,
            pipeline: metadata.pipeline.filter(|pipeline| !pipeline.is_empty()),
            if_seq_no: metadata.if_seq_no,
            if_primary_term: metadata.if_primary_term,
            version,
            version_type: metadata.version_type,
            routing: metadata.routing.map(|Id(routing)| routing),
            source: metadata.source.map(|source| source.get().to_owned()),
            require_alias: metadata.require_alias,
            document,
        }))
    }
}

impl<'b> Iterator for Actions<'b> {
    type Item = Result<Action<'b>, BulkError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_none() && self.line > 0 && self.num_actions > 0 {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            // Nothing follows an error.
            (self.rest, self.line, self.num_actions) = (None, self.line.max(1), 1);
        }
        read.transpose()
    }
}

fn command_of(text: &[u8], line: usize) -> Result<Command, BulkError> {
    let malformed = |message: String| BulkError::Malformed { line, message };
    if text.len() > MAX_ACTION_BYTES {
        return Err(malformed(format!(
            "it has {} bytes, more than {MAX_ACTION_BYTES}",
            text.len()
        )));
    }
    serde_json::from_slice(text).map_err(|error| malformed(shortened(error.to_string())))
}

/// Truncates a message that quotes the request.
fn shortened(mut message: String) -> String {
    if message.len() > MAX_MESSAGE_BYTES {
        message.truncate(message.floor_char_boundary(MAX_MESSAGE_BYTES));
        message.push('…');
    }
    message
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Action line, such as `{"create": {"_index": "logs"}}`.
struct Command {
    verb: Verb,
    metadata: Metadata,
}

/// Options of an action. Harmless keys are accepted; others are reported to the sender as
/// unsupported.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    #[serde(rename = "_index")]
    index: Option<String>,
    #[serde(rename = "_id")]
    id: Option<Id>,
    /// Type of a document, the same for all in the last version that had types.
    #[serde(rename = "_type")]
    _type: IgnoredAny,
    /// Fields to return, for updates only.
    #[serde(rename = "_source")]
    source: Option<Box<RawValue>>,
    op_type: Option<String>,
    retry_on_conflict: IgnoredAny,
    require_alias: Option<bool>,
    require_data_stream: Option<bool>,
    list_executed_pipelines: IgnoredAny,
    dynamic_templates: IgnoredAny,
    pipeline: Option<String>,
    #[serde(alias = "_routing")]
    routing: Option<Id>,
    #[serde(alias = "_version")]
    version: Option<Id>,
    #[serde(alias = "_version_type")]
    version_type: Option<String>,
    if_seq_no: Option<u64>,
    if_primary_term: Option<u64>,
}

/// Document id, which some clients send as a number; or a version, which some send as a text.
#[derive(Debug)]
struct Id(String);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

/// Visitor for ids. It builds no tree for values of other types: an array of them takes two bytes
/// for each element, but dozens in such a tree.
struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id, which is a string or a number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Id, E> {
        Ok(Id(text.to_owned()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Id, E> {
        Ok(Id(number.to_string()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Id, E> {
        Ok(Id(number.to_string()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Id, E> {
        let number = serde_json::Number::from_f64(number);
        let number = number.ok_or_else(|| E::custom("the id is no number"))?;
        Ok(Id(number.to_string()))
    }
}

impl Metadata {
    fn unsupported(&self) -> Option<&'static str> {
        (self.require_data_stream == Some(true)).then_some("require_data_stream")
    }
}

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CommandVisitor)
    }
}

struct CommandVisitor;

impl<'de> Visitor<'de> for CommandVisitor {
    type Value = Command;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one of index, create, update and delete")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Command, A::Error> {
        let none = || {
            A::Error::custom(
                "expected FIELD_NAME but found [END_OBJECT]: none of index, create, update and delete",
            )
        };
        let name = map.next_key::<String>()?.ok_or_else(none)?;
        let verb = Verb::of(&name).ok_or_else(|| {
            A::Error::custom(format!(
                "{name:?} is none of index, create, update and delete"
            ))
        })?;
        let metadata = map.next_value::<Option<Metadata>>()?.unwrap_or_default();
        // Elasticsearch ignores other keys, and some shippers put counters there.
        while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
            if Verb::of(&name).is_some() {
                return Err(A::Error::custom("two actions in one line"));
            }
        }
        Ok(Command { verb, metadata })
    }
}
