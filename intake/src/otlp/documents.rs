//! Conversion of log records into documents, one at a time, within limits.

use std::borrow::Cow;
use std::sync::Arc;

use canter_formats::{Format, Hints, Layout};

use super::nesting::Problem;
use super::{Logs, LogsError, LogsLimits};

/// Maximum size of resources and scopes, summed over all documents of a request.
const MAX_SHARED_BYTES: usize = 128 << 20;

/// Maximum number of problems to report: half a million records may each have one.
const MAX_TOLD: usize = 100;

/// Resource or scope as JSON (`null` if absent), or the problem that makes it unreadable.
pub(super) type Encoded<'b> = Result<Cow<'b, [u8]>, Problem>;

/// Resource and scope of the records of one scope.
pub(super) struct Shared<'p> {
    resource: &'p Encoded<'p>,
    scope: &'p Encoded<'p>,
    /// Resource and scope as members of a document, computed for the first record that needs them.
    members: Option<Vec<u8>>,
}

impl<'p> Shared<'p> {
    pub(super) fn new(resource: &'p Encoded<'p>, scope: &'p Encoded<'p>) -> Self {
        Self {
            resource,
            scope,
            members: None,
        }
    }

    /// Returns the resource and the scope; a problem of either rejects all their records.
    fn parts(&self) -> Result<(&'p [u8], &'p [u8]), Problem> {
        match (self.resource, self.scope) {
            (Ok(resource), Ok(scope)) => Ok((resource, scope)),
            (Err(problem), _) | (_, Err(problem)) => Err(*problem),
        }
    }
}

/// Documents made so far.
pub(super) struct Documents<'l> {
    limits: &'l LogsLimits,
    layout: Layout,
    logs: Logs,
    num_records: usize,
    num_bytes: usize,
    num_shared_bytes: usize,
    /// Request with a single record, as input for the layout.
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

    /// Adds a record of `record_len` bytes, which `write_record` writes as JSON. Calls
    /// `write_record` only if the limits permit.
    ///
    /// # Errors
    /// The record cannot be parsed, or a limit of the request is exceeded. A record that is
    /// rejected by itself is a problem, not an error.
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
        // Each document waits as a line.
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

    /// Counts the bytes of resource and scope. Each document repeats them, so that a few kilobytes
    /// of gzip can become terabytes of documents.
    fn count_shared(&mut self, (resource, scope): (&[u8], &[u8])) -> Result<(), LogsError> {
        self.num_shared_bytes += resource.len() + scope.len();
        match self.num_shared_bytes {
            0..=MAX_SHARED_BYTES => Ok(()),
            _ => Err(LogsError::TooMuchShared {
                max_bytes: MAX_SHARED_BYTES,
            }),
        }
    }

    /// Returns resource and scope as members of a document, taken from that of an empty record.
    fn members_of(&mut self, parts: (&[u8], &[u8])) -> Result<Vec<u8>, LogsError> {
        // They are made once for a scope and copied for each record.
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

/// Adds members to an object. If the result would exceed `max_bytes`, returns its length as the
/// error.
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
