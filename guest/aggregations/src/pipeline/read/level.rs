//! Pipelines of a level, and where their paths lead.

use super::inputs::Input;
use super::kinds::{Asked, Draft, asked};
use crate::Result;
use crate::pipeline::format::Format;
use crate::pipeline::order::ordered;
use crate::pipeline::paths::{Scope, Written};
use crate::pipeline::types::{BucketsPath, GapPolicy, Pipeline, PipelineOf};
use crate::request::{Aggregation, Body};

/// Reads the pipelines of a level with these aggregations.
///
/// # Errors
/// A pipeline is invalid. The message begins with its location in the request.
pub(crate) fn read_level(
    drafts: &[Draft<'_>],
    aggregations: &[Aggregation],
) -> Result<Vec<Pipeline>> {
    let mut pipelines = Vec::with_capacity(drafts.len());
    let mut inputs = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let (pipeline, written) = read(draft)?;
        pipelines.push(pipeline);
        inputs.push(written);
    }
    let scope = Scope {
        aggregations,
        pipelines: &pipelines,
    };
    let mut found = Vec::with_capacity(inputs.len());
    for (pipeline, inputs) in pipelines.iter().zip(&inputs) {
        let paths = inputs.iter().map(|input| {
            let Input { place, text, .. } = input;
            let written = Written { place, text };
            match pipeline.what.is_sibling() {
                true => written.of_level(scope),
                false => written.of_bucket(text, scope),
            }
        });
        found.push(paths.collect::<Result<Vec<BucketsPath>>>()?);
    }
    for (pipeline, inputs) in pipelines.iter_mut().zip(found) {
        pipeline.inputs = inputs;
    }
    ordered(pipelines)
}

fn read<'a>(draft: &Draft<'a>) -> Result<(Pipeline, Vec<Input<'a>>)> {
    let Asked { what, inputs, body } = asked(draft)?;
    let pipeline = Pipeline {
        name: draft.name.to_owned(),
        path: draft.path.clone(),
        gaps: gaps(&body, &what)?,
        format: match body.text("format")? {
            None => None,
            Some(pattern) => {
                let format = Format::parse(pattern);
                Some(format.map_err(|what| body.invalid("format", &what))?)
            }
        },
        what,
        inputs: Vec::new(),
    };
    Ok((pipeline, inputs))
}

fn gaps(body: &Body<'_>, what: &PipelineOf) -> Result<GapPolicy> {
    if matches!(what, PipelineOf::CumulativeSum) {
        return Ok(GapPolicy::InsertZeros);
    }
    match body.text("gap_policy")? {
        None | Some("skip") => Ok(GapPolicy::Skip),
        Some("insert_zeros") => Ok(GapPolicy::InsertZeros),
        Some("keep_values") => Ok(GapPolicy::KeepValues),
        Some(_) => Err(body.invalid(
            "gap_policy",
            "this must be skip, insert_zeros or keep_values",
        )),
    }
}
