//! One field's vectors, as the index describes them, and where their bytes are.

use std::ops::Range;

use super::centroids;
use super::places::Places;
use super::{
    CHECKSUM_LEN, MAX_CLUSTERS, VectorCluster, VectorShape, check_at, content, packed_len,
    width_of_places,
};
use crate::FormatError;
use crate::codec::groups::{read_groups, write_groups};
use crate::codec::{Reader, Writer};
use crate::documents::BlockCheck;
use crate::version::VECTORS_NAME;

/// One field's vectors, and where they are in the file `vectors`.
#[derive(Clone, Debug, PartialEq)]
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
    /// Place of the first exact vector of each cluster.
    first_places: Vec<u32>,
    places: Places,
    stored: StoredClusters,
}

/// What the index has of the clusters of a field, if there are codes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StoredClusters {
    /// How far vectors are from the centroid: the square root of the mean square of the distance.
    pub(super) spreads: Vec<f32>,
    /// Centroids as they are stored.
    pub(super) centroids: Vec<u8>,
}

impl VectorField {
    /// Describes vectors whose clusters begin at `start`. Each is in one cluster.
    pub(super) fn new(
        shape: VectorShape,
        [num_docs, num_vectors]: [u32; 2],
        counts: Vec<u32>,
        places: Places,
        stored: StoredClusters,
        start: u64,
    ) -> Option<Self> {
        let mut field = Self {
            shape,
            num_docs,
            num_vectors,
            counts,
            starts: vec![start],
            first_places: Vec::new(),
            places,
            stored,
        };
        let (mut end, mut place) = (start, 0u32);
        for num in &field.counts {
            end = end.checked_add(field.cluster_len(*num)?)?;
            field.starts.push(end);
            field.first_places.push(place);
            place = place.checked_add(*num)?;
        }
        field.checked_end()?;
        (place == num_vectors).then_some(field)
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
        let num_clusters = reader.count(shape.cluster_len())?;
        let most = if shape.codes.is_some() {
            MAX_CLUSTERS
        } else {
            1
        };
        if !(1..=most).contains(&num_clusters) {
            return Err(reader.error(format!("{num_clusters} clusters")));
        }
        let counts = read_counts(reader, num_clusters, num_vectors)?;
        let places = Places::read(reader, num_docs, num_vectors)?;
        let mut stored = StoredClusters::default();
        if shape.codes.is_some() {
            stored.spreads = read_spreads(reader, num_clusters)?;
            let len = shape.centroid_len().saturating_mul(num_clusters);
            let centroids = reader.raw(len)?;
            centroids::check(centroids, shape.rotated_dims(), shape.centroid_bits)?;
            stored.centroids = centroids.to_vec();
        }
        Self::new(
            shape,
            [num_docs, num_vectors],
            counts,
            places,
            stored,
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
        self.places.write(out);
        for spread in &self.stored.spreads {
            out.raw(&spread.to_le_bytes());
        }
        out.raw(&self.stored.centroids);
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

    /// Returns how far the vectors of a cluster are from its centroid, finite and not negative: the square root of the mean
    /// square of their distances. 0 if there is no such cluster, or no codes.
    pub fn spread(&self, cluster: usize) -> f32 {
        self.stored.spreads.get(cluster).copied().unwrap_or(0.0)
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
            false => self.shape.centroid(stored),
        }
    }

    /// Returns the centroid of a cluster as it is stored; nothing if there is no such cluster, or no codes.
    pub fn stored_centroid(&self, cluster: usize) -> &[u8] {
        let len = self.shape.centroid_len();
        let start = cluster.saturating_mul(len);
        let bytes = self.stored.centroids.get(start..start.saturating_add(len));
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
        let first_place = self.first_places.get(cluster).copied().unwrap_or(0);
        VectorCluster::open(&self.shape, self.num_docs, num, first_place, bytes)
    }

    /// Returns where the bytes are that say which place the vector of `doc` has among the exact vectors; an empty range if
    /// it has none.
    pub fn places_range(&self, doc: u32) -> Range<u64> {
        let range = self.places.range(doc);
        let start = self.clusters_end();
        start + range.start..start + range.end
    }

    /// Returns the place of the vector of `doc` among the exact vectors, or `None` if it has none. `bytes` are those
    /// of [`places_range`](Self::places_range).
    ///
    /// # Errors
    /// The bytes are damaged.
    pub fn place_of(&self, doc: u32, bytes: &[u8]) -> Result<Option<u32>, FormatError> {
        self.places.place_of(doc, bytes)
    }

    /// Returns where the exact vector of a place is; an empty range if there is no such place.
    pub fn exact_range(&self, place: u32) -> Range<u64> {
        if place >= self.num_vectors {
            return 0..0;
        }
        let len = self.shape.exact_len();
        let start = self.exact_start() + u64::from(place) * len;
        start..start + len
    }

    /// Returns the vector in the bytes of an [`exact_range`](Self::exact_range).
    pub fn exact<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        content(bytes)
    }

    /// Returns where all pieces are: clusters, blocks of places, exact vectors.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let clusters = (0..self.num_clusters()).map(|cluster| self.cluster_range(cluster));
        let start = self.clusters_end();
        let places = self.places.blocks();
        let places = places.map(move |range| start + range.start..start + range.end);
        let exact = (0..self.num_vectors).map(|place| self.exact_range(place));
        clusters.chain(places).chain(exact)
    }

    /// Returns how the bytes of a range are checked: of a cluster, of places, or of an exact vector.
    pub fn check_of(&self, range: &Range<u64>) -> BlockCheck {
        check_at(range.start)
    }

    /// Returns where all bytes of the field are.
    pub fn range(&self) -> Range<u64> {
        let start = self.starts.first().copied().unwrap_or(0);
        start..self.exact_start() + u64::from(self.num_vectors) * self.shape.exact_len()
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    fn clusters_end(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    fn exact_start(&self) -> u64 {
        self.clusters_end() + self.places.len()
    }

    /// Returns where the field ends, if 64 bits can say it; other sums are then exact.
    fn checked_end(&self) -> Option<u64> {
        let exact = u64::from(self.num_vectors).checked_mul(self.shape.exact_len())?;
        self.clusters_end()
            .checked_add(self.places.len())?
            .checked_add(exact)
    }

    /// Returns the length of a cluster of `num` vectors.
    fn cluster_len(&self, num: u32) -> Option<u64> {
        let coded = u64::from(num).checked_mul(self.shape.coded_len())?;
        let docs = packed_len(num, width_of_places(self.num_docs));
        coded.checked_add(docs)?.checked_add(CHECKSUM_LEN)
    }
}

/// Reads the number of vectors of each cluster.
fn read_counts(
    reader: &mut Reader<'_>,
    num_clusters: usize,
    num_vectors: u32,
) -> Result<Vec<u32>, FormatError> {
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
    if sum != u64::from(num_vectors) {
        return Err(reader.error(format!(
            "its clusters have {sum} vectors, of which the field has {num_vectors}"
        )));
    }
    Ok(counts)
}

fn read_spreads(reader: &mut Reader<'_>, num_clusters: usize) -> Result<Vec<f32>, FormatError> {
    let bytes = reader.raw(num_clusters.saturating_mul(size_of::<f32>()))?;
    let numbers = bytes.as_chunks::<4>().0.iter();
    let spreads: Vec<f32> = numbers.map(|bytes| f32::from_le_bytes(*bytes)).collect();
    match spreads
        .iter()
        .all(|spread| (0.0..f32::INFINITY).contains(spread))
    {
        true => Ok(spreads),
        false => Err(reader.error("the spread of a cluster is negative, or not finite")),
    }
}
