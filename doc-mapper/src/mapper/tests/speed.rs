//! Speed of parsing documents: `cargo test -p canter-doc-mapper -- --ignored --nocapture speed`.

use std::time::Instant;

use serde_json::json;

use super::*;

fn hdfs_line(i: u64) -> String {
    json!({
        "timestamp": 1_460_530_013 + i, "tenant_id": i % 50, "severity_text": "INFO",
        "body": format!("PacketResponder: BP-108841162-10.10.34.11-1440074360971:blk_{i}_1747577, type=HAS_DOWNSTREAM_IN_PIPELINE terminating"),
        "resource": { "service": "datanode/01" },
        "attributes": { "class": "org.apache.hadoop.hdfs.server.datanode.DataNode", "host": format!("node-{}", i % 7) },
    })
    .to_string()
}

fn measure(what: &str, mapper: &DocMapper) {
    let lines: Vec<String> = (0..10_000).map(hdfs_line).collect();
    let num_bytes: usize = lines.iter().map(String::len).sum();
    let best = (0..20).map(|_| {
        let start = Instant::now();
        for line in &lines {
            std::hint::black_box(mapper.parse_doc(line.as_bytes()).unwrap());
        }
        start.elapsed()
    });
    let best = best.min().unwrap();
    println!(
        "{what}: {} ns per document of {} bytes",
        best.as_nanos() / lines.len() as u128,
        num_bytes / lines.len()
    );
}

#[test]
#[ignore = "a measurement, not a test"]
fn speed_of_parsing() {
    let fields = json!([
        { "name": "timestamp", "type": "datetime", "input_formats": ["unix_timestamp"], "fast": true },
        { "name": "tenant_id", "type": "u64" }, { "name": "severity_text", "type": "text", "tokenizer": "raw" },
        { "name": "body", "type": "text" }, { "name": "resource", "type": "json" },
    ]);
    let all = |mode: &str, more: bool| {
        mapper(
            json!({ "mode": mode, "timestamp_field": "timestamp", "field_mappings": fields,
            "store_source": more, "index_field_presence": more }),
        )
    };
    measure("lenient", &all("lenient", false));
    measure("dynamic", &all("dynamic", false));
    measure("dynamic, source, presence", &all("dynamic", true));
}
