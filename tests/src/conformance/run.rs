//! Sends the list to a host, and compares answers and their cost in store requests.
//!
//! ```text
//!   caches off   every request once        answers, and exactly the reads of the native engine; repeated
//!                                          if the reads differ
//!   caches on    the classic term query    cold, then warm: measured for the table
//!                every request twice       answers, the second time from caches
//! ```
//!
//! A short test sends every request once to each host with a program of its own, every second one to
//! the others, and every sixth as often as this.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::hosts::{Caching, Host, Running};
use super::judge::compare::difference;
use super::report::{HostReport, Measured, Verdict};
use super::{Answer, Call, Checker, Machine, Reads, Request, Site, encoded};

/// Number of repetitions of the classic term query on a warm host, whose median time is shown.
const NUM_WARM: usize = 15;

/// In a short test, every request with this distance is sent as often as in a whole one.
const SHORT_STEP: usize = 6;

/// In a short test, hosts that share their program with another are sent requests with this distance.
const SHARED_STEP: usize = 2;

/// Extent of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every request three times.
    Whole,
    /// Most requests once, or not to every host.
    Short,
}

/// Requests of each pass.
struct Passes<'a> {
    uncached: Vec<&'a Request>,
    first: Vec<&'a Request>,
    second: Vec<&'a Request>,
}

impl<'a> Passes<'a> {
    fn new(host: &dyn Host, requests: &'a [Request], extent: Extent) -> Self {
        let every = |step: usize| requests.iter().step_by(step).collect();
        let (uncached, first, second) = match (extent, host.shares_its_program()) {
            (Extent::Whole, _) => (1, 1, 1),
            (Extent::Short, false) => (1, SHORT_STEP, SHORT_STEP),
            (Extent::Short, true) => (SHORT_STEP, SHARED_STEP, SHORT_STEP),
        };
        Self {
            uncached: every(uncached),
            first: every(first),
            second: every(second),
        }
    }
}

/// Answers of the native engine, and its reads from the store.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    /// Answers by the name of the request.
    pub answers: BTreeMap<String, Answer>,
    /// Reads without caches, by the name of the request.
    pub reads: BTreeMap<String, Reads>,
}

/// Returns the query that the table measures: the ten newest errors.
pub fn classic_term_query() -> Call {
    Call {
        query: format!("query={}&max_hits=10", encoded("severity_text:ERROR")),
        ..Call::get("/api/v1/hdfs-logs/search")
    }
}

/// Runs the first host, whose answers must be right, and returns them.
///
/// # Errors
/// It cannot be run at all: then nothing can be compared.
pub fn run_reference(
    host: &dyn Host,
    machine: &Machine,
    site: &Site,
    requests: &[Request],
) -> Result<(HostReport, Reference)> {
    let artifacts = host.artifacts(machine).map_err(anyhow::Error::msg)?;
    let mut reference = Reference::default();
    let checker = Checker::new(site);
    let mut judge = |request: &Request, answer: &Answer, reads: Option<Reads>| {
        let name = &request.name;
        if let Some(reads) = reads {
            reference.reads.insert(name.clone(), reads);
        }
        match reference.answers.get(name) {
            Some(first) => difference(request, first, answer),
            None => {
                reference.answers.insert(name.clone(), answer.clone());
                checker.problem(request, answer)
            }
        }
    };
    let passes = Passes::new(host, requests, Extent::Whole);
    let mut measured = measure(host, machine, site, &passes, &BTreeMap::new(), &mut judge)
        .with_context(|| format!("host {}", host.name()))?;
    measured.weigh(&artifacts)?;
    Ok((HostReport::new(host, Verdict::Ran(measured)), reference))
}

/// Runs another host, whose answers must be the same. A missing requirement is a result too.
pub fn run_host(
    host: &dyn Host,
    machine: &Machine,
    site: &Site,
    requests: &[Request],
    reference: &Reference,
) -> HostReport {
    run_host_to(Extent::Whole, host, machine, site, requests, reference)
}

/// Like [`run_host`], to this extent.
pub fn run_host_to(
    extent: Extent,
    host: &dyn Host,
    machine: &Machine,
    site: &Site,
    requests: &[Request],
    reference: &Reference,
) -> HostReport {
    let artifacts = match host.artifacts(machine) {
        Ok(artifacts) => artifacts,
        Err(lacking) => return HostReport::new(host, Verdict::Skipped(lacking)),
    };
    let mut judge = |request: &Request, answer: &Answer, reads: Option<Reads>| {
        let name = &request.name;
        let Some(expected) = reference.answers.get(name) else {
            let text = "the native engine gave no answer to compare with";
            return Some(text.to_owned());
        };
        difference(request, expected, answer)
            .or_else(|| other_cost(request, reference.reads.get(name)?, &reads?))
    };
    let expected = &reference.reads;
    let passes = Passes::new(host, requests, extent);
    let measured =
        measure(host, machine, site, &passes, expected, &mut judge).and_then(|mut measured| {
            measured.weigh(&artifacts)?;
            Ok(measured)
        });
    let verdict = match measured {
        Ok(measured) => Verdict::Ran(measured),
        Err(error) => Verdict::Failed(format!("{error:#}")),
    };
    HostReport::new(host, verdict)
}

