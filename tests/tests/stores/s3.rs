//! Builds and searches over `s3://` with a real S3 server on loopback: with valid and invalid
//! credentials, by presigned URL, with concurrent writers, and with a server that is killed.
//!
//! Every test runs in a separate process, see `with_s3`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, thread};

use anyhow::{Context, Result, bail, ensure};
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{BuildError, IndexStore, IngestOptions, IngestReport, Source};
use canter_index_builder::{create_index, ingest};
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::fetch::{
    ByteRange, FetchErrorKind, HedgeOptions, HttpFetcher, HttpOptions, OpenOptions, RangeFetcher,
    RetryOptions, open_uri,
};
use canter_runtime::{ErrorKind, Limits, Searcher, SearcherBuilder};
use canter_samples::HDFS_LOGS_YAML;
use canter_split_format::{MANIFEST_OBJECT, ManifestFile, split_object};
use canter_tests::{End, Fate, S3Server, SECRET_KEY, TestIndex, Truth, hdfs_lines, run, with_s3};
use object_store::RetryConfig;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::signer::Signer;
use serde_json::{Value, json};

const BUCKET: &str = "canter-logs";
const URI: &str = "s3://canter-logs/logs/hdfs";
const SPLIT_NUM_DOCS: u64 = 700;

fn requests() -> [Value; 4] {
    [
        json!({"query": "severity_text:ERROR", "max_hits": 10}),
        json!({"query": "*", "max_hits": 0, "aggs": {"events": {
            "date_histogram": {"field": "timestamp", "fixed_interval": "1d"},
            "aggs": {"log_level": {"terms": {"field": "severity_text"}}},
        }}}),
        json!({"query": "body:\"received block\"", "max_hits": 5}),
        json!({"query": "severity_text:WARN", "max_hits": 5, "sort_by": "-tenant_id"}),
    ]
}

fn lines() -> Vec<String> {
    hdfs_lines(3_000, 33).unwrap()
}

fn config() -> Result<IndexConfig> {
    Ok(IndexConfig::from_yaml(HDFS_LOGS_YAML, |_| None)?)
}

fn add(store: &IndexStore, lines: &[String]) -> Result<IngestReport, BuildError> {
    let options = IngestOptions {
        split_num_docs_target: Some(SPLIT_NUM_DOCS),
        ..IngestOptions::default()
    };
    let text = lines.join("\n").into_bytes();
    ingest(
        store,
        &options,
        vec![Source::reader("lines", std::io::Cursor::new(text)).with_id("lines")],
        &(),
    )
}

/// Builds the index over S3, and returns an equal one that is local.
fn build(server: &S3Server) -> Result<TestIndex> {
    server.make_bucket(BUCKET)?;
    add(&create_index(URI, &config()?)?, &lines())?;
    TestIndex::build(HDFS_LOGS_YAML, &lines(), SPLIT_NUM_DOCS)
}

fn host(engine: Arc<dyn Engine>) -> Result<SearcherBuilder> {
    let builder = Searcher::builder().engine(engine).max_parallel_leaves(1);
    Ok(builder.uri(URI, &OpenOptions::default())?)
}

fn native() -> Arc<dyn Engine> {
    Arc::new(NativeEngine::new())
}

#[test]
fn an_index_over_s3_answers_like_the_same_index_in_a_folder() {
    with_s3(
        "s3::an_index_over_s3_answers_like_the_same_index_in_a_folder",
        SECRET_KEY,
        |server| {
            let folder = build(server)?;
            for (name, bytes) in &folder.objects {
                if name.ends_with(".split") {
                    let path = server.make_bucket(BUCKET)?.join("logs/hdfs").join(name);
                    ensure!(fs::read(path)? == *bytes, "{name} differs");
                }
            }
            server.forwarder().take_lines();
            let wasm = Arc::new(WasmEngine::embedded(WasmOptions::default())?);
            for engine in [native(), wasm] {
                let searcher = host(engine)?.build()?;
                for request in requests() {
                    let truth = Truth::of(&folder, request)?;
                    let end = truth.judge(&run(&searcher, &truth.request));
                    ensure!(end == Ok(End::Right), "{}: {end:?}", truth.request);
                }
            }
            let lines = server.forwarder().take_lines();
            ensure!(lines.len() > 16, "a search over S3 asks the server");
            let other = lines.iter().find(|line| !line.starts_with("GET "));
            ensure!(
                other.is_none(),
                "a search sends GET and nothing else: {other:?}"
            );
            Ok(())
        },
    );
}

