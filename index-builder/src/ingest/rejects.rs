//! Lines that did not become documents: why, and where to find them.

use crate::error::BuildError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Of a rejected line, this much goes into the rejects file.
const MAX_DOCUMENT_NUM_BYTES: usize = 16 * 1024;

/// A line that did not become a document.
#[derive(Debug)]
pub(crate) struct Reject {
    pub(crate) line_num: u64,
    /// Where it begins in the uncompressed source.
    pub(crate) byte_offset: u64,
    /// Stable, in snake_case.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// The beginning of the line.
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_shortened: bool,
}

impl Reject {
    /// `line` may be shortened already, which `is_shortened` says.
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
            message,
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
    /// Instead of `document` if the line is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    document_base64: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    document_is_shortened: bool,
}

/// Counts rejects by reason, and writes them to a file that is made for the first one.
#[derive(Debug)]
pub(crate) struct RejectsFile {
    path: Option<PathBuf>,
    max_rejects: u64,
    writer: Option<BufWriter<File>>,
    by_reason: BTreeMap<String, u64>,
    num_rejects: u64,
}

impl RejectsFile {
    pub(crate) fn new(path: Option<PathBuf>, max_rejects: Option<u64>) -> RejectsFile {
        RejectsFile {
            path,
            max_rejects: max_rejects.unwrap_or(u64::MAX),
            writer: None,
            by_reason: BTreeMap::new(),
            num_rejects: 0,
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

    /// Takes over what an interrupted run has counted, and told in the same file.
    pub(crate) fn resume(&mut self, by_reason: BTreeMap<String, u64>) {
        self.num_rejects = by_reason.values().sum();
        self.by_reason = by_reason;
    }

    fn write(&mut self, source_name: &str, reject: &Reject) -> Result<(), BuildError> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let failed = |error: std::io::Error| {
            BuildError::unavailable(format!(
                "cannot write the rejects file `{}`",
                path.display()
            ))
            .caused_by(error)
        };
        if self.writer.is_none() {
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .map_err(failed)?;
            self.writer = Some(BufWriter::new(file));
        }
        let text = text_of(reject);
        let record = Record {
            file: source_name,
            line: reject.line_num,
            byte_offset: reject.byte_offset,
            reason: reject.reason,
            message: &reject.message,
            document: text,
            document_base64: text.is_none().then(|| BASE64.encode(&reject.bytes)),
            document_is_shortened: reject.is_shortened,
        };
        let mut line = serde_json::to_vec(&record).map_err(|error| {
            BuildError::internal("a reject cannot be written as JSON").caused_by(error)
        })?;
        line.push(b'\n');
        match &mut self.writer {
            Some(writer) => writer.write_all(&line).map_err(failed),
            None => Ok(()),
        }
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

    /// Writes what is buffered.
    pub(crate) fn flush(&mut self) -> Result<(), BuildError> {
        let (Some(writer), Some(path)) = (&mut self.writer, &self.path) else {
            return Ok(());
        };
        writer.flush().map_err(|error| {
            BuildError::unavailable(format!(
                "cannot write the rejects file `{}`",
                path.display()
            ))
            .caused_by(error)
        })
    }

    /// The file, if a line was written to it.
    pub(crate) fn written_path(&self) -> Option<PathBuf> {
        self.path.clone().filter(|_| self.num_rejects > 0)
    }

    pub(crate) fn by_reason(&self) -> BTreeMap<String, u64> {
        self.by_reason.clone()
    }
}

/// The document as text. Where it was cut in the middle of a character, the half is left out.
fn text_of(reject: &Reject) -> Option<&str> {
    match std::str::from_utf8(&reject.bytes) {
        Ok(text) => Some(text),
        Err(error) if reject.is_shortened && error.error_len().is_none() => {
            std::str::from_utf8(&reject.bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}
