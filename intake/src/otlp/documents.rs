//! Documents of log records, made one at a time, and what there may be of them.

use std::borrow::Cow;
use std::sync::Arc;

use canter_formats::{Format, Hints, Layout};

use super::nesting::Problem;
use super::{Logs, LogsError, LogsLimits};

/// Most bytes that the documents of one request may have of what they share.
const MAX_SHARED_BYTES: usize = 128 << 20;

/// Problems that are kept: half a million records may have one each.
const MAX_TOLD: usize = 100;

/// A resource or a scope as JSON, `null` if there is none, or why it cannot be read.
pub(super) type Part<'b> = Result<Cow<'b, [u8]>, Problem>;

/// What the records of one scope have in common.
pub(super) struct Shared<'p> {
    resource: &'p Part<'p>,
    scope: &'p Part<'p>,
    /// The same as members of a document, once a record needs them.
    members: Option<Vec<u8>>,
}

impl<'p> Shared<'p> {
    pub(super) fn new(resource: &'p Part<'p>, scope: &'p Part<'p>) -> Self {
        Self {
            resource,
            scope,
            members: None,
        }
    }

    /// The resource and the scope, unless one of them takes all its records with it.
    fn parts(&self) -> Result<(&'p [u8], &'p [u8]), Problem> {
        match (self.resource, self.scope) {
            (Ok(resource), Ok(scope)) => Ok((resource, scope)),
            (Err(problem), _) | (_, Err(problem)) => Err(*problem),
        }
    }
}

/// The documents that were made so far.
pub(super) struct Documents<'l> {
    limits: &'l LogsLimits,
    layout: Layout,
    logs: Logs,
    num_records: usize,
    num_bytes: usize,
    num_shared_bytes: usize,
    /// A request with one record, as the layout takes it.
    request: Vec<u8>,
    scratch: Vec<u8>,
}

impl<'l> Documents<'l> {
    pub(super) fn new(limits: &'l LogsLimits) -> Self {
        Self {
            limits,
            layout: Layout::new(Format::OtlpJson, b',', Arc::new(Hints::default())),
            logs: Logs::default(),
            num_records: 0,
            num_bytes: 0,
            num_shared_bytes: 0,
            request: Vec::new(),
            scratch: Vec::new(),
        }
    }

    pub(super) fn finish(self) -> Logs {
        self.logs
    }

    /// Adds a record of `record_len` bytes, which `write_record` writes as JSON. It is only called if the record may be read.
    ///
    /// # Errors
    /// If the record is none, or if there is too much now. A record that cannot be taken by itself is a problem, and no error.
    pub(super) fn add(
        &mut self,
        shared: &mut Shared<'_>,
        record_len: usize,
        write_record: impl FnOnce(&mut Vec<u8>) -> Result<Result<(), Problem>, LogsError>,
    ) -> Result<(), LogsError> {
        self.num_records += 1;
        let max_records = self.limits.max_records;
        if self.num_records > max_records {
            return Err(LogsError::TooManyRecords { max_records });
        }
        let max_bytes = self.limits.max_document_bytes;
        let parts = match shared.parts() {
            Ok(_) if record_len > max_bytes => {
                let message =
                    format!("the log record has {record_len} bytes, more than {max_bytes}");
                self.note(message);
                return Ok(());
            }
            Ok(parts) => parts,
            Err(problem) => return self.reject(problem),
        };
        self.count_shared(parts)?;
        let members = match shared.members.take() {
            Some(members) => members,
            None => self.members_of(parts)?,
        };
        let members = shared.members.insert(members);
        self.request.clear();
        self.request
            .extend_from_slice(br#"{"scopeLogs":[{"logRecords":["#);
        if let Err(problem) = write_record(&mut self.request)? {
            return self.reject(problem);
        }
        self.request.extend_from_slice(b"]}]}");
        let mut made = Ok(None);
        self.layout
            .parse(&self.request, &mut self.scratch, &mut |parsed| {
                made = parsed.map(|object| Some(joined(object, members, max_bytes)));
            });
        match made {
            Ok(Some(Ok(document))) => self.take(document),
            Ok(Some(Err(num_bytes))) => {
                let message = format!("the document has {num_bytes} bytes, more than {max_bytes}");
                self.note(message);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(failure) => Err(LogsError::Malformed(format!(
                "log record {} is {}",
                self.num_records, failure.message
            ))),
        }
    }

    fn reject(&mut self, problem: Problem) -> Result<(), LogsError> {
        self.note(problem.message());
        Ok(())
    }

    fn note(&mut self, problem: String) {
        self.logs.num_rejected += 1;
        if self.logs.problems.len() < MAX_TOLD {
            self.logs.problems.push(problem);
        }
    }

    fn take(&mut self, document: Vec<u8>) -> Result<(), LogsError> {
        // Each is a line while it waits.
        self.num_bytes += document.len() + 1;
        let max_bytes = self.limits.max_bytes;
        if self.num_bytes > max_bytes {
            return Err(LogsError::TooLarge { max_bytes });
        }
        let max_bytes = self.limits.max_made_bytes;
        if self.num_bytes > max_bytes {
            return Err(LogsError::TooMuchMade { max_bytes });
        }
        self.logs.documents.push(document);
        Ok(())
    }

    /// Each document has all that its resource and scope say, so some kilobytes in gzip can be terabytes of documents.
    fn count_shared(&mut self, (resource, scope): (&[u8], &[u8])) -> Result<(), LogsError> {
        self.num_shared_bytes += resource.len() + scope.len();
        match self.num_shared_bytes {
            0..=MAX_SHARED_BYTES => Ok(()),
            _ => Err(LogsError::TooMuchShared {
                max_bytes: MAX_SHARED_BYTES,
            }),
        }
    }

    /// What a resource and a scope are in documents: that of a record which says nothing itself.
    fn members_of(&mut self, parts: (&[u8], &[u8])) -> Result<Vec<u8>, LogsError> {
        // It is made once for the scope, and then copied for each record.
        self.count_shared(parts)?;
        let (resource, scope) = parts;
        let request: [&[u8]; 5] = [
            br#"{"resource":"#,
            resource,
            br#","scopeLogs":[{"scope":"#,
            scope,
            br#","logRecords":[{}]}]}"#,
        ];
        let mut made = Ok(Vec::new());
        let request = request.concat();
        self.layout
            .parse(&request, &mut self.scratch, &mut |parsed| {
                made = parsed.map(|object| {
                    let members = object.strip_prefix(b"{").unwrap_or(object);
                    members.strip_suffix(b"}").unwrap_or(members).to_vec()
                });
            });
        made.map_err(|failure| {
            let message = failure.message;
            LogsError::Malformed(format!("a resource or scope is {message}"))
        })
    }
}

/// An object with more members, unless that is longer than `max_bytes`: then how long it is.
fn joined(object: &[u8], members: &[u8], max_bytes: usize) -> Result<Vec<u8>, usize> {
    let begin = object.strip_suffix(b"}").unwrap_or(object);
    let comma: &[u8] = match begin.len() > 1 && !members.is_empty() {
        true => b",",
        false => b"",
    };
    let pieces = [begin, comma, members, b"}"];
    let num_bytes = pieces.iter().map(|piece| piece.len()).sum();
    match num_bytes > max_bytes {
        true => Err(num_bytes),
        false => Ok(pieces.concat()),
    }
}
