//! `properties` → `field_mappings`: objects and their substitutes.

use serde_json::{Map, Value, json};

use crate::mappings::error::{MappingError, Result};
use crate::mappings::fields::aliases;
use crate::mappings::fields::analysis::Analysis;
use crate::mappings::fields::copies::Copies;
use crate::mappings::fields::dynamic::{Dynamic, Strings, Templates};
use crate::mappings::fields::field::leaf;
use crate::mappings::fields::vectors::check_without_dims;
use crate::mappings::merge::expanded;
use crate::mappings::options::{Options, object};

/// State shared by all fields of a mapping.
pub(in crate::mappings) struct Fields {
    /// Handling of unmapped fields.
    pub(in crate::mappings) dynamic: Dynamic,
    /// Path of the timestamp field.
    pub(in crate::mappings) timestamp: Option<String>,
    /// Paths of texts that are indexed by words.
    pub(in crate::mappings) words: Vec<String>,
    /// Fields whose values others receive.
    pub(in crate::mappings) copies: Copies,
    /// Analyzers that fields may name.
    pub(in crate::mappings) analysis: Analysis,
}

/// Types of shapes, for which there are no queries.
const SHAPES: [&str; 3] = ["geo_shape", "point", "shape"];

impl Fields {
    /// Reads the fields of the object at `path`.
    pub(in crate::mappings) fn read(
        &mut self,
        properties: &Map<String, Value>,
        path: &str,
    ) -> Result<Vec<Value>> {
        let mut fields = Vec::new();
        for (name, definition) in &expanded(properties)? {
            let path = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            let what = format!("the mapping of field [{path}]");
            let definition = object(definition, &what)?;
            fields.extend(self.field(name, &path, definition)?);
        }
        Ok(fields)
    }

    /// Checks that fields can be mapped as templates say.
    pub(in crate::mappings) fn check_templates(&mut self, templates: &Templates) -> Result<()> {
        for (name, mapping) in templates.examples() {
            if mapping.get("copy_to").is_some() {
                return Err(MappingError::mapper(format!(
                    "[dynamic_templates] [{name}]: [copy_to] is not supported here, since a field cannot receive others later: \
                     map the fields under [properties], or search several fields"
                )));
            }
            // What no document has is not looked for.
            let before = (self.words.clone(), self.copies.clone());
            let read = self.read(&Map::from_iter([("field".to_owned(), mapping)]), "");
            (self.words, self.copies) = before;
            read.map_err(|error| MappingError {
                reason: format!("[dynamic_templates] [{name}]: {}", error.reason),
                ..error
            })?;
        }
        Ok(())
    }

    /// Reads one field; returns `None` if it is indexed like an unmapped one.
    fn field(
        &mut self,
        name: &str,
        path: &str,
        definition: &Map<String, Value>,
    ) -> Result<Option<Value>> {
        let kind = match definition.get("type") {
            None => "object",
            Some(Value::String(kind)) => kind.as_str(),
            Some(other) => {
                return Err(MappingError::mapper(format!(
                    "[type] of field [{path}] is a text, and not [{other}]"
                )));
            }
        };
        let options = Options::of(definition, path, kind);
        match kind {
            "object" => self.object(name, path, options),
            "alias" => aliases::read(path, options).map(|()| None),
            "nested" => self.nested(name, path, options).map(Some),
            // OpenSearch's name.
            "flattened" | "flat_object" => flattened(name, options).map(Some),
            kind if SHAPES.contains(&kind) => Err(MappingError::mapper(format!(
                "No handler for type [{kind}] declared on field [{path}]: there are no queries for shapes here; map \
                 points as [geo_point], or keep the values in an object with [enabled: false]"
            ))),
            // The first document says how many there are.
            "dense_vector" if !options.has("dims") => {
                check_without_dims(definition, path).map(|()| None)
            }
            kind => leaf(self, name, path, kind, options).map(Some),
        }
    }

    fn object(&mut self, name: &str, path: &str, mut options: Options) -> Result<Option<Value>> {
        let properties = options.take("properties");
        let dynamic = Dynamic::take(&mut options)?;
        let is_enabled = options.flag("enabled", true)?;
        options.only("subobjects", true, "names with dots are objects in objects")?;
        if !is_enabled {
            options.finish()?;
            return Ok(Some(kept_only(name)));
        }
        let properties = match &properties {
            None | Some(Value::Null) => Map::new(),
            Some(value) => object(value, &format!("[properties] of field [{path}]"))?.clone(),
        };
        let own = dynamic.unwrap_or(self.dynamic);
        if properties.is_empty() {
            options.finish()?;
            return match own {
                // It is treated as one more unmapped object.
                Dynamic::Indexed if self.dynamic == Dynamic::Indexed => Ok(None),
                Dynamic::Indexed => Ok(Some(any_object(name, Strings::Words, &self.analysis))),
                Dynamic::Kept => Ok(Some(kept_only(name))),
                Dynamic::Refused => Err(MappingError::mapper(format!(
                    "the object [{path}] has no [properties] and takes no others ([dynamic: strict]): leave it out"
                ))),
            };
        }
        options.finish()?;
        let fields = self.read(&properties, path)?;
        let is_empty = fields.is_empty();
        Ok((!is_empty).then(|| json!({"name": name, "type": "object", "field_mappings": fields})))
    }

    /// Reads objects in a list.
    fn nested(&mut self, name: &str, path: &str, mut options: Options) -> Result<Value> {
        let properties = options.take("properties");
        // The values of nested objects are found in the parent, too.
        options.flag("include_in_parent", false)?;
        options.flag("include_in_root", false)?;
        Dynamic::take(&mut options)?;
        options.finish()?;
        let properties = match &properties {
            None | Some(Value::Null) => Map::new(),
            Some(value) => object(value, &format!("[properties] of field [{path}]"))?.clone(),
        };
        // A query without a field does not look into them.
        let num_words = self.words.len();
        let fields = self.read(&properties, path)?;
        self.words.truncate(num_words);
        Ok(match fields.is_empty() {
            true => any_object(name, Strings::Whole, &self.analysis),
            false => json!({"name": name, "type": "nested", "field_mappings": fields}),
        })
    }
}

fn flattened(name: &str, mut options: Options) -> Result<Value> {
    let is_indexed = options.flag("index", true)?;
    let is_fast = options.flag("doc_values", true)?;
    options.ignore(&[
        "depth_limit",
        "ignore_above",
        "eager_global_ordinals",
        "index_options",
        "similarity",
        "split_queries_on_whitespace",
    ]);
    options.finish()?;
    let mut field = json!({
        "name": name, "type": "array<json>", "stored": false, "indexed": is_indexed, "fast": is_fast,
    });
    if is_indexed {
        field["tokenizer"] = "raw".into();
    }
    Ok(field)
}

/// Returns the mapping of an object of any shape.
fn any_object(name: &str, strings: Strings, analysis: &Analysis) -> Value {
    json!({
        "name": name, "type": "array<json>", "stored": false, "fast": true,
        "tokenizer": strings.tokenizer(analysis), "record": strings.record(),
    })
}

/// Returns the mapping of a field that is only shown in hits.
fn kept_only(name: &str) -> Value {
    json!({"name": name, "type": "array<json>", "stored": false, "indexed": false, "fast": false})
}
