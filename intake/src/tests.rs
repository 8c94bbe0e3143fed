//! Lanes on a folder: acknowledged documents are stored exactly once, whatever happens in between.

use std::sync::Arc;
use std::time::Duration;

use canter_doc_mapper::IndexConfig;
use canter_formats::Format;
use canter_index_builder::{
    DocumentProblem, IndexStore, IngestOptions, create_index, ingest, keep_rejected, spool,
    spooled, spooled_source,
};
use tempfile::TempDir;

use super::*;

const CONFIG: &str = "
version: 0.9
index_id: logs
doc_mapping:
  mode: strict
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: text, type: text}
";

pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) room: Room,
}

impl Bench {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self::of(CONFIG, max_bytes)
    }

    pub(crate) fn of(config: &str, max_bytes: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let uri = folder.path().join("index");
        let config = IndexConfig::from_yaml(config, |_| None).unwrap();
        create_index(uri.to_str().unwrap(), &config).unwrap();
        Self {
            folder,
            room: Room::new(max_bytes, SOON),
        }
    }

    pub(crate) fn store(&self) -> IndexStore {
        IndexStore::open(self.folder.path().join("index").to_str().unwrap()).unwrap()
    }

    pub(crate) fn lane(&self, commit_interval: Duration) -> Lane {
        let settings = LaneSettings {
            commit_interval,
            ..LaneSettings::default()
        };
        Lane::start(self.store(), settings, self.room.clone()).unwrap()
    }

    /// Moves the index's folder away.
    fn vanish(&self) {
        let index = self.folder.path().join("index");
        std::fs::rename(index, self.folder.path().join("elsewhere")).unwrap();
    }

    pub(crate) fn num_docs(&self) -> u64 {
        let manifest = self.store().load_manifest().unwrap().manifest;
        manifest.splits.iter().map(|split| split.num_docs).sum()
    }
}

const NEVER: Duration = Duration::from_secs(3600);
pub(crate) const SOON: Duration = Duration::from_millis(20);

pub(crate) fn document(n: u64) -> Vec<u8> {
    format!("{{\"n\": {n},\n \"text\": \"some\"}}").into_bytes()
}

#[tokio::test]
async fn what_is_published_is_there_when_it_is_acknowledged() {
    let bench = Bench::new(1 << 20);
    let lane = bench.lane(SOON);
    let documents = [document(1), document(2)];
    let documents: Vec<&[u8]> = documents.iter().map(Vec::as_slice).collect();
    lane.add(&documents, Acknowledge::Published).await.unwrap();
    assert_eq!(bench.num_docs(), 2);
    assert_eq!(bench.room.num_free_bytes(), 1 << 20);
}

#[tokio::test]
async fn documents_of_one_publication_have_different_ids() {
    let bench = Bench::new(1 << 20);
    let lane = bench.lane(SOON);
    let (first, second) = ([document(1), document(2)], document(1));
    let first: Vec<&[u8]> = first.iter().map(Vec::as_slice).collect();
    let second: [&[u8]; 1] = [&second];
    for acknowledge in [Acknowledge::Published, Acknowledge::Durable] {
        let (one, other) = tokio::join!(
            lane.add(&first, acknowledge),
            lane.add(&second, acknowledge)
        );
        let (one, other) = (one.unwrap().ids.unwrap(), other.unwrap().ids.unwrap());
        let ids = [one.nth(0), one.nth(1), other.nth(0)];
        let different: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(different.len(), 3, "{ids:?}");
    }
    assert_eq!(
        lane.add(&[], Acknowledge::Durable).await,
        Ok(Taken::default())
    );
}

#[tokio::test]
async fn requests_that_come_together_are_one_split() {
    let bench = Bench::new(1 << 20);
    let lane = Arc::new(bench.lane(Duration::from_millis(300)));
    let adding = (0..20).map(|n| {
        let lane = Arc::clone(&lane);
        tokio::spawn(async move { lane.add(&[&document(n)], Acknowledge::Published).await })
    });
    for added in adding.collect::<Vec<_>>() {
        added.await.unwrap().unwrap();
    }
    assert_eq!(bench.num_docs(), 20);
    assert!(bench.store().load_manifest().unwrap().manifest.splits.len() <= 2);
}

