//! Checks of the fuzz targets, one function for each.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use bytes::Bytes;
use canter_doc_mapper::{DocMapper, IndexConfig};
use canter_guest::{ErrorKind, SearchError, Session};
use canter_protocol::Outcome;
use canter_split_format::{BlockChecksums, Head, ManifestFile, checksum64};
use canter_stores::CachedPiece;
use canter_stores::cache::{KeptManifest, block_file};
use serde_json::{Value, json};

use super::edits;
use super::host::{self, Objects, run};

const MANIFEST: &str = "manifest.canter";

/// Limits that bound memory, yet are too large for a fuzzer's valid requests to reach by chance.
pub(crate) const LIMITS: &str = r#"{"max_hits": 1000, "max_buckets": 1000, "max_aggregation_bytes": 10000000,
    "min_docs_per_leaf": 1}"#;

/// Returns the index in `index/`, which the builder once wrote in two splits.
pub(crate) fn index() -> &'static Objects {
    static INDEX: OnceLock<Objects> = OnceLock::new();
    INDEX.get_or_init(|| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        // As a package of its own, or as a module of the tests.
        let folder = match folder.ends_with("fuzz") {
            true => folder.join("index"),
            false => folder.join("fuzz/index"),
        };
        let bytes = std::fs::read(folder.join(MANIFEST)).expect("the index has a manifest");
        let file = ManifestFile::from_bytes(&bytes).expect("the manifest is one");
        let mut objects = Objects::from([(MANIFEST.to_owned(), bytes)]);
        for split in &file.manifest.splits {
            let name = format!("splits/{}.split", split.id);
            let bytes = std::fs::read(folder.join(&name)).expect("the index has its splits");
            objects.insert(name, bytes);
        }
        objects
    })
}

pub(crate) fn no_cache(_: &str) -> Option<Vec<u8>> {
    None
}

/// Runs a search, which must be answered, or refused with a reason.
fn search(request: &Value) -> Result<Outcome, SearchError> {
    let session = host::search(request, LIMITS, 1)?;
    let ended = run(session, index(), &no_cache);
    if let Err(error) = &ended {
        assert_ne!(error.kind, ErrorKind::Internal, "{request}: {error}");
    }
    ended
}

/// Checks arbitrary text as a query: counted, sorted, and as a forced filter.
pub fn query(bytes: &[u8]) {
    let Ok(query) = std::str::from_utf8(bytes) else {
        return;
    };
    let _ = search(&json!({ "query": query, "max_hits": 3, "sort_by": "_score" }));
    let _ = search(&json!({ "query": query, "max_hits": 0, "search_field": "word,n" }));
    let _ = search(&json!({ "query": "*", "forced_filter": query }));
}

/// Checks arbitrary JSON as aggregations.
pub fn aggregations(bytes: &[u8]) {
    if let Ok(aggs) = serde_json::from_slice::<Value>(bytes) {
        let _ = search(&json!({ "query": "*", "max_hits": 0, "aggs": aggs }));
        let _ = search(&json!({ "query": "n:>1", "max_hits": 1, "aggs": aggs }));
    }
}

/// Checks a config on the first line and a document on the second: accepted documents can be shown,
/// and a mapping is read back from its canonical form.
pub fn document(bytes: &[u8]) {
    let (config, line) = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, &b"{}"[..]),
    };
    let Ok(config) = IndexConfig::from_json(config) else {
        return;
    };
    let canonical = config.to_canonical_json().expect("a config can be written");
    let again = IndexConfig::from_json(&canonical).expect("a canonical config is one");
    assert_eq!(again, config);
    let mapper = DocMapper::new(&config).expect("a config that was read can be compiled");
    if let Ok(parsed) = mapper.parse_doc(line) {
        let shown = mapper.doc_to_json(&parsed.document);
        let text = Value::Object(shown).to_string();
        assert!(serde_json::from_str::<Value>(&text).is_ok());
    }
    let path = String::from_utf8_lossy(line);
    let _ = (
        mapper.resolve(&path),
        mapper.resolve_all(&path),
        mapper.field_presence_hash(&path),
    );
}

