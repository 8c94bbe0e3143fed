//! Builders over stores that ignore conditions on writes, like several imitations of S3: nothing is
//! lost silently, and nothing is written where data could be lost.

use std::thread;

use anyhow::{Context, Result, ensure};
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    BuildError, Condition, ErrorKind, IndexStore, IngestOptions, IngestReport, Source,
    WriteOptions, ingest,
};
use canter_samples::HDFS_LOGS_YAML;
use canter_split_format::ManifestFile;
use canter_tests::{Flaw, S3Lookalike, hdfs_lines};

const URI: &str = "s3://bucket/logs/hdfs";
const MANIFEST: &str = "bucket/logs/hdfs/manifest.canter";
const STANDING: &str = "bucket/logs/hdfs/write-probe/standing";
const IGNORES_BOTH: [Flaw; 2] = [Flaw::IgnoresIfNoneMatch, Flaw::IgnoresIfMatch];
const UNSAFE: WriteOptions = WriteOptions {
    unsafe_single_writer: true,
};

/// Flaws of a store in its handling of conditions, with the texts that the error must contain.
const FLAWS: [(&[Flaw], &[&str]); 4] = [
    (
        &IGNORES_BOTH,
        &["ignores If-None-Match and If-Match on writes"],
    ),
    (
        &[Flaw::IgnoresIfNoneMatch],
        &["ignores If-None-Match on writes"],
    ),
    (&[Flaw::IgnoresIfMatch], &["ignores If-Match on writes"]),
    (
        &[Flaw::RefusesConditions],
        &["refuses every If-None-Match and If-Match on writes"],
    ),
];

fn config() -> IndexConfig {
    IndexConfig::from_yaml(HDFS_LOGS_YAML, |_| None).unwrap()
}

fn add(store: &IndexStore, num_docs: u64, seed: u64) -> Result<IngestReport, BuildError> {
    let text = hdfs_lines(num_docs, seed).unwrap().join("\n").into_bytes();
    let source = Source::reader(format!("lines {seed}"), std::io::Cursor::new(text));
    ingest(store, &IngestOptions::default(), vec![source], &())
}

fn num_docs(server: &S3Lookalike) -> Result<u64> {
    let bytes = server.object(MANIFEST).context("there is a manifest")?;
    Ok(ManifestFile::from_bytes(&bytes)?.manifest.num_docs())
}

/// Checks that probes leave nothing behind but the object that short probes need.
fn check_clean(server: &S3Lookalike) {
    let paths = server.paths();
    let probe = paths
        .iter()
        .find(|path| path.contains("write-probe") && **path != STANDING);
    assert_eq!(probe, None);
}

/// Returns the server of an index of 1,000 documents, which gets `flaws` afterwards.
fn index_with(flaws: &[Flaw]) -> Result<S3Lookalike> {
    let server = S3Lookalike::start(&[])?;
    let store = server.index_store(URI)?;
    store.create_manifest(&config())?;
    add(&store, 1_000, 1)?;
    server.set_flaws(flaws);
    server.take_lines();
    Ok(server)
}

#[test]
fn an_index_is_never_replaced_by_an_empty_one() -> Result<()> {
    let sound: (&[Flaw], &[&str]) = (&[], &[]);
    for (flaws, _) in FLAWS.into_iter().chain([sound]) {
        for options in [WriteOptions::default(), UNSAFE] {
            let server = index_with(flaws)?;
            let store = server.index_store(URI)?.with_write_options(options);
            let created = store.create_manifest(&config());
            let error = created.err().with_context(|| format!("{flaws:?}"))?;
            ensure!(error.kind() == ErrorKind::Invalid, "{flaws:?}: {error}");
            ensure!(
                error.to_string().contains("there is an index at"),
                "{flaws:?}: {error}"
            );
            ensure!(num_docs(&server)? == 1_000, "{flaws:?}");
            check_clean(&server);
        }
    }
    Ok(())
}

