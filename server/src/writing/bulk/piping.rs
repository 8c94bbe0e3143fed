//! Pipelines that documents pass before they are added: which of them, and what becomes of an action.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use canter_index_builder::{IndexSettings, check_id, unix_time_ms};
use canter_intake::{Action, Condition, Verb};
use canter_pipelines::{Document, Failure, Metadata, Outcome};
use serde_json::{Map, Value};

use crate::indexes::{Kept, Root, utc_of};
use crate::requests::{ChangeRequest, Problem};

/// Maximum size of the documents of a request behind their pipelines, as a multiple of its body, and in bytes besides.
const MAX_TIMES: usize = 4;
const MAX_MORE_BYTES: usize = 16 << 20;

/// Name that stands for no pipeline.
const NONE: &str = "_none";

/// The pipelines of a request.
pub(in crate::writing) struct Piping<'r> {
    root: &'r Arc<Root>,
    kept: Arc<Kept>,
    now_ms: u64,
    timestamp: String,
    /// Bytes that documents may still have.
    left: usize,
    /// What the settings of indexes say, by name.
    of_indexes: HashMap<String, IndexSettings>,
}

/// An action on its way into an index.
pub(in crate::writing) struct Piped<'b> {
    pub(in crate::writing) meta: Metadata,
    pub(in crate::writing) document: Cow<'b, [u8]>,
}

/// An action behind its pipelines.
pub(super) struct Taken<'b> {
    pub(super) verb: Verb,
    pub(super) index: String,
    pub(super) id: Option<Box<str>>,
    pub(super) routing: Option<Box<str>>,
    pub(super) source: Option<Box<str>>,
    pub(super) body: Result<Passed<'b>, Problem>,
}

impl Taken<'_> {
    /// Returns the condition of the action, which a pipeline may have given an id.
    pub(super) fn condition(&self, of_action: Option<Condition>) -> Option<Condition> {
        let is_new = self.verb == Verb::Create && self.id.is_some();
        of_action.or(is_new.then_some(Condition::Absent))
    }
}

/// What became of the document of an action.
pub(super) enum Passed<'b> {
    /// The document, or the change of one; a deletion has none.
    Body(Option<Cow<'b, [u8]>>),
    /// It is not to be added.
    Dropped,
}

/// Lets the document of an action for an index pass its pipelines; `asked` is that of actions that name none. `target` returns
/// the index that a pipeline means by a name.
pub(super) fn through<'b>(
    target: &dyn Fn(&str) -> Result<String, Problem>,
    piping: Option<&mut Piping<'_>>,
    asked: Option<&str>,
    action: Action<'b>,
    index: String,
) -> Taken<'b> {
    let boxed = |text: Option<String>| text.map(String::into_boxed_str);
    let asked = action.pipeline.as_deref().or(asked);
    let mut meta = Metadata {
        index,
        id: action.id,
        routing: action.routing,
    };
    let body = match (piping, action.document) {
        (Some(piping), Some(document)) => {
            let passed = piping.passed(asked, (action.verb, meta.clone()), document);
            passed.and_then(|passed| {
                let Some(passed) = passed else {
                    return Ok(Passed::Dropped);
                };
                if passed.meta.index != meta.index {
                    meta.index = target(&passed.meta.index)?;
                }
                (meta.id, meta.routing) = (passed.meta.id, passed.meta.routing);
                Ok(Passed::Body(Some(passed.document)))
            })
        }
        (None, Some(_)) if asked.is_some_and(|asked| !asked.is_empty() && asked != NONE) => {
            Err(absent(asked.unwrap_or_default()))
        }
        (_, document) => Ok(Passed::Body(document.map(Cow::Borrowed))),
    };
    Taken {
        verb: action.verb,
        index: meta.index,
        id: boxed(meta.id),
        routing: boxed(meta.routing),
        source: boxed(action.source),
        body,
    }
}

