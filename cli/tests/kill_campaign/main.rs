//! `canter` is killed while it changes an index on a real S3 server, at a request or a moment that a seed chooses;
//! then it is run again. A model knows which documents must exist: nothing is lost or duplicated, nothing deleted
//! comes back, and garbage collection finds every orphan.
//!
//! `CANTER_KILLS` (3) is the number of kills of each command, and `CANTER_KILL_SEED` (1) determines their moments.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IndexStore, VerifyOptions, create_index, verify_index};
use canter_runtime::Searcher;
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::OpenOptions;
use canter_split_format::{
    DeletesRef, FiltersRef, MANIFEST_OBJECT, ManifestFile, ObjectKind, SplitEntry, split_object,
};
use canter_tests::{S3Server, SECRET_KEY, run, usual_or_full, with_s3};
use serde_json::json;
use victim::{Ended, Kill, Rng, start};

mod resumed;
mod victim;

const BUCKET: &str = "canter-kills";
const URI: &str = "s3://canter-kills/logs";
const FOLDER: &str = "logs";

/// Number of documents of an ingest and of its splits: many splits, so that there are pages.
const BATCH_LEN: u64 = 45;
const SPLIT_NUM_DOCS: u64 = 3;
/// Number of batches at the beginning.
const NUM_FIRST: u64 = 8;
/// Number of groups of documents.
const NUM_GROUPS: u64 = 5;

const CONFIG: &str = "
version: 0.8
index_id: kills
doc_mapping:
  timestamp_field: at
  field_mappings:
    - {name: id, type: u64, fast: true}
    - {name: at, type: datetime, fast: true, input_formats: [unix_timestamp], fast_precision: seconds}
    - {name: batch, type: u64, fast: true}
    - {name: group, type: u64, fast: true}
    - {name: word, type: text, tokenizer: raw, needle: true}
indexing_settings:
  split_num_docs_target: 300
  merge_policy:
    type: stable_log
    min_level_num_docs: 6
    merge_factor: 4
    max_merge_factor: 6
";

/// Changes to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Ingest,
    Merge,
    Delete,
    Gc,
    Update,
}

/// Each is killed equally often, repeatedly in this order.
const DEEDS: [Deed; 5] = [
    Deed::Ingest,
    Deed::Merge,
    Deed::Delete,
    Deed::Update,
    Deed::Gc,
];

/// A command line, and the documents that must exist when it has succeeded.
struct Plan {
    args: Vec<String>,
    after: BTreeSet<u64>,
}

/// An index, and its expected contents.
struct World<'a> {
    server: &'a S3Server,
    /// Folder of inputs and of the processes' output.
    folder: PathBuf,
    bucket: PathBuf,
    store: IndexStore,
    rng: Rng,
    /// Ids of the live documents.
    live: BTreeSet<u64>,
    num_batches: u64,
    /// Number of fields added to the config, one with each update.
    num_added_fields: u64,
}

impl<'a> World<'a> {
    fn new(server: &'a S3Server, folder: &Path, seed: u64) -> Result<Self> {
        let bucket = server.make_bucket(BUCKET)?;
        let store = create_index(URI, &IndexConfig::from_yaml(CONFIG, |_| None)?)?;
        let mut world = Self {
            server,
            folder: folder.to_owned(),
            bucket,
            store,
            rng: Rng::new(seed),
            live: BTreeSet::new(),
            num_batches: 0,
            num_added_fields: 0,
        };
        for _ in 0..NUM_FIRST {
            let plan = world.plan(Deed::Ingest)?;
            world.complete(&plan)?;
        }
        Ok(world)
    }

