//! A session's read of the manifest.

use std::sync::Arc;

use bytes::Bytes;
use canter_stores::Extent;
use canter_stores::ranges::planning::Request;

use super::manifest::{Manifest, fetch_manifest};
use super::reads::{PendingRead, fail_rest};
use super::session_io::{Awaited, MAX_ROUNDS, SessionIo};
use crate::fetch::FetchErrorKind;
use crate::profile::Wave;
use crate::session::{ByteClass, ReadRequest, Supply, SupplyResult};

impl SessionIo {
    /// The manifest: from the cache, revalidated, or fetched.
    pub(super) async fn read_manifest(&mut self, read: ReadRequest, wave: &mut Wave) -> Supply {
        let io = Arc::clone(&self.io);
        // Asked for again, what came before was no good: neither the cache nor its version counts.
        let must_ask = !self.asked.insert((read.object.clone(), Extent::WHOLE));
        let found = match must_ask {
            true => Manifest::Absent,
            false => {
                let _busy = io.shared.clock.enter_busy();
                io.shared.manifest.look_up(&io, &read.object).await
            }
        };
        let kept = match found {
            Manifest::Fresh(bytes) => {
                self.count_read(ByteClass::Manifest, true);
                return supply(&read, bytes);
            }
            Manifest::Stale(bytes, kept) => {
                self.count_read(ByteClass::Manifest, true);
                let keeper = &self.io.shared.manifest;
                keeper.revalidate_behind(io, read.object.clone(), kept);
                return supply(&read, bytes);
            }
            Manifest::Expired(kept) => Some(kept),
            Manifest::Absent => None,
        };
        self.count_read(ByteClass::Manifest, false);
        let mut reads = [PendingRead::new(read)];
        let request = Request {
            object: reads[0].request.object.clone(),
            bytes: reads[0].bytes.clone(),
            class: ByteClass::Manifest,
            num_reads: 1,
            first_read_ord: 0,
        };
        let mut kept = kept;
        for round in 0..MAX_ROUNDS {
            if reads[0].is_done() {
                break;
            }
            let wave_ord = self.waves_before + self.profile.num_waves;
            if let Err(what) = io.gate.admit_wave(wave_ord) {
                fail_rest(&mut reads, FetchErrorKind::Budget, &what);
                break;
            }
            let awaited = {
                let flights = &io.shared.flights;
                let mut table = flights.lock();
                let object = &request.object;
                let (joined, _) = table.claim(object, &request.bytes);
                let joined = joined.into_iter().next().filter(|_| !must_ask);
                let (flight, is_ours) = match joined {
                    Some(flight) => (flight, false),
                    None => {
                        let landing = fetch_manifest(io.clone(), object.clone(), kept.take());
                        let bytes = request.bytes.clone();
                        (flights.launch(&mut table, object, bytes, landing), true)
                    }
                };
                Awaited {
                    request: request.clone(),
                    flight,
                    is_ours,
                }
            };
            let is_last = round + 1 == MAX_ROUNDS;
            self.await_all(vec![awaited], &mut reads, is_last, wave)
                .await;
        }
        fail_rest(
            &mut reads,
            FetchErrorKind::Unavailable,
            "the fetcher gave no answer",
        );
        let [read] = reads;
        read.into_supply()
    }
}

fn supply(read: &ReadRequest, bytes: Bytes) -> Supply {
    Supply {
        id: read.id,
        outcome: SupplyResult::Bytes(bytes),
    }
}
