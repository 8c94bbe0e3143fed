//! Test bench of random requests: builds indexes of random documents, compares answers with the
//! scan, and shrinks each difference.

use std::sync::Arc;

use anyhow::{Context, Result};
use canter_runtime::engine::Engine;
use canter_runtime::{ErrorKind, Limits, SearchError, Searcher};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::asked::generate::Generator;
use super::asked::request::Request;
use super::asked::smaller::{smaller_documents, smaller_requests};
use super::documents::documents;
use super::findings::{Finding, Tally};
use super::schema::Setup;
use super::truth::table::{Table, short};
use crate::TestIndex;

/// Number of documents and of splits of each index. In the index with the most splits, some of them
/// are in pages of the manifest.
const SHAPES: [(usize, usize); 3] = [(400, 8), (240, 60), (250, 1)];

/// Prefix of a problem that only differs between two divisions of the documents.
const OTHERWISE: &str = "divided otherwise";

/// Maximum number of pages that are requested of a `composite`.
const MAX_PAGES: usize = 12;

/// Maximum number of differences that are shrunk and shown.
const MAX_FINDINGS: usize = 60;

/// Engines under test: the scan checks the answers of the first division, and the aggregations of
/// the other division must be byte-identical to those of the first.
#[derive(Clone)]
pub struct Engines {
    /// Engine of the first division.
    pub one: Arc<dyn Engine>,
    /// Engine of the other division.
    pub other: Arc<dyn Engine>,
}

impl From<&Arc<dyn Engine>> for Engines {
    /// Uses one engine for both divisions.
    fn from(engine: &Arc<dyn Engine>) -> Self {
        Self {
            one: Arc::clone(engine),
            other: Arc::clone(engine),
        }
    }
}

/// Same documents divided into splits of two sizes. The division must not affect aggregations.
struct Divisions {
    one: Searcher,
    /// `None` while shrinking a difference that does not depend on the division.
    other: Option<Searcher>,
}

/// Random documents in several indexes, all generated from one seed.
pub struct RandomBench {
    engines: Engines,
    runtime: tokio::runtime::Runtime,
    indexes: Vec<(Table, Divisions)>,
    seed: u64,
    always_aggregates: bool,
    setups: fn() -> [Setup; 3],
}

impl RandomBench {
    /// Builds the indexes of a seed.
    pub fn new(seed: u64, engines: &Engines) -> Result<Self> {
        Self::of(Setup::all, seed, engines)
    }

    /// Builds the same indexes with most fields unindexed, so that searches scan stored documents.
    pub fn stored(seed: u64, engines: &Engines) -> Result<Self> {
        Self::of(Setup::stored, seed, engines)
    }

