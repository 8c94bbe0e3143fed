//! What container runtimes write: each line of a container in an envelope, which is taken off, so that what the
//! container itself writes is read in its own format.
//!
//! ```text
//! 2024-05-01T10:00:00.123456789Z stdout F level=info msg="as CRI writes it"
//! {"log":"as Docker's json-file does\n","stream":"stderr","time":"2024-05-01T10:00:00.123456789Z"}
//! ```
//!
//! A document has the envelope's time, which has a zone, and its stream, beside what the line inside says. A line that
//! the runtime cut in parts (`P`, or no `\n` at its end) is put together.
//! `https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md`,
//! `https://docs.docker.com/engine/logging/drivers/json-file/`

mod envelope;
mod parse;
mod splice;

pub(crate) use envelope::{is_cri, is_json_file};
pub(crate) use parse::Container;
