//! Sources of keys: a file, which may change, or a text from elsewhere.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

/// Source of a text.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// File, which [`crate::Access::reload`] reads again.
    File(PathBuf),
    /// Setting, such as an environment variable. It never changes.
    Setting {
        /// Name of the setting in error messages.
        name: String,
        /// Text of the setting.
        text: String,
    },
}

impl Source {
    /// Reads the text. `what` describes it in error messages.
    pub(super) fn read(&self, what: &str) -> Result<Cow<'_, str>, String> {
        match self {
            Self::File(path) => std::fs::read_to_string(path)
                .map(Cow::Owned)
                .map_err(|error| format!("cannot read {what} in {}: {error}", path.display())),
            Self::Setting { text, .. } => Ok(Cow::Borrowed(text)),
        }
    }

    /// Returns the name of the source for error messages.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        match self {
            Self::File(path) => path.to_string_lossy(),
            Self::Setting { name, .. } => Cow::Borrowed(name),
        }
    }
}

/// Shows the name only: the text may contain secrets.
impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Source({})", self.shown())
    }
}
