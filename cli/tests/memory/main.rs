//! Memory of a request: at most ten times its decompressed body, and 64 MiB, whatever its contents. The server runs in
//! this process, whose allocator counts, and so does everything behind it, up to the split that documents become.
//!
//! `CANTER_MEMORY_BODY_MIB` (1) is the length of the bodies; the longest are always 16 MiB.

mod counting;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use canter_split_format::{BlockLayout, BlockWriter, Part, Templates, shape_of};
use counting::CountingAllocator;
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression as Codec;
use parquet::file::properties::WriterProperties;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Memory that a request may take in addition to ten times its body.
const AT_LEAST: usize = 64 << 20;

static BODY_LEN: LazyLock<usize> = LazyLock::new(|| {
    let asked = std::env::var("CANTER_MEMORY_BODY_MIB").ok();
    asked.map_or(1, |text| text.parse::<usize>().unwrap()) << 20
});

/// Dynamic, so that everything in a document is indexed; and one that refuses unknown fields.
const DYNAMIC: &str = "{version: 0.9, index_id: INDEX, doc_mapping: {mode: dynamic}}";
const STRICT: &str = "{version: 0.9, index_id: INDEX, doc_mapping: {mode: strict, field_mappings: [\
                      {name: n, type: u64, fast: true}, {name: text, type: text}]}}";

fn canter(args: &[&str]) -> u8 {
    canter_cli::run([&["canter"], args].concat().into_iter().map(Into::into))
}

/// Starts a server for the lifetime of the process; returns its port.
fn serve(folder: &Path) -> u16 {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for (name, config) in [("dynamic", DYNAMIC), ("strict", STRICT), ("otel-logs", "")] {
        let index = path(name);
        let mut args = vec!["index", "create", "--index", &index];
        let file = path("config.yaml");
        std::fs::write(&file, config.replace("INDEX", name)).unwrap();
        match config.is_empty() {
            true => args.extend(["--preset", "otel-logs"]),
            false => args.extend(["--index-config", &file]),
        }
        assert_eq!(canter(&args), 0, "{args:?}");
    }
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let listen = format!("127.0.0.1:{port}");
    let indexes = ["dynamic", "strict", "otel-logs"].map(|name| format!("{name}={}", path(name)));
    let root = path("root");
    std::thread::spawn(move || {
        let mut args = vec![
            "serve",
            "--listen",
            &listen,
            "--engine",
            "native",
            "--writable",
            "--no-upkeep",
        ];
        args.extend([
            "--commit-interval",
            "10ms",
            "--indexes-in",
            &root,
            "--auto-create-index",
            "new-*",
        ]);
        args.extend(indexes.iter().flat_map(|index| ["--index", index]));
        panic!("the server ended with {}", canter(&args));
    });
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(Duration::from_millis(10));
    }
    port
}

/// The status of an answer, its length including the header, and its beginning.
type Answer = (u16, usize, String);

/// Sends a compressed body. Keeps only the beginning of the answer.
fn send(port: u16, path: &str, headers: &str, packed: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\
         {headers}\r\n",
        packed.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(packed).unwrap();
    let (mut part, mut len, mut beginning) = (vec![0; 1 << 16], 0, Vec::new());
    loop {
        let num = stream.read(&mut part).unwrap();
        if num == 0 {
            break;
        }
        len += num;
        if beginning.len() < 2_000 {
            beginning.extend_from_slice(&part[..num.min(2_000)]);
        }
    }
    let beginning = String::from_utf8_lossy(&beginning).into_owned();
    let status = beginning
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (
        status.unwrap_or_else(|| panic!("{beginning}")),
        len,
        beginning,
    )
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// Returns a body that repeats a numbered piece until it has `len` bytes.
fn repeated(len: usize, piece: impl Fn(usize) -> String) -> Vec<u8> {
    let mut body = Vec::with_capacity(len);
    for ord in 0.. {
        let piece = piece(ord);
        if body.len() + piece.len() > len {
            break;
        }
        body.extend_from_slice(piece.as_bytes());
    }
    body
}

/// Returns one document of a body, around repeated pieces.
fn one(len: usize, begin: &str, piece: impl Fn(usize) -> String, end: &str) -> Vec<u8> {
    let begin = format!("{{\"index\":{{}}}}\n{begin}");
    let mut body = repeated(len - begin.len() - end.len() - 1, piece);
    body.splice(0..0, begin.into_bytes());
    while body.last() == Some(&b',') {
        body.pop();
    }
    body.extend_from_slice(end.as_bytes());
    body.push(b'\n');
    body
}

fn documents(len: usize, document: impl Fn(usize) -> String) -> Vec<u8> {
    repeated(len, |ord| {
        format!("{{\"index\":{{}}}}\n{}\n", document(ord))
    })
}

/// Returns a length-delimited field of protobuf.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut len = content.len();
    while len >= 0x80 {
        field.push(len as u8 | 0x80);
        len >>= 7;
    }
    field.push(len as u8);
    field.extend_from_slice(content);
    field
}

