//! Templates: which of them apply to an index, and the config that they describe.

use std::collections::BTreeMap;

use canter_doc_mapper::IndexConfig;
use canter_names::matches_pattern;
use serde_json::{Map, Value, json};

use super::policy::{age_of_deletion, check_policy};
use crate::mappings::config::{IndexParts, config_with};
use crate::mappings::error::{MappingError, Result};
use crate::mappings::patterns::overlap;
use crate::mappings::settings::{self, Settings, flag};

/// Maximum length of a name or a pattern in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Kind of template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateKind {
    /// `_index_template`: lists the patterns of the indexes that it applies to.
    Index,
    /// `_component_template`: building block of index templates.
    Component,
    /// `_template`: the legacy form.
    Legacy,
    /// `_scripts`: the template of a search, or a script that changes documents.
    Search,
    /// `_ilm/policy`, which indexes name in their settings.
    Policy,
    /// `_ingest/pipeline`, which others check.
    Pipeline,
}

/// All templates, in their original form.
#[derive(Clone, Copy, Debug)]
pub struct TemplateSet<'t> {
    /// Templates of kind [`TemplateKind::Index`].
    pub index: &'t BTreeMap<String, Value>,
    /// Templates of kind [`TemplateKind::Component`].
    pub component: &'t BTreeMap<String, Value>,
    /// Templates of kind [`TemplateKind::Legacy`].
    pub legacy: &'t BTreeMap<String, Value>,
    /// Policies of kind [`TemplateKind::Policy`].
    pub policies: &'t BTreeMap<String, Value>,
}

/// Description of an index by its templates.
#[derive(Clone, Debug, PartialEq)]
pub struct Templated {
    parts: Vec<IndexParts>,
    /// Ages at which policies delete documents.
    ages: BTreeMap<String, String>,
    /// True if the index is a data stream.
    pub is_data_stream: bool,
    /// True if an incoming document may create the index.
    pub may_be_made_for_documents: bool,
}

impl Templated {
    /// Returns the parts of which it is composed.
    #[must_use]
    pub fn parts(&self) -> &[IndexParts] {
        &self.parts
    }

    /// Returns the config of an index of this name; `own` is the part that a request adds.
    ///
    /// # Errors
    /// As [`index_config`](super::super::index_config).
    pub fn index_config(&self, name: &str, own: Option<IndexParts>) -> Result<IndexConfig> {
        let mut parts = self.parts.clone();
        parts.extend(own);
        config_with(name, &parts, self.is_data_stream, &self.ages)
    }

    /// Returns settings, mappings and aliases as an index of this name would have them.
    ///
    /// # Errors
    /// As [`index_config`](super::super::index_config).
    pub fn shown(&self, name: &str) -> Result<Value> {
        let config = self.index_config(name, None)?;
        let mapping = config.doc_mapping.elasticsearch_mapping.as_deref();
        let mapping: Option<Value> = mapping.and_then(|json| serde_json::from_str(json).ok());
        let aliases = self.parts.iter().flat_map(IndexParts::aliases);
        let aliases: Map<String, Value> = aliases
            .map(|(name, options)| (name.clone(), options.clone()))
            .collect();
        let mut settings = Settings::new();
        for part in &self.parts {
            settings::add(&mut settings, part.settings())?;
        }
        Ok(json!({
            "settings": {"index": settings::shown(settings)}, "mappings": mapping.unwrap_or_else(|| json!({})),
            "aliases": aliases,
        }))
    }
}

impl<'t> TemplateSet<'t> {
    /// Returns the templates of an index of this name: only the index template with the highest
    /// priority or, if there is none, all legacy templates in their order.
    ///
    /// # Errors
    /// A template is invalid.
    pub fn of_index(&self, name: &str) -> Result<Option<Templated>> {
        if let Some((_, template)) = self.best(name)? {
            return self.templated(&template).map(Some);
        }
        let mut legacy = Vec::new();
        for (own, body) in self.legacy {
            let (patterns, order, parts) = read_legacy(own, body)?;
            if matches(&patterns, name) {
                legacy.push((order, parts));
            }
        }
        // The sort is stable: templates of equal order stay sorted by name.
        legacy.sort_by_key(|(order, _)| *order);
        let parts: Vec<IndexParts> = legacy.into_iter().map(|(_, parts)| parts).collect();
        Ok((!parts.is_empty()).then(|| Templated {
            parts,
            ages: self.ages(),
            is_data_stream: false,
            may_be_made_for_documents: true,
        }))
    }

