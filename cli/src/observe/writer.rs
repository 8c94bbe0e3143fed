//! Standard error for log lines, with anything that looks like a credential removed.
//!
//! The runtime's own spans contain none. This is the last line of defence, for libraries whose log
//! lines pass the filter.

use std::io::{self, Write};

use canter_runtime::observe::redact;
use tracing_subscriber::fmt::MakeWriter;

/// Creates writers to standard error.
pub(super) struct RedactedStderr;

impl<'a> MakeWriter<'a> for RedactedStderr {
    type Writer = RedactedLine<io::Stderr>;

    fn make_writer(&'a self) -> Self::Writer {
        RedactedLine(io::stderr())
    }
}

/// Writes each line at once. The formatter passes whole lines.
pub(super) struct RedactedLine<W>(W);

impl<W: Write> Write for RedactedLine<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = redact(&String::from_utf8_lossy(line));
        self.0.write_all(text.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_written_whole_and_without_credentials() {
        let mut out = Vec::new();
        let line = b"DEBUG hyper: GET https://host/a?X-Amz-Signature=0123 took 3 ms\n";
        let written = RedactedLine(&mut out).write(line).unwrap();
        assert_eq!(written, line.len());
        assert_eq!(out, b"DEBUG hyper: GET https://host/a?REDACTED took 3 ms\n");
    }
}