#[tokio::test]
async fn what_is_durable_survives_a_process_that_never_published_it() {
    let bench = Bench::new(1 << 20);
    let lane = bench.lane(NEVER);
    for n in 0..3 {
        lane.add(&[&document(n)], Acknowledge::Durable)
            .await
            .unwrap();
    }
    assert_eq!(
        (bench.num_docs(), spooled(&bench.store()).unwrap().len()),
        (0, 3)
    );
    // As after a crash: the thread of this lane never publishes them.
    std::mem::forget(lane);
    let next = bench.lane(SOON);
    // Abandoned objects are published as soon as they are noticed, and removed after that.
    while !spooled(&bench.store()).unwrap().is_empty() {
        next.publish_now().await.unwrap();
    }
    assert_eq!(bench.num_docs(), 3);
}

#[tokio::test]
async fn what_was_published_and_stayed_in_the_spool_is_not_there_twice() {
    let bench = Bench::new(1 << 20);
    let lines = [document(1), document(2)]
        .map(|doc| [doc.as_slice(), b"\n"].concat())
        .concat();
    let lines: Vec<u8> = lines
        .iter()
        .map(|b| if *b == b'\n' { b' ' } else { *b })
        .chain(*b"\n")
        .collect();
    let id = "0123456789abcdef";
    for _ in 0..3 {
        // As if the process was killed after publishing and before removing the object.
        spool(&bench.store(), id, &lines).unwrap();
        let lane = bench.lane(SOON);
        while !spooled(&bench.store()).unwrap().is_empty() {
            lane.publish_now().await.unwrap();
        }
        lane.stop();
        assert_eq!(spooled(&bench.store()).unwrap(), Vec::<String>::new());
    }
    assert_eq!(
        bench.num_docs(),
        0,
        "the two documents stand in one line, which is none"
    );
    let lines = [document(1), document(2)].map(|doc| {
        let doc: Vec<u8> = doc.into_iter().filter(|byte| *byte != b'\n').collect();
        [doc.as_slice(), b"\n"].concat()
    });
    for _ in 0..3 {
        spool(&bench.store(), "fedcba", &lines.concat()).unwrap();
        let lane = bench.lane(SOON);
        while !spooled(&bench.store()).unwrap().is_empty() {
            lane.publish_now().await.unwrap();
        }
        lane.stop();
    }
    assert_eq!(bench.num_docs(), 2);
}

/// Covers a batch with a document that the index no longer allows, left behind in each state of
/// setting it aside. An earlier version gave the good documents an id of their own, and published
/// them twice.
#[tokio::test]
async fn what_is_set_aside_is_published_once_wherever_a_process_stopped() {
    const GOOD: &str = "{\"n\": 1}\n{\"n\": 2}\n";
    const BAD: &str = "{\"n\": 1, \"unknown\": 1}\n";
    for (ord, lines) in [[BAD, GOOD], [GOOD, BAD]].into_iter().enumerate() {
        let lines = lines.concat().into_bytes();
        for num_steps_done in 0..3 {
            let bench = Bench::new(1 << 20);
            let id = format!("batch{ord}");
            spool(&bench.store(), &id, &lines).unwrap();
            if num_steps_done > 0 {
                keep_rejected(&bench.store(), &id, BAD.as_bytes()).unwrap();
            }
            if num_steps_done > 1 {
                let options = IngestOptions {
                    format: Some(Format::Ndjson),
                    max_rejects: Some(1),
                    ..IngestOptions::default()
                };
                let sources = vec![spooled_source(&id, lines.clone())];
                ingest(&bench.store(), &options, sources, &()).unwrap();
            }
            // The second pass simulates a process that listed the object before it was removed.
            for _ in 0..2 {
                let lane = bench.lane(SOON);
                while !spooled(&bench.store()).unwrap().is_empty() {
                    lane.publish_now().await.unwrap();
                }
                lane.stop();
                assert_eq!(bench.num_docs(), 2, "batch {ord}, {num_steps_done} steps");
                let kept = bench
                    .folder
                    .path()
                    .join(format!("index/rejected/{id}.ndjson"));
                assert_eq!(std::fs::read_to_string(kept).unwrap(), BAD);
                spool(&bench.store(), &id, &lines).unwrap();
            }
        }
    }
}

