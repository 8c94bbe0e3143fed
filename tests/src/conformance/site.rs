//! Indexes under test, behind one loopback store that counts requests.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use bytes::Bytes;
use canter_samples::HDFS_LOGS_YAML;

use super::faults::{Fault, broken_stores, flipped, hostile};
use super::living::living;
use crate::{
    CATALOGUE_CONFIG, NUMBERS_CONFIG, Oracle, PLACES_CONFIG, TestIndex, WAYS_CONFIG, WebRequest,
    WebServer, catalogue, hdfs_lines, numbers, places,
};

/// Number of documents in the indexes, and in each of their splits: 8 splits of logs, 5 of the
/// catalogue, 4 of numbers.
const NUM_LOGS: u64 = 20_000;
const NUM_LOGS_PER_SPLIT: u32 = 2_500;
const NUM_ITEMS: u32 = 4_000;
const NUM_ITEMS_PER_SPLIT: u32 = 900;
const NUM_NUMBERS: u32 = 1_000;
const NUM_NUMBERS_PER_SPLIT: u32 = 250;
const NUM_PLACES: u32 = 240;
const NUM_PLACES_PER_SPLIT: u32 = 75;
/// Factor of the number of splits in the layout with many.
const NUM_PARTS: u64 = 25;
/// Seed that makes sorted runs of equal keys and random words the same in every run.
const SEED: u64 = 7;

/// Name of the index of [`living`].
const LIVING: &str = "living";

/// Reads from the store for a request.
pub type Reads = BTreeSet<String>;

/// Division of the documents of the complete indexes into splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Few splits, as from one ingest.
    Few,
    /// Many splits, most of them in pages of the manifest.
    Many,
    /// Many splits, merged until no merge was due.
    Merged,
}

/// Site of all indexes for the hosts.
pub struct Site {
    server: WebServer,
    names: Vec<String>,
    oracles: BTreeMap<String, Oracle>,
}

impl Site {
    /// Builds the indexes and serves them: `hdfs-logs`, `catalogue`, `numbers`, `ways`, `places`,
    /// `living`, and one for each broken store.
    ///
    /// # Errors
    /// An index cannot be built.
    pub fn start() -> Result<Self> {
        Self::start_with(Layout::Few)
    }

    /// Builds the complete indexes with another division into splits, and without `living`, which
    /// has splits of its own.
    ///
    /// # Errors
    /// An index cannot be built or merged.
    pub fn start_with(layout: Layout) -> Result<Self> {
        let logs = hdfs_lines(NUM_LOGS, SEED)?;
        let items = catalogue(NUM_ITEMS, SEED);
        let edges = numbers(NUM_NUMBERS, NUM_NUMBERS_PER_SPLIT, SEED);
        let towns = places(NUM_PLACES);
        let mut objects = BTreeMap::new();
        let mut oracles = BTreeMap::new();
        let mut names = Vec::new();
        for (name, config, lines, split_num_docs) in [
            ("hdfs-logs", HDFS_LOGS_YAML, &logs, NUM_LOGS_PER_SPLIT),
            ("catalogue", CATALOGUE_CONFIG, &items, NUM_ITEMS_PER_SPLIT),
            ("numbers", NUMBERS_CONFIG, &edges, NUM_NUMBERS_PER_SPLIT),
            ("ways", WAYS_CONFIG, &items, NUM_ITEMS_PER_SPLIT),
            ("places", PLACES_CONFIG, &towns, NUM_PLACES_PER_SPLIT),
        ] {
            let split_num_docs = match layout {
                Layout::Few => u64::from(split_num_docs),
                Layout::Many | Layout::Merged => u64::from(split_num_docs) / NUM_PARTS,
            };
            let mut index = TestIndex::build(config, lines, split_num_docs)?;
            if layout == Layout::Merged {
                index = index.merge_what_is_due()?;
            }
            let oracle = Oracle::build(config, lines)?;
            add(&mut objects, name, &index.objects);
            oracles.insert(name.to_owned(), oracle);
            names.push(name.to_owned());
            if name == "hdfs-logs" {
                add_broken(&mut objects, &index.objects)?;
            }
        }
        if layout == Layout::Few {
            let (of_living, oracle) = living(SEED)?;
            add(&mut objects, LIVING, &of_living);
            oracles.insert(LIVING.to_owned(), oracle);
            names.push(LIVING.to_owned());
        }
        let server = WebServer::start(objects, &[])?;
        for store in broken_stores() {
            names.push(store.index.to_owned());
            if let Fault::Served(quirk) = store.fault {
                server.set_quirk_under(&format!("{}/{}", store.index, store.objects), quirk);
            }
        }
        Ok(Self {
            server,
            names,
            oracles,
        })
    }

    /// Returns the root of the indexes: each is at `<root>/<name>`.
    pub fn root(&self) -> String {
        self.server.origin()
    }

    /// Returns the names of all indexes, the complete ones first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the URL of each index by its name.
    pub fn urls(&self) -> BTreeMap<String, String> {
        let root = self.root();
        let url = |name: &String| (name.clone(), format!("{root}/{name}"));
        self.names.iter().map(url).collect()
    }

    /// Returns the number of requests of all kinds so far.
    pub fn num_requests(&self) -> usize {
        self.server.count_requests(|_| true)
    }

    /// Returns the distinct ranges and objects read after the first `num` requests, each as `path
    /// bytes=first-last`. Repeated reads (hedges and retries) count once, since they depend on
    /// timing.
    pub fn reads_after(&self, num: usize) -> Reads {
        let requests = self.server.requests_after(num).into_iter();
        let reads = requests.filter(|request| request.method == "GET");
        let shown = |mut request: WebRequest| {
            let range = request.headers.remove("range").unwrap_or_default();
            format!("{} {range}", request.path).trim_end().to_owned()
        };
        reads.map(shown).collect()
    }

    /// Returns the number of requests that no host should send: methods other than `GET` and a
    /// browser's `OPTIONS`.
    pub fn num_foreign_requests(&self) -> usize {
        self.server
            .count_requests(|request| !matches!(request.method.as_str(), "GET" | "OPTIONS"))
    }

    /// Returns the oracle over the documents of an index.
    pub fn oracle(&self, index: &str) -> Option<&Oracle> {
        self.oracles.get(index)
    }
}

fn add(objects: &mut BTreeMap<String, Bytes>, index: &str, of_index: &BTreeMap<String, Bytes>) {
    for (name, bytes) in of_index {
        objects.insert(format!("{index}/{name}"), bytes.clone());
    }
}

fn add_broken(
    objects: &mut BTreeMap<String, Bytes>,
    of_index: &BTreeMap<String, Bytes>,
) -> Result<()> {
    for store in broken_stores() {
        for (name, bytes) in of_index {
            let is_hit = name.starts_with(store.objects);
            let bytes = match store.fault {
                Fault::Absent => continue,
                Fault::Flipped if is_hit => flipped(bytes),
                // The lock file of a folder is empty.
                Fault::Hostile if is_hit && !bytes.is_empty() => hostile(bytes)?,
                Fault::Flipped | Fault::Hostile | Fault::Served(_) => bytes.clone(),
            };
            objects.insert(format!("{}/{name}", store.index), bytes);
        }
    }
    Ok(())
}
