//! Web server on loopback that serves the files of a folder, with ranges, in place of a bucket. It prints
//! its address and runs until it is stopped.

use std::io::{self, Write};

use anyhow::{Context, Result};
use canter_lab::LatencyModel;
use canter_lab::proxy::Proxy;
use canter_runtime::fetch::{OpenOptions, open_uri};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = std::env::args()
        .nth(1)
        .context("usage: serve-folder FOLDER")?;
    let files = open_uri(&folder, &OpenOptions::default())?;
    let server = Proxy::start(files, LatencyModel::local()).await?;
    writeln!(io::stdout(), "{}", server.url().trim_end_matches('/'))?;
    io::stdout().flush()?;
    std::future::pending().await
}
