//! Vectors of a split: collected document by document, then divided into clusters and encoded.

use canter_clusters::{Options, Vectors, build};
use canter_doc_mapper::DocMapper;
use canter_doc_mapper::config::VectorKind;
use canter_split_format::{VectorFieldParts, VectorShape};
use tantivy::schema::Field;
use tantivy::schema::document::{Document, ReferenceValueLeaf, Value};

/// Maximum number of threads that divide and encode the vectors of a split. The result does not depend on it.
const MAX_THREADS: usize = 4;

/// Returns how vectors are divided and encoded. All splits of an index share it, since merges keep codes.
pub(crate) fn clustering() -> Options {
    let available = std::thread::available_parallelism();
    Options {
        num_threads: available.map_or(1, |num| num.get().min(MAX_THREADS)),
        ..Options::default()
    }
}

/// Returns what a field's vectors are.
pub(crate) fn shape_of(field: Field, kind: VectorKind) -> VectorShape {
    VectorShape {
        field: field.field_id(),
        element: kind.element,
        similarity: kind.similarity,
        dims: kind.dims,
        seed: 0,
        codes: None,
        centroid_bits: 8,
    }
}

/// Vectors of the documents of a segment, field by field.
pub(crate) struct VectorsBuilder {
    fields: Vec<Vectors>,
    num_bytes: u64,
}

impl VectorsBuilder {
    pub(crate) fn new(mapper: &DocMapper) -> Self {
        let fields = mapper.vector_fields().into_iter();
        let fields = fields.map(|(field, _, kind)| Vectors {
            shape: shape_of(field, kind),
            docs: Vec::new(),
            exact: Vec::new(),
        });
        Self {
            fields: fields.collect(),
            num_bytes: 0,
        }
    }

    /// Adds the vectors of the next document.
    pub(crate) fn add(&mut self, doc: u32, document: &impl Document) {
        if self.fields.is_empty() {
            return;
        }
        for (field, value) in document.iter_fields_and_values() {
            let of_field = self
                .fields
                .iter_mut()
                .find(|of| of.shape.field == field.field_id());
            let Some(of_field) = of_field else {
                continue;
            };
            // The mapper gives a document at most one vector in a field, of the right length.
            if let Some(ReferenceValueLeaf::Bytes(bytes)) = value.as_leaf()
                && of_field.docs.last() != Some(&doc)
            {
                of_field.docs.push(doc);
                of_field.exact.extend_from_slice(bytes);
                self.num_bytes += bytes.len() as u64;
            }
        }
    }

    /// Returns the number of bytes of all vectors.
    pub(crate) fn num_bytes(&self) -> u64 {
        self.num_bytes
    }

    /// Divides and encodes the vectors of each field.
    pub(crate) fn finish(self) -> Vec<VectorFieldParts> {
        let options = clustering();
        let fields = self.fields.into_iter();
        fields
            .filter(|vectors| !vectors.docs.is_empty())
            .map(|vectors| build(vectors, &options))
            .collect()
    }
}
