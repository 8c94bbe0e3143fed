//! What pipelines may use.

/// Maximum number of processors of a pipeline, those in others included.
pub(crate) const MAX_PROCESSORS: usize = 1_000;

/// Maximum depth of processors in processors.
pub(crate) const MAX_DEPTH: usize = 10;

/// Maximum number of pipelines that call each other, one within the other.
pub(crate) const MAX_CALLS: usize = 10;

/// Maximum number of processors that run for one document.
pub(crate) const MAX_STEPS: u32 = 100_000;

/// Maximum size of the values that processors write into one document, together, in bytes.
pub(crate) const MAX_WRITTEN_BYTES: usize = 16 << 20;

/// Maximum number of steps back of one match of a regular expression.
pub(crate) const MAX_BACKTRACKS: usize = 200_000;

/// Maximum length of a regular expression after patterns are written out, in bytes.
pub(crate) const MAX_PATTERN_BYTES: usize = 256 << 10;

/// Maximum depth of values, and number of parts of a path.
pub(crate) const MAX_VALUE_DEPTH: usize = 100;
