//! `dynamic_templates`: which of them a field meets first, and what it makes of that field.

use canter_names::matches_pattern;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};

use super::strings::Strings;
use crate::mappings::error::{MappingError, Result};
use crate::mappings::options::{Options, object};

/// Maximum memory of a compiled pattern in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 18;

/// Parameters of a template's mapping without which a field is indexed as one that no mapping names.
const WITHOUT_EFFECT: [&str; 6] = [
    "type",
    "ignore_above",
    "norms",
    "meta",
    "eager_global_ordinals",
    "store",
];

/// The templates of a mapping, in order.
#[derive(Clone, Debug, Default)]
pub(in crate::mappings) struct Templates {
    list: Vec<Template>,
}

#[derive(Clone, Debug)]
struct Template {
    name: String,
    /// Types of values; any if there are none.
    kinds: Vec<String>,
    other_kinds: Vec<String>,
    /// Patterns of names and of paths.
    names: Vec<Pattern>,
    other_names: Vec<Pattern>,
    paths: Vec<Pattern>,
    other_paths: Vec<Pattern>,
    mapping: Map<String, Value>,
}

#[derive(Clone, Debug)]
enum Pattern {
    Simple(String),
    Regex(Regex),
}

impl Pattern {
    fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Simple(pattern) => matches_pattern(pattern, text),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

impl Templates {
    /// Reads `dynamic_templates`.
    pub(in crate::mappings) fn read(given: Option<&Value>) -> Result<Self> {
        let given = match given {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::Array(given)) => given,
            Some(other) => {
                return Err(MappingError::mapper(format!(
                    "[dynamic_templates] is a list, and not [{other}]"
                )));
            }
        };
        let mut list = Vec::new();
        for entry in given {
            for (name, body) in object(entry, "an entry of [dynamic_templates]")? {
                let body = object(body, &format!("[dynamic_templates] [{name}]"))?;
                list.push(Template::read(name, body)?);
            }
        }
        Ok(Self { list })
    }

    /// Returns how all texts are indexed that no template maps otherwise.
    pub(in crate::mappings) fn strings(&self) -> Strings {
        let mut of_all = self.list.iter().filter(|template| template.is_for_all());
        let first = of_all.find(|template| template.is_for("string"));
        let is_whole = first.is_some_and(|first| first.is_plain("string", Strings::Whole));
        match is_whole {
            true => Strings::Whole,
            false => Strings::Words,
        }
    }

    /// Returns whether a template maps fields otherwise than all that are not mapped.
    pub(in crate::mappings) fn map_some(&self, strings: Strings) -> bool {
        const KINDS: [&str; 6] = ["string", "long", "double", "boolean", "date", "object"];
        self.list.iter().any(|template| {
            let kinds = KINDS.iter().filter(|kind| template.is_for(kind));
            let mut kinds = kinds.filter(|kind| !template.is_plain(kind, strings));
            kinds.next().is_some()
        })
    }

    /// Returns a mapping of each template whose type is known, by which its parameters are checked.
    pub(in crate::mappings) fn examples(&self) -> Vec<(String, Value)> {
        let all = self.list.iter().map(|template| {
            let kind = template.kinds.first().map_or("string", String::as_str);
            (template.name.clone(), template.mapping_of("field", kind))
        });
        all.collect()
    }

    /// Returns the mapping of a field with values of a kind, by the first template that it meets: `None` if it meets none,
    /// `Some(None)` if it is indexed as one that no mapping names.
    pub(super) fn mapping_of(
        &self,
        path: &str,
        kind: &str,
        strings: Strings,
    ) -> Option<Option<Value>> {
        let name = path.rsplit('.').next().unwrap_or(path);
        let mut met = self
            .list
            .iter()
            .filter(|template| template.is_for(kind) && template.is_met(name, path));
        let first = met.next()?;
        let is_plain = first.is_plain(kind, strings);
        Some((!is_plain).then(|| first.mapping_of(name, kind)))
    }
}

impl Template {
    fn read(name: &str, body: &Map<String, Value>) -> Result<Self> {
        let mut options = Options::of(body, name, "dynamic_templates");
        let is_regex = match options.text("match_pattern")?.as_deref() {
            None | Some("simple") => false,
            Some("regex") => true,
            Some(other) => {
                let problem = format!("is simple or regex, and not [{other}]");
                return Err(options.wrong("match_pattern", &problem));
            }
        };
        let mut patterns = |key: &str| -> Result<Vec<Pattern>> {
            let given = texts(options.take(key), name, key)?;
            given
                .iter()
                .map(|text| pattern(text, is_regex, name, key))
                .collect()
        };
        let (names, other_names) = (patterns("match")?, patterns("unmatch")?);
        let (paths, other_paths) = (patterns("path_match")?, patterns("path_unmatch")?);
        let mut kinds = texts(
            options.take("match_mapping_type"),
            name,
            "match_mapping_type",
        )?;
        if kinds.iter().any(|kind| kind == "*") {
            kinds.clear();
        }
        let other_kinds = options.take("unmatch_mapping_type");
        let other_kinds = texts(other_kinds, name, "unmatch_mapping_type")?;
        let mapping = options.take("mapping");
        if options.has("runtime") {
            return Err(options.wrong(
                "runtime",
                "is not supported: there are no runtime fields; use [mapping]",
            ));
        }
        options.finish()?;
        let mapping = match &mapping {
            None | Some(Value::Null) => Map::new(),
            Some(mapping) => object(
                mapping,
                &format!("[mapping] of [dynamic_templates] [{name}]"),
            )?
            .clone(),
        };
        Ok(Self {
            name: name.to_owned(),
            kinds,
            other_kinds,
            names,
            other_names,
            paths,
            other_paths,
            mapping,
        })
    }

