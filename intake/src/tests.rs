//! Lanes on a folder: what is acknowledged is there, once, whatever happens in between.

use std::sync::Arc;
use std::time::Duration;

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IndexStore, create_index, spool, spooled};
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

struct Bench {
    folder: TempDir,
    room: Room,
}

impl Bench {
    fn new(max_bytes: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let uri = folder.path().join("index");
        let config = IndexConfig::from_yaml(CONFIG, |_| None).unwrap();
        create_index(uri.to_str().unwrap(), &config).unwrap();
        Self {
            folder,
            room: Room::new(max_bytes, SOON),
        }
    }

    fn store(&self) -> IndexStore {
        IndexStore::open(self.folder.path().join("index").to_str().unwrap()).unwrap()
    }

    fn lane(&self, commit_interval: Duration) -> Lane {
        let settings = LaneSettings {
            commit_interval,
            ..LaneSettings::default()
        };
        Lane::start(self.store(), settings, self.room.clone()).unwrap()
    }

    fn num_docs(&self) -> u64 {
        let manifest = self.store().load_manifest().unwrap().manifest;
        manifest.splits.iter().map(|split| split.num_docs).sum()
    }
}

const NEVER: Duration = Duration::from_secs(3600);
const SOON: Duration = Duration::from_millis(20);

fn document(n: u64) -> Vec<u8> {
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
    // As after a crash: this lane's thread never comes to them.
    std::mem::forget(lane);
    let next = bench.lane(SOON);
    // What was left behind is published as soon as it is seen, and removed when that is done.
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
        // A process that was killed behind the publication and before it could remove the object.
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

#[tokio::test(flavor = "multi_thread")]
async fn who_finds_no_room_waits_for_a_while() {
    let bench = Bench::new(100);
    let long = vec![b' '; 90];
    // What is published soon makes room in time.
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
    // What is not is refused at last.
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
    std::fs::remove_dir_all(bench.folder.path().join("index")).unwrap();
    let refused = lane.add(&[&document(1)], Acknowledge::Published).await;
    assert!(refused.is_err(), "{refused:?}");
}

#[tokio::test]
async fn an_index_that_was_deleted_takes_nothing_and_says_so() {
    let bench = Bench::new(1 << 20);
    let settings = LaneSettings {
        commit_interval: SOON,
        may_be_deleted: true,
        ..LaneSettings::default()
    };
    let lane = Lane::start(bench.store(), settings, bench.room.clone()).unwrap();
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

#[test]
fn each_document_is_looked_at() {
    let bench = Bench::new(1 << 20);
    let lane = bench.lane(NEVER);
    let good = document(1);
    let documents: [&[u8]; 5] = [&good, b"{\"n\": -1}", b"not json", b"{\"other\": 1}", b" "];
    let problems = lane.problems(documents).unwrap();
    let reasons: Vec<Option<&str>> = problems
        .iter()
        .map(|problem| problem.as_ref().map(|problem| problem.reason))
        .collect();
    assert!(reasons[0].is_none());
    assert!(reasons[1..].iter().all(Option::is_some), "{reasons:?}");
}

#[test]
fn a_body_is_taken_apart() {
    let body = b"{\"index\":{\"_index\":\"a\"}}\n{\"x\":1}\n\n{\"create\":{}}\r\n{\"x\":2}\r\n{\"delete\":{\"_id\":7}}\n\
        {\"update\":{\"_id\":\"8\",\"routing\":\"r\"}}\n{\"doc\":{}}\n{\"create\":null}\n\n";
    let actions = parse_bulk(body).unwrap();
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
    assert_eq!(actions[3].unknown.as_deref(), Some("routing"));
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
        (b"[]\n", "line 1 is no action"),
        (b"{}\n", "none of"),
        (b"{\"index\":{\"_id\":{}}}\n{}\n", "line 1 is no action"),
    ] {
        let error = parse_bulk(body).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
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
    let from_json = read_logs(json, LogsEncoding::Json).unwrap();
    let from_protobuf = read_logs(&request.encode_to_vec(), LogsEncoding::Protobuf).unwrap();
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
    assert_eq!(
        read_logs(b"", LogsEncoding::Protobuf).unwrap(),
        Logs::default()
    );
    assert_eq!(
        read_logs(b"{}", LogsEncoding::Json).unwrap(),
        Logs::default()
    );
    assert!(read_logs(b"\x0a\xff", LogsEncoding::Protobuf).is_err());
    assert!(read_logs(b"[]", LogsEncoding::Json).is_err());
    assert!(read_logs(b"{\"a\": 1}", LogsEncoding::Json).is_err());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 2_000, ..Default::default() })]

    /// Bytes from outside: an answer or an error, and each line of a body is an action, a document or blank.
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
        if let Ok(actions) = parse_bulk(body) {
            let num_documents = actions.iter().filter(|action| action.document.is_some()).count();
            let num_lines = body.split(|byte| *byte == b'\n').count();
            assert!(actions.len() + num_documents < num_lines + 1);
        }
        for encoding in [LogsEncoding::Json, LogsEncoding::Protobuf] {
            let _ = read_logs(body, encoding);
        }
    }

    #[test]
    fn every_document_of_a_body_comes_out_as_it_went_in(
        documents in proptest::collection::vec("[^\n\r]{0,60}", 1..20),
    ) {
        let body: String = documents.iter().map(|document| format!("{{\"create\":{{}}}}\n{document}\n")).collect();
        let actions = parse_bulk(body.as_bytes()).unwrap();
        let found: Vec<&[u8]> = actions.iter().filter_map(|action| action.document).collect();
        let wanted: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
        assert_eq!(found, wanted);
    }
}
