//! Arbitrary bytes as the index and the clusters of vectors: no panic, documents in order, and nothing
//! outside of the file.
//!
//! The first byte is the length of the index, the rest is the index and the file that it describes. The bytes
//! are also used as faults of sound vectors: pairs of a place and a value.

use canter_split_format::{
    VectorClusterParts, VectorField, VectorFieldParts, VectorIndex, VectorShape, write_vectors,
};
use canter_vectors::{CodeWidth, Corrections, Element, Similarity};

/// Maximum number of documents that are looked up.
const MAX_DOCS: u32 = 1 << 20;

/// Runs the check on one input.
pub fn vectors(bytes: &[u8]) {
    let Some((len, rest)) = bytes.split_first() else {
        return;
    };
    let (index, vectors) = rest.split_at(rest.len().min(usize::from(*len)));
    if let Ok(index) = VectorIndex::open(index, vectors.len() as u64) {
        use_index(&index, vectors);
    }
    let (mut index, mut vectors) = sound();
    for fault in rest.chunks_exact(2) {
        let place = usize::from(fault[0]);
        let changed = match place.checked_sub(64) {
            None => index.get_mut(place),
            Some(place) => vectors.get_mut(place),
        };
        if let Some(byte) = changed {
            *byte = fault[1];
        }
    }
    if let Ok(index) = VectorIndex::open(&index, vectors.len() as u64) {
        use_index(&index, &vectors);
    }
}

/// Returns the index and the vectors of a small field, of which some documents have none.
fn sound() -> (Vec<u8>, Vec<u8>) {
    let mut parts = VectorFieldParts {
        shape: VectorShape {
            field: 1,
            element: Element::Byte,
            similarity: Similarity::L2Norm,
            dims: 2,
            seed: 0,
            codes: Some(CodeWidth::One),
            centroid_bits: 4,
        },
        docs: vec![1, 3, 4],
        exact: vec![1, 2, 3, 4, 5, 6],
        centroids: Vec::new(),
        clusters: Vec::new(),
    };
    for ranks in [vec![2, 0], vec![1]] {
        let stored = parts.shape.stored_centroid(&[1.0; 64]);
        parts.centroids.extend(stored);
        let corrections = Corrections {
            factor: 1.0,
            offset: -1.0,
        };
        parts.clusters.push(VectorClusterParts {
            codes: vec![0x5a; 8 * ranks.len()],
            corrections: vec![corrections; ranks.len()],
            spread: 0.5,
            ranks,
        });
    }
    let written = write_vectors(6, &[parts]).expect("the vectors are sound");
    (written.index, written.vectors)
}

fn use_index(index: &VectorIndex, file: &[u8]) {
    assert_eq!(index.vectors_len(), file.len() as u64);
    assert_eq!(
        VectorIndex::open(&index.write(), index.vectors_len()).as_ref(),
        Ok(index)
    );
    for field in index.fields() {
        use_field(field, index.num_docs(), file);
    }
}

fn use_field(field: &VectorField, num_docs: u32, file: &[u8]) {
    let read = |range: std::ops::Range<u64>| {
        file.get(range.start as usize..range.end as usize)
            .expect("each range is inside of the file")
    };
    for centroid in field.centroids() {
        assert!(centroid.iter().all(|number| number.is_finite()));
    }
    for ord in 0..field.num_clusters() {
        assert!((0.0..f32::INFINITY).contains(&field.spread(ord)));
        let Ok(cluster) = field.open_cluster(ord, read(field.cluster_range(ord))) else {
            continue;
        };
        for (doc, place) in cluster.placed() {
            assert!(doc < num_docs);
            let exact = field.exact(read(field.exact_range(place)));
            assert_eq!(exact.len() as u64, field.shape().stored_len());
        }
    }
    for doc in 0..num_docs.min(MAX_DOCS) {
        if let Ok(Some(place)) = field.place_of(doc, read(field.places_range(doc))) {
            assert!(!field.exact_range(place).is_empty());
        }
    }
}