    fn is_for(&self, kind: &str) -> bool {
        let is_among = |kinds: &[String]| kinds.iter().any(|own| own == kind);
        // An object is mapped by a template that asks for objects, or for paths.
        let asks_for_objects = || is_among(&self.kinds) || !self.mapping_is_of_values();
        (self.kinds.is_empty() || is_among(&self.kinds))
            && !is_among(&self.other_kinds)
            && (kind != "object" || asks_for_objects())
    }

    /// Returns whether its mapping is one of values, which no object can have.
    fn mapping_is_of_values(&self) -> bool {
        let kind = self.mapping.get("type").and_then(Value::as_str);
        !matches!(
            kind,
            Some("object" | "nested" | "flattened" | "flat_object")
        )
    }

    /// Returns whether it has no conditions on names.
    fn is_for_all(&self) -> bool {
        let is_any = |pattern: &Pattern| match pattern {
            Pattern::Simple(pattern) => pattern == "*",
            Pattern::Regex(regex) => regex.as_str() == "^(?:.*)$",
        };
        let conditions = self.names.iter().chain(&self.paths);
        let mut conditions = conditions.filter(|pattern| !is_any(pattern));
        conditions.next().is_none() && self.other_names.is_empty() && self.other_paths.is_empty()
    }

    fn is_met(&self, name: &str, path: &str) -> bool {
        let any = |patterns: &[Pattern], text: &str| patterns.iter().any(|own| own.is_match(text));
        (self.names.is_empty() || any(&self.names, name))
            && (self.paths.is_empty() || any(&self.paths, path))
            && !any(&self.other_names, name)
            && !any(&self.other_paths, path)
    }

    /// Returns whether values of a kind are indexed as if no mapping named them.
    fn is_plain(&self, kind: &str, strings: Strings) -> bool {
        let own = self.mapping.get("type").and_then(Value::as_str);
        let own = own.unwrap_or("{dynamic_type}");
        let is_usual = match (kind, own) {
            ("string", "keyword" | "wildcard") => strings == Strings::Whole,
            ("string", "text" | "match_only_text") => strings == Strings::Words,
            ("string", "{dynamic_type}") => strings == Strings::Words,
            ("double", "float") => true,
            (kind, own) => own == kind || own == "{dynamic_type}",
        };
        let has_effect = |(key, value): (&String, &Value)| match key.as_str() {
            "index" | "doc_values" => value != true && value != "true",
            // That is what each unmapped text has.
            "fields" => {
                let names = value
                    .as_object()
                    .map(|fields| fields.keys().collect::<Vec<_>>());
                let is_usual = names.is_some_and(|names| names == ["keyword"])
                    && value["keyword"]["type"] == "keyword";
                strings != Strings::Words || kind != "string" || !is_usual
            }
            key => !WITHOUT_EFFECT.contains(&key),
        };
        is_usual && !self.mapping.iter().any(has_effect)
    }

    /// Returns the mapping that it makes of a field.
    fn mapping_of(&self, name: &str, kind: &str) -> Value {
        let usual = match kind {
            "string" => "text",
            "double" => "float",
            kind => kind,
        };
        let mut mapping = filled(&Value::Object(self.mapping.clone()), name, usual);
        if mapping.get("type").is_none() {
            mapping["type"] = json!(usual);
        }
        mapping
    }
}

/// Replaces `{name}` and `{dynamic_type}`.
fn filled(mapping: &Value, name: &str, kind: &str) -> Value {
    match mapping {
        Value::String(text) => {
            let text = text.replace("{name}", name);
            text.replace("{dynamic_type}", kind)
                .replace("{dynamicType}", kind)
                .into()
        }
        Value::Array(list) => list.iter().map(|one| filled(one, name, kind)).collect(),
        Value::Object(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| (key.replace("{name}", name), filled(value, name, kind)));
            Value::Object(entries.collect())
        }
        other => other.clone(),
    }
}

fn texts(given: Option<Value>, name: &str, key: &str) -> Result<Vec<String>> {
    let wrong = |given: &Value| {
        MappingError::mapper(format!(
            "[{key}] of [dynamic_templates] [{name}] is a text or a list of texts, and not [{given}]"
        ))
    };
    match given {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text]),
        Some(Value::Array(list)) => {
            let texts = list.iter().map(|one| one.as_str().map(str::to_owned));
            let texts: Option<Vec<String>> = texts.collect();
            texts.ok_or_else(|| wrong(&list.into()))
        }
        Some(other) => Err(wrong(&other)),
    }
}

fn pattern(text: &str, is_regex: bool, name: &str, key: &str) -> Result<Pattern> {
    if !is_regex {
        return Ok(Pattern::Simple(text.to_owned()));
    }
    let regex = RegexBuilder::new(&format!("^(?:{text})$"))
        .size_limit(MAX_COMPILED_BYTES)
        .build();
    regex.map(Pattern::Regex).map_err(|_| {
        MappingError::mapper(format!(
            "[{key}] of [dynamic_templates] [{name}] is no regular expression that can be used here: [{text}]"
        ))
    })
}
