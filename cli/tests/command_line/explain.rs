//! Plans and their prices.

use std::fs;

use serde_json::{Value, json};

use crate::support::{indexed, run, search};

const EXPLAIN: [&str; 6] = [
    "search",
    "--index",
    "index",
    "--engine",
    "native",
    "--explain",
];
const TENANTS: &str = r#"{"t":{"terms":{"field":"tenant_id"}}}"#;

fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

#[test]
fn an_explanation_has_its_shape() {
    let folder = indexed();
    let args = [
        "--explain",
        "--query",
        "*",
        "--max-hits",
        "0",
        "--aggs",
        TENANTS,
    ];
    let explained = search(folder.path(), &args);
    assert_eq!(
        keys(&explained),
        [
            "plan",
            "profile",
            "planned",
            "num_waves",
            "num_requests",
            "num_bytes",
            "max_documents",
            "prices_as_of",
            "prices"
        ]
    );
    let plan = &explained["plan"];
    assert_eq!(plan["num_splits"], 2);
    for split in plan["splits"].as_array().unwrap() {
        assert_eq!(keys(split), ["split_id", "num_docs", "decision", "reason"]);
        assert_eq!(split["decision"], "search");
        assert_eq!(split["num_docs"], 1_000);
    }
    let planned = explained["planned"].as_array().unwrap();
    for read in planned {
        let expect = ["object", "offset", "length", "class", "num_reads"];
        assert_eq!(keys(read), expect);
        assert_eq!(read["class"], "fast_field");
    }
    // The search does what was planned.
    let args = [
        "--profile",
        "--query",
        "*",
        "--max-hits",
        "0",
        "--aggs",
        TENANTS,
    ];
    let answer = search(folder.path(), &args);
    for key in ["num_waves", "num_requests", "num_bytes"] {
        assert_eq!(explained[key], answer["profile"][key], "{key}");
    }
    assert_eq!(explained["max_documents"], 0);
    let services = ["lambda", "r2", "s3", "s3_same_region", "workers"];
    assert_eq!(keys(&explained["prices"]), services);
    let s3 = &explained["prices"]["s3"];
    assert_eq!(
        keys(s3),
        [
            "requests_usd",
            "transfer_usd",
            "compute_usd",
            "max_documents_usd",
            "per_million_queries_usd"
        ]
    );
    let num_requests = explained["num_requests"].as_u64().unwrap();
    let expect = (num_requests as f64 * 0.4e-6 * 1e12).round() / 1e12;
    assert_eq!(s3["requests_usd"], json!(expect));
}

#[test]
fn pruned_splits_are_listed_with_the_reason() {
    let folder = indexed();
    let explained = search(
        folder.path(),
        &["--explain", "--query", "*", "--end-timestamp", "2000-01-01"],
    );
    let splits = explained["plan"]["splits"].as_array().unwrap();
    assert_eq!(splits.len(), 2);
    for split in splits {
        assert_eq!(split["decision"], "pruned");
        assert!(split["reason"].as_str().unwrap().contains("time"));
    }
    assert_eq!(explained["planned"], json!([]));
    let args = [&EXPLAIN[..], &["--query", "*", "--format", "table"]].concat();
    let (stdout, _) = run(folder.path(), &args, 0);
    for expect in [
        "2 splits: ",
        "becomes",
        "because",
        "An answer takes at least ",
        "more fetch the documents",
        "prices of 2026-",
        "s3_same_region",
    ] {
        assert!(stdout.contains(expect), "{expect}: {stdout}");
    }
    assert!(
        stdout.lines().all(|line| line.chars().count() <= 100),
        "{stdout}"
    );
}

#[test]
fn the_printed_price_table_can_be_edited_and_given_back() {
    let folder = indexed();
    let folder = folder.path();
    let (table, _) = run(folder, &["prices"], 0);
    assert!(
        table.contains("https://aws.amazon.com/s3/pricing/"),
        "{table}"
    );
    let line = 1 + table
        .lines()
        .position(|line| line == "per_thousand_reads = 0.0004")
        .unwrap();
    fs::write(
        folder.join("mine.toml"),
        table.replacen(
            "per_thousand_reads = 0.0004",
            "per_thousand_reads = 1000",
            1,
        ),
    )
    .unwrap();
    let args = ["--explain", "--query", "*", "--prices", "mine.toml"];
    let explained = search(folder, &args);
    assert_eq!(
        explained["prices"]["s3"]["requests_usd"].as_f64(),
        explained["num_requests"].as_f64()
    );

    let check = |text: &str, expect: &[&str]| {
        fs::write(folder.join("mine.toml"), text).unwrap();
        let args = [&EXPLAIN[..], &["--query", "*", "--prices", "mine.toml"]].concat();
        let (_, stderr) = run(folder, &args, 2);
        for expect in expect.iter().chain(&["mine.toml"]) {
            assert!(stderr.contains(expect), "{expect}: {stderr}");
        }
    };
    let wrong_key = table.replacen("per_thousand_reads", "per_thousand_raeds", 1);
    let at = format!("line {line}");
    check(&wrong_key, &[&at, "per_thousand_raeds"]);
    let negative = table.replacen("per_thousand_reads = 0", "per_thousand_reads = -1", 1);
    check(&negative, &[&at, "per_thousand_reads", "not a price"]);
    check("", &["as_of"]);
    let args = [&EXPLAIN[..], &["--query", "*", "--prices", "nowhere.toml"]].concat();
    let (_, stderr) = run(folder, &args, 2);
    assert!(stderr.contains("nowhere.toml"), "{stderr}");
}