    /// Returns the name of the index template that applies to an index of this name.
    ///
    /// # Errors
    /// A template is invalid.
    pub fn name_of(&self, name: &str) -> Result<Option<&'t str>> {
        Ok(self.best(name)?.map(|(own, _)| own))
    }

    /// Returns the matching index template with the highest priority, and its name.
    fn best(&self, name: &str) -> Result<Option<(&'t str, IndexTemplate<'t>)>> {
        let mut best: Option<(&str, IndexTemplate<'_>)> = None;
        for (own, body) in self.index {
            let template = IndexTemplate::read(own, body)?;
            let is_better = best
                .as_ref()
                .is_none_or(|(_, best)| template.priority > best.priority);
            if is_better && matches(&template.patterns, name) {
                best = Some((own, template));
            }
        }
        Ok(best)
    }

    /// Returns the templates, with their patterns, that match a name and do not apply to it.
    ///
    /// # Errors
    /// A template is invalid.
    pub fn overlapping(&self, name: &str) -> Result<Vec<(&str, Vec<&str>)>> {
        let mut all = Vec::new();
        for (own, body) in self.index {
            let template = IndexTemplate::read(own, body)?;
            if matches(&template.patterns, name) {
                all.push((template.priority, own.as_str(), template.patterns));
            }
        }
        let best = all.iter().map(|(priority, ..)| *priority).max();
        let applied = all
            .iter()
            .position(|(priority, ..)| Some(*priority) == best);
        if let Some(applied) = applied {
            all.remove(applied);
        } else {
            return Ok(Vec::new());
        }
        let mut others: Vec<_> = all
            .into_iter()
            .map(|(_, own, patterns)| (own, patterns))
            .collect();
        for (own, body) in self.legacy {
            let (patterns, ..) = read_legacy(own, body)?;
            if matches(&patterns, name) {
                others.push((own.as_str(), patterns));
            }
        }
        Ok(others)
    }

    /// Returns the index templates that are composed of this component.
    #[must_use]
    pub fn composed_of(&self, component: &str) -> Vec<&'t str> {
        let is_composed = |body: &Value| {
            let list = body.get("composed_of").and_then(Value::as_array);
            list.is_some_and(|names| names.iter().any(|name| name == component))
        };
        let users = self.index.iter().filter(|(_, body)| is_composed(body));
        users.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the ages at which policies delete documents.
    #[must_use]
    pub fn ages(&self) -> BTreeMap<String, String> {
        let ages = self.policies.iter();
        let ages =
            ages.filter_map(|(name, body)| Some((name.clone(), age_of_deletion(body)?.to_owned())));
        ages.collect()
    }

    fn templated(&self, template: &IndexTemplate<'_>) -> Result<Templated> {
        let mut parts = Vec::new();
        for name in &template.composed_of {
            match self.component.get(*name) {
                Some(body) => parts.push(read_component(name, body)?),
                None if template.may_lack.contains(name) => {}
                None => {
                    return Err(invalid(
                        template.name,
                        &format!(
                            "index template [{}] specifies component templates [{name}] that do not exist",
                            template.name
                        ),
                    ));
                }
            }
        }
        parts.push(template.own.clone());
        Ok(Templated {
            parts,
            ages: self.ages(),
            is_data_stream: template.is_data_stream,
            may_be_made_for_documents: template.may_be_made_for_documents,
        })
    }

    /// Returns another index template that could apply to the same index with the same priority.
    fn rival(&self, template: &IndexTemplate<'_>) -> Result<Option<&str>> {
        for (name, body) in self.index {
            if name == template.name {
                continue;
            }
            let other = IndexTemplate::read(name, body)?;
            let is_rival = other.priority == template.priority
                && template
                    .patterns
                    .iter()
                    .any(|own| other.patterns.iter().any(|theirs| overlap(own, theirs)));
            if is_rival {
                return Ok(Some(name.as_str()));
            }
        }
        Ok(None)
    }
}

