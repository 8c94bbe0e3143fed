//! Tests of the conformance test: it must detect faulty hosts. `cargo xtask conformance` runs the
//! real hosts.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::LazyLock;

use anyhow::{Result, bail};
use canter_split_format::{MANIFEST_OBJECT, ManifestFile, SplitEntry};
use canter_tests::conformance::hosts::{Caching, Host, Running, all};
use canter_tests::conformance::{
    Answer, Call, Checker, Extent, HostReport, Machine, Reference, Request, Site, Verdict,
    markdown_table, read_requests, run_host, run_host_to,
};
use serde_json::{Value, json};

static SITE: LazyLock<Site> = LazyLock::new(|| Site::start().unwrap());

fn requests() -> Vec<Request> {
    read_requests().unwrap()
}

fn request(name: &str) -> Request {
    let found = requests().into_iter().find(|request| request.name == name);
    found.unwrap_or_else(|| panic!("there is no request {name:?}"))
}

fn answer(body: &Value) -> Answer {
    Answer {
        status: 200,
        headers: Some([("content-type".to_owned(), "application/json".to_owned())].into()),
        body: body.to_string().into_bytes(),
    }
}

fn empty_answer() -> Value {
    json!({"hits": [], "num_hits": 0, "elapsed_time_micros": 5, "errors": [], "failed_splits": []})
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(future)
}

/// Host that answers with a function.
struct Scripted(fn(&Call) -> Answer);

impl Host for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn title(&self) -> &'static str {
        "a scripted host"
    }

    fn artifacts(&self, _: &Machine) -> Result<Vec<PathBuf>, String> {
        Ok(Vec::new())
    }

    fn start(&self, _: &Machine, _: &Site, _: Caching) -> Result<Box<dyn Running>> {
        Ok(Box::new(RunningScript(self.0)))
    }
}

/// Scripted host that runs the program of another one.
struct Sharing(Scripted);

impl Host for Sharing {
    fn name(&self) -> &'static str {
        "sharing"
    }

    fn title(&self) -> &'static str {
        "the same program elsewhere"
    }

    fn shares_its_program(&self) -> bool {
        true
    }

    fn artifacts(&self, machine: &Machine) -> Result<Vec<PathBuf>, String> {
        self.0.artifacts(machine)
    }

    fn start(&self, machine: &Machine, site: &Site, caching: Caching) -> Result<Box<dyn Running>> {
        self.0.start(machine, site, caching)
    }
}

struct RunningScript(fn(&Call) -> Answer);

impl Running for RunningScript {
    fn send(&mut self, call: &Call) -> Result<Answer> {
        Ok((self.0)(call))
    }
}

/// Returns the answers of a scripted host as a reference, in place of the native engine's.
fn reference(requests: &[Request], answer: fn(&Call) -> Answer) -> Reference {
    let answers = requests.iter();
    Reference {
        answers: answers
            .map(|request| (request.name.clone(), answer(&request.call)))
            .collect(),
        ..Reference::default()
    }
}

