//! Tests of formatted plans.

use canter_runtime::Profile;
use canter_runtime::session::ByteClass;
use serde_json::json;

use super::*;

fn explained(plan: Value, num_planned: usize) -> Explanation {
    let read = PlannedRead {
        object: "splits/0123456789abcdef.split".to_owned(),
        offset: 1_234_567,
        length: 65_536,
        class: ByteClass::FastField,
        num_reads: 3,
    };
    Explanation {
        max_documents: plan["max_documents"].as_u64().unwrap_or(0),
        plan,
        profile: Profile {
            num_waves: 1,
            num_requests: 1,
            num_bytes: 20_000,
            ..Profile::default()
        },
        planned: vec![read; num_planned],
    }
}

fn text_of(plan: Value, num_planned: usize, width: usize) -> String {
    let explained = explained(plan, num_planned);
    let usage = Usage {
        num_requests: 1 + num_planned as u64,
        num_bytes: 20_000,
        num_waves: 2,
        max_documents: explained.max_documents,
    };
    let prices = Prices::read(None).unwrap_or_else(|error| panic!("{error}"));
    explanation(&explained, &usage, &prices, &Screen::plain(width, true))
}

#[test]
fn a_plan_tells_what_becomes_of_each_split() {
    let plan = json!({"num_splits": 2, "max_documents": 10, "splits": [
        {"split_id": "0123456789abcdef", "num_docs": 125_000, "decision": "search",
         "reason": "its documents may match"},
        {"split_id": "fedcba9876543210", "num_docs": 7, "decision": "pruned",
         "reason": "its time range ends before start_timestamp"},
    ]});
    let text = text_of(plan, 1, 80);
    let expect = "\
2 splits: 1 to search, 1 left out
split     documents  becomes   because
01234567    125,000  searched  its documents may match
fedcba98          7  left out  its time range ends before start_timestamp

Read for this plan: 1 wave, 1 request, 20.0 KB.
To read next, in one wave: 1 request, 65.5 KB
object          holds       from byte    bytes  reads
split 01234567  fast field  1,234,567  65.5 KB      3

An answer takes at least 2 waves, 2 requests and 20.0 KB.
Up to 10 requests more fetch the documents of its hits.
";
    assert!(text.starts_with(expect), "{text}");
    for expect in ["prices of 2026-11-21", "s3_same_region", "Assumed: 60 ms"] {
        assert!(text.contains(expect), "{text}");
    }
}

#[test]
fn a_plan_without_an_account_still_has_reads_and_a_price() {
    let text = text_of(json!({}), 0, 80);
    assert!(text.starts_with("0 splits\n\nRead for this plan"), "{text}");
    assert!(text.contains("No split has to be read"), "{text}");
    let odd = json!({"splits": [{"decision": "postponed"}, 7, null]});
    assert!(text_of(odd, 0, 80).contains("postponed"));
}

#[test]
fn long_plans_are_cut_and_counted() {
    let split = json!({"split_id": "0123456789abcdef", "num_docs": 1, "decision": "search"});
    let text = text_of(json!({"splits": vec![split; 50]}), 60, 80);
    assert!(text.contains("and 10 splits more\n"), "{text}");
    assert!(text.contains("and 20 requests more\n"), "{text}");
}

#[test]
fn money_has_cents() {
    let check = |usd: f64, expect: &str| assert_eq!(dollars(usd), expect);
    check(0.0, "-");
    check(0.004, "< 0.01");
    check(0.2, "0.20");
    check(1_234.5, "1,234.50");
}
