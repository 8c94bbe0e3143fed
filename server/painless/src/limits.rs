//! What a script may use.

/// Maximum length of a script in bytes, as in Elasticsearch.
pub const MAX_SCRIPT_BYTES: usize = 65_535;

/// Maximum number of steps of a run: each expression is one, and so are eight elements or characters that a method reads.
pub const MAX_STEPS: u64 = 1_000_000;

/// Maximum number of bytes that texts, lists and maps of a run take, those included that are no longer used.
pub(crate) const MAX_BYTES: usize = 32 << 20;

/// Maximum depth of expressions and of statements, each.
pub(crate) const MAX_DEPTH: u16 = 60;

/// Maximum number of expressions and statements that are being run, one within the other: functions nest them further.
pub(crate) const MAX_RUNNING: u16 = 300;

/// Maximum depth of values that are written out or compared.
pub(crate) const MAX_VALUE_DEPTH: usize = 100;