#[test]
fn a_store_that_ignores_conditions_is_refused_by_name() -> Result<()> {
    for (flaws, named) in FLAWS {
        let server = S3Lookalike::start(flaws)?;
        let refused = server.index_store(URI)?.create_manifest(&config());
        let created = refused.err().with_context(|| format!("{flaws:?}"))?;
        ensure!(server.paths().is_empty(), "{:?}", server.paths());

        let server = index_with(flaws)?;
        let refused = add(&server.index_store(URI)?, 1_000, 2);
        let ingested = refused.err().with_context(|| format!("{flaws:?}"))?;
        ensure!(num_docs(&server)? == 1_000);
        check_clean(&server);
        for error in [created, ingested] {
            ensure!(error.kind() == ErrorKind::Invalid, "{error}");
            let message = error.to_string();
            for part in named.iter().chain(&[URI, "--unsafe-single-writer"]) {
                ensure!(
                    message.contains(part),
                    "{flaws:?}: {part} is not in: {message}"
                );
            }
        }
    }
    Ok(())
}

/// Runs `num_writers` ingests of 1,000 documents each, which read and write the manifest
/// simultaneously.
fn at_once(
    server: &S3Lookalike,
    num_writers: u64,
    options: WriteOptions,
) -> Vec<Result<(), BuildError>> {
    server.set_in_step(num_writers as usize);
    let ends = thread::scope(|scope| {
        let writers: Vec<_> = (0..num_writers)
            .map(|writer| {
                scope.spawn(move || {
                    let store = server.index_store(URI).unwrap();
                    add(&store.with_write_options(options), 1_000, 10 + writer).map(drop)
                })
            })
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    server.set_in_step(1);
    ends
}

#[test]
fn three_ingests_at_once_lose_nothing_and_do_not_claim_what_is_not_there() -> Result<()> {
    let server = index_with(&[])?;
    for end in at_once(&server, 3, WriteOptions::default()) {
        end?;
    }
    ensure!(num_docs(&server)? == 4_000);

    for (flaws, _) in FLAWS {
        let server = index_with(flaws)?;
        let ends = at_once(&server, 3, WriteOptions::default());
        ensure!(ends.iter().all(Result::is_err), "{flaws:?}: {ends:?}");
        ensure!(num_docs(&server)? == 1_000, "{flaws:?}");
        check_clean(&server);
    }
    Ok(())
}

#[test]
fn who_writes_alone_may_and_is_told_the_risk_each_time() -> Result<()> {
    for (flaws, named) in FLAWS {
        let server = S3Lookalike::start(flaws)?;
        let store = server.index_store(URI)?.with_write_options(UNSAFE);
        store.create_manifest(&config())?;
        for num_before in [0, 1_000] {
            let report = add(&store, 1_000, num_before)?;
            ensure!(num_docs(&server)? == num_before + 1_000, "{flaws:?}");
            let warning = report
                .warnings
                .iter()
                .find(|warning| warning.name == "unsafe_single_writer")
                .with_context(|| format!("{flaws:?}: {:?}", report.warnings))?;
            ensure!(warning.message.contains(named[0]), "{}", warning.message);
        }
        check_clean(&server);
    }
    // The flag alone is not a risk.
    let server = index_with(&[])?;
    let store = server.index_store(URI)?.with_write_options(UNSAFE);
    let report = add(&store, 1_000, 2)?;
    ensure!(report.warnings.is_empty(), "{:?}", report.warnings);
    Ok(())
}

#[test]
fn who_loses_an_update_is_told() -> Result<()> {
    for flaws in [&IGNORES_BOTH[..], &[Flaw::RefusesConditions]] {
        let server = index_with(flaws)?;
        let ends = at_once(&server, 2, UNSAFE);
        let num_right = ends.iter().filter(|end| end.is_ok()).count() as u64;
        ensure!(num_right == 1, "{flaws:?}: {ends:?}");
        ensure!(num_docs(&server)? == 1_000 + num_right * 1_000, "{flaws:?}");
        let error = ends.into_iter().find_map(Result::err).context("one lost")?;
        ensure!(error.kind() == ErrorKind::Unavailable, "{error}");
        ensure!(error.to_string().contains("not in its manifest"), "{error}");
    }
    Ok(())
}

/// Returns the requests of an ingest into an existing index, each with the folder or name of its
/// object.
fn asked_for(lines: &[String]) -> Vec<String> {
    let shown = lines.iter().map(|line| {
        let (method, path) = line.split_once(' ').unwrap_or_default();
        let name = path.strip_prefix("bucket/logs/hdfs/").unwrap_or(path);
        let name = if name.starts_with("splits/") {
            "split"
        } else {
            name
        };
        format!("{method} {name}")
    });
    shown.collect()
}

/// Requests that follow the check whether the store respects conditions.
const OF_EACH_INGEST: [&str; 5] = [
    "GET manifest.canter",
    "PUT split",
    // Checks that the split exists completely.
    "GET split",
    "PUT manifest.canter",
    // Checks that the manifest was written.
    "GET manifest.canter",
];

#[test]
fn an_ingest_asks_for_the_manifest_twice_and_for_refusals_once() -> Result<()> {
    let server = index_with(&[])?;
    let ingest = |store: &IndexStore, seed: u64, probe: &[&str]| -> Result<()> {
        add(store, 100, seed)?;
        let lines = server.take_lines();
        let [manifest, then @ ..] = OF_EACH_INGEST;
        let expected = [&[manifest][..], probe, &then].concat();
        ensure!(asked_for(&lines) == expected, "{lines:?}");
        ensure!(lines.len() <= 8);
        Ok(())
    };
    // The first ingest creates the object that later checks need.
    let standing = "PUT write-probe/standing";
    ingest(&server.index_store(URI)?, 2, &[standing; 3])?;
    let store = server.index_store(URI)?;
    ingest(&store, 3, &[standing; 2])?;
    ingest(&store, 4, &[])?;
    check_clean(&server);
    Ok(())
}

#[test]
fn who_made_an_index_has_asked_in_full_and_leaves_nothing() -> Result<()> {
    let server = S3Lookalike::start(&[])?;
    let store = server.index_store(URI)?;
    store.create_manifest(&config())?;
    let lines = server.take_lines();
    let is_probe = |line: &&String| line.contains("/write-probe/") || line.starts_with("POST");
    let probe: Vec<&str> = lines
        .iter()
        .filter(is_probe)
        .map(|line| line.split(' ').next().unwrap_or_default())
        .collect();
    ensure!(probe == ["PUT", "PUT", "PUT", "PUT", "POST"], "{lines:?}");
    ensure!(server.paths() == [MANIFEST], "{:?}", server.paths());
    let names = probe_names(&lines);
    ensure!(names.len() == 1, "{names:?}");
    add(&store, 100, 3)?;
    ensure!(asked_for(&server.take_lines()) == OF_EACH_INGEST);

    server.index_store(URI)?.probe_writes()?;
    let others = probe_names(&server.take_lines());
    ensure!(others.len() == 1 && others != names, "{others:?}");
    Ok(())
}

/// A store can be replaced by a less reliable one that contains all objects of the index.
#[test]
fn a_short_probe_that_went_well_once_is_no_promise() -> Result<()> {
    for (flaws, named) in FLAWS {
        let server = index_with(&[])?;
        add(&server.index_store(URI)?, 100, 2)?;
        ensure!(server.paths().iter().any(|path| path == STANDING));
        server.set_flaws(flaws);
        let refused = add(&server.index_store(URI)?, 100, 3);
        let error = refused.err().with_context(|| format!("{flaws:?}"))?;
        ensure!(error.kind() == ErrorKind::Invalid, "{error}");
        ensure!(error.to_string().contains(named[0]), "{error}");
        ensure!(num_docs(&server)? == 1_100, "{flaws:?}");
    }
    Ok(())
}

#[test]
fn connections_outlive_the_calls_that_opened_them() -> Result<()> {
    // A client opens another connection while the one before is on its way back to the pool, so
    // how many there are depends on the load. If they died with their calls, each ingest would
    // open at least one.
    let server = index_with(&[])?;
    let store = server.index_store(URI)?;
    let before = server.num_connections();
    let ingests = 12;
    for seed in 0..ingests - 2 {
        add(&store, 100, 2 + seed as u64)?;
    }
    // Also works inside another runtime, and in another thread.
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async { add(&store, 100, 20) })?;
    thread::scope(|scope| scope.spawn(|| add(&store, 100, 21)).join().unwrap())?;
    let opened = server.num_connections() - before;
    ensure!(
        opened < ingests,
        "{opened} connections for {ingests} ingests"
    );
    ensure!(num_docs(&server)? == 1_000 + 100 * ingests as u64);
    Ok(())
}

fn probe_names(lines: &[String]) -> Vec<String> {
    let mut names: Vec<String> = lines
        .iter()
        .filter(|line| line.contains("/write-probe/"))
        .filter_map(|line| Some(line.split(' ').nth(1)?.to_owned()))
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn a_probe_that_cannot_be_deleted_is_named() -> Result<()> {
    let server = S3Lookalike::start(&[Flaw::RefusesDeletion])?;
    let store = server.index_store(URI)?;
    store.create_manifest(&config())?;
    let report = add(&store, 1_000, 2)?;
    ensure!(num_docs(&server)? == 1_000);
    let left = server.paths();
    let left = left.iter().find(|path| path.contains("/write-probe/"));
    let name = left
        .context("it could not be deleted")?
        .replace("bucket/", "s3://bucket/");
    let warning = &report.warnings[0];
    ensure!(warning.name == "probe_left_behind", "{warning:?}");
    ensure!(warning.message.contains(&name), "{warning:?}");
    // An ingest into an existing index deletes nothing.
    let report = add(&server.index_store(URI)?, 1_000, 3)?;
    ensure!(report.warnings.is_empty(), "{:?}", report.warnings);
    Ok(())
}

#[test]
fn a_probe_says_what_it_saw() -> Result<()> {
    let check = |flaws: &[Flaw], none_match: Condition, if_match: Condition| -> Result<()> {
        let server = S3Lookalike::start(flaws)?;
        let found = server.index_store(URI)?.probe_writes()?;
        ensure!(
            (found.if_none_match, found.if_match) == (none_match, if_match),
            "{flaws:?}: {found:?}"
        );
        ensure!(found.is_fit() == flaws.is_empty(), "{found:?}");
        ensure!(server.paths().is_empty(), "{:?}", server.paths());
        Ok(())
    };
    check(&[], Condition::Kept, Condition::Kept)?;
    check(&IGNORES_BOTH, Condition::Ignored, Condition::Ignored)?;
    check(&IGNORES_BOTH[..1], Condition::Ignored, Condition::Kept)?;
    check(&IGNORES_BOTH[1..], Condition::Kept, Condition::Ignored)?;
    let refused = [Flaw::RefusesConditions];
    check(&refused, Condition::Unsupported, Condition::Unsupported)
}

#[test]
fn a_folder_is_probed_too_and_stays_as_it_is() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let uri = folder.path().to_str().context("a UTF-8 name")?;
    let found = IndexStore::open(uri)?.probe_writes()?;
    ensure!(found.is_fit() && found.left_behind.is_none(), "{found:?}");
    let names: Vec<_> = std::fs::read_dir(folder.path())?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<Result<_>>()?;
    // The lock replaces conditions, and every ingest creates it.
    ensure!(names == ["manifest.lock"], "{names:?}");
    Ok(())
}
