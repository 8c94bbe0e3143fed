//! Lines of JSON-RPC on two streams: an invalid line is answered with an error.
//!
//! ```text
//!   input ─→ one line, of bounded length ─┬─ a message ─────────────────────→ the SDK
//!                                         ├─ a notification that is none ───→ nothing: it wants no answer
//!                                         └─ no JSON, or no message ─→ error ─┐
//!   output ←─ one line after the other ←──────────────────────────────────────┴── answers of the SDK
//! ```
//!
//! The SDK's own transport does not answer invalid JSON, so that a client would wait forever.

use std::io;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::exit::warn;

const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";

/// Maximum length of an error's reason, in characters.
const MAX_REASON_CHARS: usize = 300;

/// Messages on two streams.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    max_bytes: usize,
    /// The part of the current line read so far. A cancelled read continues here.
    line: Vec<u8>,
    /// True while the rest of an overlong line is skipped.
    is_discarding: bool,
    has_ended: bool,
    /// An answer to an invalid line, waiting to be written.
    refusal: Option<Line>,
    output: Option<mpsc::Sender<Line>>,
    writing: Option<JoinHandle<()>>,
}

/// A line to be written, and the task that waits for it.
struct Line {
    bytes: Vec<u8>,
    written: Option<oneshot::Sender<io::Result<()>>>,
}

/// Result of a read.
enum Step {
    Line,
    TooLong,
    End,
}

/// A parsed line.
#[derive(Debug)]
enum Read {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// A line that needs no answer.
    Ignored,
    Refused(Refusal),
}

/// Reason why a line is invalid.
#[derive(Debug, PartialEq)]
struct Refusal {
    code: ErrorCode,
    /// Id of the request, if known; otherwise null, as in JSON-RPC 2.0 (section 5).
    id: Value,
    reason: String,
}

impl<R: AsyncRead + Send + Unpin + 'static> Lines<R> {
    /// Reads lines of at most `max_bytes`, and starts the writer.
    pub(super) fn new<W>(input: R, output: W, max_bytes: usize) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, lines) = mpsc::channel(1);
        Self {
            input: BufReader::new(input),
            max_bytes,
            line: Vec::new(),
            is_discarding: false,
            has_ended: false,
            refusal: None,
            output: Some(sender),
            writing: Some(tokio::spawn(write_all(lines, output))),
        }
    }

    /// Reads until a line is complete. It may be cancelled, and continues where it was.
    async fn read_line(&mut self) -> io::Result<Step> {
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() {
                // A last line without a line feed is complete, too.
                let is_line = !self.line.is_empty() && !self.has_ended;
                self.has_ended = true;
                return Ok(if is_line { Step::Line } else { Step::End });
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = &read[..end.unwrap_or(read.len())];
            let num_taken = part.len() + usize::from(end.is_some());
            let was_discarding = self.is_discarding;
            let is_too_long = !was_discarding && self.line.len() + part.len() > self.max_bytes;
            if !was_discarding && !is_too_long {
                self.line.extend_from_slice(part);
            }
            self.input.consume(num_taken);
            if is_too_long {
                self.line = Vec::new();
                self.is_discarding = end.is_none();
                return Ok(Step::TooLong);
            }
            if end.is_some() {
                self.is_discarding = false;
                if !was_discarding {
                    return Ok(Step::Line);
                }
            }
        }
    }

    fn refuse(&mut self, refusal: Refusal) {
        let Refusal { code, id, reason } = refusal;
        let error = json!({"code": code.0, "message": reason});
        let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
        self.refusal = Some(Line {
            bytes: format!("{answer}\n").into_bytes(),
            written: None,
        });
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let closed = || io::Error::new(io::ErrorKind::NotConnected, "the session has ended");
            let mut bytes = serde_json::to_vec(&message)?;
            bytes.push(b'\n');
            let (sender, written) = oneshot::channel();
            let line = Line {
                bytes,
                written: Some(sender),
            };
            let output = output.ok_or_else(closed)?;
            output.send(line).await.map_err(|_| closed())?;
            written.await.map_err(|_| closed())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.refusal.is_some() {
                let room = self.output.as_ref()?.reserve().await.ok()?;
                if let Some(refusal) = self.refusal.take() {
                    room.send(refusal);
                }
            }
            match self.read_line().await {
                Ok(Step::Line) => {}
                Ok(Step::TooLong) => {
                    let reason = format!("a message has more than {} bytes", self.max_bytes);
                    warn(format_args!("{reason}, and is not read"));
                    self.refuse(Refusal::invalid(Value::Null, &reason));
                    continue;
                }
                Ok(Step::End) => return None,
                Err(error) => {
                    warn(format_args!("standard input cannot be read: {error}"));
                    return None;
                }
            }
            let read = read(&self.line);
            self.line.clear();
            match read {
                Read::Message(message) => return Some(*message),
                Read::Ignored => {}
                Read::Refused(refusal) => self.refuse(refusal),
            }
        }
    }

    /// Pending lines are written first.
    async fn close(&mut self) -> io::Result<()> {
        drop(self.output.take());
        match self.writing.take() {
            Some(writing) => writing.await.map_err(io::Error::other),
            None => Ok(()),
        }
    }
}

