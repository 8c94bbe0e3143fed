//! Sends the list to a host, and compares answers and what they cost the store.
//!
//! ```text
//!   caches off   every request once        answers, and exactly as many reads as the native engine
//!   caches on    the classic term query    cold, then warm: what the table tells
//!                every request twice       answers, the second time as caches give them
//! ```

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::compare::difference;
use super::hosts::{Caching, Host, Running};
use super::report::{HostReport, Measured, Verdict};
use super::{Answer, Call, Checker, Machine, Request, Site, encoded};

/// The classic term query is repeated so often on a warm host; its time is the median.
const NUM_WARM: usize = 15;

/// A request whose cost differs is asked again so often. Which reads are merged depends, rarely, on which arrives
/// first; the same cost must come out of one of so many attempts.
const NUM_ATTEMPTS: usize = 3;

/// What the native engine answered, and what it asked the store for.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    /// Answers by the name of the request.
    pub answers: BTreeMap<String, Answer>,
    /// Reads from the store without caches, by the name of the request.
    pub num_reads: BTreeMap<String, usize>,
}

/// The ten newest errors: the query by which the table measures.
pub fn classic_term_query() -> Call {
    Call {
        query: format!("query={}&max_hits=10", encoded("severity_text:ERROR")),
        ..Call::get("/api/v1/hdfs-logs/search")
    }
}

/// Runs the first host, whose answers must be right, and returns them.
///
/// # Errors
/// If it cannot be run at all: without it there is nothing to compare with.
pub fn run_reference(
    host: &dyn Host,
    machine: &Machine,
    site: &Site,
    requests: &[Request],
) -> Result<(HostReport, Reference)> {
    let artifacts = host.artifacts(machine).map_err(anyhow::Error::msg)?;
    let mut reference = Reference::default();
    let checker = Checker::new(site);
    let mut judge = |request: &Request, answer: &Answer, num_reads: Option<usize>| {
        let name = &request.name;
        if let Some(num) = num_reads {
            let least = reference.num_reads.entry(name.clone()).or_insert(num);
            *least = num.min(*least);
        }
        let problem = match reference.answers.get(name) {
            Some(first) => difference(request, first, answer),
            None => {
                reference.answers.insert(name.clone(), answer.clone());
                checker.problem(request, answer)
            }
        };
        problem.map(Problem::Answer)
    };
    let mut measured = measure(host, machine, site, requests, true, &mut judge)
        .with_context(|| format!("host {}", host.name()))?;
    measured.weigh(&artifacts)?;
    Ok((HostReport::new(host, Verdict::Ran(measured)), reference))
}

/// Runs another host, whose answers must be the same. What the machine lacks is a verdict too.
pub fn run_host(
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
    let mut judge = |request: &Request, answer: &Answer, num_reads: Option<usize>| {
        let name = &request.name;
        let Some(expected) = reference.answers.get(name) else {
            let text = "the native engine gave no answer to compare with";
            return Some(Problem::Answer(text.to_owned()));
        };
        if let Some(text) = difference(request, expected, answer) {
            return Some(Problem::Answer(text));
        }
        let expected = reference.num_reads.get(name)?;
        other_cost(request, *expected, num_reads?).map(Problem::Cost)
    };
    let measured =
        measure(host, machine, site, requests, false, &mut judge).and_then(|mut measured| {
            measured.weigh(&artifacts)?;
            Ok(measured)
        });
    let verdict = match measured {
        Ok(measured) => Verdict::Ran(measured),
        Err(error) => Verdict::Failed(format!("{error:#}")),
    };
    HostReport::new(host, verdict)
}

/// Without caches a host asks the store for exactly as many ranges as the native engine. What is done about a
/// store that fails is each host's own affair.
fn other_cost(request: &Request, expected: usize, found: usize) -> Option<String> {
    (request.expected.faults.is_none() && expected != found)
        .then(|| format!("{found} reads from the store without caches, not {expected}"))
}

/// Finds what is wrong with an answer, and with what it cost, where that is counted.
type Judge<'a> = &'a mut dyn FnMut(&Request, &Answer, Option<usize>) -> Option<Problem>;

/// What is wrong.
enum Problem {
    Answer(String),
    Cost(String),
}

fn measure(
    host: &dyn Host,
    machine: &Machine,
    site: &Site,
    requests: &[Request],
    is_reference: bool,
    judge: Judge<'_>,
) -> Result<Measured> {
    let mut measured = Measured::default();
    let num_foreign = site.num_foreign_requests();

    let mut running = host.start(machine, site, Caching::Off)?;
    send_all(
        "no cache",
        site,
        running.as_mut(),
        requests,
        &mut measured,
        is_reference,
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
    for pass in ["first", "second"] {
        // What caches spare depends on the host, so the cost is not judged.
        let mut judge = |request: &Request, answer: &Answer, _| judge(request, answer, None);
        let requests = requests.iter();
        send_all(
            pass,
            site,
            running.as_mut(),
            requests,
            &mut measured,
            false,
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

/// `asks_again`: the least cost of several attempts is wanted, and not only one that is right.
fn send_all<'a>(
    pass: &str,
    site: &Site,
    running: &mut dyn Running,
    requests: impl IntoIterator<Item = &'a Request>,
    measured: &mut Measured,
    asks_again: bool,
    judge: Judge<'_>,
) {
    for request in requests {
        let name = &request.name;
        if !running.carries(&request.call) {
            measured.not_carried.insert(name.clone());
            continue;
        }
        measured.num_sent += 1;
        let mut problem = None;
        for _ in 0..NUM_ATTEMPTS {
            let before = site.num_requests();
            let answer = match running.send(&request.call) {
                Ok(answer) => answer,
                Err(error) => {
                    problem = Some(format!("{error:#}"));
                    break;
                }
            };
            let num_reads = Some(site.num_reads_after(before));
            let (is_last, found) = match judge(request, &answer, num_reads) {
                None => (!asks_again, None),
                Some(Problem::Answer(text)) => (true, Some(text)),
                Some(Problem::Cost(text)) => (false, Some(text)),
            };
            problem = found;
            if is_last {
                break;
            }
        }
        if let Some(problem) = problem {
            measured
                .problems
                .push(format!("{name} ({pass}): {problem}"));
        }
    }
}

/// How long the classic term query takes, and how often it asks the store.
fn classic(site: &Site, running: &mut dyn Running) -> Result<(Duration, usize)> {
    let (before, sent) = (site.num_requests(), Instant::now());
    let answer = running.send(&classic_term_query())?;
    let time = sent.elapsed();
    ensure!(
        answer.status == 200,
        "the classic term query was answered {}",
        answer.shortened(500)
    );
    Ok((time, site.num_reads_after(before)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
