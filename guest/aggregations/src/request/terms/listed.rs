//! Aggregations by what is read from texts of documents: their words, and their patterns.

use serde_json::Value;

use crate::Result;
use crate::request::body::{Body, invalid};
use crate::request::types::{
    Aggregation, Categories, Kind, ListOf, ObjectList, Significant, column_of_patterns,
};
use crate::request::{Reader, nothing_inside};

/// Options of `categorize_text`.
const CATEGORIES: [&str; 11] = [
    "field",
    "size",
    "shard_size",
    "min_doc_count",
    "shard_min_doc_count",
    "similarity_threshold",
    "max_unique_tokens",
    "max_matched_tokens",
    "categorization_filters",
    "categorization_analyzer",
    "format",
];

impl Reader {
    /// Reads an aggregation by what is in texts.
    pub(in crate::request) fn of_texts(
        &mut self,
        path: &str,
        kind: &str,
        value: &Value,
        inside: &[Aggregation],
    ) -> Result<Kind> {
        let read = |known: &[&str]| Body::read(path.to_owned(), value, known);
        Ok(match kind {
            "categorize_text" => Kind::Categories(self.categories(&read(&CATEGORIES)?)?),
            _ => Kind::Significant(self.significant(kind, &read(&super::SIGNIFICANT)?, inside)?),
        })
    }

    /// Returns the number of a list.
    pub(in crate::request) fn slot_of(&mut self, list: ObjectList) -> usize {
        let known = self.lists.iter().position(|known| *known == list);
        known.unwrap_or_else(|| {
            self.lists.push(list);
            self.lists.len() - 1
        })
    }

    fn significant(
        &mut self,
        kind: &str,
        body: &Body<'_>,
        inside: &[Aggregation],
    ) -> Result<Significant> {
        let of = match kind {
            "significant_text" => ListOf::Words,
            _ => ListOf::WordsWithoutColumn,
        };
        self.check_not_nested(body)?;
        if of == ListOf::Words && !inside.is_empty() {
            return Err(nothing_inside(&format!("{}.aggs", body.path), kind));
        }
        let significant = super::significant(body, &self.bounds)?;
        let list = ObjectList {
            path: significant.source.field.clone(),
            outer: None,
            of,
        };
        Ok(Significant {
            words: Some(self.slot_of(list)),
            ..significant
        })
    }

    /// Reads `categorize_text`.
    fn categories(&mut self, body: &Body<'_>) -> Result<Categories> {
        self.check_not_nested(body)?;
        let most = u64::from(self.bounds.max_buckets);
        // Categories are the same whatever these say: all texts count, and what is a value is a matter of the text.
        for name in [
            "shard_size",
            "shard_min_doc_count",
            "similarity_threshold",
            "max_unique_tokens",
            "max_matched_tokens",
        ] {
            body.count(name, 0, u64::MAX)?;
        }
        for name in ["categorization_filters", "categorization_analyzer"] {
            if body.get(name).is_some() {
                let what =
                    "this is not supported: the patterns of texts are the same for all requests";
                return Err(body.invalid(name, what));
            }
        }
        let size = body.count("size", 1, most)?.unwrap_or(10);
        let field = body.field("field")?.to_owned();
        let list = self.slot_of(ObjectList {
            path: field.clone(),
            outer: None,
            of: ListOf::Patterns,
        });
        Ok(Categories {
            column: column_of_patterns(&field),
            field,
            size: usize::try_from(size).unwrap_or(usize::MAX),
            min_doc_count: body.count("min_doc_count", 1, u64::MAX)?.unwrap_or(1),
            list,
        })
    }

    fn check_not_nested(&self, body: &Body<'_>) -> Result<()> {
        match self.list {
            None => Ok(()),
            Some(_) => Err(invalid(
                &body.path,
                "this is not supported inside of a nested aggregation",
            )),
        }
    }
}