    /// Plans the next command.
    fn plan(&mut self, deed: Deed) -> Result<Plan> {
        let mut after = self.live.clone();
        let args = match deed {
            Deed::Ingest => {
                let batch = self.num_batches;
                self.num_batches += 1;
                after.extend(batch * BATCH_LEN..(batch + 1) * BATCH_LEN);
                self.write_batch(batch)?;
                self.ingest_args(batch)
            }
            Deed::Merge => words("index merge --rewrite-deleted --max-merges 3"),
            Deed::Delete => {
                // A group of a few batches, or the whole of an old one.
                let first = self.rng.below(self.num_batches);
                let last = first + self.rng.below(6);
                let group = self.rng.below(NUM_GROUPS);
                let (query, is_gone): (_, Box<dyn Fn(u64) -> bool>) = match self.rng.below(6) {
                    0 => (
                        format!("batch:{first}"),
                        Box::new(move |id| batch_of(id) == first),
                    ),
                    _ => (
                        format!("batch:[{first} TO {last}] AND group:{group}"),
                        Box::new(move |id| {
                            (first..=last).contains(&batch_of(id)) && group_of(id) == group
                        }),
                    ),
                };
                after.retain(|id| !is_gone(*id));
                let mut args = words("index delete --engine native --query");
                args.push(query);
                args
            }
            Deed::Gc => words("index gc --grace 0s"),
            Deed::Update => {
                self.num_added_fields += 1;
                let file = self.folder.join("config.yaml");
                fs::write(&file, self.config())?;
                let mut args = words("index update --index-config");
                args.push(file.display().to_string());
                args
            }
        };
        Ok(Plan { args, after })
    }

    fn config(&self) -> String {
        let added = (0..self.num_added_fields)
            .map(|ord| format!("    - {{name: added_{ord}, type: u64, fast: true}}\n"));
        let added: String = added.collect();
        CONFIG.replacen(
            "indexing_settings:",
            &format!("{added}indexing_settings:"),
            1,
        )
    }

    fn ingest_args(&self, batch: u64) -> Vec<String> {
        let mut args = words("index ingest --input");
        args.push(self.batch_file(batch).display().to_string());
        args.push(format!("--split-num-docs={SPLIT_NUM_DOCS}"));
        let rejects = self.folder.join("rejects");
        args.push(format!("--rejects={}", rejects.display()));
        args
    }

    fn batch_file(&self, batch: u64) -> PathBuf {
        self.folder.join(format!("{batch}.ndjson"))
    }

    /// Writes a batch, some documents of which are as old as those of the previous one.
    fn write_batch(&self, batch: u64) -> Result<()> {
        let lines = (batch * BATCH_LEN..(batch + 1) * BATCH_LEN).map(|id| {
            let at = 1_700_000_000 + id * 10 - (id % 7) * 70;
            let word = format!("w{:x}", id.wrapping_mul(0x9e37_79b9));
            let group = group_of(id);
            json!({"id": id, "at": at, "batch": batch, "group": group, "word": word}).to_string()
        });
        let lines: Vec<String> = lines.collect();
        Ok(fs::write(self.batch_file(batch), lines.join("\n"))?)
    }

    fn start(&self, args: &[String], kill: Option<Kill>) -> Result<Ended> {
        start(self.server, &self.folder, URI, args, kill)
    }

    /// Runs a command to its end, after which the model must hold; returns the number of its requests.
    fn complete(&mut self, plan: &Plan) -> Result<usize> {
        let ended = self.start(&plan.args, None)?;
        ensure!(ended.status.success(), "{:?}: {}", plan.args, ended.said);
        self.live.clone_from(&plan.after);
        self.expect(&plan.after)?;
        Ok(ended.num_requests)
    }

    fn expect(&self, wanted: &BTreeSet<u64>) -> Result<()> {
        let found = self.found()?;
        let lost: Vec<_> = wanted.difference(&found).take(9).collect();
        let more: Vec<_> = found.difference(wanted).take(9).collect();
        ensure!(
            lost.is_empty() && more.is_empty(),
            "{} are there, not {}; lost: {lost:?}, come back: {more:?}",
            found.len(),
            wanted.len()
        );
        Ok(())
    }

    /// Returns the ids that a search finds, each once.
    fn found(&self) -> Result<BTreeSet<u64>> {
        let searcher = Searcher::builder()
            .engine(Arc::new(NativeEngine::new()))
            .uri(URI, &OpenOptions::default())?
            .build()?;
        let request = json!({"query": "*", "max_hits": 0, "aggs": {
            "ids": {"terms": {"field": "id", "size": 60_000}},
        }});
        let answer = run(&searcher, &request)?.json;
        ensure!(
            answer["failed_splits"] == json!([]),
            "{}",
            answer["failed_splits"]
        );
        let buckets = &answer["aggregations"]["ids"]["buckets"];
        let mut ids = BTreeSet::new();
        for bucket in buckets.as_array().context("buckets")? {
            ensure!(bucket["doc_count"] == 1, "there twice: {bucket}");
            ids.insert(bucket["key"].as_u64().context("an id")?);
        }
        // Every document has an id, so that there are as many hits as ids.
        ensure!(answer["num_hits"] == ids.len(), "{}", answer["num_hits"]);
        Ok(ids)
    }