/// If the index does not allow one document of a request, nothing of that request is published.
/// Other requests are unaffected.
#[tokio::test]
async fn what_waits_with_a_batch_that_is_set_aside_is_published() {
    let bench = Bench::new(1 << 20);
    let lines = b"{\"n\": 1}\n{\"unknown\": 1}\n";
    spool(&bench.store(), "batch", lines).unwrap();
    let lane = bench.lane(Duration::from_millis(300));
    let good = document(2);
    let (good, bad): ([&[u8]; 1], [&[u8]; 1]) = ([&good], [b"{\"unknown\": 2}"]);
    let (added, refused) = tokio::join!(
        lane.add(&good, Acknowledge::Published),
        lane.add(&bad, Acknowledge::Published)
    );
    assert!(matches!(added, Ok(Taken { ids: Some(_), .. })), "{added:?}");
    assert!(
        matches!(refused, Err(Refusal::Unavailable(_))),
        "{refused:?}"
    );
    while !spooled(&bench.store()).unwrap().is_empty() {
        lane.publish_now().await.unwrap();
    }
    assert_eq!(bench.num_docs(), 2);
}

#[tokio::test]
async fn a_lane_that_stops_publishes_what_it_has() {
    let bench = Bench::new(1 << 20);
    let lane = Arc::new(bench.lane(NEVER));
    let adding = {
        let lane = Arc::clone(&lane);
        tokio::spawn(async move { lane.add(&[&document(1)], Acknowledge::Published).await })
    };
    lane.add(&[&document(2)], Acknowledge::Durable)
        .await
        .unwrap();
    while bench.room.num_free_bytes() > (1 << 20) - 50 {
        tokio::time::sleep(SOON).await;
    }
    let stopping = Arc::clone(&lane);
    tokio::task::spawn_blocking(move || stopping.stop())
        .await
        .unwrap();
    adding.await.unwrap().unwrap();
    assert_eq!(bench.num_docs(), 2);
    assert_eq!(
        lane.add(&[&document(3)], Acknowledge::Published).await,
        Err(Refusal::Stopping)
    );
}

#[tokio::test]
async fn more_than_may_wait_is_refused_and_room_comes_back() {
    let bench = Bench::new(100);
    let lane = bench.lane(SOON);
    let long = vec![b' '; 101];
    let refused = lane.add(&[&long], Acknowledge::Published).await;
    let too_large = Refusal::TooLarge {
        num_bytes: 102,
        max_bytes: 100,
    };
    assert_eq!(refused, Err(too_large));
    lane.add(&[&document(1)], Acknowledge::Published)
        .await
        .unwrap();
    assert_eq!(bench.room.num_free_bytes(), 100);
}

#[tokio::test]
async fn what_is_admitted_has_room_until_it_is_published_or_dropped() {
    let bench = Bench::new(1 << 20);
    let lane = bench.lane(SOON);
    let (document, other) = (document(1), document(2));
    let documents: [&[u8]; 2] = [&document, &other];
    let num_bytes = document.len() + other.len() + 2;
    let dropped = lane.admit(&documents).await.unwrap();
    assert_eq!(bench.room.num_free_bytes(), (1 << 20) - num_bytes);
    drop(dropped);
    assert_eq!(bench.room.num_free_bytes(), 1 << 20);
    let admitted = lane.admit(&documents).await.unwrap();
    drop((document, other));
    lane.add_admitted(admitted, Acknowledge::Published)
        .await
        .unwrap();
    assert_eq!(
        (bench.num_docs(), bench.room.num_free_bytes()),
        (2, 1 << 20)
    );
}

