//! Program that runs the YAML tests of OpenSearch and Elasticsearch 7.10. `cargo xtask yaml-tests` fetches
//! them, and runs this program.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, ensure};
use canter_tests::conformance::Machine;
use canter_tests::rest_spec::{Apis, Known, Outcome, SUITES, Suite, Test, read_tests, run_test};
use clap::Parser;

/// Number of tests at once: they mostly wait for publications.
const NUM_THREADS: usize = 4;

/// Groups of requests that Canter has; all others are about clusters, shards and the like. A star
/// at the end stands for any text.
const GROUPS: [&str; 32] = [
    "bulk",
    "cat.aliases",
    "count",
    "create",
    "delete",
    "exists",
    "explain",
    "field_caps",
    "get",
    "get_source",
    "index",
    "indices.delete_alias",
    "indices.exists_alias",
    "indices.get_alias",
    "indices.get_field_mapping",
    "indices.get_mapping",
    "indices.put_alias",
    "indices.put_mapping",
    "indices.update_aliases",
    "mget",
    "mlt",
    "msearch",
    "pit",
    "range",
    "scroll",
    "search",
    "search.aggregation",
    "search.highlight",
    "search.inner_hits",
    "suggest",
    "update",
    "indices.validate_query",
];

/// Runs YAML tests against `canter serve`. Fails if a test fails that is not listed,
/// or passes although it is listed.
#[derive(Parser)]
struct Args {
    /// Whose tests to run
    #[arg(long, default_value = "opensearch", value_parser = ["opensearch", "elasticsearch"])]
    suite: String,
    /// Engine of the server
    #[arg(long, default_value = "native", value_parser = ["native", "wasm"])]
    engine: String,
    /// Run only these groups; `*` at the end stands for any text
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    group: Vec<String>,
    /// Run only tests with this text in `group/file/section`
    #[arg(long, value_name = "TEXT")]
    test: Option<String>,
    /// Show why each test fails, the listed ones too
    #[arg(long)]
    show: bool,
    /// Take tests that pass off the list
    #[arg(long)]
    shorten: bool,
    /// Put tests that fail on the list, with what the first wrong step did as the reason
    #[arg(long)]
    add: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("yaml-tests: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the tests, and returns whether the list is right.
fn run(args: &Args) -> Result<bool> {
    let machine = Machine::locate()?;
    let suite = SUITES.iter().find(|suite| suite.name == args.suite);
    let suite = suite.context("there is no such suite")?;
    let folder = machine.artifact(suite.folder, "cargo xtask tools");
    let folder = folder.map_err(anyhow::Error::msg)?;
    let apis = Apis::read(&folder.join("api"))?;
    let mut tests = read_tests(suite, &folder.join("test"), |group| is_wanted(args, group))?;
    let list = machine.root.join(suite.list);
    let mut known = Known::read(&list)?;
    if args.group.is_empty() && args.test.is_none() {
        check_names(suite, &known, &tests)?;
    }
    if let Some(text) = &args.test {
        tests.retain(|test| test.id().contains(&**text));
    }
    ensure!(!tests.is_empty(), "there is no such test");
    let outcomes = run_all(&machine, &args.engine, &apis, &tests)?;
    let mut is_right = true;
    let mut figures: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (test, outcome) in tests.iter().zip(outcomes) {
        let id = test.id();
        let (passed, all) = figures.entry(&test.group).or_default();
        *all += 1;
        match (outcome, known.reason(&id).is_some()) {
            (Outcome::Passed, is_listed) => {
                *passed += 1;
                if is_listed && !args.shorten {
                    eprintln!("   LISTED {id}: it passes; take it off {}", suite.list);
                    is_right = false;
                }
                known.remove(&id);
            }
            (Outcome::Failed(said), is_listed) => {
                if args.show || !is_listed && !args.add {
                    eprintln!("   FAILED {id}: {said}");
                }
                is_right &= is_listed || args.add;
                if args.add {
                    known.add(id, said);
                }
            }
        }
    }
    if args.shorten || args.add {
        known.write(&list)?;
    }
    show_figures(&args.engine, &figures);
    Ok(is_right)
}

fn is_wanted(args: &Args, group: &str) -> bool {
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => group.starts_with(start),
        None => group == pattern,
    };
    match args.group.is_empty() {
        true => GROUPS.into_iter().any(fits),
        false => args.group.iter().any(|pattern| fits(pattern)),
    }
}

/// Returns an error if the list names a test that is not there.
fn check_names(suite: &Suite, known: &Known, tests: &[Test]) -> Result<()> {
    let ids: Vec<String> = tests.iter().map(Test::id).collect();
    for test in known.tests() {
        ensure!(
            ids.iter().any(|id| id == test),
            "{} names {test:?}, which is no test",
            suite.list
        );
    }
    Ok(())
}

fn run_all(machine: &Machine, engine: &str, apis: &Apis, tests: &[Test]) -> Result<Vec<Outcome>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        let work = || -> Result<()> {
            loop {
                let ord = next.fetch_add(1, Ordering::Relaxed);
                let Some(test) = tests.get(ord) else {
                    return Ok(());
                };
                let outcome = run_test(machine, engine, apis, test);
                let outcome = outcome.with_context(|| test.id())?;
                done.lock().expect("no panic").insert(ord, outcome);
            }
        };
        let threads: Vec<_> = (0..NUM_THREADS).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    Ok(done.into_inner().expect("no panic").into_values().collect())
}

fn show_figures(engine: &str, figures: &BTreeMap<&str, (usize, usize)>) {
    println!("| group ({engine}) | pass | of | % |\n|---|---|---|---|");
    let sum = figures
        .values()
        .fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    for (group, (passed, all)) in figures.iter().chain([(&"all", &sum)]) {
        println!(
            "| {group} | {passed} | {all} | {} |",
            passed * 100 / all.max(&1)
        );
    }
    println!(
        "{} passed, {} failed as listed or newly",
        sum.0,
        sum.1 - sum.0
    );
}
