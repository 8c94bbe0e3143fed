//! Substitute for transforms in builds without them.

use super::Outcome;
use crate::error::BuildError;
use canter_split_format::SourceId;

/// A program in VRL: there is none in this build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transform(Infallible);

type Infallible = std::convert::Infallible;

impl Transform {
    /// Returns the error that this build has no transforms.
    ///
    /// # Errors
    /// `Invalid`, always.
    pub fn compile(name: &str, _: &str) -> Result<Transform, BuildError> {
        Err(BuildError::invalid(format!(
            "`{name}` cannot be run, because this program was built without transforms: build it with the feature \
             `vrl` (`cargo xtask dist` does)"
        )))
    }

    /// Returns the compiler's warnings about an accepted program.
    #[must_use]
    pub fn warnings(&self) -> Option<&str> {
        match self.0 {}
    }

    pub(crate) fn fingerprint(&self) -> String {
        match self.0 {}
    }

    pub(crate) fn source_of(&self, _: SourceId) -> SourceId {
        match self.0 {}
    }
}

/// Runs a program.
pub(crate) struct Runner(Infallible);

impl Runner {
    pub(crate) fn new(transform: &Transform) -> Runner {
        match transform.0 {}
    }

    pub(crate) fn run<'r>(&'r mut self, _: &'r [u8]) -> Outcome<'r> {
        match self.0 {}
    }
}