/// Leaf requests and root request of a plan, and the answers of the leaves.
struct Messages {
    leaves: Vec<Vec<u8>>,
    root: Vec<u8>,
    partials: Vec<Vec<u8>>,
}

fn messages() -> &'static Messages {
    static MESSAGES: OnceLock<Messages> = OnceLock::new();
    MESSAGES.get_or_init(|| {
        let request = json!({ "query": "*", "max_hits": 3, "sort_by": "n", "aggs": {
            "a": { "terms": { "field": "tag" }, "aggs": { "b": { "avg": { "field": "f" } } } },
            "c": { "date_histogram": { "field": "at", "fixed_interval": "1d" } } } });
        let session = host::search(&request, LIMITS, 2).expect("a request");
        let Ok(Outcome::Plan(plan)) = run(session, index(), &no_cache) else {
            panic!("two splits are divided among two leaves");
        };
        let partial = |leaf: &Vec<u8>| {
            let session = Session::leaf(leaf).expect("a leaf request");
            match run(session, index(), &no_cache) {
                Ok(Outcome::Partial(bytes)) => bytes,
                other => panic!("a leaf gives a partial result, not {other:?}"),
            }
        };
        Messages {
            partials: plan.leaves.iter().map(partial).collect(),
            leaves: plan.leaves,
            root: plan.root,
        }
    })
}

/// The first byte selects the message to change, the rest the changes. These may give another
/// answer, since the messages are between parts of the same guest, and aggregations that do not fit
/// their request make tantivy panic; nothing else may happen.
pub fn wire(bytes: &[u8]) {
    let Some((which, input)) = bytes.split_first() else {
        return;
    };
    let Messages {
        leaves,
        root,
        partials,
    } = messages();
    let (mut leaf, mut root, mut partials) = (leaves[0].clone(), root.clone(), partials.clone());
    match which % 3 {
        0 => edits::apply(&mut leaf, input),
        1 => edits::apply(&mut root, input),
        _ => edits::apply(&mut partials[0], input),
    }
    let session = match which % 3 {
        0 => Session::leaf(&leaf),
        _ => Session::root(&root, &partials),
    };
    if let Ok(session) = session {
        quietly(|| drop(run(session, index(), &no_cache)));
    }
}

