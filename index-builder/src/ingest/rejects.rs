//! Lines that did not become documents: the reasons, and the file that contains them.
//!
//! The file has a size limit, because input that is not logs at all (an image, say) would otherwise be written
//! there again, longer than it was. Rejects beyond the limit are still counted.

use crate::error::BuildError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Maximum number of bytes of a rejected line in the rejects file.
const MAX_DOCUMENT_NUM_BYTES: usize = 16 * 1024;
/// Maximum number of bytes of its message, which may name a key of the document.
const MAX_MESSAGE_NUM_BYTES: usize = 2 * 1024;
/// Maximum length of the last line of a full file, in bytes.
const MAX_CLOSING_NUM_BYTES: u64 = 512;

/// A line that did not become a document.
#[derive(Debug)]
pub(crate) struct Reject {
    pub(crate) line_num: u64,
    /// Its offset in the uncompressed source.
    pub(crate) byte_offset: u64,
    /// Stable, in snake_case.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// The beginning of the line.
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_shortened: bool,
}

impl Reject {
    /// `line` may be shortened already, in which case `is_shortened` is true.
    pub(crate) fn new(
        line_num: u64,
        byte_offset: u64,
        reason: &'static str,
        message: String,
        line: &[u8],
        is_shortened: bool,
    ) -> Reject {
        let kept = line.len().min(MAX_DOCUMENT_NUM_BYTES);
        Reject {
            line_num,
            byte_offset,
            reason,
            message: shortened(message),
            bytes: line[..kept].to_vec(),
            is_shortened: is_shortened || kept < line.len(),
        }
    }
}

/// One line of the rejects file.
#[derive(Serialize)]
struct Record<'a> {
    file: &'a str,
    line: u64,
    byte_offset: u64,
    reason: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<&'a str>,
    /// Replaces `document` if the line is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    document_base64: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    document_is_shortened: bool,
}

/// The last line of a full file.
#[derive(Serialize)]
struct Closing<'a> {
    reason: &'a str,
    message: String,
}

/// Counts rejects by reason, and writes them to a file, which is created for the first one.
#[derive(Debug)]
pub(crate) struct RejectsFile {
    path: Option<PathBuf>,
    max_rejects: u64,
    /// Maximum size of the file in bytes, including earlier ingests.
    max_num_bytes: u64,
    writer: Option<BufWriter<File>>,
    /// Current size of the file in bytes.
    num_bytes: u64,
    by_reason: BTreeMap<String, u64>,
    num_rejects: u64,
    /// Number of rejects that are not in the file because it is full.
    num_unwritten: u64,
}

impl RejectsFile {
    pub(crate) fn new(
        path: Option<PathBuf>,
        max_rejects: Option<u64>,
        max_num_bytes: u64,
    ) -> RejectsFile {
        RejectsFile {
            path,
            max_rejects: max_rejects.unwrap_or(u64::MAX),
            max_num_bytes,
            writer: None,
            num_bytes: 0,
            by_reason: BTreeMap::new(),
            num_rejects: 0,
            num_unwritten: 0,
        }
    }

    /// Fails when there are more rejects than allowed; this one is in the file then.
    pub(crate) fn add(&mut self, source_name: &str, reject: &Reject) -> Result<(), BuildError> {
        self.num_rejects += 1;
        match self.by_reason.get_mut(reject.reason) {
            Some(num) => *num += 1,
            None => drop(self.by_reason.insert(reject.reason.to_string(), 1)),
        }
        self.write(source_name, reject)?;
        if self.num_rejects > self.max_rejects {
            self.flush()?;
            return Err(self.too_many(source_name, reject));
        }
        Ok(())
    }

    /// Adopts the counts of an interrupted run with the same file.
    pub(crate) fn resume(&mut self, by_reason: BTreeMap<String, u64>, num_unwritten: u64) {
        self.num_rejects = by_reason.values().sum();
        self.by_reason = by_reason;
        self.num_unwritten = num_unwritten;
    }

