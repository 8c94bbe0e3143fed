//! Values of a completion: a text, an object with inputs, weight and contexts, or a list of these → terms.

use std::collections::BTreeSet;
use std::rc::Rc;

use canter_geo::read_points;
use serde::Deserialize as _;
use serde::de::Deserializer;
use serde_json::{Map, Value};
use tantivy::tokenizer::TextAnalyzer;

use super::parse_leaf::LeafSeed;
use super::walk::Walk;
use crate::config::FieldKind;
use crate::documents::completion::{Completion, CompletionContext, CompletionEntry};
use crate::documents::doc_error::{DocError, DocErrorReason, shorten};
use crate::mapper::terms::{Amount, TermBounds};
use crate::mapper::tree::Leaf;

/// Maximum length of a category, in bytes: terms have bounded lengths.
const MAX_CATEGORY_BYTES: usize = 1_000;

/// Names and values of contexts.
type Contexts = BTreeSet<(String, String)>;

/// Reason why a value makes no entries.
enum Problem {
    /// The value is no completion: an index may ignore such values.
    Malformed(String),
    /// There would be more terms than a document may have.
    TooManyTerms(DocError),
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Self::Malformed(message)
    }
}

impl LeafSeed<'_, '_> {
    /// Keeps the value until the document is known: contexts may be values of other fields.
    pub(super) fn keep_completion<'de, D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<(), D::Error> {
        let value = Value::deserialize(deserializer)?;
        self.walk.completions.push((self.leaf, value));
        Ok(())
    }
}

impl Walk<'_> {
    /// Adds the entries of all completions of a document.
    pub(super) fn add_completions(&mut self, text: &str) {
        let completions = std::mem::take(&mut self.completions);
        if completions.is_empty() {
            return;
        }
        let document: Value = serde_json::from_str(text).unwrap_or_default();
        let mut amount = Amount::default();
        for (leaf, value) in completions {
            let FieldKind::Text(kind) = &leaf.kind else {
                continue;
            };
            let Some(options) = &kind.completion else {
                continue;
            };
            let error = match self.add_entries(leaf, options, &value, &document, &mut amount) {
                Ok(()) => continue,
                Err(Problem::Malformed(_)) if leaf.ignores_malformed => {
                    self.ignored.push(&leaf.path);
                    continue;
                }
                Err(Problem::Malformed(message)) => {
                    DocError::new(DocErrorReason::WrongType, leaf.path.as_str(), message)
                }
                Err(Problem::TooManyTerms(error)) => error,
            };
            self.error.get_or_insert(error);
            return;
        }
    }

    fn add_entries(
        &mut self,
        leaf: &Leaf,
        options: &Completion,
        value: &Value,
        document: &Value,
        amount: &mut Amount,
    ) -> Result<(), Problem> {
        let mapper = self.mapper;
        let analyzer = mapper.analyzers.0.get(&options.analyzer);
        let analyzer =
            analyzer.ok_or_else(|| format!("failed to find analyzer [{}]", options.analyzer))?;
        let mut entries = Entries {
            path: &leaf.path,
            options,
            analyzer,
            document,
            bounds: &mapper.term_bounds,
            amount,
            of_document: None,
            terms: BTreeSet::new(),
            inputs: BTreeSet::new(),
        };
        entries.add(value)?;
        let Entries { terms, inputs, .. } = entries;
        if !terms.is_empty() {
            self.presence.extend(leaf.presence);
        }
        for term in terms {
            self.document.add_text(leaf.field, term);
        }
        for input in inputs {
            self.add_copies(leaf, &input);
        }
        Ok(())
    }
}

/// Entries of one value.
struct Entries<'e> {
    path: &'e str,
    options: &'e Completion,
    analyzer: TextAnalyzer,
    document: &'e Value,
    bounds: &'e TermBounds,
    /// Terms of all completions of the document so far.
    amount: &'e mut Amount,
    /// Contexts that other fields of the document have, once an entry needs them.
    of_document: Option<Rc<Contexts>>,
    terms: BTreeSet<String>,
    inputs: BTreeSet<String>,
}

