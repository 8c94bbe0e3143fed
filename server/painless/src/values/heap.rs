//! Where lists and maps of a run stand, and what the run has used. References may form circles: all of them end with
//! the heap.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::value::{Value, View};
use crate::error::ScriptError;
use crate::limits::{MAX_BYTES, MAX_STEPS};

/// Number of bytes that an element takes beside texts.
const ELEMENT_BYTES: usize = 32;

/// The place of a list or map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(usize);

/// Lists and maps.
#[derive(Default)]
pub(crate) struct Heap {
    objects: Vec<Object>,
    num_steps: u64,
    num_bytes: usize,
    /// Number of bytes of the documents that were given.
    num_given: usize,
    num_written: usize,
    /// The place in the script that is run.
    pub(crate) at: usize,
}

enum Object {
    /// With the number of times that its length was changed.
    Items(Vec<Value>, u64),
    Table(Table),
}

/// A map, in the order in which keys came.
#[derive(Default)]
pub(crate) struct Table {
    entries: BTreeMap<Arc<str>, (u64, Value)>,
    num_ever: u64,
    num_changes: u64,
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// Sets a value, and returns the one before.
    pub(crate) fn put(&mut self, key: Arc<str>, value: Value) -> Option<Value> {
        if let Some((_, old)) = self.entries.get_mut(&key) {
            return Some(std::mem::replace(old, value));
        }
        self.entries.insert(key, (self.num_ever, value));
        self.num_ever += 1;
        self.num_changes += 1;
        None
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Value> {
        let (_, removed) = self.entries.remove(key)?;
        self.num_changes += 1;
        Some(removed)
    }

    pub(crate) fn keys(&self) -> Vec<Arc<str>> {
        let mut keys: Vec<(u64, &Arc<str>)> = self
            .entries
            .iter()
            .map(|(key, (ord, _))| (*ord, key))
            .collect();
        keys.sort_unstable_by_key(|(ord, _)| *ord);
        keys.into_iter().map(|(_, key)| Arc::clone(key)).collect()
    }
}

impl Heap {
    /// Returns an error at the place that is run.
    pub(crate) fn error(&self, kind: &'static str, reason: impl Into<String>) -> ScriptError {
        ScriptError::running(kind, self.at, reason)
    }

    pub(crate) fn illegal(&self, reason: impl Into<String>) -> ScriptError {
        self.error("illegal_argument_exception", reason)
    }

    /// Counts steps.
    ///
    /// # Errors
    /// There were too many.
    pub(crate) fn spend(&mut self, num_steps: usize) -> Result<(), ScriptError> {
        self.num_steps += num_steps as u64;
        match self.num_steps > MAX_STEPS {
            true => Err(self.error(
                "painless_error",
                "The maximum number of statements that can be executed in a loop has been reached.",
            )),
            false => Ok(()),
        }
    }

    /// Counts elements or bytes that are read: eight of them are a step.
    ///
    /// # Errors
    /// There were too many.
    pub(crate) fn read(&mut self, num: usize) -> Result<(), ScriptError> {
        self.spend(1 + num / 8)
    }

    fn take(&mut self, num_bytes: usize) -> Result<(), ScriptError> {
        self.num_bytes += num_bytes;
        match self.num_bytes > MAX_BYTES {
            true => Err(self.error(
                "circuit_breaking_exception",
                format!("the script takes more than {MAX_BYTES} bytes"),
            )),
            false => self.read(num_bytes),
        }
    }

    /// Counts a value of the documents that are given, with this many bytes of text.
    pub(crate) fn give(&mut self, num_bytes: usize) {
        self.num_given += ELEMENT_BYTES + num_bytes;
    }

    /// Counts a value of the document that is made, with this many bytes of text.
    ///
    /// # Errors
    /// The document is larger than what was given and what a run may take.
    pub(crate) fn write(&mut self, num_bytes: usize) -> Result<(), ScriptError> {
        self.num_written += ELEMENT_BYTES + num_bytes;
        match self.num_written > self.num_given + MAX_BYTES {
            true => Err(self.error(
                "circuit_breaking_exception",
                "the script makes too large a document: values that it contains several times count each time",
            )),
            false => Ok(()),
        }
    }

    pub(crate) fn text(&mut self, text: String) -> Result<Value, ScriptError> {
        self.take(text.len())?;
        Ok(Value::Text(text.into()))
    }

    /// Counts elements that are added to a list or map.
    pub(crate) fn grow(&mut self, num_elements: usize) -> Result<(), ScriptError> {
        self.take(num_elements * ELEMENT_BYTES)
    }

    /// Adds elements without counting them: those of documents have limits of their own.
    pub(crate) fn items_of_document(&mut self, items: Vec<Value>) -> Id {
        self.objects.push(Object::Items(items, 0));
        Id(self.objects.len() - 1)
    }

    pub(crate) fn table_of_document(&mut self, entries: Vec<(Arc<str>, Value)>) -> Id {
        let mut table = Table::default();
        for (key, value) in entries {
            table.put(key, value);
        }
        self.objects.push(Object::Table(table));
        Id(self.objects.len() - 1)
    }

    pub(crate) fn new_items(&mut self, items: Vec<Value>) -> Result<Id, ScriptError> {
        self.grow(items.len() + 1)?;
        Ok(self.items_of_document(items))
    }