    fn of(setups: fn() -> [Setup; 3], seed: u64, engines: &Engines) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let mut indexes = Vec::new();
        for (nth, setup) in (0..).zip(setups()) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(nth);
            let (num_docs, num_splits) = shape(seed, nth);
            let docs = documents(&setup, num_docs, &mut rng);
            let searcher = open(&setup, &docs, num_splits, true, engines)?;
            indexes.push((Table::new(setup, docs), searcher));
        }
        Ok(Self {
            engines: engines.clone(),
            runtime,
            indexes,
            seed,
            always_aggregates: false,
            setups,
        })
    }

    /// Makes every request ask for aggregations.
    pub fn aggregating(mut self) -> Self {
        self.always_aggregates = true;
        self
    }

    /// Builds the same indexes with documents deleted by random queries. The scan leaves these
    /// documents out.
    ///
    /// # Errors
    /// An index cannot be built, or the deleted documents are not those that the scan finds.
    pub fn with_deletes(seed: u64, engines: &Engines) -> Result<Self> {
        let mut bench = Self {
            indexes: Vec::new(),
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?,
            engines: engines.clone(),
            seed,
            always_aggregates: false,
            setups: Setup::all,
        };
        for (nth, setup) in (0..).zip(Setup::all()) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(2_000 + nth);
            let (num_docs, num_splits) = shape(seed, nth);
            let docs = documents(&setup, num_docs, &mut rng);
            let mut table = Table::new(setup, docs);
            let whole: Vec<Value> = table.docs.iter().map(|doc| doc.json.clone()).collect();
            let mut indexes = [num_splits, other_shape(num_splits)]
                .into_iter()
                .map(|num_splits| built(&table.setup, &whole, num_splits))
                .collect::<Result<Vec<TestIndex>>>()?;
            for _ in 0..DELETIONS {
                let (request, gone) = deletion(&table, &mut rng);
                for index in &mut indexes {
                    let (left, report) = index.delete(&request)?;
                    anyhow::ensure!(
                        report.num_deleted_docs == gone.len() as u64,
                        "{} documents are deleted instead of {}: {request}",
                        report.num_deleted_docs,
                        gone.len()
                    );
                    *index = left;
                }
                let left = (0..table.docs.len()).filter(|doc| !gone.contains(doc));
                let left: Vec<Value> = left.map(|doc| table.docs[doc].json.clone()).collect();
                table = Table::new(table.setup, left);
            }
            let divisions = Divisions {
                one: indexes[0].searcher(Arc::clone(&engines.one), 1, 1)?,
                other: Some(indexes[1].searcher(Arc::clone(&engines.other), 1, 3)?),
            };
            bench.indexes.push((table, divisions));
        }
        Ok(bench)
    }

    /// Sends `num` requests.
    ///
    /// # Errors
    /// An index cannot be built.
    pub fn run(&self, num: usize) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut generators: Vec<Generator<'_, ChaCha8Rng>> = Vec::new();
        for (nth, (table, _)) in (0..).zip(&self.indexes) {
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(1_000 + nth);
            generators.push(Generator {
                table,
                rng,
                always_aggregates: self.always_aggregates,
                num_drawn: 0,
            });
        }
        for nth in 0..num {
            // The strict setup has the most features to test, so it gets half of the requests.
            let index = [0, 0, 1, 2][nth % 4];
            let request = generators[index].request();
            let (table, searcher) = &self.indexes[index];
            match self.ask(table, searcher, &request) {
                End::Right => tally.num_right += 1,
                End::Refused(message) => {
                    let (num, example) = tally.refused.entry(class_of(&message)).or_default();
                    *num += 1;
                    *example = format!(
                        "{message} ({})",
                        short(&request.json(&table.setup)["query"])
                    );
                }
                End::Wrong(problem) => self.note(table, request, problem, &mut tally)?,
            }
        }
        Ok(tally)
    }

    /// Keeps one shrunk difference of each kind.
    fn note(
        &self,
        table: &Table,
        request: Request,
        problem: String,
        tally: &mut Tally,
    ) -> Result<()> {
        tally.num_wrong += 1;
        let (_, searcher) = self
            .indexes
            .iter()
            .find(|(other, _)| other.setup.name == table.setup.name)
            .context("the index of a table")?;
        let (request, problem) = self.smaller(table, searcher, request, problem);
        let class: String = class_of(&problem).chars().take(40).collect();
        let signature = format!(
            "{}: {}: {class}",
            table.setup.name,
            request.signature(&table.setup)
        );
        if let Some(finding) = tally
            .findings
            .iter_mut()
            .find(|finding| finding.signature == signature)
        {
            finding.num += 1;
        } else if tally.findings.len() < MAX_FINDINGS {
            tally
                .findings
                .push(self.shrunk(table, signature, request, problem));
        }
        Ok(())
    }

    /// Returns the same difference with a smaller request.
    fn smaller(
        &self,
        table: &Table,
        searcher: &Divisions,
        mut request: Request,
        mut problem: String,
    ) -> (Request, String) {
        while let Some((smaller, its_problem)) =
            smaller_requests(&request).into_iter().find_map(|smaller| {
                match self.ask(table, searcher, &smaller) {
                    End::Wrong(problem) => Some((smaller, problem)),
                    _ => None,
                }
            })
        {
            (request, problem) = (smaller, its_problem);
        }
        (request, problem)
    }

    /// Sends a request, and for a `composite` the requests for the following pages.
    fn ask(&self, table: &Table, divisions: &Divisions, request: &Request) -> End {
        let mut request = request.clone();
        for _ in 0..MAX_PAGES {
            let answer = match self.ask_page(table, divisions, &request) {
                Ok(answer) => answer,
                Err(end) => return end,
            };
            match request.next_page(&answer["aggregations"]) {
                Some(next) => request = next,
                None => break,
            }
        }
        End::Right
    }

    fn ask_page(
        &self,
        table: &Table,
        divisions: &Divisions,
        request: &Request,
    ) -> Result<Value, End> {
        let json = request.json(&table.setup);
        let search = |searcher: &Searcher| {
            let limits = Limits::default();
            self.runtime.block_on(searcher.search(&json, &limits))
        };
        let answer = search(&divisions.one).map_err(|error| refusal(&error))?;
        table.judge(request, &answer.json).map_err(End::Wrong)?;
        if let Some(other) = &divisions.other
            && !request.aggs.is_empty()
        {
            let other = search(other)
                .map_err(|error| End::Wrong(format!("{OTHERWISE}: {}", error.message)))?;
            let [here, there] =
                [&answer.json, &other.json].map(|json| json["aggregations"].to_string());
            if let Some(at) = here.bytes().zip(there.bytes()).position(|(a, b)| a != b) {
                let near = |text: &str| {
                    let part = &text.as_bytes()[at.saturating_sub(80)..text.len().min(at + 40)];
                    String::from_utf8_lossy(part).into_owned()
                };
                return Err(End::Wrong(format!(
                    "{OTHERWISE} it is another answer: {} and {}",
                    near(&here),
                    near(&there)
                )));
            }
        }
        Ok(answer.json)
    }

    /// Returns the same difference with fewer documents.
    fn shrunk(
        &self,
        table: &Table,
        signature: String,
        request: Request,
        mut problem: String,
    ) -> Finding {
        let mut docs: Vec<Value> = table.docs.iter().map(|doc| doc.json.clone()).collect();
        // Reducing the documents takes many indexes, so it can be turned off to see many
        // differences.
        if std::env::var_os("CANTER_RANDOM_SHOW_WHOLE").is_some() {
            docs.truncate(1);
            return Finding {
                signature,
                num: 1,
                setup: table.setup.name,
                request: request.json(&table.setup),
                problem,
                docs,
                num_splits: self.num_splits(table),
            };
        }
        let num_splits = if docs.len() > 1 {
            self.num_splits(table)
        } else {
            1
        };
        let mut num_splits_left = num_splits;
        let has_other = problem.starts_with(OTHERWISE);
        let fails = |docs: &[Value], num_splits: usize| -> Option<String> {
            let setup = (self.setups)()
                .into_iter()
                .find(|setup| setup.name == table.setup.name)?;
            let searcher = open(&setup, docs, num_splits, has_other, &self.engines).ok()?;
            match self.ask(&Table::new(setup, docs.to_vec()), &searcher, &request) {
                End::Wrong(problem) => Some(problem),
                _ => None,
            }
        };
        if let Some(its_problem) = fails(&docs, 1) {
            (num_splits_left, problem) = (1, its_problem);
        }
        smaller_documents(&mut docs, &mut problem, &|docs| {
            fails(docs, num_splits_left)
        });
        docs.truncate(6);
        Finding {
            signature,
            num: 1,
            setup: table.setup.name,
            request: request.json(&table.setup),
            problem,
            docs,
            num_splits: num_splits_left,
        }
    }

    fn num_splits(&self, table: &Table) -> usize {
        let of_it = |(_, setup): &(u64, Setup)| setup.name == table.setup.name;
        let nth = (0..)
            .zip((self.setups)())
            .find(of_it)
            .map_or(0, |(nth, _)| nth);
        shape(self.seed, nth).1
    }
}