/// Compares the reads without caches, which must equal those of the native engine. Each host reacts
/// to failing stores in its own way, so their cost is not compared.
fn other_cost(request: &Request, expected: &Reads, found: &Reads) -> Option<String> {
    let only = |ours: &Reads, theirs: &Reads| {
        let reads: Vec<&str> = ours.difference(theirs).map(String::as_str).collect();
        reads.join(", ")
    };
    (request.expected.faults.is_none() && expected.len() != found.len()).then(|| {
        format!(
            "{} reads from the store without caches, not {}; only here: {}; only there: {}",
            found.len(),
            expected.len(),
            only(found, expected),
            only(expected, found)
        )
    })
}

/// Callback that returns the problem of an answer, and of its cost if that is counted.
type Judge<'a> = &'a mut dyn FnMut(&Request, &Answer, Option<Reads>) -> Option<String>;

fn measure(
    host: &dyn Host,
    machine: &Machine,
    site: &Site,
    passes: &Passes<'_>,
    expected: &BTreeMap<String, Reads>,
    judge: Judge<'_>,
) -> Result<Measured> {
    let mut measured = Measured::default();
    let num_foreign = site.num_foreign_requests();

    let mut running = host.start(machine, site, Caching::Off)?;
    send_all(
        "no cache",
        site,
        running.as_mut(),
        &passes.uncached,
        &mut measured,
        Some(expected),
        judge,
    );
    drop(running);

    let started = Instant::now();
    let mut running = host.start(machine, site, Caching::On)?;
    let (_, num_reads) = classic(site, running.as_mut())?;
    measured.cold_start = started.elapsed();
    measured.num_cold_requests = num_reads;
    let mut times = Vec::new();
    for _ in 0..NUM_WARM {
        let (time, num_reads) = classic(site, running.as_mut())?;
        times.push(time);
        measured.num_warm_requests = num_reads;
    }
    measured.warm_time = median(times);
    for (pass, requests) in [("first", &passes.first), ("second", &passes.second)] {
        // The effect of caches depends on the host, so the cost is not judged.
        let mut judge = |request: &Request, answer: &Answer, _| judge(request, answer, None);
        send_all(
            pass,
            site,
            running.as_mut(),
            requests,
            &mut measured,
            None,
            &mut judge,
        );
    }
    drop(running);

    let num_foreign = site.num_foreign_requests() - num_foreign;
    if num_foreign > 0 {
        let problem = format!("the store was sent {num_foreign} requests that are no GET");
        measured.problems.push(problem);
    }
    Ok(measured)
}

/// Maximum number of times that a request is sent if its cost is counted.
const MAX_SENDINGS: usize = 6;

/// Sends each request. If its cost is counted, repeats it until it has the expected number of
/// reads, or the same reads twice. A read that its search no longer waits for (a lost hedge, the
/// rest of a failed search) may reach the store after that search was answered, and on a busy
/// machine some requests later.
fn send_all(
    pass: &str,
    site: &Site,
    running: &mut dyn Running,
    requests: &[&Request],
    measured: &mut Measured,
    counted: Option<&BTreeMap<String, Reads>>,
    judge: Judge<'_>,
) {
    for request in requests {
        let name = &request.name;
        if !running.carries(&request.call) {
            measured.not_carried.insert(name.clone());
            continue;
        }
        measured.num_sent += 1;
        let mut before = None;
        let mut problem = None;
        for nth in 1..=MAX_SENDINGS {
            let num_requests = site.num_requests();
            let answer = match running.send(&request.call) {
                Err(error) => {
                    problem = Some(format!("{error:#}"));
                    break;
                }
                Ok(answer) => answer,
            };
            let reads = site.reads_after(num_requests);
            // Hosts react to failing stores in their own ways, which may vary.
            let expected = counted.and_then(|expected| expected.get(name));
            let is_settled = before.as_ref() == Some(&reads)
                || expected.is_some_and(|expected| expected.len() == reads.len())
                || nth == MAX_SENDINGS
                || nth == 2 && request.expected.faults.is_some();
            let cost = (counted.is_some() && is_settled).then(|| reads.clone());
            problem = judge(request, &answer, cost);
            if problem.is_some() || counted.is_none() || is_settled {
                break;
            }
            before = Some(reads);
        }
        if let Some(problem) = problem {
            let problem = format!("{name} ({pass}): {problem}");
            measured.problems.push(problem);
        }
    }
}

/// Measures the time of the classic term query, and its number of store requests.
fn classic(site: &Site, running: &mut dyn Running) -> Result<(Duration, usize)> {
    let (before, sent) = (site.num_requests(), Instant::now());
    let answer = running.send(&classic_term_query())?;
    let time = sent.elapsed();
    ensure!(
        answer.status == 200,
        "the classic term query was answered {}",
        answer.shortened(500)
    );
    Ok((time, site.reads_after(before).len()))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
