//! Objects of buckets as sources: several are read ahead, each is streamed, and resumes where it broke off.
//!
//! ```text
//!   one task:    object i + 2 ──▶ up to 4 MiB ┐
//!                object i + 1 ──▶ up to 4 MiB ├─ in the order of the list ──▶ reader of records
//!                object i     ──▶ up to 4 MiB ┘
//! ```
//!
//! Each object has its own buffer, so that no object waits for room that a later one holds.

use crate::blocking;
use crate::error::BuildError;
use bytes::Bytes;
use futures_util::StreamExt;
use object_store::{Error, GetOptions, GetRange, ObjectMeta, ObjectStore};
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

/// Maximum number of objects that are read at once, including the one that is being parsed.
const OBJECTS_AT_ONCE: usize = 16;
/// Maximum number of bytes of each that wait to be parsed.
const ROOM_OF_OBJECT: usize = 4 << 20;
/// Maximum number of failures of a read without a byte in between.
const MAX_FAILURES: u32 = 5;
/// Each further one is twice as long.
const FIRST_PAUSE: Duration = match cfg!(test) {
    true => Duration::from_millis(1),
    false => Duration::from_millis(100),
};

/// An object as it was listed.
#[derive(Clone, Debug)]
pub(crate) struct ObjectPlace {
    store: Arc<dyn ObjectStore>,
    /// The bucket's URI.
    bucket: Arc<str>,
    meta: ObjectMeta,
}

impl ObjectPlace {
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        bucket: Arc<str>,
        mut meta: ObjectMeta,
    ) -> ObjectPlace {
        // Some stores report an empty ETag for objects that were uploaded in other ways.
        meta.e_tag = meta.e_tag.filter(|tag| !tag.trim_matches('"').is_empty());
        ObjectPlace {
            store,
            bucket,
            meta,
        }
    }

    pub(crate) fn uri(&self) -> String {
        format!("{}/{}", self.bucket, self.meta.location)
    }

    pub(crate) fn key(&self) -> &str {
        self.meta.location.as_ref()
    }

    pub(crate) fn len(&self) -> u64 {
        self.meta.size
    }

    pub(crate) fn modified(&self) -> SystemTime {
        self.meta.last_modified.into()
    }

    /// Returns the object's version, which identifies its bytes together with its URI.
    pub(crate) fn version(&self) -> String {
        let size = self.meta.size;
        match (&self.meta.e_tag, &self.meta.version) {
            (Some(e_tag), _) => format!("etag {e_tag} {size}"),
            (None, Some(version)) => format!("version {version} {size}"),
            (None, None) => {
                let modified = self.meta.last_modified.timestamp_micros();
                format!("modified {modified} {size}")
            }
        }
    }

    /// Returns the options to request the bytes from `place` on.
    fn options(&self, place: u64) -> GetOptions {
        let mut options = GetOptions::default();
        // A weak one never matches; it is compared with that of the answer.
        let strong = self
            .meta
            .e_tag
            .as_ref()
            .filter(|tag| !tag.starts_with("W/"));
        options.if_match = strong.cloned();
        options.range = (place > 0).then_some(GetRange::Offset(place));
        options
    }

    /// Reads a range of the listed version.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "only Parquet is read by ranges")
    )]
    pub(super) fn read_range(&self, range: Range<u64>) -> io::Result<Bytes> {
        let read = async {
            let mut num_failures = 0;
            loop {
                let mut options = self.options(0);
                options.range = Some(GetRange::Bounded(range.clone()));
                let answer = self.store.get_opts(&self.meta.location, options).await;
                let failure = match answer {
                    Ok(answer) if !self.is_same(&answer.meta) => return Err(changed(self)),
                    Ok(answer) => match answer.bytes().await {
                        Ok(bytes) => return Ok(bytes),
                        Err(error) => error,
                    },
                    Err(error @ (Error::Precondition { .. } | Error::NotFound { .. })) => {
                        return Err(changed(self).caused_by(error));
                    }
                    Err(
                        error @ (Error::PermissionDenied { .. } | Error::Unauthenticated { .. }),
                    ) => return Err(denied(self).caused_by(error)),
                    Err(error) => error,
                };
                num_failures += 1;
                if num_failures >= MAX_FAILURES {
                    let uri = self.uri();
                    let failed = format!("cannot read `{uri}`; nothing was published");
                    return Err(BuildError::unavailable(failed).caused_by(failure));
                }
                tokio::time::sleep(FIRST_PAUSE * 2_u32.pow(num_failures - 1)).await;
            }
        };
        blocking::run(read).map_err(|error| io::Error::other(StoreFailure(error)))
    }

    fn is_same(&self, answered: &ObjectMeta) -> bool {
        match (&self.meta.e_tag, &answered.e_tag) {
            (Some(listed), Some(found)) => listed == found,
            _ => answered.last_modified == self.meta.last_modified,
        }
    }
}