struct Case {
    name: &'static str,
    path: &'static str,
    headers: &'static str,
    body: Vec<u8>,
    /// Permitted statuses of the answer.
    statuses: &'static [u16],
}

const ND: &str = "content-type: application/x-ndjson\r\n";
const JSON: &str = "content-type: application/json\r\n";
const PROTOBUF: &str = "content-type: application/x-protobuf\r\n";

fn bulk_cases(len: usize) -> Vec<Case> {
    let reason = "r".repeat(300);
    let case = |name, path, body, statuses| Case {
        name,
        path,
        headers: ND,
        body,
        statuses,
    };
    vec![
        case(
            "actions without documents",
            "/dynamic/_bulk",
            repeated(len, |_| "{\"delete\":{}}\n".into()),
            &[200],
        ),
        case(
            "the same, and a filter",
            "/dynamic/_bulk?filter_path=items.*.error,-**.type&pretty",
            repeated(len, |_| "{\"delete\":{}}\n".into()),
            &[200],
        ),
        case(
            "documents that are none",
            "/dynamic/_bulk",
            repeated(len, |_| "{\"index\":{}}\n".repeat(2)),
            &[200],
        ),
        case(
            "empty documents",
            "/dynamic/_bulk",
            documents(len, |_| "{}".into()),
            &[200],
        ),
        case(
            "tiny documents",
            "/dynamic/_bulk",
            documents(len, |ord| format!("{{\"a\":{}}}", ord % 10)),
            &[200],
        ),
        case(
            "an index for each action",
            "/_bulk",
            repeated(len, |ord| {
                format!("{{\"index\":{{\"_index\":\"n{ord}\"}}}}\n{{}}\n")
            }),
            &[200],
        ),
        case(
            "some indexes that are made",
            "/_bulk",
            repeated(len, |ord| {
                format!(
                    "{{\"index\":{{\"_index\":\"new-{}\"}}}}\n{{\"a\":1}}\n",
                    ord % 40
                )
            }),
            &[200],
        ),
        case(
            "ids",
            "/dynamic/_bulk",
            repeated(len, |ord| {
                format!("{{\"index\":{{\"_id\":\"{ord:0>40}\"}}}}\n{{}}\n")
            }),
            &[200],
        ),
        case(
            "an id that is a tree",
            "/dynamic/_bulk",
            repeated(len, |_| {
                format!(
                    "{{\"index\":{{\"_id\":[{}]}}}}\n{{}}\n",
                    "[],".repeat(20_000)
                )
            }),
            &[400],
        ),
        case(
            "errors that are all different",
            "/strict/_bulk",
            documents(len, |ord| format!("{{\"{ord}{reason}\":1}}")),
            &[200],
        ),
        case(
            "the same error everywhere",
            "/strict/_bulk",
            documents(len, |_| "{\"a\":1}".into()),
            &[200],
        ),
        case(
            "escapes",
            "/dynamic/_bulk",
            documents(len, |_| format!("{{\"a\":\"{}\"}}", "\\u0001".repeat(500))),
            &[200],
        ),
        case(
            "a field for each document",
            "/dynamic/_bulk",
            documents(len, |ord| format!("{{\"f{ord}\":{ord}}}")),
            &[200],
        ),
        case(
            "numbers as texts",
            "/dynamic/_bulk",
            documents(len, |ord| {
                format!(
                    "{{\"a\":[{}]}}",
                    (0..100)
                        .map(|n| format!("\"{}\"", ord * 100 + n))
                        .collect::<Vec<_>>()
                        .join(",")
                )
            }),
            &[200],
        ),
        case(
            "one array",
            "/dynamic/_bulk",
            one(len, "{\"a\":[", |ord| format!("{},", ord % 10), "]}"),
            &[200],
        ),
        case(
            "one array of objects",
            "/dynamic/_bulk",
            one(len, "{\"a\":[", |_| "{\"b\":1},".into(), "]}"),
            &[200],
        ),
        case(
            "one wide object",
            "/dynamic/_bulk",
            one(len, "{", |ord| format!("\"{ord:x}\":1,"), "}"),
            &[200],
        ),
        case(
            "one long text",
            "/dynamic/_bulk",
            one(len, "{\"a\":\"", |ord| format!("{ord} "), "\"}"),
            &[200],
        ),
        case(
            "deep documents",
            "/dynamic/_bulk",
            documents(len, |_| {
                format!("{}1{}", "{\"a\":".repeat(60), "}".repeat(60))
            }),
            &[200],
        ),
        case(
            "too deep documents",
            "/dynamic/_bulk",
            documents(len, |_| format!("{}{}", "[".repeat(500), "]".repeat(500))),
            &[200],
        ),
    ]
}