#[tokio::test]
async fn who_finds_no_room_waits_for_a_while() {
    let bench = Bench::new(100);
    let long = vec![b' '; 90];
    // Publishing soon frees enough room.
    let patient = Room::new(100, Duration::from_secs(60));
    let settings = LaneSettings {
        commit_interval: SOON,
        ..LaneSettings::default()
    };
    let lane = Arc::new(Lane::start(bench.store(), settings, patient).unwrap());
    let others: Vec<_> = (0..4)
        .map(|n| {
            let lane = Arc::clone(&lane);
            let mut document = document(n);
            document.extend(&long[..80 - document.len()]);
            tokio::spawn(async move { lane.add(&[&document], Acknowledge::Published).await })
        })
        .collect();
    for other in others {
        other.await.unwrap().unwrap();
    }
    assert_eq!(bench.num_docs(), 4);
    // Without room, the request is refused in the end.
    let lane = Arc::new(bench.lane(NEVER));
    let first = Arc::clone(&lane);
    let waiting = tokio::spawn(async move {
        let mut document = document(5);
        document.extend(vec![b' '; 80 - document.len()]);
        first.add(&[&document], Acknowledge::Published).await
    });
    while bench.room.num_free_bytes() == 100 {
        tokio::task::yield_now().await;
    }
    let refused = lane.add(&[&long], Acknowledge::Published).await;
    assert_eq!(refused, Err(Refusal::Busy { max_bytes: 100 }));
    lane.publish_now().await.unwrap();
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_store_that_is_gone_is_told_to_who_waits() {
    let bench = Bench::new(1 << 20);
    let lane = bench.lane(SOON);
    bench.vanish();
    let refused = lane.add(&[&document(1)], Acknowledge::Published).await;
    assert!(refused.is_err(), "{refused:?}");
}

#[tokio::test]
async fn nothing_is_acknowledged_into_the_folder_of_an_index_that_has_vanished() {
    let bench = Bench::new(1 << 20);
    let lane = bench.lane(NEVER);
    // The index config is cached from here on.
    problems_of(&lane, &[document(1).as_slice()]);
    bench.vanish();
    for _ in 0..2 {
        let refused = lane.add(&[&document(1)], Acknowledge::Durable).await;
        assert_eq!(refused, Err(Refusal::Gone));
        let folder = bench.folder.path().join("index");
        assert!(!folder.exists(), "nothing is left there");
    }
    // Objects of other processes stay.
    let folder = bench.folder.path().join("index/spool");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("other"), "theirs").unwrap();
    let refused = lane.add(&[&document(1)], Acknowledge::Durable).await;
    assert_eq!(refused, Err(Refusal::Gone));
    assert_eq!(folder.read_dir().unwrap().count(), 1);
}

#[tokio::test]
async fn an_index_that_was_deleted_takes_nothing_and_says_so() {
    let bench = Bench::new(1 << 20);
    let lane = bench.lane(SOON);
    lane.add(&[&document(1)], Acknowledge::Durable)
        .await
        .unwrap();
    lane.publish_now().await.unwrap();
    std::fs::remove_file(bench.folder.path().join("index/manifest.canter")).unwrap();
    for acknowledge in [Acknowledge::Durable, Acknowledge::Published] {
        let refused = lane.add(&[&document(2)], acknowledge).await;
        assert_eq!(refused, Err(Refusal::Gone), "{acknowledge:?}");
    }
}

/// The first check of the spool may run between a write and its turn.
#[tokio::test]
async fn what_is_just_being_written_is_not_taken_for_left_behind() {
    for _ in 0..50 {
        let bench = Bench::new(1 << 20);
        let lane = bench.lane(NEVER);
        lane.add(&[&document(1)], Acknowledge::Durable)
            .await
            .unwrap();
        lane.publish_now().await.unwrap();
    }
}

