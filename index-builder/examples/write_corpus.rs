//! Writes the generated HDFS-like lines to standard output, or the config of an index for them.
//!
//! ```text
//! cargo run --release -p canter-index-builder --example write_corpus -- 1000000
//! cargo run --release -p canter-index-builder --example write_corpus -- --config
//! ```

use canter_index_builder::corpus::{CorpusReader, HDFS_LOGS_YAML, HdfsLogs};
use std::io::{ErrorKind, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let what = std::env::args().nth(1).ok_or("how many lines?")?;
    let mut out = std::io::stdout().lock();
    if what == "--config" {
        out.write_all(HDFS_LOGS_YAML.as_bytes())?;
        return Ok(());
    }
    let mut lines = CorpusReader::new(HdfsLogs::new(what.parse()?, 42));
    match std::io::copy(&mut lines, &mut out).and_then(|_| out.flush()) {
        // Who reads has had enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result.map(drop)?),
    }
}
