//! Fields of documents that templates, formats of dates or an object's own `dynamic` map otherwise than all that no mapping
//! names. As in Elasticsearch, such a field becomes part of the mapping with the first document that has it.

use canter_doc_mapper::{DateInput, IndexConfig, infer_date, infer_day};
use serde_json::{Map, Value, json};

use super::strings::{Dynamic, Strings, map_whole_objects};
use super::templates::Templates;
use crate::mappings::fields::dates::input_formats;

/// Maximum depth of objects in which fields are looked for.
const MAX_DEPTH: usize = 64;

/// What an index makes of fields that its mapping does not name, where that differs from field to field.
pub struct Arising {
    templates: Templates,
    strings: Strings,
    /// Whether fields at the root arise.
    root: Dynamic,
    /// Formats of dates, as they were put and as they are read.
    formats: Vec<(String, Vec<DateInput>)>,
    finds_dates: bool,
    finds_numbers: bool,
    /// The fields that are mapped.
    mapped: Map<String, Value>,
}

/// The `properties` that documents add to a mapping, and the field of each document that it may not have.
pub type Arisen = (Map<String, Value>, Vec<Option<Undeclared>>);

/// A field that a document may not bring, because its object is `strict`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undeclared {
    /// Path of the object.
    pub within: String,
    /// Name of the field.
    pub field: String,
}

impl Arising {
    /// Reads the mapping of an index; `None` if all unmapped fields are indexed alike.
    #[must_use]
    pub fn of_config(config: &IndexConfig) -> Option<Self> {
        let as_put = config.doc_mapping.elasticsearch_mapping.as_deref()?;
        let mut as_put: Map<String, Value> = serde_json::from_str(as_put).ok()?;
        let templates = as_put.shift_remove("dynamic_templates");
        let mut mapped = properties_of(&as_put).cloned().unwrap_or_default();
        let templates = map_whole_objects(templates, &mut mapped);
        let templates = Templates::read(templates.as_ref()).ok()?;
        let strings = templates.strings();
        let flag = |key: &str| as_put.get(key).and_then(Value::as_bool);
        let finds_dates = flag("date_detection") != Some(false);
        let arising = Self {
            root: Dynamic::of(as_put.get("dynamic")).unwrap_or(Dynamic::Indexed),
            formats: match finds_dates {
                true => formats_of(as_put.get("dynamic_date_formats")),
                false => Vec::new(),
            },
            finds_dates,
            finds_numbers: flag("numeric_detection") == Some(true),
            mapped,
            strings,
            templates,
        };
        let is_uniform = !arising.templates.map_some(strings)
            && arising.formats.is_empty()
            && !differ(&arising.mapped, arising.root, 0);
        (!is_uniform).then_some(arising)
    }

    /// Returns the `properties` that documents add to the mapping, and the first field of each that it may not have.
    pub fn of_documents<'d>(
        &self,
        documents: impl IntoIterator<Item = Option<&'d [u8]>>,
    ) -> Arisen {
        let mut added = Map::new();
        let undeclared = documents.into_iter().map(|document| {
            let document: Map<String, Value> = serde_json::from_slice(document?).ok()?;
            let mut walk = Walk {
                arising: self,
                added: Map::new(),
                undeclared: None,
            };
            walk.object(&document, Some(&self.mapped), ("", self.root), 0);
            if walk.undeclared.is_none() {
                join(&mut added, walk.added);
            }
            walk.undeclared
        });
        let undeclared = undeclared.collect();
        (added, undeclared)
    }

    /// Returns the kind of a value, and the format if it is a date of one.
    fn kind_of(&self, value: &Value) -> (&'static str, Option<&str>) {
        match value {
            Value::Bool(_) => ("boolean", None),
            Value::Number(number) if number.is_f64() => ("double", None),
            Value::Number(_) => ("long", None),
            Value::String(text) => self.kind_of_text(text),
            _ => ("object", None),
        }
    }

    fn kind_of_text(&self, text: &str) -> (&'static str, Option<&str>) {
        let is_usual_date = || infer_date(text).is_some() || infer_day(text).is_some();
        if self.formats.is_empty() {
            if self.finds_dates && is_usual_date() {
                return ("date", None);
            }
        } else {
            let mut formats = self.formats.iter();
            let found = formats.find(|(_, formats)| {
                formats.iter().any(|format| match format {
                    DateInput::DateOptionalTime | DateInput::Iso8601 => is_usual_date(),
                    format => format.reads(text),
                })
            });
            if let Some((format, _)) = found {
                return ("date", Some(format));
            }
        }
        match self.finds_numbers {
            true if text.parse::<i64>().is_ok() => ("long", None),
            true if text.parse::<f64>().is_ok_and(f64::is_finite) => ("double", None),
            _ => ("string", None),
        }
    }
}