pub(crate) fn problems_of(lane: &Lane, documents: &[&[u8]]) -> Vec<Option<DocumentProblem>> {
    let mut problems = Vec::new();
    let documents = documents.iter().copied();
    lane.check_each(documents, &mut |problem| problems.push(problem))
        .unwrap();
    problems
}

#[test]
fn each_document_is_looked_at() {
    let bench = Bench::new(1 << 20);
    let lane = bench.lane(NEVER);
    let good = document(1);
    let documents: [&[u8]; 5] = [&good, b"{\"n\": -1}", b"not json", b"{\"other\": 1}", b" "];
    let problems = problems_of(&lane, &documents);
    let reasons: Vec<Option<&str>> = problems
        .iter()
        .map(|problem| problem.as_ref().map(|problem| problem.reason))
        .collect();
    assert!(reasons[0].is_none());
    assert!(reasons[1..].iter().all(Option::is_some), "{reasons:?}");
}

fn actions_of(body: &[u8]) -> Result<Vec<Action<'_>>, BulkError> {
    parse_bulk(body, usize::MAX).collect()
}

#[test]
fn actions_are_counted_while_they_are_read() {
    let body = b"{\"index\":{}}\n{}\n{\"delete\":{}}\n{\"delete\":{}}\nnone\n";
    let read: Vec<_> = parse_bulk(body, 2).collect();
    assert_eq!(read.len(), 3);
    assert!(read[..2].iter().all(Result::is_ok), "{read:?}");
    let error = read[2].as_ref().unwrap_err();
    assert_eq!(error, &BulkError::TooManyActions { max_actions: 2 });
    assert!(error.is_too_large());
    assert!(error.to_string().contains("--max-write-items"), "{error}");
    // The first error is the last item.
    assert_eq!(parse_bulk(body, usize::MAX).count(), 4);
    let long = format!(
        "{{\"index\":{{\"_id\":\"{}\"}}}}\n{{}}\n",
        "x".repeat(64 << 10)
    );
    let error = actions_of(long.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("more than 65536"), "{error}");
    // The message quotes only a part of the faulty line.
    for wrong in ["{\"index\":\"", "{\""] {
        let body = format!("{wrong}{}\"}}\n{{}}\n", "ü".repeat(20 << 10));
        let error = actions_of(body.as_bytes()).unwrap_err().to_string();
        assert!(error.len() < 1000, "{}", error.len());
    }
}