/// Runs a scripted host against another one's answers to two requests, and returns its problems.
fn problems(expected: fn(&Call) -> Answer, found: fn(&Call) -> Answer) -> Vec<String> {
    let requests = [
        request("a phrase"),
        request("a store that cuts ranges short"),
    ];
    let reference = reference(&requests, expected);
    let machine = Machine::locate().unwrap();
    let report = run_host(&Scripted(found), &machine, &SITE, &requests, &reference);
    assert!(
        !report
            .account(10)
            .iter()
            .any(|line| line.starts_with("SKIPPED"))
    );
    match report.verdict {
        Verdict::Ran(measured) => {
            assert_eq!(measured.num_sent, 6, "two requests, three times");
            measured.problems
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_short_test_sends_every_request_to_every_program() {
    let requests = &requests()[..8];
    let expected = reference(requests, |_| answer(&empty_answer()));
    let machine = Machine::locate().unwrap();
    let check = |extent: Extent, host: &dyn Host, num_sent: usize, num_different: usize| {
        let report = run_host_to(extent, host, &machine, &SITE, requests, &expected);
        let Verdict::Ran(measured) = report.verdict else {
            panic!("{:?}", report.verdict);
        };
        assert_eq!(measured.num_sent, num_sent, "{extent:?} {}", host.name());
        assert_eq!(measured.problems.len(), num_sent, "{:?}", measured.problems);
        let is_sent = |request: &&Request| {
            let mut problems = measured.problems.iter();
            problems.any(|problem| problem.starts_with(&format!("{} (", request.name)))
        };
        assert_eq!(requests.iter().filter(is_sent).count(), num_different);
    };
    let wrong = || Scripted(|_| answer(&json!({"hits": ["another"]})));
    check(Extent::Whole, &wrong(), 24, 8);
    check(Extent::Short, &wrong(), 12, 8);
    check(Extent::Short, &Sharing(wrong()), 8, 4);
}

#[test]
fn the_list_asks_for_everything_and_says_what_is_right() {
    let requests = requests();
    assert!(requests.len() >= 80, "{}", requests.len());
    let num_by_oracle = requests
        .iter()
        .filter(|request| request.expected.oracle.is_some())
        .count();
    assert!(num_by_oracle >= 80, "{num_by_oracle}");
    for method in ["GET", "POST", "PUT", "DELETE"] {
        assert!(requests.iter().any(|request| request.call.method == method));
    }
    for status in [200, 400, 404, 405, 500, 503] {
        let mut statuses = requests.iter().map(|request| request.expected.status);
        assert!(statuses.any(|expected| expected == status), "{status}");
    }
}

#[test]
fn the_oracle_can_answer_every_request_that_names_it() {
    for request in requests() {
        if let Some((index, asked)) = &request.expected.oracle {
            let oracle = SITE.oracle(index).unwrap_or_else(|| panic!("{index}"));
            let answer = oracle.search(asked);
            assert!(
                answer.is_ok(),
                "{}: {:#}",
                request.name,
                answer.unwrap_err()
            );
        }
    }
}

#[test]
fn an_answer_that_the_oracle_denies_is_reported() {
    let checker = Checker::new(&SITE);
    let request = request("the errors among all, by filter");
    let (index, asked) = request.expected.oracle.clone().unwrap();
    let mut right = SITE.oracle(&index).unwrap().search(&asked).unwrap();
    right["errors"] = json!([]);
    right["failed_splits"] = json!([]);
    assert_eq!(checker.problem(&request, &answer(&right)), None);
    for (pointer, value) in [
        ("/num_hits", json!(20_001)),
        ("/aggregations/errors/doc_count", json!(1)),
        ("/hits", json!([{"tenant_id": 1}])),
        ("/failed_splits", json!([{"split_id": "x"}])),
    ] {
        let mut wrong = right.clone();
        *wrong.pointer_mut(pointer).unwrap() = value;
        assert!(
            checker.problem(&request, &answer(&wrong)).is_some(),
            "{pointer}"
        );
    }
    let late = Answer {
        status: 503,
        ..answer(&right)
    };
    assert!(checker.problem(&request, &late).is_some());
}

#[test]
fn an_error_must_have_its_status_and_say_what_is_wrong() {
    let checker = Checker::new(&SITE);
    let request = request("a parameter that is unknown");
    let error = |status, body: Value| Answer {
        status,
        ..answer(&body)
    };
    let message = "the parameter \"colour\" is not known; there are query, start_timestamp";
    let right = error(400, json!({"message": message}));
    assert_eq!(checker.problem(&request, &right), None);
    for wrong in [
        error(404, json!({"message": message})),
        error(400, json!({"message": "bad request"})),
        error(400, json!({"error": message})),
        error(400, json!({"message": message, "kind": "invalid"})),
    ] {
        assert!(checker.problem(&request, &wrong).is_some(), "{wrong:?}");
    }
}

#[test]
fn a_fault_of_the_store_must_have_its_name() {
    let checker = Checker::new(&SITE);
    let request = request("a store that cuts ranges short");
    let failed = |errors: &[&str]| {
        let splits = errors.iter().enumerate();
        let splits: Vec<Value> = splits
            .map(|(ord, error)| json!({"split_id": ord.to_string(), "error": error}))
            .collect();
        let mut body = empty_answer();
        body["failed_splits"] = splits.into();
        answer(&body)
    };
    let right = failed(&["splits/a: short_body: 3 of 9 bytes", "short_body: 1 of 2"]);
    assert_eq!(checker.problem(&request, &right), None);
    for errors in [
        &[][..],
        &["the connection was closed"],
        &["short_body: 3 of 9", "range_ignored: 200"],
        &["wrong_content_range: the rest of it is a short_body"],
    ] {
        let wrong = failed(errors);
        assert!(checker.problem(&request, &wrong).is_some(), "{errors:?}");
    }
}

#[test]
fn a_host_that_changes_a_byte_is_reported() {
    fn native(_: &Call) -> Answer {
        answer(&empty_answer())
    }
    assert_eq!(problems(native, native), [""; 0]);
    fn slower(call: &Call) -> Answer {
        let text = String::from_utf8(native(call).body).unwrap();
        Answer {
            body: text.replace("micros\":5", "micros\":1234").into(),
            ..native(call)
        }
    }
    assert_eq!(problems(native, slower), [""; 0], "time is no difference");
    let wrong: [fn(&Call) -> Answer; 4] = [
        |call| Answer {
            status: 203,
            ..native(call)
        },
        |call| Answer {
            body: [native(call).body, b"\n".to_vec()].concat(),
            ..native(call)
        },
        |call| {
            let mut body = native(call).body;
            body[2] = b'H';
            Answer {
                body,
                ..native(call)
            }
        },
        |call| Answer {
            headers: Some([("content-type".to_owned(), "text/plain".to_owned())].into()),
            ..native(call)
        },
    ];
    for (ord, wrong) in wrong.into_iter().enumerate() {
        // An invalid answer has nothing to measure.
        let machine = Machine::locate().unwrap();
        let requests = [request("a phrase")];
        let reference = reference(&requests, native);
        let report = run_host(&Scripted(wrong), &machine, &SITE, &requests, &reference);
        assert!(report.is_red(), "{ord}: {report:?}");
    }
}

#[test]
fn a_host_that_gives_a_fault_another_name_is_reported() {
    fn failing(error: &str) -> Answer {
        let mut body = empty_answer();
        body["failed_splits"] = json!([{"split_id": "s", "error": error}]);
        answer(&body)
    }
    fn of(call: &Call, error: &str) -> Answer {
        match call.path.contains("truncated") {
            true => failing(error),
            false => answer(&empty_answer()),
        }
    }
    let native = |call: &Call| of(call, "splits/s: short_body: 10 of 20 bytes came");
    let same_name = |call: &Call| of(call, "short_body: terminated");
    let other_name = |call: &Call| of(call, "fetch failed");
    assert_eq!(problems(native, same_name), [""; 0]);
    let found = problems(native, other_name);
    assert_eq!(found.len(), 3, "in every pass: {found:?}");
    assert!(found[0].contains("a store that cuts ranges short (no cache)"));
}

#[test]
fn a_host_that_asks_the_store_more_or_less_often_is_reported() {
    fn native(_: &Call) -> Answer {
        answer(&empty_answer())
    }
    let requests = [
        request("a phrase"),
        request("a store that cuts ranges short"),
    ];
    let mut reference = reference(&requests, native);
    for request in &requests {
        let name = request.name.clone();
        let reads = ["manifest", "split bytes=0-9", "split bytes=90-99"];
        reference
            .reads
            .insert(name, reads.map(str::to_owned).into());
    }
    let machine = Machine::locate().unwrap();
    let report = run_host(&Scripted(native), &machine, &SITE, &requests, &reference);
    let told = report.account(10);
    // The difference is reported only once, because caches can save requests, and not for requests
    // that are retried.
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("0 reads from the store without caches, not 3"));
    assert!(
        told[0].contains("only there: manifest, split bytes=0-9"),
        "{told:?}"
    );
}

/// A read that no search waits for any more can reach the store during another search.
#[test]
fn a_late_read_of_another_request_is_not_taken_for_a_requests_own() {
    let requests: Vec<Request> = requests().into_iter().take(12).collect();
    // This test has a separate site, because other tests count the requests to theirs.
    let site = Site::start().unwrap();
    let told = |is_wasteful: bool| {
        let host = Straggling { is_wasteful };
        let mut reference = reference(&requests, |_| answer(&empty_answer()));
        for request in &requests {
            let reads = [format!("nowhere/{}", request.call.query.len())];
            reference.reads.insert(request.name.clone(), reads.into());
        }
        let machine = Machine::locate().unwrap();
        run_host(&host, &machine, &site, &requests, &reference).account(20)
    };
    assert_eq!(told(false), [""; 0]);
    assert!(
        !told(true).is_empty(),
        "what is read twice as often is seen"
    );
}

/// Host that reads one object for each answer, and repeats the read of the request before.
struct Straggling {
    /// True if it also reads an additional object each time.
    is_wasteful: bool,
}

struct RunningStraggler {
    root: String,
    late: Option<String>,
    is_wasteful: bool,
}

impl Host for Straggling {
    fn name(&self) -> &'static str {
        "straggling"
    }

    fn title(&self) -> &'static str {
        "a host whose reads come late"
    }

    fn artifacts(&self, _: &Machine) -> Result<Vec<PathBuf>, String> {
        Ok(Vec::new())
    }

    fn start(&self, _: &Machine, site: &Site, caching: Caching) -> Result<Box<dyn Running>> {
        match caching {
            Caching::Off => Ok(Box::new(RunningStraggler {
                root: site.root(),
                late: None,
                is_wasteful: self.is_wasteful,
            })),
            Caching::On => Ok(Box::new(RunningScript(|_| answer(&empty_answer())))),
        }
    }
}

