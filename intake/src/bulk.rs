//! The body of `_bulk`: lines of actions, each followed by a document.
//! <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk>

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// What is to be done with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Add it.
    Index,
    /// Add it; what already has its id would be an error.
    Create,
    /// Change a part of what has its id.
    Update,
    /// Delete what has its id.
    Delete,
}

impl Verb {
    fn of(name: &str) -> Option<Self> {
        let all = [Self::Index, Self::Create, Self::Update, Self::Delete];
        all.into_iter().find(|verb| verb.as_str() == name)
    }

    /// As in requests and answers.
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
    /// What to do.
    pub verb: Verb,
    /// With which index, if not with that of the path.
    pub index: Option<String>,
    /// The id that the sender gives.
    pub id: Option<String>,
    /// What else the action asks for that we do not do.
    pub unknown: Option<String>,
    /// The document, if there is one behind the action: a line, without its end.
    pub document: Option<&'b [u8]>,
}

/// A body that is none. Nothing of it is done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BulkError {
    /// It may have been cut short.
    #[error("the bulk request must end with a line feed [\\n]")]
    NotTerminated,
    /// There is nothing to do.
    #[error("the bulk request has no action")]
    Empty,
    /// An action that is none.
    #[error("line {line} is no action such as {{\"create\": {{}}}}: {message}")]
    Malformed {
        /// From 1.
        line: usize,
        /// Why.
        message: String,
    },
    /// The last action has no document.
    #[error("no document follows the action in line {line}")]
    NoDocument {
        /// From 1.
        line: usize,
    },
}

/// Takes a body apart. Documents are not looked into.
///
/// # Errors
/// If an action cannot be read: nobody can tell then which of the lines behind it are documents.
pub fn parse_bulk(body: &[u8]) -> Result<Vec<Action<'_>>, BulkError> {
    let Some(body) = body.strip_suffix(b"\n") else {
        return Err(match body.is_empty() {
            true => BulkError::Empty,
            false => BulkError::NotTerminated,
        });
    };
    let mut actions = Vec::new();
    let mut lines = (1..).zip(body.split(|byte| *byte == b'\n').map(without_return));
    while let Some((line, text)) = lines.next() {
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let command: Command = serde_json::from_slice(text).map_err(|error| {
            let message = error.to_string();
            BulkError::Malformed { line, message }
        })?;
        let Command { verb, metadata } = command;
        let document = match verb {
            Verb::Delete => None,
            _ => Some(lines.next().ok_or(BulkError::NoDocument { line })?.1),
        };
        let unknown = metadata.unsupported();
        actions.push(Action {
            verb,
            index: metadata.index,
            id: metadata.id.map(Id::into_text),
            unknown,
            document,
        });
    }
    match actions.is_empty() {
        true => Err(BulkError::Empty),
        false => Ok(actions),
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// `{"create": {"_index": "logs"}}`.
struct Command {
    verb: Verb,
    metadata: Metadata,
}

/// What stands beside a verb. Keys that ask for nothing that we do not do are taken; others are named to the sender.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    #[serde(rename = "_index")]
    index: Option<String>,
    #[serde(rename = "_id")]
    id: Option<Id>,
    /// All documents had the same one in the last version that had any.
    #[serde(rename = "_type")]
    _type: IgnoredAny,
    /// What is asked back, of an update only.
    #[serde(rename = "_source")]
    _source: IgnoredAny,
    retry_on_conflict: IgnoredAny,
    require_alias: Option<bool>,
    require_data_stream: Option<bool>,
    list_executed_pipelines: IgnoredAny,
    dynamic_templates: IgnoredAny,
    pipeline: Option<String>,
    #[serde(alias = "_routing")]
    routing: Option<String>,
    #[serde(alias = "_version")]
    version: Option<IgnoredAny>,
    #[serde(alias = "_version_type")]
    version_type: Option<IgnoredAny>,
    if_seq_no: Option<IgnoredAny>,
    if_primary_term: Option<IgnoredAny>,
}

/// An id, which some write as a number.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(serde_json::Number),
}

impl Id {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

impl Metadata {
    fn unsupported(&self) -> Option<String> {
        let is_pipeline = |pipeline: &String| !pipeline.is_empty() && pipeline != "_none";
        let found = [
            ("pipeline", self.pipeline.as_ref().is_some_and(is_pipeline)),
            ("routing", self.routing.is_some()),
            ("version", self.version.is_some()),
            ("version_type", self.version_type.is_some()),
            ("if_seq_no", self.if_seq_no.is_some()),
            ("if_primary_term", self.if_primary_term.is_some()),
            ("require_alias", self.require_alias == Some(true)),
            (
                "require_data_stream",
                self.require_data_stream == Some(true),
            ),
        ];
        let named = found.into_iter().find(|(_, is_asked)| *is_asked);
        named.map(|(name, _)| name.to_owned())
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
        let none = || A::Error::custom("none of index, create, update and delete");
        let name = map.next_key::<String>()?.ok_or_else(none)?;
        let verb = Verb::of(&name).ok_or_else(|| {
            A::Error::custom(format!(
                "{name:?} is none of index, create, update and delete"
            ))
        })?;
        let metadata = map.next_value::<Option<Metadata>>()?.unwrap_or_default();
        // Elasticsearch takes no notice of other keys, and a shipper leaves what it counts there.
        while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
            if Verb::of(&name).is_some() {
                return Err(A::Error::custom("two actions in one line"));
            }
        }
        Ok(Command { verb, metadata })
    }
}