impl<'r> Piping<'r> {
    /// Returns the pipelines that documents of a request of this size in bytes may have to pass; `None` if there are none.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub(in crate::writing) async fn of(
        request: &ChangeRequest<'r>,
        asked: Option<&str>,
        num_bytes: usize,
    ) -> Result<Option<Self>, Problem> {
        let asked = asked.filter(|asked| !asked.is_empty() && *asked != NONE);
        let Some(root) = request.root else {
            return asked.map_or(Ok(None), |asked| Err(absent(asked)));
        };
        let kept = root.kept().await?;
        let is_named = || root.names_pipelines();
        if asked.is_none() && kept.pipelines.is_empty() && !is_named() {
            return Ok(None);
        }
        let now_ms = unix_time_ms();
        let mut piping = Self {
            root,
            kept,
            now_ms,
            timestamp: utc_of(now_ms),
            left: 0,
            of_indexes: HashMap::new(),
        };
        piping.begin(num_bytes);
        Ok(Some(piping))
    }

    /// Begins a request, or a page of documents, of this size in bytes.
    pub(in crate::writing) fn begin(&mut self, num_bytes: usize) {
        self.left = num_bytes
            .saturating_mul(MAX_TIMES)
            .saturating_add(MAX_MORE_BYTES);
    }

    /// Returns the setting of an index that exists, or that would be made.
    fn setting(&mut self, index: &str, name: &str) -> Result<Option<String>, Problem> {
        if !self.of_indexes.contains_key(index) {
            let settings = match self.root.entry(index) {
                Some(entry) => entry.settings,
                None if self.root.has(index) => IndexSettings::new(),
                None => self.kept.settings_of(index)?,
            };
            self.of_indexes.insert(index.to_owned(), settings);
        }
        let settings = self.of_indexes.get(index);
        let value = settings.and_then(|settings| settings.get(name)?.as_str());
        Ok(value.filter(|value| *value != NONE).map(str::to_owned))
    }

    /// Lets a document pass its pipelines: that which is `asked` for or else that of the index, and then the index's last
    /// one. Returns `None` if it is dropped.
    ///
    /// # Errors
    /// The document fails.
    pub(in crate::writing) fn passed<'b>(
        &mut self,
        asked: Option<&str>,
        (verb, meta): (Verb, Metadata),
        body: &'b [u8],
    ) -> Result<Option<Piped<'b>>, Problem> {
        let as_it_is = |meta| Piped {
            meta,
            document: Cow::Borrowed(body),
        };
        let first = match asked.filter(|asked| !asked.is_empty()) {
            Some(NONE) => None,
            Some(asked) => Some(asked.to_owned()),
            None => self.setting(&meta.index, "default_pipeline")?,
        };
        if first.is_none() && self.setting(&meta.index, "final_pipeline")?.is_none() {
            return Ok(Some(as_it_is(meta)));
        }
        let mut whole: Map<String, Value> = serde_json::from_slice(body).map_err(|error| {
            Problem::invalid(
                "document_parsing_exception",
                format!("failed to parse: {error}"),
            )
        })?;
        let place = match verb {
            Verb::Update => match place_of_upsert(&whole) {
                Some(place) => Some(place),
                None => return Ok(Some(as_it_is(meta))),
            },
            _ => None,
        };
        let source = match place {
            None => std::mem::take(&mut whole),
            Some(place) => match whole.remove(place) {
                Some(Value::Object(source)) => source,
                _ => return Ok(Some(as_it_is(meta))),
            },
        };
        let before = (meta.index.clone(), meta.id.clone());
        let mut document = Document::new(source, meta, &self.timestamp);
        if self.run(first, &mut document)? == Outcome::Dropped {
            return Ok(None);
        }
        let meta = document.meta;
        if let Some(id) = &meta.id {
            check_id(id).map_err(Problem::illegal)?;
        }
        let source = match place {
            None => document.source,
            Some(_) if (&meta.index, &meta.id) != (&before.0, &before.1) => {
                return Err(Problem::illegal(
                    "a pipeline cannot give an update another index or id",
                ));
            }
            Some(place) => {
                whole.insert(place.to_owned(), document.source.into());
                whole
            }
        };
        self.written(meta, source).map(Some)
    }

    /// Writes a document behind its pipelines.
    ///
    /// # Errors
    /// The documents of the request have grown too much.
    fn written<'b>(
        &mut self,
        meta: Metadata,
        source: Map<String, Value>,
    ) -> Result<Piped<'b>, Problem> {
        let document = Value::Object(source).to_string().into_bytes();
        let left = self.left.checked_sub(document.len());
        self.left = left.ok_or_else(|| {
            Problem::illegal(
                "the pipelines make too much of the documents of a request: send fewer at once",
            )
        })?;
        Ok(Piped {
            meta,
            document: Cow::Owned(document),
        })
    }

    /// Runs the first pipeline, and the last one of the index that the document goes into then.
    fn run(&mut self, first: Option<String>, document: &mut Document) -> Result<Outcome, Problem> {
        let now_ms = i64::try_from(self.now_ms).unwrap_or(i64::MAX);
        if let Some(first) = first {
            self.check(&first)?;
            let ran = self.kept.pipelines.run(&first, document, now_ms);
            if ran.map_err(|failure| refused(&failure))? == Outcome::Dropped {
                return Ok(Outcome::Dropped);
            }
        }
        let index = document.meta.index.clone();
        let Some(last) = self.setting(&index, "final_pipeline")? else {
            return Ok(Outcome::Passed);
        };
        self.check(&last)?;
        let ran = self.kept.pipelines.run(&last, document, now_ms);
        let outcome = ran.map_err(|failure| refused(&failure))?;
        match document.meta.index == index {
            true => Ok(outcome),
            false => Err(Problem::illegal(format!(
                "final pipeline [{last}] can't change the target index (from [{index}] to [{}])",
                document.meta.index
            ))),
        }
    }

    fn check(&self, name: &str) -> Result<(), Problem> {
        match self.kept.pipelines.has(name) {
            true => Ok(()),
            false => Err(absent(name)),
        }
    }
}

/// Returns the error of a pipeline that does not exist.
pub(in crate::writing) fn absent(name: &str) -> Problem {
    Problem::illegal(format!("pipeline with id [{name}] does not exist"))
}

/// Returns the part of an update that is a document of its own.
fn place_of_upsert(update: &Map<String, Value>) -> Option<&'static str> {
    match update.get("doc_as_upsert") {
        Some(Value::Bool(true)) => Some("doc"),
        _ if update.contains_key("upsert") => Some("upsert"),
        _ => None,
    }
}

/// Returns the error of a document that a pipeline refuses.
fn refused(failure: &Failure) -> Problem {
    let detail = failure.cause.as_deref();
    Problem {
        detail: detail.map(|cause| Box::new(serde_json::json!({"caused_by": cause}))),
        ..Problem::invalid(failure.kind, failure.reason.clone())
    }
}