/// Checks that an index can be created from this template, or that it is one of a search.
///
/// # Errors
/// The template is invalid.
pub fn check_template(
    kind: TemplateKind,
    name: &str,
    body: &Value,
    others: TemplateSet<'_>,
) -> Result<()> {
    check_name(name)?;
    match kind {
        TemplateKind::Search => check_search(body),
        TemplateKind::Policy => check_policy(name, body),
        TemplateKind::Pipeline => Ok(()),
        TemplateKind::Component => {
            let parts = read_component(name, body)?;
            // Composition cannot repair an invalid part. The timestamp field may be in another
            // part.
            config_with("component", &[parts], true, &others.ages()).map(drop)
        }
        TemplateKind::Legacy => {
            let (_, _, parts) = read_legacy(name, body)?;
            config_with("legacy", &[parts], false, &others.ages()).map(drop)
        }
        TemplateKind::Index => {
            let template = IndexTemplate::read(name, body)?;
            if let Some(rival) = others.rival(&template)? {
                return Err(MappingError::illegal(format!(
                    "index template [{name}] has index patterns {:?} matching patterns from existing template [{rival}] that \
                     has the same priority [{}]: use a different priority",
                    template.patterns, template.priority
                )));
            }
            let templated = others.templated(&template)?;
            templated.index_config("template", None).map(drop)
        }
    }
}

/// Checks a stored script. Others compile those that change documents.
fn check_search(body: &Value) -> Result<()> {
    let script = &body["script"];
    let source = &script["source"];
    let is_template = script["lang"] == "mustache";
    if !is_template && script["lang"] != "painless" {
        return Err(MappingError::illegal(format!(
            "[_scripts] takes scripts in [painless] and search templates in [mustache], and not the [lang] [{}]",
            script["lang"].as_str().unwrap_or_default()
        )));
    }
    match source.is_string() || is_template && source.is_object() {
        true => Ok(()),
        false => Err(MappingError::parse(
            "[script] lacks a [source], which is a text or an object",
        )),
    }
}

fn invalid(name: &str, cause: &str) -> MappingError {
    MappingError {
        kind: "invalid_index_template_exception",
        reason: format!("index_template [{name}] invalid, cause [{cause}]"),
    }
}

fn check_name(name: &str) -> Result<()> {
    let is_bad = |char: char| {
        char.is_whitespace()
            || char.is_control()
            || char.is_uppercase()
            || "*,#/\\?\"<>|".contains(char)
    };
    match name.is_empty()
        || name.len() > MAX_NAME_BYTES
        || name.starts_with('_')
        || name.contains(is_bad)
    {
        false => Ok(()),
        true => Err(invalid(
            name,
            "a name has no capitals, spaces, commas, slashes, [*], [#], and no [_] in front",
        )),
    }
}

fn matches(patterns: &[&str], name: &str) -> bool {
    patterns
        .iter()
        .any(|pattern| matches_pattern(pattern, name))
}

/// Parsed index template.
struct IndexTemplate<'t> {
    name: &'t str,
    patterns: Vec<&'t str>,
    composed_of: Vec<&'t str>,
    /// Components that may be missing.
    may_lack: Vec<&'t str>,
    priority: u64,
    own: IndexParts,
    is_data_stream: bool,
    may_be_made_for_documents: bool,
}

impl<'t> IndexTemplate<'t> {
    fn read(name: &'t str, body: &'t Value) -> Result<Self> {
        let mut template = Self {
            name,
            patterns: Vec::new(),
            composed_of: Vec::new(),
            may_lack: Vec::new(),
            priority: 0,
            own: IndexParts::default(),
            is_data_stream: false,
            may_be_made_for_documents: true,
        };
        for (key, value) in body_of(name, body)? {
            match key.as_str() {
                "index_patterns" => template.patterns = texts(value, key)?,
                "composed_of" => template.composed_of = texts(value, key)?,
                "ignore_missing_component_templates" => template.may_lack = texts(value, key)?,
                "priority" => template.priority = number(value, key)?,
                "template" => {
                    let what = format!("the index template [{name}]");
                    template.own = IndexParts::read(value, &what)?;
                }
                "data_stream" => template.is_data_stream = data_stream(value)?,
                "allow_auto_create" => {
                    template.may_be_made_for_documents = flag(Some(value), key)?;
                }
                "version" | "_meta" | "deprecated" => {}
                other => return Err(unknown(name, other)),
            }
        }
        check_patterns(name, &template.patterns)?;
        Ok(template)
    }
}

