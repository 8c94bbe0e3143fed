//! One field's vectors, as the index describes them, and where their bytes are.

use std::ops::Range;

use canter_vectors::{CodeWidth, Element, Rotation, Similarity};

use super::centroids::{self, MAX_CENTROID_BITS};
use super::presence::Presence;
use super::{CORRECTIONS_LEN, MAX_CLUSTERS, MAX_DIMS, VectorCluster, packed_len, width_of_places};
use crate::FormatError;
use crate::codec::groups::{read_groups, write_groups};
use crate::codec::{Reader, Writer};
use crate::version::VECTORS_NAME;

/// What the vectors of a field are, and how they were encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorShape {
    /// Number of the field in the schema.
    pub field: u32,
    /// What the numbers of its vectors are.
    pub element: Element,
    /// How they are compared.
    pub similarity: Similarity,
    /// Number of dimensions.
    pub dims: u32,
    /// Seed of the rotation.
    pub seed: u64,
    /// Width of codes; without it, there is one cluster, without codes, and all vectors are read.
    pub codes: Option<CodeWidth>,
    /// Number of bits of a centroid's numbers: 4 or 8.
    pub centroid_bits: u32,
}

impl VectorShape {
    /// Returns the number of dimensions of a rotated vector.
    pub fn rotated_dims(&self) -> usize {
        Rotation::num_dims_of(self.dims())
    }

    /// Returns the number of dimensions.
    pub fn dims(&self) -> usize {
        usize::try_from(self.dims).unwrap_or(usize::MAX)
    }

    /// Returns the number of bytes of an exact vector.
    pub fn stored_len(&self) -> u64 {
        self.element.stored_len(self.dims()) as u64
    }

    /// Returns the number of bytes of a code and its corrections.
    pub(super) fn coded_len(&self) -> u64 {
        let len = |width: CodeWidth| width.code_len(self.rotated_dims()) as u64 + CORRECTIONS_LEN;
        self.codes.map_or(0, len)
    }

    /// Returns the number of bytes of a centroid in the index.
    pub(super) fn centroid_len(&self) -> usize {
        match self.codes {
            Some(_) => centroids::len(self.rotated_dims(), self.centroid_bits),
            None => 0,
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.varint(u64::from(self.field));
        let element = match self.element {
            Element::Float => 0,
            Element::Byte => 1,
            Element::Bit => 2,
        };
        let similarity = match self.similarity {
            Similarity::Cosine => 0,
            Similarity::DotProduct => 1,
            Similarity::L2Norm => 2,
            Similarity::MaxInnerProduct => 3,
        };
        out.varint(element);
        out.varint(similarity);
        out.varint(u64::from(self.dims));
        out.varint(u64::from(self.codes.map_or(0, CodeWidth::bits)));
        if self.codes.is_some() {
            out.u64(self.seed);
            out.varint(u64::from(self.centroid_bits));
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        let field = reader.varint_u32()?;
        let element = match reader.varint()? {
            0 => Element::Float,
            1 => Element::Byte,
            2 => Element::Bit,
            other => return Err(reader.error(format!("element type {other} is unknown"))),
        };
        let similarity = match reader.varint()? {
            0 => Similarity::Cosine,
            1 => Similarity::DotProduct,
            2 => Similarity::L2Norm,
            3 => Similarity::MaxInnerProduct,
            other => return Err(reader.error(format!("similarity {other} is unknown"))),
        };
        let dims = reader.varint_u32()?;
        if !(1..=MAX_DIMS).contains(&dims) {
            return Err(reader.error(format!("vectors of {dims} dimensions")));
        }
        let bits = reader.varint_u32()?;
        let codes = CodeWidth::of_bits(bits);
        if codes.is_none() && bits != 0 {
            return Err(reader.error(format!("codes of {bits} bits a dimension")));
        }
        let (seed, centroid_bits) = match codes {
            Some(_) => (reader.u64()?, reader.varint_u32()?),
            None => (0, MAX_CENTROID_BITS),
        };
        if !matches!(centroid_bits, 4 | MAX_CENTROID_BITS) {
            return Err(reader.error(format!("centroids of {centroid_bits} bits a dimension")));
        }
        Ok(Self {
            field,
            element,
            similarity,
            dims,
            seed,
            codes,
            centroid_bits,
        })
    }
}

/// One field's vectors, and where they are in the file `vectors`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorField {
    shape: VectorShape,
    /// Number of documents of the split.
    num_docs: u32,
    /// Number of documents that have a vector.
    num_vectors: u32,
    /// Number of vectors of each cluster, of which none is without any.
    counts: Vec<u32>,
    /// Where each cluster begins, and where the last one ends.
    starts: Vec<u64>,
    /// Centroids as they are stored.
    centroids: Vec<u8>,
}

impl VectorField {
    /// Describes vectors whose clusters begin at `start`.
    pub(super) fn new(
        shape: VectorShape,
        [num_docs, num_vectors]: [u32; 2],
        counts: Vec<u32>,
        centroids: Vec<u8>,
        start: u64,
    ) -> Option<Self> {
        let mut field = Self {
            shape,
            num_docs,
            num_vectors,
            counts,
            starts: vec![start],
            centroids,
        };
        let mut end = start;
        for num in &field.counts {
            end = end.checked_add(field.cluster_len(*num)?)?;
            field.starts.push(end);
        }
        field.checked_end()?;
        Some(field)
    }

