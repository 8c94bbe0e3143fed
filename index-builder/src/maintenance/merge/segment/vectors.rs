//! Vectors of all inputs, in the order of the merged split. Clusters and codes of the largest input stay.

use canter_clusters::{Source, merge};
use canter_doc_mapper::DocMapper;
use canter_split_format::{
    FormatError, VECTOR_INDEX_FILE, VECTORS_FILE, VectorField, VectorFieldParts, VectorIndex,
};
use tantivy::directory::OwnedBytes;

use super::super::input::OpenInput;
use super::super::order::{DocOrder, as_index};
use crate::BuildError;
use crate::packager::clustering;

/// Vectors of one input.
struct OfInput {
    index: VectorIndex,
    vectors: OwnedBytes,
    new_docs: Vec<Option<u32>>,
}

/// Merges the vectors of each field. Returns nothing if no input has any.
pub(in crate::maintenance::merge) fn merge_vectors(
    inputs: &[OpenInput],
    order: &DocOrder,
    mapper: &DocMapper,
) -> Result<Vec<VectorFieldParts>, BuildError> {
    let fields = mapper.vector_fields();
    if fields.is_empty() {
        return Ok(Vec::new());
    }
    let opened = inputs.iter().enumerate();
    let opened = opened.map(|(ord, input)| open(ord, input, order));
    let opened = opened.collect::<Result<Vec<_>, _>>()?;
    let options = clustering();
    let mut merged = Vec::new();
    for (target, name, kind) in fields {
        let mut sources = Vec::new();
        for (input, of_input) in inputs.iter().zip(&opened) {
            let Some((of_input, field)) = of_input
                .as_ref()
                .and_then(|of_input| Some((of_input, field_of(input, of_input, name)?)))
            else {
                continue;
            };
            let shape = field.shape();
            if (shape.element, shape.similarity, shape.dims)
                != (kind.element, kind.similarity, kind.dims)
            {
                return Err(input.damaged(format!(
                    "the vectors of its field {name:?} are others than those of the index"
                )));
            }
            sources.push(Source {
                field,
                vectors: of_input.vectors.as_slice(),
                new_docs: &of_input.new_docs,
            });
        }
        if sources.is_empty() {
            continue;
        }
        let mut parts = merge(&sources, &options).map_err(|error| of_several(inputs, &error))?;
        parts.shape.field = target.field_id();
        if !parts.docs.is_empty() {
            merged.push(parts);
        }
    }
    Ok(merged)
}

fn open(ord: usize, input: &OpenInput, order: &DocOrder) -> Result<Option<OfInput>, BuildError> {
    let read = |name: &str| input.file(name).map_err(|error| input.damaged(error));
    let (Some(index), Some(vectors)) = (read(VECTOR_INDEX_FILE)?, read(VECTORS_FILE)?) else {
        return Ok(None);
    };
    let index = VectorIndex::open(&index, vectors.len() as u64);
    let index = index.map_err(|error| input.damaged(error))?;
    if index.num_docs() != input.num_docs() {
        return Err(input.damaged("its vectors are of other documents than it has"));
    }
    let docs = 0..input.num_docs();
    let mut new_docs = Vec::with_capacity(as_index(input.num_docs()));
    new_docs.extend(docs.map(|doc| order.new_doc(ord, doc)));
    Ok(Some(OfInput {
        index,
        vectors,
        new_docs,
    }))
}

fn field_of<'a>(input: &OpenInput, of_input: &'a OfInput, name: &str) -> Option<&'a VectorField> {
    let field = input.segment.schema().get_field(name).ok()?;
    of_input.index.field(field.field_id())
}

fn of_several(inputs: &[OpenInput], error: &FormatError) -> BuildError {
    let ids: Vec<&str> = inputs.iter().map(|input| input.id.as_str()).collect();
    BuildError::data(format!(
        "one of the splits {}: {error}: it cannot be merged: build it again",
        ids.join(", ")
    ))
}
