//! What processors are to the pipeline that runs them.

use std::fmt::Debug;

use super::run::Run;
use crate::document::Document;
use crate::error::Failure;

/// A processor.
pub(crate) trait Process: Debug + Send + Sync {
    /// Changes a document.
    ///
    /// # Errors
    /// The document does not have what the processor needs.
    fn run(&self, document: &mut Document, run: &mut Run<'_>) -> Result<Flow, Failure>;
}

/// What is done after a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    /// The pipeline ends here.
    End,
    Drop,
}