    /// Writes a reject if there is room; after an omission, all later ones are omitted as well, so that readers of the
    /// file know which are missing.
    fn write(&mut self, source_name: &str, reject: &Reject) -> Result<(), BuildError> {
        if self.path.is_none() {
            return Ok(());
        }
        if self.num_unwritten > 0 {
            self.num_unwritten += 1;
            return Ok(());
        }
        if self.writer.is_none() {
            self.open()?;
        }
        let line = line_of(source_name, reject)?;
        let num_bytes = self.num_bytes + line.len() as u64;
        if num_bytes.saturating_add(MAX_CLOSING_NUM_BYTES) <= self.max_num_bytes {
            return self.append(&line);
        }
        self.num_unwritten = 1;
        if self.num_bytes.saturating_add(MAX_CLOSING_NUM_BYTES) > self.max_num_bytes {
            return Ok(());
        }
        let closing = Closing {
            reason: "rejects_file_full",
            message: format!(
                "the rejects that follow are counted and not written here: this file may have {} bytes",
                self.max_num_bytes
            ),
        };
        self.append(&json_line(&closing)?)
    }

    fn open(&mut self) -> Result<(), BuildError> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let open = || {
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            let num_bytes = file.metadata()?.len();
            Ok((file, num_bytes))
        };
        let (file, num_bytes) = open().map_err(|error| self.failed(error))?;
        (self.writer, self.num_bytes) = (Some(BufWriter::new(file)), num_bytes);
        Ok(())
    }

    fn append(&mut self, line: &[u8]) -> Result<(), BuildError> {
        self.num_bytes += line.len() as u64;
        let written = match &mut self.writer {
            Some(writer) => writer.write_all(line),
            None => Ok(()),
        };
        written.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: std::io::Error) -> BuildError {
        let path = self.path.clone().unwrap_or_default();
        let path = path.display();
        BuildError::unavailable(format!("cannot write the rejects file `{path}`")).caused_by(error)
    }

    fn too_many(&self, source_name: &str, last: &Reject) -> BuildError {
        let reasons: Vec<String> = self
            .by_reason
            .iter()
            .map(|(reason, num)| format!("{reason}: {num}"))
            .collect();
        let look = match &self.path {
            Some(path) => format!("look into `{}`", path.display()),
            None => "name a rejects file to see them".to_string(),
        };
        BuildError::limit(format!(
            "more than {} rejected lines ({}; the last is line {} of `{source_name}`: {}): nothing \
             was published; {look}, repair the input or raise max_rejects",
            self.max_rejects,
            reasons.join(", "),
            last.line_num,
            last.message,
        ))
    }

    /// Writes buffered data.
    pub(crate) fn flush(&mut self) -> Result<(), BuildError> {
        let flushed = match &mut self.writer {
            Some(writer) => writer.flush(),
            None => Ok(()),
        };
        flushed.map_err(|error| self.failed(error))
    }

    /// Returns the file, if a line was written to it.
    pub(crate) fn written_path(&self) -> Option<PathBuf> {
        self.path.clone().filter(|_| self.num_rejects > 0)
    }

    pub(crate) fn by_reason(&self) -> BTreeMap<String, u64> {
        self.by_reason.clone()
    }

    /// Returns the number of rejects that are not in the file because it is full.
    pub(crate) fn num_unwritten(&self) -> u64 {
        self.num_unwritten
    }
}

fn line_of(source_name: &str, reject: &Reject) -> Result<Vec<u8>, BuildError> {
    let text = text_of(reject);
    json_line(&Record {
        file: source_name,
        line: reject.line_num,
        byte_offset: reject.byte_offset,
        reason: reject.reason,
        message: &reject.message,
        document: text,
        document_base64: text.is_none().then(|| BASE64.encode(&reject.bytes)),
        document_is_shortened: reject.is_shortened,
    })
}

fn json_line(record: &impl Serialize) -> Result<Vec<u8>, BuildError> {
    let mut line = serde_json::to_vec(record).map_err(|error| {
        BuildError::internal("a reject cannot be written as JSON").caused_by(error)
    })?;
    line.push(b'\n');
    Ok(line)
}

fn shortened(mut message: String) -> String {
    if message.len() > MAX_MESSAGE_NUM_BYTES {
        message.truncate(message.floor_char_boundary(MAX_MESSAGE_NUM_BYTES));
        message.push('…');
    }
    message
}

/// Returns the document as text. If it was cut in the middle of a character, that character is left out.
fn text_of(reject: &Reject) -> Option<&str> {
    match std::str::from_utf8(&reject.bytes) {
        Ok(text) => Some(text),
        Err(error) if reject.is_shortened && error.error_len().is_none() => {
            std::str::from_utf8(&reject.bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}
