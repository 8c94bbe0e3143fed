//! Bodies of requests: read within limits on time, length and total memory. Compressed ones are inflated on separate
//! threads, because a compressed kilobyte takes as long as a megabyte from the network.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::inflate::{Encoding, inflate};
use super::refusal::{Api, Refuse};

/// Maximum number of bodies that are inflated at once.
const INFLATED_AT_ONCE: usize = 2;

/// Limits on bodies.
pub(crate) struct Bodies {
    max_bytes: usize,
    max_time: Duration,
    max_held_bytes: usize,
    /// Permits for each byte that may still be held.
    free: Arc<Semaphore>,
    /// Permits for bodies that are inflated.
    inflating: Semaphore,
}

/// A body that was read, and its share of the held bytes until it is dropped.
pub(crate) struct HeldBody {
    pub(crate) bytes: Vec<u8>,
    share: Share,
}

impl HeldBody {
    /// Drops the bytes, and keeps the share for data derived from them.
    pub(crate) fn into_share(self) -> Share {
        self.share
    }
}

/// A share of the held bytes, released on drop.
#[derive(Default)]
pub(crate) struct Share(Option<OwnedSemaphorePermit>);

impl Share {
    /// Releases all but `num_bytes`.
    pub(crate) fn keep(&mut self, num_bytes: usize) {
        if let Some(share) = &mut self.0 {
            let extra = share.num_permits().saturating_sub(num_bytes);
            drop(share.split(extra));
        }
    }