    pub(super) fn read(
        reader: &mut Reader<'_>,
        num_docs: u32,
        start: u64,
    ) -> Result<Self, FormatError> {
        let shape = VectorShape::read(reader)?;
        let num_vectors = reader.varint_u32()?;
        if !(1..=num_docs).contains(&num_vectors) {
            return Err(reader.error(format!(
                "{num_vectors} vectors in a split of {num_docs} documents"
            )));
        }
        let num_clusters = reader.count(shape.centroid_len())?;
        let most = if shape.codes.is_some() {
            MAX_CLUSTERS
        } else {
            1
        };
        if !(1..=most).contains(&num_clusters) {
            return Err(reader.error(format!("{num_clusters} clusters")));
        }
        let counts: Vec<[u64; 1]> = read_groups(reader, num_clusters)?;
        let is_sound = |num: &u32| (1..=num_vectors).contains(num);
        let counts = counts
            .into_iter()
            .map(|[num]| u32::try_from(num).ok().filter(is_sound));
        let counts: Option<Vec<u32>> = counts.collect();
        let counts = counts.ok_or_else(|| {
            reader.error("a cluster without vectors, or with more than the field has")
        })?;
        let sum: u64 = counts.iter().copied().map(u64::from).sum();
        if sum < u64::from(num_vectors) {
            return Err(reader.error("its clusters have fewer vectors than the field"));
        }
        let len = shape.centroid_len().saturating_mul(num_clusters);
        let centroids = reader.raw(len)?;
        if shape.codes.is_some() {
            centroids::check(centroids, shape.rotated_dims(), shape.centroid_bits)?;
        }
        Self::new(
            shape,
            [num_docs, num_vectors],
            counts,
            centroids.to_vec(),
            start,
        )
        .ok_or_else(|| reader.error("its vectors have more bytes than 64 bits can say"))
    }

    pub(super) fn write(&self, out: &mut Writer) {
        self.shape.write(out);
        out.varint(u64::from(self.num_vectors));
        out.varint(self.counts.len() as u64);
        let counts: Vec<u64> = self.counts.iter().copied().map(u64::from).collect();
        write_groups(out, [&counts]);
        out.raw(&self.centroids);
    }

    /// Returns what the vectors are.
    pub fn shape(&self) -> &VectorShape {
        &self.shape
    }

    /// Returns the number of documents that have a vector.
    pub fn num_vectors(&self) -> u32 {
        self.num_vectors
    }

    /// Returns the number of clusters, at least 1.
    pub fn num_clusters(&self) -> usize {
        self.counts.len()
    }

    /// Returns the number of vectors of a cluster; 0 if there is no such cluster.
    pub fn num_vectors_of(&self, cluster: usize) -> u32 {
        self.counts.get(cluster).copied().unwrap_or(0)
    }

    /// Returns the rotated centroid of each cluster; nothing if vectors have no codes.
    pub fn centroids(&self) -> impl Iterator<Item = Vec<f32>> + '_ {
        let num = match self.shape.codes {
            Some(_) => self.num_clusters(),
            None => 0,
        };
        (0..num).map(|cluster| self.centroid(cluster))
    }