/// Part of an object's stream.
enum Part {
    /// The answer has begun.
    Begun,
    Bytes(Bytes),
    /// The object was listed, and does not exist any more.
    Gone,
    Failed(BuildError),
    End,
}

/// Reads objects before they are needed.
pub(crate) struct ReadAhead {
    ready: UnboundedReceiver<ObjectReader>,
}

impl ReadAhead {
    /// Starts reading objects, in order.
    pub(crate) fn start(objects: Vec<ObjectPlace>) -> Result<ReadAhead, BuildError> {
        let (to_reader, ready) = unbounded_channel();
        if !objects.is_empty() {
            blocking::runtime()?.spawn(read_ahead(objects, to_reader));
        }
        Ok(ReadAhead { ready })
    }

    /// Returns the next object; `None` if it does not exist any more.
    pub(crate) fn next(&mut self) -> Result<Option<ObjectReader>, BuildError> {
        let ended = || BuildError::internal("the task that reads objects has ended too early");
        let mut object = self.ready.blocking_recv().ok_or_else(ended)?;
        match object.parts.blocking_recv() {
            Some(Part::Begun) => Ok(Some(object)),
            Some(Part::Gone) => Ok(None),
            Some(Part::Failed(error)) => Err(error),
            Some(Part::Bytes(_) | Part::End) | None => Err(ended()),
        }
    }
}

/// Runs until every object is read or the receiver is gone.
async fn read_ahead(objects: Vec<ObjectPlace>, to_reader: UnboundedSender<ObjectReader>) {
    let at_once = Arc::new(Semaphore::new(OBJECTS_AT_ONCE));
    let mut reads = JoinSet::new();
    for object in objects {
        let Ok(turn) = Arc::clone(&at_once).acquire_owned().await else {
            break;
        };
        let (sender, parts) = unbounded_channel();
        let room = Arc::new(Semaphore::new(ROOM_OF_OBJECT));
        let reader = ObjectReader {
            parts,
            part: Bytes::new(),
            held: 0,
            room: Arc::clone(&room),
            is_ended: false,
            _turn: turn,
        };
        if to_reader.send(reader).is_err() {
            break;
        }
        reads.spawn(async move {
            let last = match read_object(&object, &sender, &room).await {
                Ok(part) => part,
                Err(error) => Part::Failed(error),
            };
            // The receiver may be gone.
            let _ = sender.send(last);
        });
        while reads.try_join_next().is_some() {}
    }
    while reads.join_next().await.is_some() {}
}

/// Passes on the bytes of an object; returns its last part.
async fn read_object(
    object: &ObjectPlace,
    to: &UnboundedSender<Part>,
    room: &Semaphore,
) -> Result<Part, BuildError> {
    let (mut place, mut num_failures, mut has_begun) = (0, 0, false);
    loop {
        let failure = match object
            .store
            .get_opts(&object.meta.location, object.options(place))
            .await
        {
            Ok(result) if !object.is_same(&result.meta) => return Err(changed(object)),
            Ok(result) => {
                if !has_begun && to.send(Part::Begun).is_err() {
                    return Ok(Part::End);
                }
                has_begun = true;
                let before = place;
                let mut body = result.into_stream();
                let ended = loop {
                    match body.next().await {
                        None => break None,
                        Some(Err(error)) => break Some(error),
                        Some(Ok(bytes)) => {
                            place += bytes.len() as u64;
                            if !pass_on(bytes, to, room).await {
                                return Ok(Part::End);
                            }
                        }
                    }
                };
                if place >= object.meta.size {
                    return match place == object.meta.size {
                        true => Ok(Part::End),
                        false => Err(changed(object)),
                    };
                }
                if place > before {
                    num_failures = 0;
                }
                ended
            }
            Err(Error::NotFound { .. }) if !has_begun => return Ok(Part::Gone),
            Err(error @ (Error::Precondition { .. } | Error::NotFound { .. })) => {
                return Err(changed(object).caused_by(error));
            }
            Err(error @ (Error::PermissionDenied { .. } | Error::Unauthenticated { .. })) => {
                return Err(denied(object).caused_by(error));
            }
            Err(error) => Some(error),
        };
        num_failures += 1;
        if num_failures >= MAX_FAILURES {
            let failed = BuildError::unavailable(format!(
                "cannot read `{}` beyond byte {place} of {}; nothing was published",
                object.uri(),
                object.meta.size
            ));
            return Err(match failure {
                Some(failure) => failed.caused_by(failure),
                None => failed,
            });
        }
        tokio::time::sleep(FIRST_PAUSE * 2_u32.pow(num_failures - 1)).await;
    }
}

