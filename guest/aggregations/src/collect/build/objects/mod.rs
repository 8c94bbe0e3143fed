//! Objects in lists of documents, as documents of their own: their columns are made in memory.

mod columns;

pub(in crate::collect) use columns::MemoryColumn;

use std::sync::Arc;

use tantivy::TantivyDocument;
use tantivy::json_utils::split_json_path;
use tantivy::schema::{FieldType, Schema};
use tantivy::tokenizer::TokenizerManager;
use tantivy_common::JsonPathWriter;

use self::columns::{MemoryColumns, ObjectColumnsWriter};
use super::bit_set::BitSet;
use crate::request::ObjectList;
use crate::{Error, Result};

/// Objects of one list of a request in one split, in the order of their documents.
pub struct Objects {
    schema: Schema,
    columns: MemoryColumns,
    pub(super) list: ObjectList,
    pub(super) places: Arc<ObjectPlaces>,
    /// Matches of each filter of the request that is on these objects, by slot.
    pub(super) filters: Vec<BitSet>,
}

/// Where objects are.
#[derive(Debug)]
pub(in crate::collect) struct ObjectPlaces {
    pub(in crate::collect) path: String,
    /// Document or outer object around each object, ascending.
    parents: Vec<u32>,
    /// Document of each object, and its place among all objects of the path in that document.
    places: Vec<(u32, u32)>,
}

impl ObjectPlaces {
    pub(super) fn num_objects(&self) -> u32 {
        u32::try_from(self.parents.len()).unwrap_or(u32::MAX)
    }

    /// Returns the objects in a document or an outer object.
    pub(in crate::collect) fn within(&self, parent: u32) -> std::ops::Range<u32> {
        let at = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        let first = self.parents.partition_point(|other| *other < parent);
        let rest = self.parents.get(first..).unwrap_or_default();
        let len = rest.iter().take_while(|other| **other == parent).count();
        at(first)..at(first.saturating_add(len))
    }

    /// Returns what is around an object.
    pub(in crate::collect) fn parent(&self, object: u32) -> u32 {
        self.parents
            .get(object as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Returns the document of an object, and its place there.
    pub(in crate::collect) fn place(&self, object: u32) -> (u32, u32) {
        self.places
            .get(object as usize)
            .copied()
            .unwrap_or_default()
    }
}

impl Objects {
    /// Returns the columns of a field, as `FastFieldReaders` does for a segment.
    pub(in crate::collect) fn columns(&self, name: &str) -> tantivy::Result<Vec<MemoryColumn>> {
        let default = self.schema.get_field("_dynamic").ok();
        let Some((field, path)) = self.schema.find_field_with_default(name, default) else {
            return Ok(Vec::new());
        };
        let entry = self.schema.get_field_entry(field);
        let column = match (entry.field_type(), path) {
            _ if !entry.is_fast() => return Ok(Vec::new()),
            (_, "") => entry.name().to_owned(),
            (FieldType::JsonObject(options), path) => {
                let mut column = JsonPathWriter::default();
                column.push(entry.name());
                column.set_expand_dots(options.is_expand_dots_enabled());
                split_json_path(path)
                    .iter()
                    .for_each(|key| column.push(key));
                column.into()
            }
            _ => return Ok(Vec::new()),
        };
        Ok(self.columns.open(&column)?)
    }
}

/// Writer of the objects of one list in one split.
pub struct ObjectsWriter {
    schema: Schema,
    list: ObjectList,
    columns: ObjectColumnsWriter,
    parents: Vec<u32>,
    places: Vec<(u32, u32)>,
    /// Objects that each filter matches.
    matches: Vec<Vec<u32>>,
    max_bytes: u64,
}

impl ObjectsWriter {
    /// Begins without objects. `tokenizers` are those of fast fields.
    ///
    /// # Errors
    /// The schema has a field with an unknown tokenizer.
    pub fn new(
        list: &ObjectList,
        schema: Schema,
        tokenizers: &TokenizerManager,
        num_filters: usize,
        max_bytes: u64,
    ) -> Result<Self> {
        Ok(Self {
            columns: ObjectColumnsWriter::new(&schema, tokenizers)?,
            schema,
            list: list.clone(),
            parents: Vec::new(),
            places: Vec::new(),
            matches: vec![Vec::new(); num_filters],
            max_bytes,
        })
    }

    /// Adds an object of `parent`, a document or an object of the list around this one; parents ascend. `place` is
    /// its document, and its place among all objects of the path there. Returns the number of the object.
    ///
    /// # Errors
    /// The objects exceed the memory limit.
    pub fn add(
        &mut self,
        object: &TantivyDocument,
        parent: u32,
        place: (u32, u32),
        matches: &[bool],
    ) -> Result<u32> {
        let number = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        self.columns.add(number, object);
        self.parents.push(parent);
        self.places.push(place);
        for (found, is_match) in self.matches.iter_mut().zip(matches) {
            if *is_match {
                found.push(number);
            }
        }
        let num_bytes = self.columns.mem_usage() + self.parents.len() * 12;
        match num_bytes as u64 > self.max_bytes {
            true => Err(Error::Limit(format!(
                "the objects at {:?} need more than the limit of {} bytes: narrow the query, or raise \
                 max_aggregation_bytes",
                self.list.path, self.max_bytes
            ))),
            false => Ok(number),
        }
    }

    /// Ends with all objects.
    ///
    /// # Errors
    /// tantivy cannot read the columns' indexes.
    pub fn finish(self) -> Result<Objects> {
        let num_objects = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        let filters = self.matches.into_iter().map(|found| {
            let mut set = BitSet::new(num_objects);
            found.into_iter().for_each(|object| set.insert(object));
            set
        });
        Ok(Objects {
            columns: self.columns.finish(num_objects),
            schema: self.schema,
            places: Arc::new(ObjectPlaces {
                path: self.list.path.clone(),
                parents: self.parents,
                places: self.places,
            }),
            list: self.list,
            filters: filters.collect(),
        })
    }
}
