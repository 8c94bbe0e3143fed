//! Kinds of processors, by name.

use super::control::Nested;
use super::{control, convert, dates, dissect, fields, grok, parts, texts};
use crate::engine::{Flow, Process};
use crate::error::ConfigError;
use crate::options::Options;

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
pub(crate) fn process_of(
    options: &mut Options,
    nested: &mut Nested<'_>,
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
        "foreach" => control::foreach(options, nested),
        "grok" => grok::grok(options),
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