/// Checks that a message helps someone who can set the credentials, and omits the server's XML.
fn check_denied(message: &str) -> Result<()> {
    ensure!(
        message.contains("credentials"),
        "what to do is missing: {message}"
    );
    for secret in [
        "<?xml",
        "<Error",
        "Signature=",
        "AWS4-HMAC",
        "not-the-secret",
        SECRET_KEY,
    ] {
        ensure!(
            !message.contains(secret),
            "{secret} should not be in: {message}"
        );
    }
    Ok(())
}

#[test]
fn wrong_credentials_are_refused_with_what_to_do() {
    let name = "s3::wrong_credentials_are_refused_with_what_to_do";
    with_s3(name, "not-the-secret", |server| {
        server.make_bucket(BUCKET)?;
        let error = create_index(URI, &config()?)
            .err()
            .context("it was allowed")?;
        check_denied(&error.to_string())?;
        let fetcher = open_uri(URI, &OpenOptions::default())?;
        let fetched = block_on(fetcher.fetch(MANIFEST_OBJECT, ByteRange::from(0)));
        let error = fetched.err().context("it was allowed")?;
        ensure!(
            error.kind == FetchErrorKind::Denied,
            "{:?}: {error}",
            error.kind
        );
        check_denied(&error.message)?;
        let searcher = host(native())?.build()?;
        let answer = run(&searcher, &requests()[0]);
        let error = answer.err().context("it was allowed")?;
        ensure!(error.kind != ErrorKind::Internal && error.kind != ErrorKind::Data);
        check_denied(&error.message)
    });
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Returns the bucket with the environment's settings, but few retries.
fn bucket() -> Result<AmazonS3> {
    // `object_store` creates this client itself, and has no cryptography until a provider is
    // installed.
    canter_stores::http_client().build()?;
    let retry = RetryConfig {
        max_retries: 1,
        ..RetryConfig::default()
    };
    let builder = AmazonS3Builder::from_env().with_bucket_name(BUCKET);
    Ok(builder.with_allow_http(true).with_retry(retry).build()?)
}

#[test]
fn a_presigned_url_opens_one_object_until_it_expires() {
    let name = "s3::a_presigned_url_opens_one_object_until_it_expires";
    with_s3(name, SECRET_KEY, |server| {
        let folder = server.make_bucket(BUCKET)?;
        fs::write(folder.join("object"), b"0123456789")?;
        let signed = |valid_for: Duration| -> Result<HttpFetcher> {
            let path = "object".into();
            let mut url = block_on(bucket()?.signed_url(reqwest::Method::GET, &path, valid_for))?;
            // The fetcher appends the object's name and keeps the signature.
            url.path_segments_mut()
                .map_err(|()| anyhow::anyhow!("no base"))?
                .pop();
            Ok(HttpFetcher::new(url, HttpOptions::default())?)
        };
        let read = |fetcher: &HttpFetcher, object: &str| {
            block_on(fetcher.fetch(object, ByteRange::new(3, 4)))
        };
        let fetcher = signed(Duration::from_secs(600))?;
        ensure!(read(&fetcher, "object")?.bytes == "3456");
        let other = read(&fetcher, "another").err().context("one object only")?;
        ensure!(other.kind == FetchErrorKind::Denied, "{other}");
        let short = signed(Duration::from_secs(1))?;
        thread::sleep(Duration::from_millis(2_500));
        let error = read(&short, "object").err().context("it has expired")?;
        ensure!(
            error.kind == FetchErrorKind::Denied,
            "{:?}: {error}",
            error.kind
        );
        ensure!(error.message.contains("403"), "{error}");
        for secret in ["X-Amz-Signature", "<Error", SECRET_KEY] {
            ensure!(!error.message.contains(secret), "{error}");
        }
        Ok(())
    });
}

/// Returns the manifest in the server's folder, after a check that all objects exist that it names.
fn check_manifest(server: &S3Server) -> Result<ManifestFile> {
    let index = server.make_bucket(BUCKET)?.join("logs/hdfs");
    let manifest = ManifestFile::from_bytes(&fs::read(index.join(MANIFEST_OBJECT))?)?;
    let mut splits = manifest.manifest.splits.clone();
    for page in &manifest.pages {
        let (paged, _) = page.open(&fs::read(index.join(page.object()))?, None)?;
        splits.extend(paged.into_iter().map(|split| split.entry));
    }
    ensure!(splits.len() as u64 == manifest.num_splits());
    for split in &splits {
        let object = split_object(&split.id);
        let found = fs::metadata(index.join(&object))
            .map(|found| found.len())
            .ok();
        ensure!(
            found == Some(split.len),
            "{object}: {found:?} of {} bytes",
            split.len
        );
    }
    Ok(manifest)
}

#[test]
fn builders_that_publish_at_once_lose_no_update() {
    const ROUNDS: usize = 200;
    let name = "s3::builders_that_publish_at_once_lose_no_update";
    with_s3(name, SECRET_KEY, |server| {
        server.make_bucket(BUCKET)?;
        create_index(URI, &config()?)?;
        let lines = hdfs_lines(2 * ROUNDS as u64, 44)?;
        let all = thread::scope(|scope| {
            let builders = [&lines[..ROUNDS], &lines[ROUNDS..]].map(|lines| {
                scope.spawn(move || -> Result<()> {
                    let store = IndexStore::open(URI)?;
                    for line in lines.chunks(1) {
                        ensure!(add(&store, line)?.num_published_splits == 1);
                    }
                    Ok(())
                })
            });
            builders
                .into_iter()
                .try_for_each(|builder| match builder.join() {
                    Ok(result) => result,
                    Err(_) => bail!("a builder panicked"),
                })
        });
        all?;
        let manifest = check_manifest(server)?;
        ensure!(manifest.num_splits() == 2 * ROUNDS as u64);
        ensure!(manifest.num_docs() == 2 * ROUNDS as u64);
        let mut limits = Limits::default();
        limits.guest.insert("max_splits".to_owned(), 1_000.into());
        let answer = block_on(
            host(native())?
                .build()?
                .search(&json!({"query": "*"}), &limits),
        )?;
        ensure!(answer.json["num_hits"] == 2 * ROUNDS);
        Ok(())
    });
}

/// Point at which the server is killed.
#[derive(Clone, Copy, Debug)]
enum Blow {
    /// Before it receives the request.
    Before,
    /// After it began to answer; the answer is lost.
    After,
}

/// Server that is killed at one request, until [`Ordeal::end`] restores it.
struct Ordeal<'a> {
    server: &'a S3Server,
    num_requests: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Ordeal<'_> {
    /// Restarts the server, and returns the number of requests in the meantime.
    fn end(self) -> Result<usize> {
        self.is_over.store(true, Ordering::SeqCst);
        self.server.forwarder().decide(|_| Fate::Pass);
        self.server.restart()?;
        Ok(self.num_requests.load(Ordering::SeqCst))
    }
}