fn other_cases(len: usize) -> Vec<Case> {
    let case = |name, path, headers, body, statuses| Case {
        name,
        path,
        headers,
        body,
        statuses,
    };
    let record = |attributes: Vec<u8>| field(1, &field(2, &field(2, &attributes)));
    let empty_attributes = [0x32, 0x00].repeat(90_000);
    let shared = field(
        1,
        &field(
            1,
            &[field(1, b"a"), field(2, &field(1, &[b'x'; 4_000]))].concat(),
        ),
    );
    let many = [shared, field(2, &[0x12, 0x00].repeat(3_000))].concat();
    let json_logs = |records: &[u8]| {
        [
            b"{\"resourceLogs\":[{\"scopeLogs\":[{\"logRecords\":[{}",
            records,
            b"]}]}]}",
        ]
        .concat()
    };
    vec![
        case(
            "lines that are none",
            "/api/v1/dynamic/ingest?detailed_response=true",
            ND,
            repeated(len, |_| "1\n".into()),
            &[200, 413],
        ),
        case(
            "empty lines of documents",
            "/api/v1/dynamic/ingest",
            ND,
            repeated(len, |_| "{}\n".into()),
            &[200, 413],
        ),
        case(
            "bytes that are no text",
            "/api/v1/dynamic/ingest?detailed_response=true",
            ND,
            vec![0xff; len],
            &[200],
        ),
        case(
            "a query of arrays",
            "/dynamic/_delete_by_query",
            JSON,
            [
                b"{\"query\":[",
                &repeated(len - 12, |_| "[],".into())[..],
                b"1]}",
            ]
            .concat(),
            &[400],
        ),
        case(
            "records of two bytes",
            "/v1/logs",
            PROTOBUF,
            field(1, &field(2, &[0x12, 0x00].repeat(len / 2))),
            &[200, 413],
        ),
        case(
            "attributes of two bytes",
            "/v1/logs",
            PROTOBUF,
            record(empty_attributes).repeat(len / 180_000),
            &[200],
        ),
        case(
            "a resource that all records have",
            "/v1/logs",
            PROTOBUF,
            field(1, &many),
            &[200, 413],
        ),
        case(
            "records in JSON",
            "/v1/logs",
            JSON,
            json_logs(&b",{}".repeat(len / 3 - 20)),
            &[200, 413],
        ),
        case(
            "attributes in JSON",
            "/v1/logs",
            JSON,
            json_logs(
                &format!(",{{\"attributes\":[{}{{}}]}}", "{},".repeat(30_000))
                    .into_bytes()
                    .repeat(len / 90_100),
            ),
            &[200],
        ),
    ]
}

/// Sends a body, and returns a message if it took too much memory.
fn measure(port: u16, case: Case) -> Option<String> {
    let Case {
        name,
        path,
        headers,
        body,
        statuses,
    } = case;
    let len = body.len();
    let packed = gzip(&body);
    drop(body);
    let before = CountingAllocator::begin();
    let (status, answer_len, beginning) = send(port, path, headers, &packed);
    let taken = CountingAllocator::peak() - before;
    println!(
        "{name}: {} KiB in gzip, {} KiB, {status}, answered {} KiB, took {} KiB",
        packed.len() >> 10,
        len >> 10,
        answer_len >> 10,
        taken >> 10
    );
    let is_good = statuses.contains(&status) && taken <= 10 * len + AT_LEAST;
    (!is_good).then(|| format!("{name}: {len} bytes took {taken}, and {beginning}"))
}

