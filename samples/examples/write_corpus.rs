//! Writes generated lines to standard output, HDFS-like ones or those of a web server, or the config of an index for
//! them.
//!
//! ```text
//! cargo run --release -p canter-samples --example write_corpus -- 1000000 [hdfs | http]
//! cargo run --release -p canter-samples --example write_corpus -- --config [hdfs | http]
//! ```

use canter_samples::{CorpusReader, HDFS_LOGS_YAML, HTTP_LOGS_YAML, HdfsLogs, HttpLogs};
use std::io::{ErrorKind, Read, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let what = std::env::args().nth(1).ok_or("how many lines?")?;
    let is_http = std::env::args().nth(2).is_some_and(|kind| kind == "http");
    let mut out = std::io::stdout().lock();
    if what == "--config" {
        let config = if is_http {
            HTTP_LOGS_YAML
        } else {
            HDFS_LOGS_YAML
        };
        out.write_all(config.as_bytes())?;
        return Ok(());
    }
    let num_docs = what.parse()?;
    let mut lines: Box<dyn Read> = match is_http {
        true => Box::new(CorpusReader::new(HttpLogs::new(num_docs, 42))),
        false => Box::new(CorpusReader::new(HdfsLogs::new(num_docs, 42))),
    };
    match std::io::copy(&mut lines, &mut out).and_then(|_| out.flush()) {
        // The reader has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result.map(drop)?),
    }
}