#[test]
fn a_body_is_taken_apart() {
    let body = b"{\"index\":{\"_index\":\"a\"}}\n{\"x\":1}\n\n{\"create\":{}}\r\n{\"x\":2}\r\n{\"delete\":{\"_id\":7}}\n\
        {\"update\":{\"_id\":\"8\",\"routing\":\"r\"}}\n{\"doc\":{}}\n{\"create\":null}\n\n";
    let actions = actions_of(body).unwrap();
    let short: Vec<_> = actions
        .iter()
        .map(|action| {
            let document = action.document.map(|doc| std::str::from_utf8(doc).unwrap());
            (
                action.verb.as_str(),
                action.index.as_deref(),
                action.id.as_deref(),
                document,
            )
        })
        .collect();
    assert_eq!(
        short,
        [
            ("index", Some("a"), None, Some("{\"x\":1}")),
            ("create", None, None, Some("{\"x\":2}")),
            ("delete", None, Some("7"), None),
            ("update", None, Some("8"), Some("{\"doc\":{}}")),
            ("create", None, None, Some("")),
        ]
    );
    assert_eq!(actions[3].routing.as_deref(), Some("r"));
    assert_eq!(actions[3].unknown, None);
    for (body, wanted) in [
        (&b""[..], "no action"),
        (b"\n\n", "no action"),
        (b"{\"index\":{}}\n{}", "line feed"),
        (
            b"{\"index\":{}}\n",
            "no document follows the action in line 1",
        ),
        (b"{\"index\":{}}\n{}\nnonsense\n", "line 3 is no action"),
        (
            b"{\"upsert\":{}}\n{}\n",
            "none of index, create, update and delete",
        ),
        (b"{\"index\":{},\"create\":{}}\n{}\n", "two actions"),
        (
            b"{\"index\":{},\"x\":[],\"delete\":{}}\n{}\n",
            "two actions",
        ),
        // With duplicates, the intended value is unknown.
        (b"{\"index\":{},\"index\":{}}\n{}\n", "two actions"),
        (
            b"{\"index\":{\"_index\":\"a\",\"_index\":\"b\"}}\n{}\n",
            "duplicate field `_index`",
        ),
        (
            b"{\"delete\":{\"_id\":\"1\",\"\\u005fid\":\"2\"}}\n",
            "duplicate field `_id`",
        ),
        (
            b"{\"create\":{\"routing\":\"a\",\"_routing\":\"b\"}}\n{}\n",
            "duplicate field `routing`",
        ),
        (b"[]\n", "line 1 is no action"),
        (b"{}\n", "none of"),
        (b"{\"index\":{\"_id\":{}}}\n{}\n", "line 1 is no action"),
    ] {
        let error = actions_of(body).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

fn read(body: &[u8], encoding: LogsEncoding) -> Result<Logs, LogsError> {
    read_logs(body, encoding, &LogsLimits::default())
}

#[test]
fn logs_are_the_same_documents_in_both_encodings() {
    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
    use prost::Message;
    let json = br#"{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},
        "scopeLogs":[{"scope":{"name":"s"},"logRecords":[
            {"timeUnixNano":"1714557600000000001","severityNumber":9,"severityText":"INFO","body":{"stringValue":"hello"},
             "attributes":[{"key":"n","value":{"intValue":"7"}}],"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"},
            {"timeUnixNano":"1714557600000000002","body":{"kvlistValue":{"values":[{"key":"a","value":{"boolValue":true}}]}}}]}]}]}"#;
    let request: ExportLogsServiceRequest = serde_json::from_slice(json).unwrap();
    let from_json = read(json, LogsEncoding::Json).unwrap();
    let from_protobuf = read(&request.encode_to_vec(), LogsEncoding::Protobuf).unwrap();
    let values = |logs: &Logs| -> Vec<serde_json::Value> {
        logs.documents
            .iter()
            .map(|doc| serde_json::from_slice(doc).unwrap())
            .collect()
    };
    assert_eq!(values(&from_json), values(&from_protobuf));
    assert_eq!(from_json.documents.len(), 2);
    let first = &values(&from_json)[0];
    assert_eq!(first["service_name"], "shop");
    assert_eq!(first["trace_id"], "5b8efff798038103d269b633813fc60c");
    assert_eq!(read(b"", LogsEncoding::Protobuf).unwrap(), Logs::default());
    assert_eq!(read(b"{}", LogsEncoding::Json).unwrap(), Logs::default());
    assert!(read(b"\x0a\xff", LogsEncoding::Protobuf).is_err());
    assert!(read(b"[]", LogsEncoding::Json).is_err());
    assert!(read(b"{\"a\": 1}", LogsEncoding::Json).is_err());
}

