//! Manifests in the cache: the only mutable objects, kept with their ETags and revalidated.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use canter_stores::Extent;
use canter_stores::cache::KeptManifest;
use canter_stores::ranges::planning::Request;
use canter_waves::{ManifestAge, ManifestOptions, may_replace};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::flights::Landed;
use super::observed::observed;
use super::search_io::SearchIo;
use crate::clock::timeout_at;
use crate::fetch::{ByteRange, FetchedRange};
use crate::session::ByteClass;

/// Maximum duration of a revalidation in the background.
const REVALIDATION_TIME: Duration = Duration::from_secs(30);

fn names(asking: &Mutex<HashSet<String>>) -> MutexGuard<'_, HashSet<String>> {
    asking.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The way to get a manifest.
pub(super) enum Manifest {
    /// Use it as it is.
    Fresh(Bytes),
    /// Use it, and revalidate it in the background.
    Stale(Bytes, KeptManifest),
    /// Revalidate it first.
    Expired(KeptManifest),
    /// Fetch it.
    Absent,
}

/// Keeps manifests in the searcher's cache.
#[derive(Debug, Default)]
pub(crate) struct ManifestKeeper {
    options: ManifestOptions,
    /// Running revalidations in the background.
    behind: Mutex<JoinSet<()>>,
    /// The objects that they revalidate: one at a time for each.
    asking_behind: Arc<Mutex<HashSet<String>>>,
}

impl ManifestKeeper {
    pub(crate) fn new(options: ManifestOptions) -> Self {
        Self {
            options,
            behind: Mutex::default(),
            asking_behind: Arc::default(),
        }
    }

    /// Revalidates `kept` in the background. Does nothing if that is already under way. The search's
    /// budget does not pay for it, and its deadline does not end it.
    pub(super) fn revalidate_behind(&self, io: Arc<SearchIo>, object: String, kept: KeptManifest) {
        if let Ok(runtime) = Handle::try_current() {
            let asking = Arc::clone(&self.asking_behind);
            if !names(&asking).insert(object.clone()) {
                return;
            }
            let clock = Arc::clone(&io.shared.clock);
            let until = clock.now() + REVALIDATION_TIME;
            let io = Arc::new(io.behind());
            let fetch = fetch_manifest(io, object.clone(), Some(kept));
            let revalidation = async move {
                let _ = timeout_at(&*clock, Some(until), fetch).await;
                names(&asking).remove(&object);
            };
            let mut behind = self.lock();
            while behind.try_join_next().is_some() {}
            behind.spawn_on(revalidation, &runtime);
        }
    }

    /// Waits for the running revalidations.
    pub(crate) async fn settle(&self) {
        let mut behind = std::mem::take(&mut *self.lock());
        while behind.join_next().await.is_some() {}
    }

    fn lock(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks `object` up in the cache.
    pub(super) async fn look_up(&self, io: &SearchIo, object: &str) -> Manifest {
        let Some(cache) = &io.shared.cache else {
            return Manifest::Absent;
        };
        let key = io.shared.cache_key(object);
        let entry = cache.get_entry(&key, ByteClass::Manifest).await;
        let Some(kept) = entry.as_ref().and_then(KeptManifest::from_bytes) else {
            return Manifest::Absent;
        };
        match ManifestAge::of(&kept, io.shared.clock.unix_time(), self.options) {
            ManifestAge::Fresh => Manifest::Fresh(kept.bytes),
            ManifestAge::Stale => Manifest::Stale(kept.bytes.clone(), kept),
            ManifestAge::Expired => Manifest::Expired(kept),
        }
    }
}

/// Fetches the manifest, or revalidates `kept`, and caches the answer.
pub(super) fn fetch_manifest(
    io: Arc<SearchIo>,
    object: String,
    kept: Option<KeptManifest>,
) -> impl Future<Output = Landed> + Send + 'static {
    let request = Request {
        object: object.clone(),
        bytes: Extent::WHOLE,
        class: ByteClass::Manifest,
        num_reads: 1,
        first_read_ord: 0,
    };
    let shared = Arc::clone(&io.shared);
    observed(&shared, &request, ask(io, object, kept))
}

async fn ask(io: Arc<SearchIo>, object: String, kept: Option<KeptManifest>) -> Landed {
    let range = ByteRange::from(0);
    let _permit = io.shared.fetch_permits.acquire().await;
    let start = io.shared.clock.now();
    // A confirmation applies to the moment of the request.
    let asked_at = io.shared.clock.unix_time();
    let kept = kept.filter(|kept| !kept.etag.is_empty());
    let answer = match &kept {
        Some(kept) => {
            io.fetcher
                .fetch_if_changed(&object, range, &kept.etag)
                .await
        }
        None => io.fetcher.fetch(&object, range).await,
    };
    let end = io.shared.clock.now();
    let mut num_bytes = 0;
    let result = match (answer, kept) {
        (Ok(fetched), Some(kept)) if fetched.is_unchanged => {
            keep(&io, &object, asked_at, kept.etag, kept.bytes.clone()).await;
            Ok(FetchedRange {
                bytes: kept.bytes,
                ..fetched
            })
        }
        (Ok(fetched), _) => {
            num_bytes = fetched.bytes.len() as u64;
            let etag = fetched.etag.clone().unwrap_or_default();
            keep(&io, &object, asked_at, etag, fetched.bytes.clone()).await;
            Ok(fetched)
        }
        (Err(error), _) => Err(error),
    };
    Landed {
        result,
        offset: 0,
        start,
        end,
        was_sent: true,
        num_bytes,
    }
}

/// Caches a manifest that was valid at `checked_at`, a time since 1970.
async fn keep(io: &SearchIo, object: &str, checked_at: Duration, etag: String, bytes: Bytes) {
    let Some(cache) = &io.shared.cache else {
        return;
    };
    let kept = KeptManifest {
        checked_at,
        etag,
        bytes,
    };
    let key = io.shared.cache_key(object);
    let _busy = io.shared.clock.enter_busy();
    let held = cache.get_entry(&key, ByteClass::Manifest).await;
    let held = held.as_ref().and_then(KeptManifest::from_bytes);
    if !may_replace(held.as_ref(), checked_at, io.shared.clock.unix_time()) {
        return;
    }
    cache
        .put_entry(&key, kept.to_bytes(), ByteClass::Manifest)
        .await;
}