fn shape(seed: u64, nth: u64) -> (usize, usize) {
    SHAPES[((seed + nth) % 3) as usize]
}

enum End {
    Right,
    Refused(String),
    Wrong(String),
}

/// Classifies an error: a request may be refused with a reason; any other error is a defect.
fn refusal(error: &SearchError) -> End {
    match error.kind {
        ErrorKind::Invalid | ErrorKind::Limit => End::Refused(error.message.clone()),
        kind => End::Wrong(format!(
            "error of kind {}: {}",
            kind.as_str(),
            error.message
        )),
    }
}

/// Returns a message without quoted parts and numbers.
fn class_of(message: &str) -> String {
    let mut class = String::new();
    let mut in_quotes = false;
    let mut escaped = false;
    for c in message.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => in_quotes = !in_quotes,
            _ if in_quotes => continue,
            c if c.is_ascii_digit() => continue,
            c => class.push(c),
        }
    }
    class.chars().take(140).collect()
}

/// Number of queries that delete documents.
const DELETIONS: usize = 3;

/// Returns a request that matches some of the documents, and the indexes of these documents.
fn deletion(table: &Table, rng: &mut ChaCha8Rng) -> (Value, Vec<usize>) {
    loop {
        let mut generator = Generator {
            table,
            rng: &mut *rng,
            always_aggregates: false,
            num_drawn: 0,
        };
        let mut request = generator.request();
        request.aggs.clear();
        request.sort_by.clear();
        (request.max_hits, request.start_offset) = (0, 0);
        let found = table.scan(&request);
        let is_some = !found.is_empty() && found.len() * 3 < table.docs.len();
        if is_some {
            return (request.json(&table.setup), found);
        }
    }
}

fn other_shape(num_splits: usize) -> usize {
    match num_splits {
        1 => 7,
        num => num / 3 + 1,
    }
}

fn open(
    setup: &Setup,
    docs: &[Value],
    num_splits: usize,
    has_other: bool,
    engines: &Engines,
) -> Result<Divisions> {
    let num_others = other_shape(num_splits);
    let other = has_other.then(|| open_divided(setup, docs, num_others, &engines.other));
    Ok(Divisions {
        one: open_divided(setup, docs, num_splits, &engines.one)?,
        other: other.transpose()?,
    })
}

fn open_divided(
    setup: &Setup,
    docs: &[Value],
    num_splits: usize,
    engine: &Arc<dyn Engine>,
) -> Result<Searcher> {
    built(setup, docs, num_splits)?.searcher(Arc::clone(engine), 1, 1)
}

fn built(setup: &Setup, docs: &[Value], num_splits: usize) -> Result<TestIndex> {
    let lines: Vec<String> = docs.iter().map(Value::to_string).collect();
    let split_num_docs = lines.len().div_ceil(num_splits).max(1) as u64;
    let index = TestIndex::build(setup.yaml, &lines, split_num_docs)?;
    let num_docs = index.report.num_ingested_docs;
    anyhow::ensure!(
        num_docs == lines.len() as u64,
        "{num_docs} of {} documents ingested",
        lines.len()
    );
    Ok(index)
}