/// A document, object by object.
struct Walk<'a> {
    arising: &'a Arising,
    added: Map<String, Value>,
    undeclared: Option<Undeclared>,
}

impl Walk<'_> {
    fn object(
        &mut self,
        object: &Map<String, Value>,
        mapped: Option<&Map<String, Value>>,
        (path, dynamic): (&str, Dynamic),
        depth: usize,
    ) {
        for (key, value) in object {
            self.field(key, value, mapped, (path, dynamic), depth);
        }
    }

    fn field(
        &mut self,
        key: &str,
        value: &Value,
        mapped: Option<&Map<String, Value>>,
        (path, dynamic): (&str, Dynamic),
        depth: usize,
    ) {
        // `a.b` is `b` in `a`.
        let (name, rest) = match key.split_once('.') {
            Some((name, rest)) => (name, Some(rest)),
            None => (key, None),
        };
        if name.is_empty() || depth > MAX_DEPTH {
            return;
        }
        let own_path = match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        let definition = mapped.and_then(|mapped| mapped.get(name)?.as_object());
        let is_object = |definition: &Map<String, Value>| {
            definition.get("type").is_none_or(|kind| kind == "object")
                && definition.get("enabled") != Some(&Value::Bool(false))
        };
        let inner = match definition {
            Some(definition) if lacks_dims(definition) => {
                if let Some(dims) = dims_of(definition, value) {
                    let mut whole = definition.clone();
                    whole.insert("dims".to_owned(), dims.into());
                    self.add((path, name), whole.into());
                }
                return;
            }
            Some(definition) if !is_object(definition) => return,
            Some(definition) => {
                let own = Dynamic::of(definition.get("dynamic")).unwrap_or(dynamic);
                // The config has these as objects of any shape.
                let Some(properties) = properties_of(definition).filter(|own| !own.is_empty())
                else {
                    return;
                };
                Some((Some(properties), own))
            }
            None => None,
        };
        if let Some(rest) = rest {
            let (mapped, dynamic) = inner.unwrap_or((None, dynamic));
            return self.field(rest, value, mapped, (&own_path, dynamic), depth + 1);
        }
        let mut values = flat(value, 0).into_iter().peekable();
        let Some(first) = values.peek().copied() else {
            return;
        };
        if !first.is_object() {
            if inner.is_none() {
                self.leaf(first, (path, name), dynamic);
            }
            return;
        }
        if inner.is_none() && self.is_whole_object((path, name), &own_path, dynamic) {
            return;
        }
        let (mapped, dynamic) = inner.unwrap_or((None, dynamic));
        for object in values.filter_map(Value::as_object) {
            self.object(object, mapped, (&own_path, dynamic), depth + 1);
        }
    }

    /// Returns whether an object that is not mapped is nothing to look into, and adds it if it is mapped as a whole.
    fn is_whole_object(&mut self, (path, name): (&str, &str), own: &str, dynamic: Dynamic) -> bool {
        match dynamic {
            Dynamic::Indexed => {
                let found = self
                    .arising
                    .templates
                    .mapping_of(own, "object", self.arising.strings);
                match found.flatten() {
                    Some(mapping) => self.add((path, name), mapping),
                    None => return false,
                }
            }
            Dynamic::Kept => {
                let mapping = json!({"type": "object", "enabled": false});
                self.keep((path, name), dynamic, mapping);
            }
            Dynamic::Refused => self.refuse((path, name), dynamic),
        }
        true
    }

    fn leaf(&mut self, value: &Value, (path, name): (&str, &str), dynamic: Dynamic) {
        match dynamic {
            Dynamic::Kept => {
                let mapping = json!({"type": "keyword", "index": false, "doc_values": false});
                return self.keep((path, name), dynamic, mapping);
            }
            Dynamic::Refused => return self.refuse((path, name), dynamic),
            Dynamic::Indexed => {}
        }
        let own = match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        let arising = self.arising;
        let (kind, format) = arising.kind_of(value);
        let mapping = match arising.templates.mapping_of(&own, kind, arising.strings) {
            Some(Some(mapping)) => mapping,
            // Fields at the root that are indexed as all others need no mapping.
            _ if arising.root == Dynamic::Indexed && format.is_none() => return,
            _ => usual(kind, format, arising.strings),
        };
        self.add((path, name), mapping);
    }

    /// Keeps a field out of searches, by a mapping that takes its values.
    fn keep(&mut self, at: (&str, &str), dynamic: Dynamic, mapping: Value) {
        if self.arising.root != dynamic {
            self.add(at, mapping);
        }
    }

    fn refuse(&mut self, (path, name): (&str, &str), dynamic: Dynamic) {
        // A strict index refuses fields itself.
        if self.arising.root != dynamic && self.undeclared.is_none() {
            self.undeclared = Some(Undeclared {
                within: path.to_owned(),
                field: name.to_owned(),
            });
        }
    }

    fn add(&mut self, (path, name): (&str, &str), mapping: Value) {
        let mut properties = &mut self.added;
        for part in path.split('.').filter(|part| !part.is_empty()) {
            let object = properties
                .entry(part)
                .or_insert_with(|| json!({"properties": {}}));
            match object.get_mut("properties").and_then(Value::as_object_mut) {
                Some(inner) => properties = inner,
                None => return,
            }
        }
        properties.entry(name).or_insert(mapping);
    }
}