    fn index_folder(&self) -> PathBuf {
        self.bucket.join(FOLDER)
    }

    fn manifest(&self) -> Result<ManifestFile> {
        let bytes = fs::read(self.index_folder().join(MANIFEST_OBJECT))?;
        Ok(ManifestFile::from_bytes(&bytes)?)
    }

    /// Returns the objects that a manifest and its pages name, and the splits among them.
    fn referenced(&self) -> Result<(BTreeSet<String>, Vec<SplitEntry>)> {
        let file = self.manifest()?;
        let mut splits = file.manifest.splits.clone();
        let mut objects = BTreeSet::new();
        for page in &file.pages {
            let bytes = fs::read(self.index_folder().join(page.object()))?;
            let (paged, _) = page.open(&bytes, None)?;
            splits.extend(paged.into_iter().map(|split| split.entry));
            objects.insert(page.object());
            objects.extend(page.filters.as_ref().map(FiltersRef::object));
        }
        objects.extend(splits.iter().map(|split| split_object(&split.id)));
        let deletes = splits.iter().filter_map(|split| split.deletes.as_ref());
        objects.extend(deletes.map(DeletesRef::object));
        objects.extend(file.ledger.objects.iter().map(|object| object.object()));
        objects.extend(file.sources.objects.iter().map(|object| object.object()));
        Ok((objects, splits))
    }

    /// Checks that after a collection without a grace period the store contains exactly the referenced objects.
    fn expect_no_garbage(&self) -> Result<()> {
        let (referenced, _) = self.referenced()?;
        let mut stored = BTreeSet::new();
        let folders = ObjectKind::ALL.map(ObjectKind::folder);
        for folder in folders.into_iter().chain(["checkpoints"]) {
            let Ok(files) = fs::read_dir(self.index_folder().join(folder)) else {
                continue;
            };
            for file in files {
                let name = file?.file_name().to_string_lossy().into_owned();
                stored.insert(format!("{folder}/{name}"));
            }
        }
        let orphans: Vec<_> = stored.difference(&referenced).collect();
        let missing: Vec<_> = referenced.difference(&stored).collect();
        ensure!(
            orphans.is_empty() && missing.is_empty(),
            "orphans {orphans:?}, missing {missing:?}"
        );
        ensure!(
            self.manifest()?.condemned.is_empty(),
            "the list is not empty"
        );
        Ok(())
    }

    fn verify(&self) -> Result<()> {
        let report = verify_index(&self.store, &VerifyOptions::default())?;
        ensure!(report.problems.is_empty(), "{:?}", report.problems);
        ensure!(report.num_docs == self.live.len() as u64, "{report:?}");
        Ok(())
    }

    /// Kills a command and runs it again. Returns whether it was killed, whether it had completed its work by
    /// then, and the number of its requests.
    fn ordeal(&mut self, deed: Deed, num_requests: usize) -> Result<(bool, bool, usize)> {
        let plan = self.plan(deed)?;
        let kill = self.rng.kill(num_requests);
        let what = format!("{:?}, killed at {kill:?} of {num_requests}", plan.args);
        let before = self.live.clone();
        let ended = self.start(&plan.args, Some(kill))?;
        let was_killed = ended.was_killed();
        ensure!(
            was_killed || ended.status.success(),
            "{what}: {}",
            ended.said
        );
        let is_done = self.expect(&plan.after).is_ok();
        if !is_done {
            ensure!(was_killed, "{what}: it was not killed and has done nothing");
            self.expect(&before).context(what.clone())?;
        }
        // Its remains cause no problems, and are gone if a collection comes first.
        if self.rng.below(3) == 0 {
            let gc = Plan {
                args: words("index gc --grace 0s"),
                after: if is_done { plan.after.clone() } else { before },
            };
            self.complete(&gc).context(what.clone())?;
            self.expect_no_garbage().context(what.clone())?;
        }
        let num_requests = self.complete(&plan).context(what.clone())?;
        match deed {
            Deed::Gc => self.expect_no_garbage().context(what)?,
            Deed::Update => {
                let config = self.manifest()?.manifest.index_config.to_string();
                let newest = format!("\"added_{}\"", self.num_added_fields - 1);
                ensure!(config.contains(&newest), "{what}: {config}");
            }
            Deed::Ingest | Deed::Merge | Deed::Delete => {}
        }
        Ok((was_killed, is_done, num_requests))
    }

