//! Fields that a query does not name: those of a pattern such as `host.*`, and those in which a word without a field is
//! searched.
//!
//! Without default fields, these are all fields, as in Elasticsearch: texts, whole values, numbers, dates, addresses and
//! booleans, and the values that no mapping names. A field that cannot have the word is left out, without a read. The
//! heads of splits tell which unmapped fields they have; before a split is open, such a field may have any value.

use canter_doc_mapper::{FieldKind, ResolvedField};
use canter_names::matches_pattern;
use tantivy::query::{AllQuery, ConstScoreQuery, EmptyQuery, Query};

use crate::query::build::builder::{Builder, Built, any_of};
use crate::query::tree::{Factor, InFields, Leaf, TextLeaf};
use crate::{ErrorKind, SearchError};

/// Maximum number of fields that patterns match.
const MAX_FIELDS: usize = 1_024;

/// The pattern for all fields.
const ALL: &str = "*";

/// Fields of a query.
pub(super) struct Named {
    pub(super) names: Vec<(String, Factor)>,
    /// True if the request names these fields explicitly, so that errors in them are reported.
    pub(super) is_exact: bool,
    /// True if these are all fields, so that it is no error if none supports the condition.
    pub(super) is_all: bool,
    /// True if a split may have more of them.
    pub(super) may_be_more: bool,
    /// JSON fields that are searched at any path, see `any_path.rs`.
    pub(super) without_paths: Vec<String>,
}

/// Builds the query for one field, given its name.
type BuildField<'f, 'a> = dyn FnMut(&mut Builder<'a>, &str) -> Built + 'f;

/// Returns the query for a field that only the split knows: it may match, and requires nothing.
pub(super) fn may_match() -> Box<dyn Query> {
    Box::new(ConstScoreQuery::new(Box::new(AllQuery), 1.0))
}

/// Returns the union of the queries that `build` can make of a leaf for the default fields, or for all fields if there
/// are none.
///
/// # Errors
/// If there are too many fields, or the first error if `build` fails for all default fields.
pub(in crate::query::build) fn in_default_fields<'a>(
    builder: &mut Builder<'a>,
    leaf: &TextLeaf,
    build: &mut BuildField<'_, 'a>,
) -> Built {
    let named = builder.default_fields()?;
    let mut queries = Vec::new();
    let mut first_error = None;
    for (name, _) in &named.names {
        match builder.or_whole_values(name, &mut |builder| build(builder, name)) {
            Ok(query) => queries.push(query),
            // A word that is not a number does not concern a numeric default field.
            Err(error) if error.kind == ErrorKind::Invalid => {
                first_error = first_error.or(Some(error));
            }
            Err(error) => return Err(error),
        }
    }
    if !named.without_paths.is_empty() {
        let leaf = Leaf::Text(leaf.clone());
        for name in &named.without_paths {
            queries.extend(builder.at_any_path(name, &leaf)?);
        }
    }
    if builder.mapper.is_of_segment() && queries.iter().any(|query| !query.is::<EmptyQuery>()) {
        // In a split that lacks some of the fields, the others suffice.
        queries.retain(|query| !query.is::<EmptyQuery>());
    }
    if named.may_be_more {
        queries.push(may_match());
    }
    match first_error {
        Some(error) if queries.is_empty() && !named.is_all => Err(error),
        _ => Ok(any_of(queries)),
    }
}

impl Builder<'_> {
    /// Returns the fields of the request, or else of the index, or else all.
    fn default_fields(&self) -> Result<Named, SearchError> {
        let names = match self.search_fields {
            [] => self.mapper.default_search_fields(),
            names => names,
        };
        if names.is_empty() {
            return self.matching_fields(&[(ALL.to_owned(), Factor(1.0))]);
        }
        Ok(Named {
            names: names
                .iter()
                .map(|name| (name.clone(), Factor(1.0)))
                .collect(),
            is_exact: false,
            is_all: false,
            may_be_more: false,
            without_paths: Vec::new(),
        })
    }

    /// Returns the fields that match names and patterns.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn named(&self, wanted: &InFields) -> Result<Named, SearchError> {
        match wanted.fields.as_slice() {
            [] => self.default_fields(),
            fields => self.matching_fields(fields),
        }
    }

    fn matching_fields(&self, wanted: &[(String, Factor)]) -> Result<Named, SearchError> {
        let is_pattern = |(name, _): &(String, Factor)| name.contains('*');
        let has_pattern = wanted.iter().any(is_pattern);
        let is_all = wanted.iter().any(|(name, _)| name == ALL);
        let mut names: Vec<(String, Factor)> = Vec::new();
        let mut known = std::collections::BTreeSet::new();
        let all = match has_pattern {
            true => self.searched_paths(),
            false => Vec::new(),
        };
        for (name, boost) in wanted {
            if !name.contains('*') {
                names.push((name.clone(), *boost));
                continue;
            }
            for path in &all {
                if matches_pattern(name, path) && known.insert(path) {
                    names.push((path.clone(), *boost));
                }
            }
        }
        if names.len() > MAX_FIELDS {
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!(
                    "the names of fields stand for {} fields, more than {MAX_FIELDS}",
                    names.len()
                ),
            ));
        }
        Ok(Named {
            names,
            is_exact: !has_pattern,
            is_all,
            without_paths: match has_pattern {
                true => {
                    let mut fields = self.fields_without_paths();
                    let is_within =
                        |field: &String| wanted.iter().any(|(name, _)| takes_all_of(name, field));
                    fields.retain(is_within);
                    fields
                }
                false => Vec::new(),
            },
            may_be_more: has_pattern && self.found_paths.is_none() && self.has_json_fields(),
        })
    }

    /// Returns the paths of all fields that have an index or a column, each once.
    fn searched_paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        // What a document says of itself is none of its contents.
        let has_own_ids = self.mapper.id_field() == Some("_id");
        for field in self.mapper.fields() {
            // Whole values of a text with words are found by its words.
            let is_searched = field.indexed || field.scanned || field.is_fast();
            let path = field.path();
            let is_about_itself = has_own_ids
                && matches!(path.as_str(), "_id" | "_version" | "_routing" | "_ignored");
            let is_text = field.view.is_none()
                && !is_json(&field)
                && !is_completion(&field)
                && !matches!(field.kind, FieldKind::Range(_) | FieldKind::Vector(_));
            if is_searched && is_text && !is_about_itself {
                paths.push(path);
            }
        }
        paths.extend(self.found_paths.into_iter().flatten().cloned());
        paths
    }

    /// Returns whether documents may have values at paths that the mapping does not name.
    fn has_json_fields(&self) -> bool {
        self.mapper.dynamic_field().is_some() || self.mapper.fields().iter().any(is_json)
    }
}

/// Returns whether a pattern takes in every path of a JSON field, of which the empty name has all unmapped values.
fn takes_all_of(pattern: &str, field: &str) -> bool {
    let Some(start) = pattern.strip_suffix('*') else {
        return false;
    };
    let paths = match field {
        "" => String::new(),
        field => format!("{field}."),
    };
    !start.contains('*') && paths.starts_with(start)
}

/// Returns whether a field has entries for suggesters, which are no words.
fn is_completion(field: &ResolvedField<'_>) -> bool {
    matches!(field.kind, FieldKind::Text(text) if text.completion.is_some())
}

fn is_json(field: &ResolvedField<'_>) -> bool {
    matches!(field.kind, FieldKind::Json(_))
}