/// Writes a file with one column of equal texts, and a dictionary if possible.
fn write_texts(path: &Path, text: &str, num_rows: usize, compression: Codec) {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_page_size_limit(4 << 20)
        .build();
    let texts = StringArray::from_iter_values(std::iter::repeat_n(text, num_rows));
    let batch = RecordBatch::try_from_iter([("text", Arc::new(texts) as ArrayRef)]).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Measures kilobytes of Parquet whose texts are megabytes.
fn measure_parquet(folder: &Path) -> Vec<String> {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (index, file) = (path("dynamic"), path("texts.parquet"));
    let mut failures = Vec::new();
    let zstd = Codec::ZSTD(Default::default());
    for (name, text_len, num_rows, codec, limit) in [
        (
            "a text that is too long",
            48 << 20,
            1,
            Codec::SNAPPY,
            "32MiB",
        ),
        ("the same in zstd", 48 << 20, 1, zstd, "32MiB"),
        (
            "a text that is too long for a line",
            24 << 20,
            1,
            zstd,
            "128MiB",
        ),
        (
            "a text that many rows share",
            1_100_000,
            100,
            Codec::SNAPPY,
            "32MiB",
        ),
    ] {
        write_texts(Path::new(&file), &"x".repeat(text_len), num_rows, codec);
        let file_len = std::fs::metadata(&file).unwrap().len();
        let before = CountingAllocator::begin();
        let args = [
            "index",
            "ingest",
            "--index",
            &index,
            "--input",
            &file,
            "--max-parquet-bytes",
            limit,
        ];
        let rejects = path("rejects");
        let code = canter(&[&args[..], &["--rejects", &rejects]].concat());
        let taken = CountingAllocator::peak() - before;
        println!("{name}: {file_len} bytes, took {} KiB", taken >> 10);
        // Pages that are refused by their headers are not decompressed; rows that share a text are separate documents.
        let is_refused = limit == "32MiB" && num_rows == 1;
        let inflated = if is_refused { 0 } else { text_len * num_rows };
        if code != 0 || taken > 10 * inflated + AT_LEAST {
            failures.push(format!(
                "{name}: {file_len} bytes took {taken}, code {code}"
            ));
        }
    }
    failures
}

/// Measures a block of stored documents in which a few bytes refer to a long template many times; read forwards and
/// backwards.
fn measure_documents_block() -> Option<String> {
    const LEN: usize = 1 << 20;
    const NUM_DOCS: u32 = 20_000;
    let literal = vec![b'x'; LEN];
    let parts = [Part::Literal(&literal)];
    let templates = Templates {
        shapes: vec![shape_of(&parts)],
        ..Templates::default()
    };
    let mut writer = BlockWriter::new(templates.clone());
    (0..NUM_DOCS).for_each(|_| writer.add(&literal, &parts));
    let content = writer.finish();
    let num_bytes = content.len();
    let layout = BlockLayout::columns(templates, 1 << 31);
    let before = CountingAllocator::begin();
    let mut block = layout.open(content, NUM_DOCS).unwrap();
    for place in [19_999, 0, 12_345, 3, 19_998] {
        assert_eq!(block.get(place).unwrap().len(), LEN);
    }
    let taken = CountingAllocator::peak() - before;
    println!(
        "documents of a block: {num_bytes} bytes, took {} KiB",
        taken >> 10
    );
    (taken > 10 * LEN + AT_LEAST).then(|| format!("{num_bytes} bytes of a block took {taken}"))
}

#[test]
fn a_body_takes_ten_times_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let port = serve(folder.path());
    // One-time allocations happen before.
    for path in ["/dynamic/_bulk", "/strict/_bulk"] {
        let body = gzip(b"{\"index\":{}}\n{\"text\":\"some\"}\n");
        assert_eq!(send(port, path, ND, &body).0, 200);
    }
    let mut failures: Vec<String> = Vec::new();
    let cases = bulk_cases(*BODY_LEN)
        .into_iter()
        .chain(other_cases(*BODY_LEN));
    failures.extend(cases.filter_map(|case| measure(port, case)));
    // The longest permitted ones, of the worst kind.
    let longest = |name, line: String, statuses| Case {
        name,
        path: "/dynamic/_bulk",
        headers: ND,
        body: repeated(16 << 20, move |_| line.clone()),
        statuses,
    };
    let document = format!(
        "{{\"index\":{{}}}}\n{{\"a\":\"{}\",\"b\":1}}\n",
        "some text ".repeat(40)
    );
    let all = [
        longest(
            "16 MiB of actions without documents",
            "{\"delete\":{}}\n".to_owned(),
            &[413][..],
        ),
        longest("16 MiB of documents", document, &[200][..]),
    ];
    failures.extend(all.into_iter().filter_map(|case| measure(port, case)));
    failures.extend(measure_parquet(folder.path()));
    failures.extend(measure_documents_block());
    assert!(failures.is_empty(), "{failures:#?}");
}