impl Running for RunningStraggler {
    fn send(&mut self, call: &Call) -> Result<Answer> {
        let own = format!("nowhere/{}", call.query.len());
        let mut reads = vec![own.clone()];
        reads.extend(self.late.replace(own));
        if self.is_wasteful {
            reads.push("nowhere/else".to_owned());
        }
        for path in reads {
            get(&self.root, &path)?;
        }
        Ok(answer(&empty_answer()))
    }
}

/// Requests an object from the store and ignores the answer.
fn get(root: &str, path: &str) -> Result<()> {
    let address = root.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {address}\r\n\r\n")?;
    stream.read_exact(&mut [0])?;
    Ok(())
}

struct Lacking;

impl Host for Lacking {
    fn name(&self) -> &'static str {
        "lacking"
    }

    fn title(&self) -> &'static str {
        "a host whose program is not there"
    }

    fn artifacts(&self, machine: &Machine) -> Result<Vec<PathBuf>, String> {
        machine
            .artifact("tools/no-such-program", "cargo xtask tools")
            .map(|_| Vec::new())
    }

    fn start(&self, _: &Machine, _: &Site, _: Caching) -> Result<Box<dyn Running>> {
        bail!("it must not be started")
    }
}

struct Broken;

impl Host for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn title(&self) -> &'static str {
        "a host that does not start"
    }

    fn artifacts(&self, _: &Machine) -> Result<Vec<PathBuf>, String> {
        Ok(Vec::new())
    }

    fn start(&self, _: &Machine, _: &Site, _: Caching) -> Result<Box<dyn Running>> {
        bail!("the port is taken")
    }
}

