//! Manifests in the cache: they are revalidated after their time, and never fetched twice.

use super::*;
use crate::ManifestOptions;
use crate::clock::{Clock, CpuTime, VirtualClock};

/// A store whose manifest changes on command.
#[derive(Default)]
struct Changing {
    version: AtomicUsize,
    num_whole: AtomicUsize,
    num_asked: AtomicUsize,
    is_down: std::sync::atomic::AtomicBool,
}

impl Changing {
    fn answer(&self, object: &str, range: ByteRange) -> Result<FetchedRange, FetchError> {
        if self.is_down.load(Ordering::Relaxed) {
            let kind = FetchErrorKind::Denied;
            return Err(FetchError::new(kind, object, range, "down"));
        }
        let version = self.version.load(Ordering::Relaxed);
        Ok(FetchedRange {
            etag: Some(format!("\"{version}\"")),
            ..FetchedRange::new(format!("manifest {version}").into())
        })
    }
}

impl RangeFetcher for Changing {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.num_whole.fetch_add(1, Ordering::Relaxed);
        std::future::ready(self.answer(object, range)).boxed()
    }

    fn fetch_if_changed<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        etag: &'a str,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.num_asked.fetch_add(1, Ordering::Relaxed);
        let answer = self.answer(object, range);
        let answer = answer.map(|fetched| match fetched.etag.as_deref() == Some(etag) {
            true => FetchedRange::unchanged(),
            false => fetched,
        });
        std::future::ready(answer).boxed()
    }
}

struct Run {
    store: Arc<Changing>,
    clock: VirtualClock,
    searcher: Searcher,
}

impl Run {
    fn new(manifest: ManifestOptions) -> Self {
        let store = Arc::new(Changing::default());
        let clock = VirtualClock::new(CpuTime::Ignored);
        let searcher = Searcher::builder()
            .engine(Arc::new(Scripted::new()))
            .fetcher(store.clone())
            .clock(Arc::new(clock.clone()))
            .cache(Arc::new(MemoryCache::new(1 << 20)))
            .manifest(manifest)
            .max_parallel_leaves(1)
            .build()
            .unwrap();
        Self {
            store,
            clock,
            searcher,
        }
    }

    /// Reads the manifest `after_ms` from now; also returns the numbers of its fetches and revalidations so far.
    async fn read(&self, after_ms: u64) -> (String, usize, usize) {
        let until = self.clock.now() + Duration::from_millis(after_ms);
        let waves = json!([[["manifest", 0, null, "manifest"]]]);
        let searching = async {
            self.clock.sleep_until(until).await;
            search(&self.searcher, waves).await
        };
        let response = self.clock.run(searching).await;
        // Work in the background.
        tokio::task::yield_now().await;
        let arrived = response.json["arrived"][0][1].as_str().unwrap_or("none");
        (
            arrived.to_owned(),
            self.store.num_whole.load(Ordering::Relaxed),
            self.store.num_asked.load(Ordering::Relaxed),
        )
    }

    fn change(&self) {
        self.store.version.fetch_add(1, Ordering::Relaxed);
    }
}

fn read(manifest: &str, num_whole: usize, num_asked: usize) -> (String, usize, usize) {
    (manifest.to_owned(), num_whole, num_asked)
}

#[tokio::test]
async fn a_manifest_that_has_not_changed_is_not_fetched_again() {
    let run = Run::new(ManifestOptions::default());
    assert_eq!(run.read(0).await, read("manifest 0", 1, 0));
    assert_eq!(run.read(0).await, read("manifest 0", 1, 1));
    run.change();
    assert_eq!(run.read(0).await, read("manifest 1", 1, 2));
    assert_eq!(run.read(0).await, read("manifest 1", 1, 3));
}

#[tokio::test]
async fn within_its_time_a_manifest_is_not_even_asked_after() {
    let run = Run::new(ManifestOptions {
        ttl_ms: 1000,
        stale_while_revalidate_ms: 0,
    });
    assert_eq!(run.read(0).await, read("manifest 0", 1, 0));
    run.change();
    assert_eq!(run.read(999).await, read("manifest 0", 1, 0));
    assert_eq!(run.read(1).await, read("manifest 1", 1, 1));
    assert_eq!(run.read(999).await, read("manifest 1", 1, 1));
}

#[tokio::test]
async fn a_stale_manifest_is_used_while_the_next_is_asked_for() {
    let run = Run::new(ManifestOptions {
        ttl_ms: 1000,
        stale_while_revalidate_ms: 5000,
    });
    assert_eq!(run.read(0).await, read("manifest 0", 1, 0));
    run.change();
    assert_eq!(run.read(2000).await, read("manifest 0", 1, 1));
    assert_eq!(run.read(0).await, read("manifest 1", 1, 1));
    // Too old even for that.
    run.change();
    assert_eq!(run.read(6000).await, read("manifest 2", 1, 2));
}

#[tokio::test]
async fn a_store_that_refuses_is_an_error_and_not_yesterdays_manifest() {
    let run = Run::new(ManifestOptions::default());
    run.read(0).await;
    run.store.is_down.store(true, Ordering::Relaxed);
    assert_eq!(run.read(0).await.0, "none");
}