/// Kills the server at request `at`. It restarts after `down_for` further requests, or never if
/// that is `usize::MAX`.
fn kill_at(server: &S3Server, at: usize, down_for: usize, blow: Blow) -> Ordeal<'_> {
    let ordeal = Ordeal {
        server,
        num_requests: Arc::default(),
        is_over: Arc::default(),
    };
    let counted = Arc::clone(&ordeal.num_requests);
    let is_over = Arc::clone(&ordeal.is_over);
    let handle = Mutex::new(server.clone());
    server.forwarder().decide(move |_| {
        let server = handle.lock().unwrap();
        let num_before = counted.fetch_add(1, Ordering::SeqCst);
        match (num_before, blow) {
            (ord, Blow::After) if ord == at => {
                let (server, is_over) = (server.clone(), Arc::clone(&is_over));
                Fate::LoseAnswer(Box::new(move || {
                    if !is_over.load(Ordering::SeqCst) {
                        server.kill();
                    }
                }))
            }
            (ord, _) if ord >= at && ord - at < down_for => {
                server.kill();
                Fate::Refuse
            }
            (ord, _) if ord - at.min(ord) == down_for => {
                server.restart().unwrap();
                Fate::Pass
            }
            _ => Fate::Pass,
        }
    });
    ordeal
}