/// Checks a value with a valid key and checksum, for the whole answer and for one split's part.
/// Aggregations that do not fit their request make tantivy panic, as in [`wire`].
pub fn partial_entry(bytes: &[u8]) {
    let entry = |key: &str| {
        // postcard's encoding of a text: a varint with its length, then its bytes.
        let mut body = Vec::new();
        let mut len = key.len();
        while len >= 0x80 {
            body.push((len & 0x7f) as u8 | 0x80);
            len >>= 7;
        }
        body.push(len as u8);
        body.extend(key.as_bytes());
        body.extend(bytes);
        let mut entry = checksum64(&body).to_le_bytes().to_vec();
        entry.extend(body);
        entry
    };
    let limits = LIMITS.replacen('{', r#"{"partial_result_cache": true, "#, 1);
    for (prefix, request) in [
        ("answer/", json!({ "query": "*", "max_hits": 1 })),
        (
            "split/",
            json!({ "query": "word:alpha", "max_hits": 0, "aggs": { "a": { "terms": { "field": "tag" } } } }),
        ),
    ] {
        let session = host::search(&request, &limits, 1).expect("a request");
        quietly(|| {
            drop(run(session, index(), &|key| {
                key.starts_with(prefix).then(|| entry(key))
            }));
        });
    }
}

/// Checks bytes as a file, and changes to a valid file. Reading must give what was written.
pub fn cache_file(bytes: &[u8]) {
    let key = block_file::Key::block("splits/0123.split", 4_096, 7);
    let _ = block_file::read_bytes(bytes, &key);
    let piece = CachedPiece {
        offset: 28_672,
        bytes: Bytes::from((0..70_000_u32).map(|n| n as u8).collect::<Vec<u8>>()),
    };
    let mut file = Vec::new();
    block_file::write(&mut file, &key, &piece).expect("memory takes a file");
    edits::apply(&mut file, bytes);
    if let Ok(found) = block_file::read_bytes(&file, &key) {
        assert_eq!((found.offset, found.bytes), (piece.offset, piece.bytes));
    }
    let entry = Bytes::copy_from_slice(bytes);
    if let Some(kept) = KeptManifest::from_bytes(&entry) {
        assert_eq!(
            KeptManifest::from_bytes(&kept.to_bytes()).map(|again| again.bytes),
            Some(kept.bytes)
        );
    }
}

/// Checks changes to a split in a store, and then changes with recomputed checksums.
///
/// The former are detected. The latter may be anything, and tantivy, which trusts its input, may
/// panic: in the component this is a trap, which ends one search. Nothing else may happen.
pub fn hostile_split(bytes: &[u8]) {
    let objects = index();
    let name = objects
        .keys()
        .find(|name| name.as_str() != MANIFEST)
        .expect("a split")
        .clone();
    let requests = [
        json!({ "query": "word:alpha", "max_hits": 2 }),
        json!({ "query": "word:\"alpha beta\" OR tag:x*", "max_hits": 2, "sort_by": "-f" }),
        json!({ "query": "n:[0 TO 5] OR f:>=0", "max_hits": 0, "aggs": { "a": { "terms": { "field": "tag" } } } }),
    ];
    let mut found_out = objects.clone();
    edits::apply(found_out.get_mut(&name).expect("the split"), bytes);
    for request in &requests {
        let _ = with(&found_out, request);
    }
    if let Some(resealed) = resealed(objects, &name, bytes) {
        for request in &requests {
            quietly(|| drop(with(&resealed, request)));
        }
    }
}

fn with(objects: &Objects, request: &Value) -> Result<Outcome, SearchError> {
    run(host::search(request, LIMITS, 1)?, objects, &no_cache)
}

/// Returns the index with the body of one split changed, and new checksums.
fn resealed(objects: &Objects, name: &str, bytes: &[u8]) -> Option<Objects> {
    let split = objects.get(name)?;
    let mut file = ManifestFile::from_bytes(objects.get(MANIFEST)?).ok()?;
    let is_it = |id: &str| name.ends_with(&format!("{id}.split"));
    let entry = file
        .manifest
        .splits
        .iter()
        .find(|split| is_it(&split.id))?
        .clone();
    let (head, body) = split.split_at_checked(usize::try_from(entry.head_len).ok()?)?;
    let mut body = body.to_vec();
    let len = body.len();
    edits::apply(&mut body, bytes);
    body.resize(len, 0);
    let mut head = Head::open(head).ok()?;
    head.block_checksums = BlockChecksums::of_body(&body);
    let head = head.write().ok()?;
    file.take_head(&entry.id);
    for split in file
        .manifest
        .splits
        .iter_mut()
        .filter(|split| split.id == entry.id)
    {
        split.head_checksum = u64::from_le_bytes(head.get(20..28)?.try_into().ok()?);
        split.head_len = head.len() as u64;
        split.len = (head.len() + body.len()) as u64;
    }
    let mut resealed = objects.clone();
    resealed.insert(MANIFEST.to_owned(), file.to_bytes().ok()?);
    resealed.insert(name.to_owned(), [head, body].concat());
    Some(resealed)
}

/// Runs `work`, which may panic in tantivy, without printing panics.
fn quietly(work: impl FnOnce()) {
    static HOOK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one_at_a_time = HOOK.lock();
    // libFuzzer's hook ends the process at any panic.
    let hook = std::panic::take_hook();
    let ours = std::sync::Arc::new(std::sync::Mutex::new(None));
    let noted = std::sync::Arc::clone(&ours);
    std::panic::set_hook(Box::new(move |info| {
        let place = info
            .location()
            .map(|at| at.file().to_owned())
            .unwrap_or_default();
        let is_ours =
            !place.contains("tantivy") && !place.contains("rustc") && !place.contains("ownedbytes");
        if let (true, Ok(mut noted)) = (is_ours, noted.lock()) {
            *noted = Some(info.to_string());
        }
    }));
    let _ = catch_unwind(AssertUnwindSafe(work));
    std::panic::set_hook(hook);
    let noted = ours.lock().ok().and_then(|mut noted| noted.take());
    assert_eq!(noted, None, "a panic outside of tantivy");
}
