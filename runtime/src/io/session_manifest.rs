//! A session's reads of manifests: each is looked up and asked for as a whole, beside the ranges of the same wave.

use std::sync::Arc;

use canter_stores::Extent;
use canter_stores::ranges::planning::Request;

use super::flights::Table;
use super::manifest::{Manifest, fetch_manifest};
use super::reads::PendingRead;
use super::search_io::SearchIo;
use super::session_io::{Awaited, SessionIo};
use crate::cache::CachedPiece;
use crate::session::ByteClass;

/// What looking into the cache has brought.
pub(super) enum Looked {
    /// The cache was passed by.
    Nowhere,
    Pieces(Vec<CachedPiece>),
    Manifest(Manifest),
}

impl SearchIo {
    /// What the cache has of the manifest that `read` asks for.
    pub(super) async fn look_up_manifest(&self, read: &PendingRead) -> Manifest {
        // Asked for again, what came before was no good: neither the cache nor its version counts.
        if read.must_ask {
            return Manifest::Absent;
        }
        let _busy = self.shared.clock.enter_busy();
        let keeper = &self.shared.manifest;
        keeper.look_up(self, &read.request.object).await
    }
}

impl SessionIo {
    /// Gives `read` a cached manifest that may be used, or the one whose version is to be asked after.
    pub(super) fn take_manifest(&mut self, read: &mut PendingRead, found: Manifest) {
        let (is_hit, bytes) = match found {
            Manifest::Fresh(bytes) => (true, Some(bytes)),
            Manifest::Stale(bytes, kept) => {
                let io = Arc::clone(&self.io);
                let keeper = &self.io.shared.manifest;
                keeper.revalidate_behind(io, read.request.object.clone(), kept);
                (true, Some(bytes))
            }
            Manifest::Expired(kept) => {
                read.kept = Some(kept);
                (false, None)
            }
            Manifest::Absent => (false, None),
        };
        self.count_read(ByteClass::Manifest, is_hit);
        if let Some(bytes) = bytes {
            let whole = CachedPiece { offset: 0, bytes };
            read.take(&whole, &Extent::WHOLE);
        }
    }

    /// Joins the flight that brings this manifest, or launches one; nothing if the manifest is here.
    pub(super) fn launch_manifest(
        &self,
        table: &mut Table,
        read: &mut PendingRead,
    ) -> Option<Awaited> {
        if read.is_done() {
            return None;
        }
        let request = Request {
            object: read.request.object.clone(),
            bytes: Extent::WHOLE,
            class: ByteClass::Manifest,
            num_reads: 1,
            first_read_ord: 0,
        };
        let flights = &self.io.shared.flights;
        let (joined, _) = table.claim(&request.object, &request.bytes);
        let may_join = !read.must_ask && !read.is_alone;
        let joined = joined.into_iter().next().filter(|_| may_join);
        let is_ours = joined.is_none();
        let flight = joined.unwrap_or_else(|| {
            let (io, object) = (Arc::clone(&self.io), request.object.clone());
            let landing = fetch_manifest(io, object, read.kept.take());
            flights.launch(table, &request.object, request.bytes.clone(), landing)
        });
        Some(Awaited {
            request,
            flight,
            is_ours,
        })
    }
}