#[test]
fn a_server_killed_in_the_middle_of_a_search_makes_no_answer_wrong() {
    let name = "s3::a_server_killed_in_the_middle_of_a_search_makes_no_answer_wrong";
    with_s3(name, SECRET_KEY, |server| {
        let folder = build(server)?;
        let truths = requests()
            .into_iter()
            // The two that send the most requests.
            .step_by(3)
            .map(|request| Truth::of(&folder, request))
            .collect::<Result<Vec<_>>>()?;
        let options = OpenOptions {
            retry: RetryOptions {
                initial_backoff: Duration::from_millis(5),
                ..RetryOptions::default()
            },
            ..OpenOptions::default()
        };
        let mut ends = Vec::new();
        for (truth, blow) in truths
            .iter()
            .flat_map(|truth| [(truth, Blow::Before), (truth, Blow::After)])
        {
            for down_for in [1, 4, usize::MAX] {
                for at in 0.. {
                    let ordeal = kill_at(server, at, down_for, blow);
                    let host = Searcher::builder().engine(native()).uri(URI, &options)?;
                    let searcher = host.hedge(HedgeOptions::off()).build()?;
                    let end = truth.judge(&run(&searcher, &truth.request));
                    let what = format!("{}, {blow:?} request {at}", truth.request);
                    ends.push(end.map_err(|problem| anyhow::anyhow!("{what}: {problem}"))?);
                    let num_requests = ordeal.end()?;
                    // The same searcher again must not be affected by the crash.
                    let next = truth.judge(&run(&searcher, &truth.request));
                    ensure!(next == Ok(End::Right), "{what}, then: {next:?}");
                    if num_requests <= at {
                        break;
                    }
                }
            }
        }
        let count = |is: fn(&End) -> bool| ends.iter().filter(|end| is(end)).count();
        let [right, partial, errors] = [
            count(|end| *end == End::Right),
            count(|end| *end == End::Partial),
            count(|end| matches!(end, End::Error(_))),
        ];
        println!("{right} right, {partial} partial, {errors} errors");
        ensure!(
            right > 0 && partial > 0 && errors > 0,
            "the blows hit nothing"
        );
        Ok(())
    });
}

#[test]
fn a_server_killed_in_the_middle_of_a_publication_leaves_the_old_index_or_the_new() {
    let name = "s3::a_server_killed_in_the_middle_of_a_publication_leaves_the_old_index_or_the_new";
    with_s3(name, SECRET_KEY, |server| {
        server.make_bucket(BUCKET)?;
        let lines = lines();
        let (old, new) = lines.split_at(1_000);
        let [mut num_failed, mut num_new] = [0, 0];
        for blow in [Blow::Before, Blow::After] {
            for at in 0.. {
                let index = server.make_bucket(BUCKET)?.join("logs/hdfs");
                if index.exists() {
                    #[expect(
                        clippy::disallowed_methods,
                        reason = "in the temporary folder of the test's own server"
                    )]
                    fs::remove_dir_all(&index)?;
                }
                create_index(URI, &config()?)?;
                let store = IndexStore::new(Arc::new(bucket()?), "logs/hdfs".into(), URI);
                add(&store, old)?;
                let ordeal = kill_at(server, at, usize::MAX, blow);
                let added = add(&store, new);
                let was_hit = ordeal.end()? > at;
                let found = check_manifest(server)?.num_docs();
                match found {
                    1_000 => num_failed += 1,
                    3_000 => num_new += 1,
                    other => bail!("{blow:?} request {at}: {other} documents"),
                }
                ensure!(
                    added.is_err() || found == 3_000,
                    "{blow:?} request {at}: not published"
                );
                ensure!(was_hit || added.is_ok(), "{blow:?} request {at}: {added:?}");
                if let Err(error) = &added {
                    ensure!(error.to_string().contains(URI), "{error}");
                }
                // A repeated ingest recognizes published documents and adds the others.
                add(&store, new)?;
                ensure!(check_manifest(server)?.num_docs() == 3_000);
                if !was_hit {
                    break;
                }
            }
        }
        println!("{num_failed} times the old index, {num_new} times the new");
        ensure!(num_failed > 5 && num_new > 2, "the blows hit nothing");
        Ok(())
    });
}