    /// Returns the rotated centroid of a cluster; nothing if there is no such cluster, or no codes.
    pub fn centroid(&self, cluster: usize) -> Vec<f32> {
        let stored = self.stored_centroid(cluster);
        match stored.is_empty() {
            true => Vec::new(),
            false => centroids::read(stored, self.shape.rotated_dims(), self.shape.centroid_bits),
        }
    }

    /// Returns the centroid of a cluster as it is stored; nothing if there is no such cluster, or no codes.
    pub fn stored_centroid(&self, cluster: usize) -> &[u8] {
        let len = self.shape.centroid_len();
        let start = cluster.saturating_mul(len);
        let bytes = self.centroids.get(start..start.saturating_add(len));
        bytes.unwrap_or_default()
    }

    /// Returns where the bytes of a cluster are in the file `vectors`; an empty range if there is no such
    /// cluster.
    pub fn cluster_range(&self, cluster: usize) -> Range<u64> {
        let [start, end] = [Some(cluster), cluster.checked_add(1)]
            .map(|place| place.and_then(|place| self.starts.get(place)).copied());
        start.zip(end).map_or(0..0, |(start, end)| start..end)
    }

    /// Opens a cluster, whose bytes are `bytes`.
    ///
    /// # Errors
    /// The bytes are not those of the cluster that the index describes.
    pub fn open_cluster<'a>(
        &self,
        cluster: usize,
        bytes: &'a [u8],
    ) -> Result<VectorCluster<'a>, FormatError> {
        let num = self.num_vectors_of(cluster);
        if num == 0 || self.cluster_len(num) != Some(bytes.len() as u64) {
            return Err(FormatError::new(
                VECTORS_NAME,
                format!("cluster {cluster} has another length than the index says"),
            ));
        }
        VectorCluster::open(&self.shape, [self.num_docs, self.num_vectors], num, bytes)
    }

    /// Returns where the bytes are that say which place the vector of `doc` has among the exact vectors; an empty range if
    /// all documents have a vector, so that it is the document id.
    pub fn presence_range(&self, doc: u32) -> Range<u64> {
        let range = self.presence().map_or(0..0, |presence| presence.range(doc));
        let start = self.clusters_end();
        start + range.start..start + range.end
    }

    /// Returns the place of the vector of `doc` among the exact vectors, or `None` if it has none. `bytes` are those
    /// of [`presence_range`](Self::presence_range).
    ///
    /// # Errors
    /// The bytes are damaged.
    pub fn place_of(&self, doc: u32, bytes: &[u8]) -> Result<Option<u32>, FormatError> {
        match self.presence() {
            Some(presence) => presence.place_of(doc, bytes),
            None => Ok((doc < self.num_docs).then_some(doc)),
        }
    }

    /// Returns where the exact vector of a place is; an empty range if there is no such place.
    pub fn exact_range(&self, place: u32) -> Range<u64> {
        if place >= self.num_vectors {
            return 0..0;
        }
        let len = self.shape.stored_len();
        let start = self.exact_start() + u64::from(place) * len;
        start..start + len
    }

    /// Returns where all bytes of the field are.
    pub fn range(&self) -> Range<u64> {
        let start = self.starts.first().copied().unwrap_or(0);
        start..self.exact_start() + u64::from(self.num_vectors) * self.shape.stored_len()
    }

    pub(super) fn presence(&self) -> Option<Presence> {
        Presence::new(self.num_docs, self.num_vectors)
    }

    pub(super) fn num_docs(&self) -> u32 {
        self.num_docs
    }

    fn clusters_end(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    fn exact_start(&self) -> u64 {
        self.clusters_end() + self.presence().map_or(0, |presence| presence.len())
    }

    /// Returns where the field ends, if 64 bits can say it; other sums are then exact.
    fn checked_end(&self) -> Option<u64> {
        let presence = self.presence().map_or(0, |presence| presence.len());
        let exact = u64::from(self.num_vectors).checked_mul(self.shape.stored_len())?;
        self.clusters_end()
            .checked_add(presence)?
            .checked_add(exact)
    }

    /// Returns the length of a cluster of `num` vectors.
    fn cluster_len(&self, num: u32) -> Option<u64> {
        let coded = u64::from(num).checked_mul(self.shape.coded_len())?;
        let docs = packed_len(num, width_of_places(self.num_docs));
        let places = match self.presence() {
            Some(_) => packed_len(num, width_of_places(self.num_vectors)),
            None => 0,
        };
        coded.checked_add(docs)?.checked_add(places)
    }
}
