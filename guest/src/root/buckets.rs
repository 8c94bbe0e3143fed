//! Aggregations of an answer, with the documents of hits in buckets.

use std::collections::BTreeMap;
use std::sync::Arc;

use canter_aggregations::{
    Answer, Backgrounds, Dialect, HitValue, Partial, ShownHit, fill_hits, marked,
};

use super::elastic::{NestedPlace, Place};
use super::response::RootSearch;
use crate::SearchError;
use crate::leaf::{HitOrder, HitPlace, PartialHit};
use crate::request::{HitsInBuckets, Question, SortOrder, SortValue};
use crate::split::{OpenSplit, SearchedIndex};

/// Hits of one form, with their numbers in the answer.
#[derive(Default)]
struct OfForm {
    numbers: Vec<usize>,
    hits: Vec<PartialHit>,
    objects: Vec<Option<NestedPlace>>,
}

impl RootSearch<'_> {
    /// Returns the aggregations in the form of an answer.
    pub(super) fn final_aggregations(
        &self,
        partial: Option<&Partial>,
        backgrounds: &Backgrounds,
    ) -> Result<Option<Answer>, SearchError> {
        let Some(asked) = &self.question.aggregations else {
            return Ok(None);
        };
        let dialect = match self.question.elastic {
            Some(_) => Dialect::Elasticsearch,
            None => Dialect::Quickwit,
        };
        let untyped_keys = &self.facts.untyped_keys;
        Ok(Some(asked.parsed().answer(
            partial,
            untyped_keys,
            dialect,
            &self.facts.own_formats,
            backgrounds,
        )?))
    }

    /// Fetches the documents of the hits in an answer of aggregations, and writes them into it. Returns those that
    /// could not be fetched, too, by their splits.
    ///
    /// # Errors
    /// If the host stops the search.
    pub(super) async fn fill_buckets(
        &self,
        answer: Answer,
        opened: &mut BTreeMap<u32, Arc<OpenSplit>>,
    ) -> Result<(String, Vec<(u32, SearchError)>), SearchError> {
        let Answer { json, hits } = answer;
        if hits.is_empty() {
            return Ok((json, Vec::new()));
        }
        let mut texts: BTreeMap<usize, String> = BTreeMap::new();
        let mut failed = Vec::new();
        for (form, of_form) in self.by_form(&json, &hits) {
            let forms = self.question.elastic.as_ref();
            let Some(form) = forms.and_then(|shown| shown.in_buckets.get(form)) else {
                continue;
            };
            let question = question_of(self.question, form);
            let order = HitOrder::Keys {
                keys: form.sort.clone(),
                ties: SortOrder::Ascending,
                after: Vec::new(),
                collapse: None,
            };
            let root = RootSearch {
                question: &question,
                ..*self
            };
            let OfForm {
                numbers,
                hits,
                objects,
            } = of_form;
            let written = root.write_hits(&hits, &objects, &order, opened).await?;
            failed.extend(written.failed);
            let of_hits = numbers.into_iter().zip(written.hits);
            texts.extend(of_hits.filter_map(|(number, hit)| Some((number, hit?))));
        }
        let text_of = |number: usize| texts.get(&number).cloned();
        let filled = fill_hits(&json, |number| {
            text_of(number).unwrap_or_else(|| "null".to_owned())
        });
        Ok((filled, failed))
    }

    /// Returns the place of a hit.
    pub(super) fn place_of<'p>(
        &'p self,
        hit: &PartialHit,
        object: Option<&'p NestedPlace>,
    ) -> Result<Place<'p>, SearchError> {
        let source = self.sources.get(&hit.split_ord);
        let source = source
            .ok_or_else(|| SearchError::internal("a hit of a split that is not in the plan"))?;
        let index = self.facts.indexes.get(source.index);
        Ok(Place {
            index: index.map_or("", SearchedIndex::name),
            split_id: &source.entry.id,
            object,
        })
    }

    /// Returns the hits that the answer has, by their form.
    fn by_form(&self, json: &str, hits: &[ShownHit]) -> BTreeMap<usize, OfForm> {
        let sources = self.sources.iter();
        let ords: BTreeMap<&str, u32> = sources
            .map(|(split_ord, source)| (source.entry.id.as_str(), *split_ord))
            .collect();
        let mut forms: BTreeMap<usize, OfForm> = BTreeMap::new();
        for number in marked(json) {
            let Some(hit) = hits.get(number) else {
                continue;
            };
            let Some(split_ord) = ords.get(hit.split_id.as_str()) else {
                continue;
            };
            let of_form = forms.entry(hit.form).or_default();
            of_form.numbers.push(number);
            of_form.objects.push(hit.object.clone());
            of_form.hits.push(PartialHit {
                split_ord: *split_ord,
                doc: hit.doc,
                keys: hit.sort.iter().map(sort_value).collect(),
                place: HitPlace::default(),
                names: 0,
            });
        }
        forms
    }
}

/// Returns the question whose hits have this form.
fn question_of(question: &Question, form: &HitsInBuckets) -> Question {
    Question {
        sort: form.sort.clone(),
        elastic: Some(form.shown.clone()),
        aggregations: None,
        collapse: None,
        ..question.clone()
    }
}

fn sort_value(value: &HitValue) -> SortValue {
    match value {
        HitValue::Integer(integer) => SortValue::Integer(*integer),
        HitValue::Number(number) => SortValue::Number(*number),
        HitValue::Bool(flag) => SortValue::Bool(*flag),
        HitValue::Date(time_ns) => SortValue::Date(*time_ns),
        HitValue::Text(text) => SortValue::Text(text.clone()),
        HitValue::Address(address) => SortValue::Address(*address),
        HitValue::Missing => SortValue::Missing,
    }
}