    pub(crate) fn new_table(&mut self, entries: Vec<(Arc<str>, Value)>) -> Result<Id, ScriptError> {
        self.grow(entries.len() + 1)?;
        Ok(self.table_of_document(entries))
    }

    pub(crate) fn items(&self, id: Id) -> &[Value] {
        match self.objects.get(id.0) {
            Some(Object::Items(items, _)) => items,
            _ => &[],
        }
    }

    /// Changes a list.
    pub(crate) fn change_items<T>(
        &mut self,
        id: Id,
        change: impl FnOnce(&mut Vec<Value>) -> T,
    ) -> Result<T, ScriptError> {
        let len = self.items(id).len();
        self.read(len)?;
        let Some(Object::Items(items, num_changes)) = self.objects.get_mut(id.0) else {
            return Err(self.illegal("the list is gone"));
        };
        let changed = change(items);
        *num_changes += u64::from(items.len() != len);
        let num_new = items.len().saturating_sub(len);
        self.grow(num_new)?;
        Ok(changed)
    }

    /// Replaces an element. The list may have become shorter since its place was computed.
    ///
    /// # Errors
    /// There is no such element.
    pub(crate) fn set_item(
        &mut self,
        id: Id,
        index: usize,
        value: Value,
    ) -> Result<(), ScriptError> {
        if let Some(Object::Items(items, _)) = self.objects.get_mut(id.0)
            && let Some(item) = items.get_mut(index)
        {
            *item = value;
            return Ok(());
        }
        let reason = format!(
            "Index {index} out of bounds for length {}",
            self.items(id).len()
        );
        Err(self.error("index_out_of_bounds_exception", reason))
    }

    /// Adds an element, which [`Heap::grow`] has counted.
    pub(crate) fn push(&mut self, id: Id, value: Value) {
        if let Some(Object::Items(items, num_changes)) = self.objects.get_mut(id.0) {
            items.push(value);
            *num_changes += 1;
        }
    }

    /// Replaces all elements by as many.
    pub(crate) fn replace_items(&mut self, id: Id, replaced: Vec<Value>) {
        if let Some(Object::Items(items, num_changes)) = self.objects.get_mut(id.0) {
            *items = replaced;
            *num_changes += 1;
        }
    }

    pub(crate) fn table(&self, id: Id) -> Option<&Table> {
        match self.objects.get(id.0) {
            Some(Object::Table(table)) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn get(&self, id: Id, key: &str) -> Value {
        let found = self.table(id).and_then(|table| table.get(key));
        found.cloned().unwrap_or(Value::Null)
    }

    pub(crate) fn put(
        &mut self,
        id: Id,
        key: Arc<str>,
        value: Value,
    ) -> Result<Value, ScriptError> {
        self.take(ELEMENT_BYTES + key.len())?;
        match self.objects.get_mut(id.0) {
            Some(Object::Table(table)) => Ok(table.put(key, value).unwrap_or(Value::Null)),
            _ => Err(self.illegal("the map is gone")),
        }
    }

    pub(crate) fn remove(&mut self, id: Id, key: &str) -> Value {
        match self.objects.get_mut(id.0) {
            Some(Object::Table(table)) => table.remove(key).unwrap_or(Value::Null),
            _ => Value::Null,
        }
    }

    /// Returns the keys of a map, in order.
    pub(crate) fn keys(&mut self, id: Id) -> Result<Vec<Arc<str>>, ScriptError> {
        let keys = self.table(id).map(Table::keys).unwrap_or_default();
        self.read(8 * keys.len())?;
        Ok(keys)
    }

    /// Returns the number of times that the length of a list or map was changed.
    pub(crate) fn num_changes(&self, id: Id) -> u64 {
        match self.objects.get(id.0) {
            Some(Object::Items(_, num_changes)) => *num_changes,
            Some(Object::Table(table)) => table.num_changes,
            None => 0,
        }
    }

    /// Returns what a loop over a value runs over, and the place of what must not change meanwhile.
    ///
    /// # Errors
    /// The value has no elements, or too much was read.
    pub(crate) fn elements(&mut self, of: &Value) -> Result<(Vec<Value>, Id), ScriptError> {
        let (elements, id) = self.elements_uncounted(of)?;
        self.read(elements.len())?;
        Ok((elements, id))
    }

    /// Returns the same without counting it as read.
    ///
    /// # Errors
    /// The value has no elements.
    pub(crate) fn elements_uncounted(&self, of: &Value) -> Result<(Vec<Value>, Id), ScriptError> {
        match of {
            Value::List(id) | Value::Set(id) | Value::Stream(id) => {
                Ok((self.items(*id).to_vec(), *id))
            }
            Value::View(view, id) => {
                let keys = self.table(*id).map(Table::keys).unwrap_or_default();
                let element = |key: Arc<str>| match view {
                    View::Keys => Value::Text(key),
                    View::Values => self.get(*id, &key),
                    View::Entries => Value::Entry(*id, key),
                };
                Ok((keys.into_iter().map(element).collect(), *id))
            }
            Value::Null => Err(self.error(
                "null_pointer_exception",
                "cannot iterate over a null reference",
            )),
            other => Err(self.illegal(format!("Cannot iterate over [{}]", other.class()))),
        }
    }
}