    /// Adds free bytes to the share.
    fn grow(&mut self, free: &Arc<Semaphore>, num_bytes: usize) -> Result<(), Unread> {
        let num_bytes = u32::try_from(num_bytes).map_err(|_| Unread::NoRoom)?;
        let more = Arc::clone(free).try_acquire_many_owned(num_bytes);
        let more = more.map_err(|_| Unread::NoRoom)?;
        match &mut self.0 {
            Some(share) => share.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

/// Reason for an unread body.
pub(crate) enum Unread {
    /// It exceeds this number of bytes.
    TooLong(usize),
    NoRoom,
    TooSlow,
    BrokenOff(axum::Error),
    /// It does not match the encoding in its header, or is incomplete.
    Damaged(std::io::Error),
    /// Its encoding is unknown.
    Encoded(String),
}

impl Bodies {
    pub(crate) fn new(max_bytes: u64, max_time: Duration, max_held_bytes: u64) -> Self {
        let len = |num_bytes: u64| usize::try_from(num_bytes).unwrap_or(usize::MAX);
        let max_held_bytes = len(max_held_bytes).min(Semaphore::MAX_PERMITS);
        Self {
            max_bytes: len(max_bytes),
            max_time,
            max_held_bytes,
            free: Arc::new(Semaphore::new(max_held_bytes)),
            inflating: Semaphore::new(INFLATED_AT_ONCE),
        }
    }

    /// Returns the maximum length of a body.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Reads a whole body, and inflates it if its headers say that it is compressed.
    pub(crate) async fn read(&self, headers: &HeaderMap, body: Body) -> Result<HeldBody, Unread> {
        self.read_up_to(headers, body, self.max_bytes).await
    }

    /// Reads a whole body of at most `max_bytes`, inflated, whatever the general limit.
    pub(crate) async fn read_up_to(
        &self,
        headers: &HeaderMap,
        body: Body,
        max_bytes: usize,
    ) -> Result<HeldBody, Unread> {
        let max_bytes = max_bytes.min(self.max_bytes);
        let encoding = Encoding::of(headers).map_err(Unread::Encoded)?;
        // Incompressible data becomes slightly longer.
        let room = encoding.map_or(0, |_| max_bytes / 256 + 1024);
        let collecting = self.collect(body, max_bytes.saturating_add(room));
        let read = tokio::time::timeout(self.max_time, collecting).await;
        let read = read.unwrap_or(Err(Unread::TooSlow));
        let body = read.map_err(|unread| match unread {
            Unread::TooLong(_) => Unread::TooLong(max_bytes),
            unread => unread,
        })?;
        match encoding {
            None => Ok(body),
            Some(encoding) => self.inflate(encoding, body, max_bytes).await,
        }
    }

    async fn collect(&self, mut body: Body, max_bytes: usize) -> Result<HeldBody, Unread> {
        if body.size_hint().lower() > max_bytes as u64 {
            return Err(Unread::TooLong(max_bytes));
        }
        let mut bytes = Vec::new();
        let mut share = Share::default();
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let frame = frame.map_err(Unread::BrokenOff)?;
            // Trailers are ignored.
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if data.len() > max_bytes - bytes.len() {
                return Err(Unread::TooLong(max_bytes));
            }
            // Counted as bytes arrive, so that merely announcing a long body holds nothing.
            share.grow(&self.free, data.len())?;
            bytes.extend_from_slice(&data);
        }
        Ok(HeldBody { bytes, share })
    }

    /// Inflates a body on a thread that may block.
    async fn inflate(
        &self,
        encoding: Encoding,
        packed: HeldBody,
        max_bytes: usize,
    ) -> Result<HeldBody, Unread> {
        // The semaphore is never closed.
        let _turn = self.inflating.acquire().await.map_err(|_| Unread::NoRoom)?;
        let free = Arc::clone(&self.free);
        let inflating = tokio::task::spawn_blocking(move || {
            let (mut bytes, mut share) = (Vec::new(), Share::default());
            let inflated = inflate(encoding, &packed.bytes, &mut |part| {
                if part.len() > max_bytes - bytes.len() {
                    return Err(Unread::TooLong(max_bytes));
                }
                share.grow(&free, part.len())?;
                bytes.extend_from_slice(part);
                Ok(())
            });
            inflated.map(|()| HeldBody { bytes, share })
        });
        match inflating.await {
            Ok(inflated) => inflated,
            Err(error) => Err(Unread::Damaged(std::io::Error::other(error))),
        }
    }

    /// Returns the answer to a request whose body was not read.
    pub(crate) fn answer_to(&self, unread: &Unread, api: Api) -> Response {
        match unread {
            // A longer body cannot be a document, and no option permits it.
            Unread::TooLong(max_bytes) if *max_bytes < self.max_bytes => api.last_refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!("the body has more than the {max_bytes} bytes that such a request may have"),
            ),
            Unread::TooLong(max_bytes) => api.last_refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!(
                    "the body has more than {max_bytes} bytes: send or ask for less at once, or raise --max-body-bytes \
                     (--max-write-bytes for documents)"
                ),
            ),
            Unread::NoRoom => api.last_refusal(
                StatusCode::TOO_MANY_REQUESTS,
                &format!(
                    "the bodies of other requests take all of {} bytes: try again, or raise \
                     --max-held-bytes",
                    self.max_held_bytes
                ),
            ),
            Unread::TooSlow => api.last_refusal(
                StatusCode::REQUEST_TIMEOUT,
                &format!(
                    "the body had not come after {:?}: send it faster, or raise --body-timeout",
                    self.max_time
                ),
            ),
            Unread::Damaged(error) => api.refusal(
                StatusCode::BAD_REQUEST,
                &format!("the body could not be read: it does not match its content-encoding, or is incomplete ({error})"),
            ),
            Unread::Encoded(encoding) => api.last_refusal(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                &format!("bodies in {encoding:?} are not read: send gzip, zstd or none"),
            ),
            Unread::BrokenOff(error) => api.refusal(
                StatusCode::BAD_REQUEST,
                &format!("the body could not be read: {error}"),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read_in(bodies: &Bodies, encoding: &'static str, body: Vec<u8>) -> Result<HeldBody, u16> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let mut headers = HeaderMap::new();
        headers.insert("content-encoding", encoding.parse().unwrap());
        let reading = bodies.read(&headers, Body::from(body));
        let read = runtime.unwrap().block_on(reading);
        read.map_err(|unread| bodies.answer_to(&unread, Api::Quickwit).status().as_u16())
    }

    fn read(bodies: &Bodies, body: &'static str) -> Result<HeldBody, u16> {
        read_in(bodies, "identity", body.into())
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd_with_window(bytes: &[u8], window_log: u32) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(window_log).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn compressed_bodies_are_bounded_by_what_they_are() {
        let bodies = Bodies::new(1 << 20, Duration::from_secs(60), 3 << 20);
        let whole = vec![b'x'; 1 << 20];
        let longer = vec![b'x'; (1 << 20) + 1];
        type Packer = fn(&[u8]) -> Vec<u8>;
        let packers: [(&str, Packer); 3] = [
            ("gzip", gzip),
            ("GZIP", |bytes| {
                [gzip(&bytes[..7]), gzip(&bytes[7..])].concat()
            }),
            ("zstd", |bytes| zstd_with_window(bytes, 20)),
        ];
        for (encoding, pack) in packers {
            let packed = pack(&whole);
            assert_eq!(
                read_in(&bodies, encoding, packed.clone()).unwrap().bytes,
                whole
            );
            let cut = packed[..packed.len() - 3].to_vec();
            assert_eq!(
                read_in(&bodies, encoding, cut).err(),
                Some(400),
                "{encoding}"
            );
            let too_long = read_in(&bodies, encoding, pack(&longer));
            assert_eq!(too_long.err(), Some(413), "{encoding}");
            assert_eq!(bodies.free.available_permits(), 3 << 20);
        }
        assert_eq!(read_in(&bodies, "br", whole.clone()).err(), Some(415));
        // An incompressible body becomes slightly longer when it is compressed.
        let random: Vec<u8> = (0..1_u32 << 18)
            .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        let mut stored = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        stored.write_all(&random).unwrap();
        let stored = stored.finish().unwrap();
        assert!(stored.len() > random.len());
        assert_eq!(read_in(&bodies, "gzip", stored).unwrap().bytes, random);
        // Its decoder would allocate 128 MiB for the window that a few bytes request.
        let wide = zstd_with_window(&whole, 27);
        assert_eq!(read_in(&bodies, "zstd", wide).err(), Some(400));
        assert_eq!(bodies.free.available_permits(), 3 << 20);
    }

    #[test]
    fn bodies_share_what_may_be_held_and_give_it_back() {
        let bodies = Bodies::new(6, Duration::from_secs(60), 10);
        let held = read(&bodies, "123456").unwrap();
        assert_eq!(held.bytes, b"123456");
        assert_eq!(read(&bodies, "12345").err(), Some(429));
        let small = read(&bodies, "1234").unwrap();
        drop(held);
        assert!(read(&bodies, "12345").is_ok());
        drop(small);
        assert_eq!(read(&bodies, "1234567").err(), Some(413));
        assert_eq!(read(&bodies, "").unwrap().bytes, b"");
        assert_eq!(bodies.free.available_permits(), 10);
    }
}
