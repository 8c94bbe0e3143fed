//! Finder of documents to delete, as in `canter index delete`.

use std::sync::Arc;

use canter_runtime::{Engine, ErrorKind, SearchError};
use canter_server::{FindDocuments, FindError};
use canter_split_format::ListedSplit;
use serde_json::Value;

use crate::commands::index::Lister;
use crate::exit::WrongUse;

/// Time limit of one search of an index, in milliseconds.
const DEADLINE_MS: u64 = 600_000;

/// Finds documents with the server's engine.
pub(super) struct Finder(pub(super) Arc<dyn Engine>);

impl FindDocuments for Finder {
    fn find(&self, uri: &str, name: &str, search: &Value) -> Result<Vec<ListedSplit>, FindError> {
        let engine = Arc::clone(&self.0);
        let lister = Lister::new((uri, name), search.clone(), DEADLINE_MS, engine);
        let listed = lister.and_then(|lister| lister.list());
        listed.map_err(|error| FindError {
            kind: kind_of(&error),
            message: format!("{error:#}"),
        })
    }
}

fn kind_of(error: &anyhow::Error) -> ErrorKind {
    // The error of a search of a missing index.
    if error.is::<WrongUse>() {
        return ErrorKind::NotFound;
    }
    let of_search = error.downcast_ref::<SearchError>();
    of_search.map_or(ErrorKind::Internal, |error| error.kind)
}