/// Writes lines until the channel closes. Each is written completely, even if its sender is gone.
async fn write_all<W: AsyncWrite + Unpin>(mut lines: mpsc::Receiver<Line>, mut output: W) {
    while let Some(Line { bytes, written }) = lines.recv().await {
        let result = match output.write_all(&bytes).await {
            Ok(()) => output.flush().await,
            Err(error) => Err(error),
        };
        if let Some(written) = written {
            let _ = written.send(result);
        }
    }
}

impl Refusal {
    fn invalid(id: Value, reason: &str) -> Self {
        Self {
            code: ErrorCode::INVALID_REQUEST,
            id,
            reason: reason.chars().take(MAX_REASON_CHARS).collect(),
        }
    }
}

/// Parses a line without its end.
fn read(line: &[u8]) -> Read {
    let line = line.strip_prefix(UTF8_BOM).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Read::Ignored;
    }
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => {
            return Read::Refused(Refusal {
                code: ErrorCode::PARSE_ERROR,
                id: Value::Null,
                reason: format!("a message is a line of JSON, which this is not: {error}"),
            });
        }
    };
    let Some(fields) = message.as_object() else {
        let reason = match message.is_array() {
            true => "a message is one object: send the requests of a batch in lines of their own",
            false => "a message is an object",
        };
        return Read::Refused(Refusal::invalid(Value::Null, reason));
    };
    let given = fields.get("id");
    let is_id = |id: &&Value| id.is_string() || id.is_i64();
    let id = given.filter(is_id).cloned().unwrap_or_default();
    let has_method = fields.get("method").is_some_and(Value::is_string);
    // Answering something that is meant as an answer could loop forever.
    let is_answer = !fields.contains_key("method")
        && (fields.contains_key("result") || fields.contains_key("error"));
    let has_id = given.is_some();
    match serde_json::from_value(message) {
        // The SDK takes a request with an invalid id for a notification, and does not answer.
        Ok(JsonRpcMessage::Notification(_)) if has_id => {
            let reason = "the `id` of a request is text or a whole number";
            Read::Refused(Refusal::invalid(id, reason))
        }
        Ok(message) => Read::Message(Box::new(message)),
        Err(_) if is_answer || (has_method && !has_id) => Read::Ignored,
        Err(error) => {
            let reason = format!("this is no message of JSON-RPC 2.0: {error}");
            Read::Refused(Refusal::invalid(id, &reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(future)
    }

    /// Processes an input; returns the number of messages for the SDK, and the written lines.
    fn run(input: &'static [u8], max_bytes: usize) -> (usize, Vec<Value>) {
        block_on(async {
            let (output, mut written) = tokio::io::duplex(1 << 16);
            let mut lines = Lines::new(input, output, max_bytes);
            let mut num_messages = 0;
            while lines.receive().await.is_some() {
                num_messages += 1;
            }
            lines.close().await.unwrap();
            let mut text = String::new();
            tokio::io::AsyncReadExt::read_to_string(&mut written, &mut text)
                .await
                .unwrap();
            let answers = text.lines();
            let answers = answers.map(|line| serde_json::from_str(line).unwrap());
            (num_messages, answers.collect())
        })
    }

    fn codes(answers: &[Value]) -> Vec<(i64, Value)> {
        let answers = answers.iter();
        let code = |answer: &Value| {
            assert_eq!(answer["jsonrpc"], "2.0");
            assert!(answer.as_object().unwrap().contains_key("id"), "{answer}");
            (
                answer["error"]["code"].as_i64().unwrap(),
                answer["id"].clone(),
            )
        };
        answers.map(code).collect()
    }

    #[test]
    fn what_is_no_message_is_answered_and_what_wants_no_answer_is_not() {
        let check = |line: &'static str, expect: &[(i64, Value)]| {
            let (_, answers) = run(line.as_bytes(), 1000);
            assert_eq!(codes(&answers), expect, "{line}");
        };
        let parse = [(-32_700, Value::Null)];
        let invalid = |id: Value| (-32_600, id);
        check("{", &parse);
        check("nonsense\n", &parse);
        check(
            "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\"\n}\n",
            &[parse.clone(), parse.clone()].concat(),
        );
        check(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} {}\n",
            &parse,
        );
        check("[]\n", &[invalid(Value::Null)]);
        check(
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n",
            &[invalid(Value::Null)],
        );
        check("5\n", &[invalid(Value::Null)]);
        check("{}\n", &[invalid(Value::Null)]);
        check("{\"id\":7,\"method\":\"ping\"}\n", &[invalid(json!(7))]);
        check(
            "{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}\n",
            &[invalid(json!("a"))],
        );
        check("{\"jsonrpc\":\"2.0\",\"id\":7}\n", &[invalid(json!(7))]);
        check(
            "{\"jsonrpc\":\"2.0\",\"method\":1}\n",
            &[invalid(Value::Null)],
        );
        for id in ["null", "1.5", "{}", "[1]", "true"] {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
            let refused =
                matches!(read(line.as_bytes()), Read::Refused(refusal) if refusal.id.is_null());
            assert!(refused, "{line}");
        }
        check("\n  \r\n\n", &[]);
        check(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/none\",\"params\":5}\n",
            &[],
        );
        check("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":5}\n", &[]);
        check(
            "{\"id\":null,\"error\":{\"code\":-32700,\"message\":\"m\"}}\n",
            &[],
        );
    }

    #[test]
    fn messages_come_through_between_lines_that_are_none() {
        let input =
            b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\nnonsense\n\xff\n\
                      {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}";
        let (num_messages, answers) = run(input, 1000);
        assert_eq!(num_messages, 2);
        let parse = (-32_700, Value::Null);
        assert_eq!(codes(&answers), [parse.clone(), parse]);
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_and_not_kept() {
        const PING: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        let max_bytes = PING.len() - 1;
        let long: &'static [u8] = [PING, &[b'x'; 100_000], b"\n", PING].concat().leak();
        let (num_messages, answers) = run(long, max_bytes);
        assert_eq!(num_messages, 2);
        assert_eq!(codes(&answers), [(-32_600, Value::Null)]);
        let (num_messages, answers) = run(PING, max_bytes - 1);
        assert_eq!((num_messages, answers.len()), (0, 1));
        // An endless line.
        let (num_messages, answers) = run(vec![b'x'; 100_000].leak(), 10);
        assert_eq!((num_messages, answers.len()), (0, 1));
    }
}
