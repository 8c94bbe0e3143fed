//! Options of connections to web servers.

use std::time::Duration;

use super::MAX_WHOLE_OBJECT_BYTES;

/// Settings of the fetcher for web servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// Maximum time to connect.
    pub connect_timeout: Duration,
    /// Maximum time to wait for the next bytes of an answer.
    pub read_timeout: Duration,
    /// Maximum length of a read to the end of an object.
    pub max_whole_object_bytes: u64,
}

impl Default for HttpOptions {
    /// Defaults to 10 s to connect, 30 s without a byte, and 64 MiB.
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            max_whole_object_bytes: MAX_WHOLE_OBJECT_BYTES,
        }
    }
}