/// Waits for room; returns false if the receiver is gone.
async fn pass_on(mut bytes: Bytes, to: &UnboundedSender<Part>, room: &Semaphore) -> bool {
    while !bytes.is_empty() {
        let part = bytes.split_to(bytes.len().min(ROOM_OF_OBJECT));
        let len = u32::try_from(part.len()).unwrap_or(u32::MAX);
        let Ok(permit) = room.acquire_many(len).await else {
            return false;
        };
        permit.forget();
        if to.send(Part::Bytes(part)).is_err() {
            return false;
        }
    }
    true
}

fn changed(object: &ObjectPlace) -> BuildError {
    BuildError::unavailable(format!(
        "`{}` has changed since it was listed: run the same again, which reads it as it is now",
        object.uri()
    ))
    .of_replaced_input()
}

fn denied(object: &ObjectPlace) -> BuildError {
    BuildError::unavailable(format!(
        "cannot read `{}`: access denied; the credentials need the right to read this object (on S3 s3:GetObject, \
         and kms:Decrypt for its key if it is encrypted with one; on GCS storage.objects.get; on Azure Storage Blob \
         Data Reader); nothing was published",
        object.uri()
    ))
}

/// The bytes of an object, one part after another. Reads block.
pub(crate) struct ObjectReader {
    parts: UnboundedReceiver<Part>,
    part: Bytes,
    /// Amount of room that this part has taken.
    held: usize,
    room: Arc<Semaphore>,
    is_ended: bool,
    /// Another object is started when this one is done.
    _turn: OwnedSemaphorePermit,
}

impl ObjectReader {
    /// Returns whether it begins with `magic`; consumes nothing.
    pub(super) fn begins_with(&mut self, magic: &[u8]) -> io::Result<bool> {
        let mut beginning = Vec::new();
        while beginning.len() < magic.len() && self.receive()? {
            // Parts are seldom so short.
            beginning.extend_from_slice(&std::mem::take(&mut self.part));
        }
        let begins = beginning.starts_with(magic);
        self.part = beginning.into();
        Ok(begins)
    }

    /// Waits for the next part; returns false at the end.
    fn receive(&mut self) -> io::Result<bool> {
        if self.is_ended {
            return Ok(false);
        }
        match self.parts.blocking_recv() {
            Some(Part::Bytes(part)) => {
                self.held += part.len();
                self.part = part;
            }
            Some(Part::End) => self.is_ended = true,
            Some(Part::Failed(error)) => return Err(io::Error::other(StoreFailure(error))),
            Some(Part::Begun | Part::Gone) | None => {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(!self.is_ended)
    }
}

impl Read for ObjectReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.part.is_empty() && !self.is_ended {
            self.room.add_permits(std::mem::take(&mut self.held));
            self.receive()?;
        }
        let len = self.part.len().min(out.len());
        out[..len].copy_from_slice(&self.part.split_to(len));
        Ok(len)
    }
}

impl Drop for ObjectReader {
    fn drop(&mut self) {
        // Tasks that wait for room see that the reader is gone.
        self.room.close();
    }
}

/// A failure of a store that passes through a reader: the object is not damaged, but could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct StoreFailure(BuildError);

/// Returns the failure of reading an object that was replaced since it was listed.
#[cfg(test)]
pub(crate) fn failure_of_replaced(object: &ObjectPlace) -> io::Error {
    io::Error::other(StoreFailure(changed(object)))
}

impl StoreFailure {
    pub(super) fn into_inner(self) -> BuildError {
        self.0
    }
}
