//! Fields that no document has, in orders and figures that Elasticsearch refuses then. What a mapping does not name, only
//! the columns of splits tell, so that they are listed where an answer lacks all values.

use canter_doc_mapper::{DocMapper, IndexConfig};
use serde_json::Value;
use tantivy::columnar::ColumnType;

use crate::SearchError;
use crate::exchange::Exchange;
use crate::leaf::{list_columns, path_of_column};
use crate::plan::SearchPlan;
use crate::request::{Question, SortTarget};
use crate::split::{HeadSource, SearchedIndex};

/// Maximum number of splits whose columns are listed.
const MAX_SPLITS: usize = 32;

/// What is checked once there is an answer.
pub(super) struct Doubtful {
    index: SearchedIndex,
    splits: Vec<HeadSource>,
    /// Fields of the order, by place.
    sorted: Vec<(usize, String)>,
    /// Names of aggregations of numbers, their fields, and what such an aggregation is called.
    figures: Vec<(String, String)>,
}

impl Doubtful {
    /// Returns what is doubtful in a question, if all splits of a single index are searched.
    pub(super) fn of(question: &Question, plan: &SearchPlan) -> Option<Self> {
        // What the caller may not see must not tell whether there is a field.
        let shown = question
            .elastic
            .as_ref()
            .filter(|_| !question.is_filtered())?;
        let ([index], true) = (plan.indexes.as_slice(), plan.pruned.is_empty()) else {
            return None;
        };
        let num_splits = plan.splits.len();
        if num_splits > MAX_SPLITS || num_splits as u64 != plan.num_splits {
            return None;
        }
        let sorted = question.sort.iter().enumerate();
        let sorted = sorted.filter_map(|(place, key)| match &key.target {
            // Texts that are too long for whole values have no column.
            SortTarget::Field(name)
                if shown.sorted_by_mapped.contains(name) && !name.ends_with(".keyword") =>
            {
                Some((place, name.clone()))
            }
            _ => None,
        });
        let sorted: Vec<_> = sorted.collect();
        let asked = question.aggregations.as_ref();
        let figures = asked.map_or_else(Vec::new, |asked| asked.parsed().of_numbers());
        if sorted.is_empty() && figures.is_empty() {
            return None;
        }
        let config: IndexConfig = serde_json::from_value(index.config.clone()).ok()?;
        let mapper = DocMapper::new(&config).ok()?;
        // Only indexes of Elasticsearch's clients have its errors.
        (mapper.id_field() == Some("_id")).then_some(())?;
        let is_open = |name: &str| {
            let field = mapper.resolve(name);
            field.is_some_and(|field| matches!(field.kind, canter_doc_mapper::FieldKind::Json(_)))
        };
        let doubtful = Self {
            index: index.clone(),
            splits: plan
                .splits
                .iter()
                .map(|split| split.source.clone())
                .collect(),
            sorted: sorted
                .into_iter()
                .filter(|(_, name)| is_open(name))
                .collect(),
            figures: figures
                .into_iter()
                .filter(|(_, name)| is_open(name))
                .collect(),
        };
        (!doubtful.sorted.is_empty() || !doubtful.figures.is_empty()).then_some(doubtful)
    }

    /// Checks an answer.
    ///
    /// # Errors
    /// Nothing has a field that it is sorted by, or a field of figures has only texts.
    pub(super) async fn check(self, answer: &str, exchange: &Exchange) -> Result<(), SearchError> {
        let Ok(answer) = serde_json::from_str::<Value>(answer) else {
            return Ok(());
        };
        let hits = answer["hits"]["hits"].as_array();
        let hits = hits.filter(|hits| !hits.is_empty());
        let has_no_value = |place: usize| {
            hits.is_some_and(|hits| hits.iter().all(|hit| hit["sort"][place].is_null()))
        };
        let sorted: Vec<&String> = self
            .sorted
            .iter()
            .filter(|(place, _)| has_no_value(*place))
            .map(|(_, name)| name)
            .collect();
        let figures: Vec<&String> = self
            .figures
            .iter()
            .filter(|(name, _)| is_empty(&answer["aggregations"][name]))
            .map(|(_, field)| field)
            .collect();
        if sorted.is_empty() && figures.is_empty() {
            return Ok(());
        }
        let columns = list_columns(self.index, self.splits, exchange).await?;
        let types_of = |name: &str| {
            let all = columns.iter();
            let own = all.filter(|(column, _)| path_of_column(column).as_deref() == Some(name));
            own.flat_map(|(_, types)| types.clone()).collect::<Vec<_>>()
        };
        if let Some(name) = sorted.into_iter().find(|name| types_of(name).is_empty()) {
            return Err(SearchError::invalid(format!(
                "No mapping found for [{name}] in order to sort on: set unmapped_type, if that is meant"
            )));
        }
        let is_text = |name: &str| {
            let types = types_of(name.strip_suffix(".keyword").unwrap_or(name));
            !types.is_empty() && types.iter().all(|own| *own == ColumnType::Str)
        };
        match figures.into_iter().find(|name| is_text(name)) {
            Some(name) => Err(SearchError::invalid(format!(
                "Field [{name}] has texts, and is not supported for aggregations of numbers"
            ))),
            None => Ok(()),
        }
    }
}

/// Returns whether an aggregation of numbers has found none.
fn is_empty(answer: &Value) -> bool {
    let is_nothing = |key: &str| answer.get(key).is_some_and(Value::is_null);
    match answer {
        Value::Object(_) => {
            is_nothing("value")
                || answer["count"] == 0
                || answer["value"] == 0.0
                || answer["buckets"].as_array().is_some_and(Vec::is_empty)
                || answer["values"]
                    .as_object()
                    .is_some_and(|values| values.values().all(Value::is_null))
        }
        _ => false,
    }
}