/// A record that is nested too deep is rejected and counted; such a resource rejects all its
/// records.
#[test]
fn a_log_record_that_is_nested_too_deep_takes_no_other_with_it() {
    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
    use opentelemetry_proto::tonic::common::v1::any_value::Value as Content;
    use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};
    use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
    use opentelemetry_proto::tonic::resource::v1::Resource;
    use prost::Message;
    let nested = |depth: usize| {
        (0..depth).fold(AnyValue::default(), |inside, _| AnyValue {
            value: Some(Content::ArrayValue(ArrayValue {
                values: vec![inside],
            })),
        })
    };
    let record = |depth: usize| LogRecord {
        time_unix_nano: 1_714_557_600_000_000_000,
        body: Some(nested(depth)),
        ..LogRecord::default()
    };
    let of = |depth: usize, depths: &[usize]| ResourceLogs {
        resource: Some(Resource {
            attributes: vec![KeyValue {
                key: "a".to_owned(),
                value: Some(nested(depth)),
                ..KeyValue::default()
            }],
            ..Resource::default()
        }),
        scope_logs: vec![ScopeLogs {
            log_records: depths.iter().map(|depth| record(*depth)).collect(),
            ..ScopeLogs::default()
        }],
        ..ResourceLogs::default()
    };
    // 45 levels are too deep for JSON, and 200 also for protobuf.
    for deep in [45, 200] {
        for (resources, num_good, num_bad) in [
            (vec![of(1, &[1, deep, 2])], 2, 1),
            (vec![of(1, &[deep])], 0, 1),
            (vec![of(deep, &[1, 2]), of(1, &[3])], 1, 2),
        ] {
            let request = ExportLogsServiceRequest {
                resource_logs: resources,
            };
            let mut protobuf = Vec::new();
            request.encode(&mut protobuf).unwrap();
            let json = serde_json::to_string(&request).unwrap();
            for (body, encoding) in [
                (protobuf.as_slice(), LogsEncoding::Protobuf),
                (json.as_bytes(), LogsEncoding::Json),
            ] {
                let logs = read(body, encoding).unwrap();
                let counts = (logs.documents.len(), logs.problems.len());
                assert_eq!(counts, (num_good, num_bad), "{encoding:?}, {deep}");
                assert!(logs.problems[0].contains("nested too deep"));
                let answer = write_logs_answer(encoding, num_bad as u64, &logs.problems[0]);
                assert!(String::from_utf8_lossy(&answer).contains("nested too deep"));
            }
        }
    }
    let endless = [b"{\"resourceLogs\":".as_slice(), &[b'['; 100_000]].concat();
    assert!(read(&endless, LogsEncoding::Json).is_err());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 2_000, ..Default::default() })]

    /// Arbitrary input gives an answer or an error; each line is an action, a document or blank.
    #[test]
    fn no_body_makes_a_reader_panic(
        lines in proptest::collection::vec(
            proptest::prelude::prop_oneof![
                proptest::prelude::Just("{\"index\":{}}".to_owned()),
                proptest::prelude::Just("{\"create\":{\"_index\":\"a\",\"_id\":null}}".to_owned()),
                proptest::prelude::Just("{\"delete\":{\"_id\":\"7\"}}".to_owned()),
                proptest::prelude::Just("{\"resourceLogs\":[{\"scopeLogs\":[{\"logRecords\":[{}]}]}]}".to_owned()),
                proptest::prelude::Just(String::new()),
                ".{0,40}",
            ],
            0..12,
        ),
        cut in 0usize..400,
        flipped in proptest::option::of((0usize..400, 0u8..8)),
    ) {
        let mut body: Vec<u8> = lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
        if let Some((place, bit)) = flipped && let Some(byte) = body.get_mut(place) {
            *byte ^= 1 << bit;
        }
        let body = &body[..body.len().saturating_sub(cut)];
        if let Ok(actions) = actions_of(body) {
            let num_documents = actions.iter().filter(|action| action.document.is_some()).count();
            let num_lines = body.split(|byte| *byte == b'\n').count();
            assert!(actions.len() + num_documents < num_lines + 1);
        }
        for encoding in [LogsEncoding::Json, LogsEncoding::Protobuf] {
            let _ = read(body, encoding);
        }
    }

    #[test]
    fn every_document_of_a_body_comes_out_as_it_went_in(
        documents in proptest::collection::vec("[^\n\r]{0,60}", 1..20),
    ) {
        let body: String = documents.iter().map(|document| format!("{{\"create\":{{}}}}\n{document}\n")).collect();
        let actions = actions_of(body.as_bytes()).unwrap();
        let found: Vec<&[u8]> = actions.iter().filter_map(|action| action.document).collect();
        let wanted: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
        assert_eq!(found, wanted);
    }
}
