//! Logs as files store them: compressed, in archives, in UTF-16.

use canter_index_builder::fuzzing;

/// Reads all records of a file, and of the members of an archive.
pub fn stored_logs(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("log");
    std::fs::write(&path, bytes).expect("a file");
    let num_records = fuzzing::stored_logs(&path);
    // Compression may multiply them, but not without bounds for so few bytes.
    assert!(num_records < 1 << 24, "{num_records}");
}
