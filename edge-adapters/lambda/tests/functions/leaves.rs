//! Distributed searches: several instances give the same answer as one, even if some of them fail.

use std::path::Path;

use anyhow::Result;
use canter_tests::{InvokeFate, LambdaFunction, LambdaService};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::shared::{SEARCH, body_of, index, url_event, without_time};

/// Root that divides every search, with a service that runs its leaves.
struct Fleet {
    root: LambdaFunction,
    service: LambdaService,
    expect: Value,
    _folder: TempDir,
}

fn request() -> Value {
    json!({
        "query": "severity_text:ERROR OR body:block",
        "max_hits": 20,
        "aggs": {
            "by_day": {"date_histogram": {"field": "timestamp", "fixed_interval": "1d"}},
            "by_level": {"terms": {"field": "severity_text"}},
        },
    })
}

fn fleet(more: &[(&str, &str)]) -> Result<Fleet> {
    let (index, folder) = index()?;
    let service = LambdaService::start()?;
    let endpoint = service.endpoint();
    let indexes = format!("hdfs-logs={}", folder.path().join("hdfs-logs").display());
    let usual = [
        ("CANTER_INDEXES", indexes.as_str()),
        ("CANTER_CACHE_BYTES", "0"),
        ("CANTER_MEMORY_CACHE_BYTES", "0"),
    ];
    let fan_out = [
        ("CANTER_LEAF_FUNCTION", "self"),
        ("CANTER_MIN_DOCS_PER_LEAF", "1"),
        ("CANTER_MAX_LEAVES", "4"),
        ("AWS_ENDPOINT_URL_LAMBDA", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_SESSION_TOKEN", "token"),
    ];
    service.deploy("search", SEARCH, &usual);
    let variables = [&usual[..], &fan_out, more].concat();
    Ok(Fleet {
        root: LambdaFunction::start("search", Path::new(SEARCH), &variables)?,
        service,
        expect: without_time(index.search(&request())?.json),
        _folder: folder,
    })
}

impl Fleet {
    fn search(&self) -> Result<(Value, Value)> {
        let event = url_event("POST", "/api/v1/hdfs-logs/search", "", Some(&request()));
        let answer = self.root.invoke_json(&event)?;
        Ok((body_of(&answer, 200), answer["headers"].clone()))
    }
}

#[test]
fn leaves_elsewhere_give_the_answer_of_one_instance() -> Result<()> {
    let fleet = fleet(&[])?;
    let (answer, headers) = fleet.search()?;
    assert_eq!(without_time(answer), fleet.expect);
    // There are four leaves, one of which ran in the root itself.
    assert_eq!(fleet.service.num_invocations(), 3);
    let target = "/2015-03-31/functions/search/invocations";
    assert!(fleet.service.all_signed_for(target));
    // Requests of remote leaves are counted.
    let requests: u64 = headers["x-canter-requests"].as_str().unwrap().parse()?;
    assert!(requests >= 5, "{headers}");
    Ok(())
}

#[test]
fn a_leaf_that_fails_elsewhere_runs_here() -> Result<()> {
    let fleet = fleet(&[])?;
    let other_guest = json!({
        "partial": "AAAA",
        "guest": "another",
        "profile": null,
        "timed_out": false,
        "budget_exhausted": null,
    });
    for fate in [
        InvokeFate::Refused(429),
        InvokeFate::Refused(500),
        InvokeFate::Dropped,
        InvokeFate::Fails,
        InvokeFate::Cut,
        InvokeFate::Answers(b"{}".to_vec()),
        InvokeFate::Answers(other_guest.to_string().into_bytes()),
    ] {
        for fates in [vec![fate.clone()], vec![fate.clone(); 3]] {
            let num_before = fleet.service.num_invocations();
            fleet.service.set_fates(fates);
            let (answer, _) = fleet.search()?;
            assert_eq!(without_time(answer), fleet.expect, "{fate:?}");
            // None of them is invoked again.
            assert_eq!(fleet.service.num_invocations() - num_before, 3, "{fate:?}");
        }
    }
    let log = fleet.root.log().join("\n");
    assert!(log.contains("run again, here"), "{log}");
    Ok(())
}

#[test]
fn a_budget_is_shared_by_all_leaves() -> Result<()> {
    let fleet = fleet(&[("CANTER_MAX_REQUESTS", "5")])?;
    let (answer, headers) = fleet.search()?;
    let requests: u64 = headers["x-canter-requests"].as_str().unwrap().parse()?;
    assert!(requests <= 5, "{headers}");
    assert_eq!(answer["budget_exhausted"], "max_requests", "{answer}");
    Ok(())
}

#[test]
fn a_leaf_of_another_build_is_refused() -> Result<()> {
    let fleet = fleet(&[])?;
    let leaf = json!({
        "leaf": "AAAA",
        "guest": "0.0.0+another",
        "deadline_ms": 1000,
        "max_requests": null,
        "max_bytes": null,
        "max_waves": null,
    });
    let error = fleet.root.invoke_json(&leaf).unwrap_err().to_string();
    assert!(error.contains("deploy the same build to both"), "{error}");
    Ok(())
}