    /// Ingests an old input again, which changes nothing, whatever happened to its documents.
    fn repeat_an_ingest(&mut self) -> Result<()> {
        let batch = self.rng.below(self.num_batches);
        let plan = Plan {
            args: self.ingest_args(batch),
            after: self.live.clone(),
        };
        self.complete(&plan)
            .with_context(|| format!("batch {batch} again"))?;
        Ok(())
    }

    /// Checks that deleted documents are nowhere in the store after splits are rewritten and garbage is collected.
    fn expect_no_remains(&mut self) -> Result<()> {
        for args in ["index merge --rewrite-deleted", "index gc --grace 0s"] {
            let plan = Plan {
                args: words(args),
                after: self.live.clone(),
            };
            self.complete(&plan)?;
        }
        self.expect_no_garbage()?;
        let (_, splits) = self.referenced()?;
        ensure!(splits.iter().all(|split| split.deletes.is_none()));
        let num_docs: u64 = splits.iter().map(|split| split.num_docs).sum();
        ensure!(num_docs == self.live.len() as u64, "{num_docs} are stored");
        self.verify()
    }
}

#[test]
fn commands_that_are_killed_lose_nothing_and_double_nothing() {
    let name = "commands_that_are_killed_lose_nothing_and_double_nothing";
    with_s3(name, SECRET_KEY, |server| {
        let number = |variable: &str, default: u64| -> Result<u64> {
            env::var(variable).map_or(Ok(default), |text| Ok(text.parse()?))
        };
        let (num_kills, seed) = (
            number("CANTER_KILLS", usual_or_full(2, 3) as u64)?,
            number("CANTER_KILL_SEED", 1)?,
        );
        let folder = tempfile::tempdir()?;
        let mut world = World::new(server, folder.path(), seed)?;
        let mut tally: BTreeMap<Deed, [u64; 3]> = BTreeMap::new();
        let mut num_requests: BTreeMap<Deed, usize> = BTreeMap::new();
        let (mut most_pages, mut most_splits, mut num_rounds) = (0, 0, 0_u64);
        while DEEDS.iter().any(|deed| {
            tally
                .get(deed)
                .is_none_or(|[killed, ..]| *killed < num_kills)
        }) {
            for deed in DEEDS {
                let requests = num_requests.get(&deed).copied().unwrap_or(20);
                let (was_killed, was_done, requests) = world
                    .ordeal(deed, requests)
                    .with_context(|| format!("seed {seed}, round {num_rounds}"))?;
                num_requests.insert(deed, requests);
                let of_deed = tally.entry(deed).or_default();
                of_deed[0] += u64::from(was_killed);
                of_deed[1] += u64::from(
                    was_killed && was_done && matches!(deed, Deed::Ingest | Deed::Delete),
                );
                of_deed[2] += 1;
                let file = world.manifest()?;
                most_pages = most_pages.max(file.pages.len());
                most_splits = most_splits.max(file.num_splits());
            }
            world.repeat_an_ingest()?;
            if num_rounds % 5 == 0 {
                world.verify()?;
            }
            num_rounds += 1;
            ensure!(
                num_rounds <= 10 * num_kills + 10,
                "processes end before they are killed: {tally:?}"
            );
        }
        for (deed, [killed, done, all]) in &tally {
            println!(
                "{deed:?}: killed {killed} times of {all}, {done} of them when it had published"
            );
        }
        println!(
            "up to {most_pages} pages and {most_splits} splits, {} documents at the end",
            world.live.len()
        );
        ensure!(most_pages > 1, "there were no pages");
        world.expect_no_remains()
    });
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn batch_of(id: u64) -> u64 {
    id / BATCH_LEN
}

fn group_of(id: u64) -> u64 {
    id % NUM_GROUPS
}
