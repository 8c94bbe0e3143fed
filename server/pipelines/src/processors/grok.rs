//! `grok`: fields that patterns find in a text.

use super::values::text_at;
use crate::document::{Document, Path};
use crate::engine::{Flow, Process, Run};
use crate::error::{ConfigError, Failure};
use crate::grok::Grok;
use crate::options::Options;

#[derive(Debug)]
struct GrokProcess {
    field: Path,
    grok: Grok,
    ignores_missing: bool,
    traces: bool,
}

pub(super) fn grok(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
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