#[test]
fn what_a_machine_lacks_is_said_and_what_is_broken_is_red() {
    let machine = Machine::locate().unwrap();
    let run = |host: &dyn Host| run_host(host, &machine, &SITE, &[], &Reference::default());
    let told = |report: &HostReport| report.account(10).join("\n");
    let lacking = run(&Lacking);
    assert!(!lacking.is_green() && !lacking.is_red());
    assert!(
        told(&lacking).starts_with("SKIPPED lacking: "),
        "{}",
        told(&lacking)
    );
    assert!(told(&lacking).contains("run `cargo xtask tools`"));
    let broken = run(&Broken);
    assert!(broken.is_red());
    assert!(told(&broken).contains("FAILED broken: the port is taken"));
    let table = markdown_table(&[lacking, broken]);
    assert_eq!(table.lines().count(), 4);
    assert!(table.contains("| not run |") && table.contains("| **failed** |"));
}

/// Otherwise, the requests to this index would test the same as those to other indexes.
#[test]
fn the_living_index_has_everything_that_time_brings() {
    let client = canter_stores::http_client().build().unwrap();
    let fetch = |object: &str| {
        let url = format!("{}/living/{object}", SITE.root());
        let read = async { client.get(url).send().await?.bytes().await };
        block_on(read).unwrap()
    };
    let manifest = ManifestFile::from_bytes(&fetch(MANIFEST_OBJECT)).unwrap();
    let mut entries = manifest.manifest.splits.clone();
    let num_newest = entries.len();
    assert!(manifest.pages.len() > 1 && num_newest > 0);
    for page in &manifest.pages {
        assert!(page.filters.is_some(), "{page:?}");
        let (splits, _) = page.open(&fetch(&page.object()), None).unwrap();
        entries.extend(splits.into_iter().map(|split| split.entry));
    }
    assert!(entries.len() > 100, "{} splits", entries.len());
    let is_merged = |split: &&SplitEntry| split.num_merge_ops > 0;
    let has_deletes = |split: &&SplitEntry| split.deletes.is_some();
    let (newest, paged) = entries.split_at(num_newest);
    for splits in [newest, paged] {
        assert!(splits.iter().any(|split| has_deletes(&split)));
        assert!(!splits.iter().all(|split| has_deletes(&split)));
    }
    assert!(
        entries
            .iter()
            .filter(is_merged)
            .any(|split| has_deletes(&split))
    );
    assert!(entries.iter().filter(is_merged).count() >= 4);
    // The requested documents exist.
    let hits = |name: &str| {
        let (index, asked) = request(name).expected.oracle.unwrap();
        SITE.oracle(&index).unwrap().search(&asked).unwrap()["num_hits"].as_u64()
    };
    for request in requests() {
        let is_nowhere = request.name.contains("nowhere");
        if let Some((index, _)) = &request.expected.oracle
            && index == "living"
        {
            assert_eq!(
                hits(&request.name) == Some(0),
                is_nowhere,
                "{}",
                request.name
            );
        }
    }
}

#[test]
fn hosts_have_different_names() {
    let mut names: Vec<&str> = all().iter().map(|host| host.name()).collect();
    assert_eq!(names[0], "native", "with which all are compared");
    let num_hosts = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), num_hosts);
}