fn read_component(name: &str, body: &Value) -> Result<IndexParts> {
    let mut parts = IndexParts::default();
    for (key, value) in body_of(name, body)? {
        match key.as_str() {
            "template" => {
                parts = IndexParts::read(value, &format!("the component template [{name}]"))?;
            }
            "version" | "_meta" | "deprecated" => {}
            other => return Err(unknown(name, other)),
        }
    }
    Ok(parts)
}

/// Returns the patterns, the order and the contents of a legacy template.
fn read_legacy<'t>(name: &str, body: &'t Value) -> Result<(Vec<&'t str>, i64, IndexParts)> {
    let (mut patterns, mut order) = (Vec::new(), 0);
    let mut own = Map::new();
    for (key, value) in body_of(name, body)? {
        match key.as_str() {
            "index_patterns" => patterns = texts(value, key)?,
            "order" => {
                order = value.as_i64().ok_or_else(|| {
                    MappingError::parse(format!("[order] is a number, and not [{value}]"))
                })?;
            }
            "version" => {}
            "settings" | "mappings" | "aliases" => {
                own.insert(key.clone(), value.clone());
            }
            other => return Err(unknown(name, other)),
        }
    }
    check_patterns(name, &patterns)?;
    let parts = IndexParts::read(&own.into(), &format!("the template [{name}]"))?;
    Ok((patterns, order, parts))
}

fn body_of<'t>(name: &str, body: &'t Value) -> Result<&'t Map<String, Value>> {
    body.as_object()
        .ok_or_else(|| MappingError::parse(format!("the template [{name}] is no object")))
}

fn unknown(name: &str, key: &str) -> MappingError {
    MappingError::parse(format!(
        "unknown field [{key}] in the template [{name}]: it is not supported here"
    ))
}

fn check_patterns(name: &str, patterns: &[&str]) -> Result<()> {
    let is_bad = |pattern: &&&str| pattern.is_empty() || pattern.len() > MAX_NAME_BYTES;
    match patterns.iter().find(is_bad) {
        Some(pattern) => Err(invalid(
            name,
            &format!("[{pattern}] is no pattern of names"),
        )),
        None if patterns.is_empty() => Err(invalid(name, "[index_patterns] is missing")),
        None => Ok(()),
    }
}

/// Reads `data_stream`, an object of options.
fn data_stream(value: &Value) -> Result<bool> {
    let Some(options) = value.as_object() else {
        return match value {
            Value::Null => Ok(false),
            other => Err(MappingError::parse(format!(
                "[data_stream] is an object, and not [{other}]"
            ))),
        };
    };
    for (key, value) in options {
        match key.as_str() {
            "hidden" => {}
            "allow_custom_routing" if !flag(Some(value), key)? => {}
            other => {
                return Err(MappingError::parse(format!(
                    "[{other}] of [data_stream] is not supported here"
                )));
            }
        }
    }
    Ok(true)
}

/// Reads a text or a list of texts.
fn texts<'t>(value: &'t Value, key: &str) -> Result<Vec<&'t str>> {
    let wrong = || MappingError::parse(format!("[{key}] is a list of texts, and not [{value}]"));
    match value {
        Value::String(text) => Ok(vec![text.as_str()]),
        Value::Array(texts) => {
            let texts = texts.iter().map(Value::as_str);
            texts.collect::<Option<_>>().ok_or_else(wrong)
        }
        Value::Null => Ok(Vec::new()),
        _ => Err(wrong()),
    }
}

fn number(value: &Value, key: &str) -> Result<u64> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    };
    number.ok_or_else(|| MappingError::parse(format!("[{key}] is a number, and not [{value}]")))
}
