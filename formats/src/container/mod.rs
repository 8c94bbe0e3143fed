//! Logs of container runtimes: each line of a container is in an envelope, which is removed, so that the
//! container's own output is parsed in its own format.
//!
//! ```text
//! 2024-05-01T10:00:00.123456789Z stdout F level=info msg="as CRI writes it"
//! {"log":"as Docker's json-file does\n","stream":"stderr","time":"2024-05-01T10:00:00.123456789Z"}
//! ```
//!
//! A document has the envelope's time, which includes a zone, and its stream, in addition to the fields of the line
//! inside. A line that the runtime split into parts (`P`, or no `\n` at its end) is joined.
//! `https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md`,
//! `https://docs.docker.com/engine/logging/drivers/json-file/`

mod envelope;
mod splice;

pub(crate) use envelope::{Opened, is_cri, is_json_file, is_part, open, stream};
pub(crate) use splice::append_members;
