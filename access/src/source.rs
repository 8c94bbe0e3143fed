//! Where keys are written: a file, which may change, or a text that came from elsewhere.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

/// Where a text is read.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// In a file, which is read again by [`crate::Access::reload`].
    File(PathBuf),
    /// In a setting, such as an environment variable. It stays as it is.
    Setting {
        /// What errors call it.
        name: String,
        /// What it says.
        text: String,
    },
}

impl Source {
    /// Reads the text. `what` is what it is about.
    pub(super) fn read(&self, what: &str) -> Result<Cow<'_, str>, String> {
        match self {
            Self::File(path) => std::fs::read_to_string(path)
                .map(Cow::Owned)
                .map_err(|error| format!("cannot read {what} in {}: {error}", path.display())),
            Self::Setting { text, .. } => Ok(Cow::Borrowed(text)),
        }
    }

    /// What errors call it.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        match self {
            Self::File(path) => path.to_string_lossy(),
            Self::Setting { name, .. } => Cow::Borrowed(name),
        }
    }
}

/// The name only: a text may hold secrets.
impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Source({})", self.shown())
    }
}
