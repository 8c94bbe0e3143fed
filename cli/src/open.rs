//! Inputs that several commands open: index configs, runtimes, and errors about an index that cannot be opened.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};
use canter_doc_mapper::IndexConfig;
use canter_runtime::observe::redact_urls;
use canter_runtime::{ErrorKind, SearchError};
use canter_split_format::MANIFEST_OBJECT;

use crate::exit::WrongUse;

/// Reads an index config, in YAML or in JSON; `-` is standard input.
pub(crate) fn read_index_config(path: &Path) -> Result<IndexConfig> {
    let shown = path.display();
    let text = match path.to_str() {
        Some("-") => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).map(|_| text)
        }
        _ => fs::read_to_string(path),
    };
    let text =
        text.map_err(|error| WrongUse(format!("cannot read index config `{shown}`: {error}")))?;
    let config = match path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        true => IndexConfig::from_json(text.as_bytes()),
        false => IndexConfig::from_yaml(&text, |name| std::env::var(name).ok()),
    };
    config.with_context(|| format!("index config `{shown}`"))
}

/// Adds the index's URI to an error about its store, and explains how to create an index where there is
/// none.
pub(crate) fn about_index(uri: &str) -> impl Fn(SearchError) -> anyhow::Error {
    let uri = redact_urls(uri);
    let is_web = uri.starts_with("http://") || uri.starts_with("https://");
    move |error| {
        match error.kind {
        ErrorKind::NotFound if is_web => WrongUse(format!(
            "no index at `{uri}`: the web server has no {MANIFEST_OBJECT} there; check the address, or \
             make an index in the folder or bucket behind it, with `canter index create`"
        ))
        .into(),
        ErrorKind::NotFound => WrongUse(format!(
            "no index at `{uri}`: check the URI, or make one with `canter index create --index {uri} \
             --index-config FILE`"
        ))
        .into(),
        ErrorKind::Unavailable => {
            anyhow::Error::new(error).context(format!("cannot read the index at `{uri}`"))
        }
        _ => error.into(),
    }
    }
}

/// Returns a runtime for access to storage.
pub(crate) fn tokio_runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the threads that talk to storage")
}
