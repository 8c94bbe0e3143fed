//! Known facts about a source, and the columns of its records.

use std::collections::{BTreeMap, BTreeSet};

use crate::log_line::time::{MonthDay, Reference, Zone};

/// Known facts about a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Types of the fields that the index maps, by field name.
    pub fields: BTreeMap<String, ValueKind>,
    /// The names of the values, for CSV, TSV and flow logs whose first line does not have them.
    pub columns: Option<Vec<String>>,
    /// End of the source: the year of times that have none (RFC 3164) follows from it.
    pub ended: Option<MonthDay>,
    /// The year of times that have none, regardless of the end of the source.
    pub year: Option<u16>,
    /// The zone of times that have none.
    pub zone: Zone,
}

impl Hints {
    pub(crate) fn reference(&self) -> Reference<'_> {
        Reference {
            year: self.year,
            ended: self.ended,
            zone: &self.zone,
        }
    }
}

/// Type of a value that is written without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Always a string; an empty one only if it is in quotes.
    Text,
    /// A string; omitted if it is empty.
    Word,
    /// A number or a boolean if it looks like one; omitted if it is empty.
    Bare,
}

/// The name and the type of a value.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// `None` for a field that the index does not map.
    pub(crate) kind: Option<ValueKind>,
}

/// Returns columns with these names. A repeated name gets a number, so that no value is lost.
pub(super) fn named(names: Vec<String>, hints: &Hints) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::with_capacity(names.len());
    let mut taken = BTreeSet::new();
    for (place, name) in names.into_iter().enumerate() {
        let name = match name.is_empty() {
            true => format!("column_{}", place + 1),
            false => name,
        };
        let mut unique = name.clone();
        let mut number = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        let kind = hints.fields.get(&unique).copied();
        columns.push(Column { name: unique, kind });
    }
    columns
}
