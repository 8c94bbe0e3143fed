//! Processors: what a pipeline is made of.

mod control;
mod convert;
mod dates;
mod dissect;
mod fields;
mod parts;
mod texts;

pub(crate) use convert::shortest;

use std::fmt::Debug;

use crate::document::{Document, Path};
use crate::error::{ConfigError, Failure};
use crate::grok::Grok;
use crate::options::Options;
use crate::run::{Flow, Run};

/// A processor.
pub(crate) trait Process: Debug + Send + Sync {
    /// Changes a document.
    ///
    /// # Errors
    /// The document does not have what the processor needs.
    fn run(&self, document: &mut Document, run: &mut Run<'_>) -> Result<Flow, Failure>;
}

/// Processors that need data or services that are not here, and what to do instead.
const REFUSED: [(&str, &str); 14] = [
    ("attachment", "extract the text before documents are sent"),
    ("circle", "there are points only"),
    ("community_id", "compute it before documents are sent"),
    (
        "enrich",
        "there is no enriching: join documents before they are sent",
    ),
    (
        "fingerprint",
        "send a hash of your own, or let the index choose ids",
    ),
    ("geo_grid", "there are points only"),
    (
        "geoip",
        "there is no database of places: look addresses up before documents are sent",
    ),
    ("inference", "there are no models"),
    (
        "ip_location",
        "there is no database of places: look addresses up before documents are sent",
    ),
    ("network_direction", "compute it before documents are sent"),
    ("redact", "use grok and gsub"),
    ("registered_domain", "compute it before documents are sent"),
    ("set_security_user", "documents do not say who sent them"),
    (
        "user_agent",
        "there is no database of browsers: parse the text before documents are sent",
    ),
];

/// Reads the options of a processor.
pub(super) fn process_of(
    options: &mut Options,
    place: (usize, &mut usize),
) -> Result<Box<dyn Process>, ConfigError> {
    let kind = options.processor.clone();
    let read = match kind.as_str() {
        "append" => fields::append(options),
        "bytes" | "html_strip" | "lowercase" | "trim" | "uppercase" | "urldecode" => {
            texts::of_each(options)
        }
        "convert" => convert::convert(options),
        "csv" => parts::csv(options),
        "date" => dates::date(options),
        "date_index_name" => dates::index_name(options),
        "dissect" => dissect::dissect(options),
        "dot_expander" => fields::expand(options),
        "drop" => Ok(Box::new(control::Ends(Flow::Drop)) as Box<dyn Process>),
        "fail" => control::fail(options),
        "foreach" => control::foreach(options, place),
        "grok" => grok(options),
        "gsub" => texts::gsub(options),
        "join" => texts::join(options),
        "json" => parts::json(options),
        "kv" => parts::kv(options),
        "pipeline" => control::pipeline(options),
        "remove" => fields::remove(options),
        "rename" => fields::rename(options),
        "script" => control::script(options),
        "set" => fields::set(options),
        "sort" => texts::sort(options),
        "split" => texts::split(options),
        "terminate" => Ok(Box::new(control::Ends(Flow::End)) as Box<dyn Process>),
        other => {
            let refused = REFUSED.iter().find(|(name, _)| *name == other);
            let reason = match refused {
                Some((_, instead)) => {
                    format!("the processor [{other}] is not supported here: {instead}")
                }
                None => format!("No processor type exists with name [{other}]"),
            };
            return Err(ConfigError::parsing(reason).of(other));
        }
    };
    read.map_err(|error| error.of(&kind))
}

/// Returns the text of a field, or `None` if it is absent and may be.
///
/// # Errors
/// It is absent, or no text.
pub(super) fn text_at(
    document: &Document,
    path: &Path,
    ignores_missing: bool,
) -> Result<Option<String>, Failure> {
    use serde_json::Value;
    let value = match document.get(path) {
        Err(_) if ignores_missing => return Ok(None),
        value => value?,
    };
    match value {
        Value::String(text) => Ok(Some(text)),
        Value::Null if ignores_missing => Ok(None),
        Value::Null => Err(Failure::illegal(format!(
            "field [{}] is null, cannot process it.",
            path.text
        ))),
        other => Err(Failure::illegal(format!(
            "field [{}] of type [{}] cannot be cast to [java.lang.String]",
            path.text,
            crate::document::class_of(&other)
        ))),
    }
}

#[derive(Debug)]
struct GrokProcess {
    field: Path,
    grok: Grok,
    ignores_missing: bool,
    traces: bool,
}

fn grok(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_path("field")?;
    let patterns = options.list("patterns")?.unwrap_or_default();
    if patterns.is_empty() {
        return Err(options.wrong("patterns", "List of patterns must not be empty"));
    }
    options.only("ecs_compatibility", &["disabled".into()])?;
    let own = options.object("pattern_definitions")?.unwrap_or_default();
    let grok =
        Grok::compile(&patterns, &own).map_err(|reason| options.wrong("patterns", &reason))?;
    Ok(Box::new(GrokProcess {
        field,
        grok,
        ignores_missing: options.flag("ignore_missing", false)?,
        traces: options.flag("trace_match", false)?,
    }))
}

impl Process for GrokProcess {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let Some(text) = text_at(document, &self.field, self.ignores_missing)? else {
            return Ok(Flow::Next);
        };
        let Some((place, found)) = self.grok.captured(&text)? else {
            return Err(Failure::illegal(format!(
                "Provided Grok expressions do not match field value: [{text}]"
            )));
        };
        for (name, value) in found {
            document.set(&Path::of(&name)?, value)?;
        }
        if self.traces {
            let path = Path::of("_ingest._grok_match_index")?;
            document.set(&path, place.to_string().into())?;
        }
        Ok(Flow::Next)
    }
}