impl Entries<'_> {
    fn add(&mut self, value: &Value) -> Result<(), Problem> {
        match value {
            Value::Null => Ok(()),
            Value::Array(values) => values.iter().try_for_each(|value| self.add(value)),
            Value::String(input) => self.add_input(input, 1, &Contexts::new()),
            Value::Object(entry) => self.add_object(entry),
            other => Err(Problem::Malformed(format!(
                "expected text or object, but got {}",
                shorten(&other.to_string())
            ))),
        }
    }

    fn add_object(&mut self, entry: &Map<String, Value>) -> Result<(), Problem> {
        let malformed = |message: &str| Err(Problem::Malformed(message.to_owned()));
        let known = ["input", "weight", "contexts"];
        if let Some(key) = entry.keys().find(|key| !known.contains(&key.as_str())) {
            let known = known.join(", ");
            return malformed(&format!(
                "unknown field name [{key}], must be one of [{known}]"
            ));
        }
        let weight = weight(entry.get("weight"))?;
        let named = match entry.get("contexts") {
            None | Some(Value::Null) => Contexts::new(),
            Some(Value::Object(contexts)) => self.named(contexts)?,
            Some(_) => return malformed("contexts must be an object"),
        };
        match entry.get("input") {
            Some(Value::String(input)) => self.add_input(input, weight, &named),
            Some(Value::Array(inputs)) => inputs.iter().try_for_each(|input| match input {
                Value::String(input) => self.add_input(input, weight, &named),
                _ => malformed("input array must have string values"),
            }),
            _ => malformed("the input must be a string or a list of strings"),
        }
    }

    fn add_input(&mut self, input: &str, weight: u32, named: &Contexts) -> Result<(), Problem> {
        let input = cut(input, self.options.max_input_length);
        if input.is_empty() {
            let message = "value must have a length > 0";
            return Err(Problem::Malformed(message.to_owned()));
        }
        let key = self.options.key(&mut self.analyzer, input);
        let mut entry = CompletionEntry {
            key: &key,
            context: None,
            weight,
            input,
        };
        if self.options.contexts.is_empty() {
            self.add_term(&entry)?;
        } else {
            let of_document = self.of_document()?;
            if named.is_empty() && of_document.is_empty() {
                return Err(Problem::Malformed(format!(
                    "Contexts are mandatory in context enabled completion field [{}]",
                    self.path
                )));
            }
            let others = of_document.iter().filter(|own| !named.contains(*own));
            for (name, value) in named.iter().chain(others) {
                entry.context = Some((name, value));
                self.add_term(&entry)?;
            }
        }
        self.inputs.insert(input.to_owned());
        Ok(())
    }

    /// Adds a term, unless there are too many: inputs and contexts multiply, so that a short document may have any number.
    fn add_term(&mut self, entry: &CompletionEntry<'_>) -> Result<(), Problem> {
        let term = entry.write();
        self.amount.add(1, term.len() as u64);
        let checked = self.bounds.check_amount(self.amount, self.path);
        checked.map_err(Problem::TooManyTerms)?;
        self.terms.insert(term);
        Ok(())
    }

    /// Returns the contexts that an entry names.
    fn named(&self, named: &Map<String, Value>) -> Result<Contexts, Problem> {
        if self.options.contexts.is_empty() && !named.is_empty() {
            return Err(Problem::Malformed(format!(
                "contexts are not enabled on completion field [{}]",
                self.path
            )));
        }
        let mut found = Contexts::new();
        for (name, value) in named {
            let context = self.options.context(name);
            let context = context.ok_or_else(|| format!("unknown context [{name}]"))?;
            add_values(context, value, &mut found)?;
        }
        Ok(found)
    }

    /// Returns the contexts that other fields of the document have.
    fn of_document(&mut self) -> Result<Rc<Contexts>, Problem> {
        if let Some(known) = &self.of_document {
            return Ok(Rc::clone(known));
        }
        let mut found = Contexts::new();
        for context in &self.options.contexts {
            if let Some(path) = &context.path {
                let mut values = Vec::new();
                values_at(self.document, path, &mut values);
                for value in values {
                    add_values(context, value, &mut found)?;
                }
            }
        }
        let found = Rc::new(found);
        self.of_document = Some(Rc::clone(&found));
        Ok(found)
    }
}

/// Adds the values of a context.
fn add_values(
    context: &CompletionContext,
    value: &Value,
    found: &mut Contexts,
) -> Result<(), String> {
    let mut add = |value| {
        found.insert((context.name.clone(), value));
    };
    match context.geohash {
        None => add_categories(value, &mut add),
        Some(letters) => read_points(value, &mut |point| {
            add(CompletionContext::geohash_of(point.code(), letters));
        }),
    }
}

/// Returns the longest part of a text with this number of UTF-16 code units.
fn cut(text: &str, max: u32) -> &str {
    let mut left = usize::try_from(max).unwrap_or(usize::MAX);
    let end = text.char_indices().find(|(_, char)| {
        let is_over = char.len_utf16() > left;
        left = left.saturating_sub(char.len_utf16());
        is_over
    });
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

fn weight(given: Option<&Value>) -> Result<u32, String> {
    let number = match given {
        None | Some(Value::Null) => return Ok(1),
        Some(Value::String(text)) => text.parse().ok(),
        Some(value) => value.as_u64(),
    };
    let weight = number.filter(|number| *number <= i32::MAX as u64);
    weight
        .and_then(|weight| u32::try_from(weight).ok())
        .ok_or_else(|| {
            let given = given.map(Value::to_string).unwrap_or_default();
            format!(
                "weight must be an integer from 0 to {}, but was [{}]",
                i32::MAX,
                shorten(&given)
            )
        })
}

fn add_categories(value: &Value, add: &mut dyn FnMut(String)) -> Result<(), String> {
    match value {
        Value::Null => Ok(()),
        Value::Array(values) => values
            .iter()
            .try_for_each(|value| add_categories(value, add)),
        Value::String(text) if text.len() <= MAX_CATEGORY_BYTES => {
            add(text.clone());
            Ok(())
        }
        Value::Number(_) | Value::Bool(_) => {
            add(value.to_string());
            Ok(())
        }
        _ => Err(format!(
            "context must be a string of at most {MAX_CATEGORY_BYTES} bytes, a number or a boolean, or a list of these, \
             and not {}",
            shorten(&value.to_string())
        )),
    }
}

/// Adds the values at a path, those in all objects of a list.
fn values_at<'v>(value: &'v Value, path: &str, found: &mut Vec<&'v Value>) {
    match value {
        Value::Array(values) => values
            .iter()
            .for_each(|value| values_at(value, path, found)),
        Value::Object(entries) => {
            if let Some(value) = entries.get(path) {
                found.push(value);
            } else if let Some((first, rest)) = path.split_once('.')
                && let Some(value) = entries.get(first)
            {
                values_at(value, rest, found);
            }
        }
        _ => {}
    }
}
