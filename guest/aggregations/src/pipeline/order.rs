//! Valid places of pipelines, and the order in which the pipelines of a level are computed.

use super::paths::{has_buckets, has_numbers_as_keys};
use super::types::{End, Pipeline, PipelineOf};
use crate::request::Kind;
use crate::{Error, Result};

impl Pipeline {
    /// Returns whether this pipeline uses a number of another one of its level.
    fn needs(&self, other: &Self) -> bool {
        self.inputs.iter().any(|input| {
            let is_of_level = input.over.is_empty() && input.steps.is_empty();
            is_of_level && matches!(&input.end, End::Number { name, .. } if *name == other.name)
        })
    }
}

/// Sorts pipelines by dependency, with those that remove buckets last, and otherwise by name.
///
/// # Errors
/// Some pipelines depend on each other.
pub(super) fn ordered(mut pipelines: Vec<Pipeline>) -> Result<Vec<Pipeline>> {
    canter_sorting::sort_by(&mut pipelines, |left, right| {
        let key = |pipeline: &Pipeline| pipeline.what.turn();
        key(left)
            .cmp(&key(right))
            .then_with(|| left.name.cmp(&right.name))
    });
    let mut ordered: Vec<Pipeline> = Vec::with_capacity(pipelines.len());
    while !pipelines.is_empty() {
        let is_ready = |pipeline: &Pipeline| !pipelines.iter().any(|other| pipeline.needs(other));
        match pipelines.iter().position(is_ready) {
            Some(place) => ordered.push(pipelines.remove(place)),
            None => {
                let names: Vec<&str> = pipelines.iter().map(|found| found.name.as_str()).collect();
                let path = pipelines.first().map_or("", |first| &first.path);
                let what = format!(
                    "these need each other, or one of them: {}",
                    names.join(", ")
                );
                return Err(Error::invalid(path, &what));
            }
        }
    }
    Ok(ordered)
}

/// Checks that pipelines are allowed below an aggregation; `None` is the outermost level.
///
/// # Errors
/// A pipeline is not allowed there.
pub(crate) fn check_place(pipelines: &[Pipeline], parent: Option<&Kind>) -> Result<()> {
    for pipeline in pipelines {
        if let Some(what) = misplaced(pipeline, parent) {
            return Err(Error::invalid(&pipeline.path, &what));
        }
    }
    Ok(())
}

fn misplaced(pipeline: &Pipeline, parent: Option<&Kind>) -> Option<String> {
    if pipeline.what.is_sibling() {
        return None;
    }
    let Some(parent) = parent.filter(|parent| has_buckets(parent)) else {
        return Some(
            "this must stand inside of an aggregation that has several buckets".to_owned(),
        );
    };
    if pipeline.what.is_of_row() {
        let min_doc_count = match parent {
            Kind::Histogram(histogram) => histogram.row.min_doc_count,
            Kind::DateHistogram(histogram) => histogram.row.min_doc_count,
            Kind::AutoDateHistogram(_) => 0,
            _ => {
                return Some(
                    "this must stand inside of a histogram or a date_histogram".to_owned(),
                );
            }
        };
        if min_doc_count > 0 {
            return Some("the histogram around this must have a min_doc_count of 0".to_owned());
        }
    }
    let has_unit = matches!(pipeline.what, PipelineOf::Derivative { unit_ms: Some(_) });
    if has_unit && !matches!(parent, Kind::DateHistogram(_) | Kind::AutoDateHistogram(_)) {
        return Some("a unit needs a date_histogram around this".to_owned());
    }
    let takes_key = pipeline.inputs.iter().any(|input| input.end == End::Key);
    let is_sort = matches!(pipeline.what, PipelineOf::BucketSort { .. });
    match takes_key {
        true if is_sort && matches!(parent, Kind::Composite(_) | Kind::MultiTerms(_)) => {
            Some("keys of several fields are no order for this".to_owned())
        }
        true if !is_sort && !has_numbers_as_keys(parent) => {
            Some("_key is a number in histograms alone".to_owned())
        }
        _ => None,
    }
}