/// Returns the mapping that Elasticsearch gives values of a kind.
fn usual(kind: &str, format: Option<&str>, strings: Strings) -> Value {
    match (kind, format) {
        ("string", _) if strings == Strings::Whole => json!({"type": "keyword"}),
        ("string", _) => {
            json!({"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}})
        }
        ("date", Some(format)) => json!({"type": "date", "format": format}),
        ("double", _) => json!({"type": "float"}),
        (kind, _) => json!({"type": kind}),
    }
}

/// Returns whether a field of vectors has as many dimensions as the first document says.
fn lacks_dims(definition: &Map<String, Value>) -> bool {
    definition
        .get("type")
        .is_some_and(|kind| kind == "dense_vector")
        && definition.get("dims").is_none_or(Value::is_null)
}

/// Returns the number of dimensions of a vector.
fn dims_of(definition: &Map<String, Value>, value: &Value) -> Option<usize> {
    let list = value.as_array()?;
    let is_of_bits = definition
        .get("element_type")
        .is_some_and(|kind| kind == "bit");
    let are_numbers = !list.is_empty() && list.iter().all(Value::is_number);
    let num = if is_of_bits {
        8 * list.len()
    } else {
        list.len()
    };
    are_numbers.then_some(num)
}

/// Returns the values of a list, and of lists in it.
fn flat(value: &Value, depth: usize) -> Vec<&Value> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(list) if depth < MAX_DEPTH => {
            list.iter().flat_map(|one| flat(one, depth + 1)).collect()
        }
        Value::Array(_) => Vec::new(),
        one => vec![one],
    }
}

fn properties_of(definition: &Map<String, Value>) -> Option<&Map<String, Value>> {
    definition.get("properties")?.as_object()
}

/// Returns whether objects of a mapping treat unmapped fields otherwise than the root does, or vectors lack dimensions.
fn differ(properties: &Map<String, Value>, root: Dynamic, depth: usize) -> bool {
    properties
        .values()
        .filter_map(Value::as_object)
        .any(|definition| {
            if lacks_dims(definition) {
                return true;
            }
            let is_object = definition.get("type").is_none_or(|kind| kind == "object");
            let Some(inner) =
                properties_of(definition).filter(|inner| is_object && !inner.is_empty())
            else {
                return false;
            };
            let own = Dynamic::of(definition.get("dynamic"));
            own.is_some_and(|own| own != root)
                || (depth < MAX_DEPTH && differ(inner, root, depth + 1))
        })
}

/// Returns formats of dates, unless they are the usual ones.
fn formats_of(given: Option<&Value>) -> Vec<(String, Vec<DateInput>)> {
    let given = given
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let given = given.iter().filter_map(Value::as_str);
    let formats: Vec<(String, Vec<DateInput>)> = given
        .map(|format| {
            let read = input_formats(Some(format), "").unwrap_or_default();
            let read = read
                .iter()
                .filter_map(|format| DateInput::parse(format).ok());
            (format.to_owned(), read.collect())
        })
        .collect();
    let is_usual = |(format, _): &(String, _)| format.ends_with("date_optional_time");
    match formats.iter().all(is_usual) {
        true => Vec::new(),
        false => formats,
    }
}

/// Adds fields to others; of two for a field the first counts.
fn join(into: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, definition) in more {
        let Some(before) = into.get_mut(&name) else {
            into.insert(name, definition);
            continue;
        };
        let before = before.get_mut("properties").and_then(Value::as_object_mut);
        let Value::Object(mut definition) = definition else {
            continue;
        };
        if let (Some(before), Some(Value::Object(inner))) =
            (before, definition.shift_remove("properties"))
        {
            join(before, inner);
        }
    }
}
