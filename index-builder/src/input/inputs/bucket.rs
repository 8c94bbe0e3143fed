//! Listing of a bucket's objects, page by page.

use super::find::{Candidate, Sink};
use super::pattern::{BucketPattern, Keys};
use crate::blocking;
use crate::error::BuildError;
use crate::index::storage::open_bucket_of_inputs;
use crate::input::source::ObjectPlace;
use futures_util::TryStreamExt;
use globset::GlobMatcher;
use object_store::path::Path;
use object_store::{Error, ObjectMeta, ObjectStore, ObjectStoreExt};
use std::sync::Arc;

/// Passes the objects that match a pattern to `sink`.
pub(super) fn list_bucket(pattern: &BucketPattern, sink: &mut Sink<'_>) -> Result<(), BuildError> {
    let store = open_bucket_of_inputs(&pattern.bucket)?;
    let bucket: Arc<str> = pattern.bucket.as_str().into();
    match &pattern.keys {
        Keys::One(key) => {
            let meta = blocking::run(head(&store, &bucket, key))?;
            let place = ObjectPlace::new(store, bucket, meta);
            sink.take_named(Candidate::object(place))
        }
        Keys::Below(prefix, glob) => {
            let listed = list(&store, &bucket, prefix, glob.as_ref(), sink);
            blocking::run(listed)
        }
    }
}

async fn head(
    store: &Arc<dyn ObjectStore>,
    bucket: &str,
    key: &str,
) -> Result<ObjectMeta, BuildError> {
    let uri = format!("{bucket}/{key}");
    let path = parsed(key, &uri)?;
    store.head(&path).await.map_err(|error| match error {
        Error::NotFound { .. } => BuildError::invalid(format!(
            "no object `{uri}`: check its name; all objects below a prefix are `{uri}/`"
        )),
        error => refused("read", &uri, "s3:GetObject and s3:ListBucket", error),
    })
}

async fn list(
    store: &Arc<dyn ObjectStore>,
    bucket: &Arc<str>,
    prefix: &str,
    glob: Option<&GlobMatcher>,
    sink: &mut Sink<'_>,
) -> Result<(), BuildError> {
    let uri = format!("{bucket}/{prefix}");
    let path = match prefix.trim_end_matches('/') {
        "" => None,
        prefix => Some(parsed(prefix, &uri)?),
    };
    let mut listed = store.list(path.as_ref());
    let failed = |error| refused("list", &uri, "s3:ListBucket", error);
    while let Some(meta) = listed.try_next().await.map_err(failed)? {
        let key = meta.location.as_ref();
        if glob.is_some_and(|glob| !glob.is_match(key)) {
            continue;
        }
        let below = key.strip_prefix(prefix).unwrap_or(key);
        if below.split('/').any(|part| part.starts_with('.')) {
            sink.left_out().num_hidden += 1;
            continue;
        }
        let place = ObjectPlace::new(Arc::clone(store), Arc::clone(bucket), meta);
        if !sink.take(Candidate::object(place))? {
            break;
        }
    }
    // Most stores list in this order; those that do not must not affect the division into splits.
    sink.sort();
    Ok(())
}

fn parsed(key: &str, uri: &str) -> Result<Path, BuildError> {
    Path::parse(key).map_err(|error| {
        BuildError::invalid(format!("the input `{uri}` cannot be read")).caused_by(error)
    })
}

/// Returns the error of a bucket that denies access.
fn refused(what: &str, uri: &str, right: &str, error: Error) -> BuildError {
    // The error of a denied list request has no kind of its own.
    let said = error.to_string();
    let is_status = ["403 Forbidden", "401 Unauthorized"]
        .iter()
        .any(|status| said.contains(status));
    let is_kind = matches!(
        error,
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. }
    );
    if is_kind || is_status {
        return BuildError::unavailable(format!(
            "cannot {what} `{uri}`: access denied; the credentials need the right to (on S3 {right}; on GCS \
             storage.objects.get and list; on Azure Storage Blob Data Reader)"
        ))
        .caused_by(error);
    }
    BuildError::unavailable(format!("cannot {what} `{uri}`")).caused_by(error)
}
