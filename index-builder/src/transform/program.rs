//! A compiled program.

mod functions;
mod limits;
mod parse_json;

use std::fmt;
use std::sync::Arc;

use canter_split_format::{SourceId, object_id};
use vrl::compiler::state::ExternalEnv;
use vrl::compiler::{CompileConfig, Program, compile_with_external};
use vrl::diagnostic::Formatter;

#[cfg(test)]
pub(super) use functions::ALLOWED;

use super::on_large_stack;
use crate::error::BuildError;

/// Maximum length of a program, in bytes.
const MAX_PROGRAM_NUM_BYTES: usize = 256 * 1024;

/// A program in VRL that transforms every document of an ingest before the doc mapping.
#[derive(Clone)]
pub struct Transform {
    text: Arc<str>,
    pub(super) program: Arc<Program>,
    warnings: Option<String>,
}

impl Transform {
    /// Compiles a program. `name` is its name in messages.
    ///
    /// # Errors
    /// `Invalid` for an invalid program, one with a forbidden function (the message shows the place), or one that is
    /// too large to be compiled.
    pub fn compile(name: &str, text: &str) -> Result<Transform, BuildError> {
        if text.len() > MAX_PROGRAM_NUM_BYTES {
            return Err(BuildError::invalid(format!(
                "`{name}` has {} bytes: a transform may have {MAX_PROGRAM_NUM_BYTES}",
                text.len()
            )));
        }
        // The compiler is recursive, and so is dropping the result of a failed parse.
        on_large_stack(|| Transform::compile_here(name, text))
    }

    fn compile_here(name: &str, text: &str) -> Result<Transform, BuildError> {
        let problem = limits::problem_of_brackets(text).or_else(|| {
            // Syntax errors are reported below, with their place.
            let tree = vrl::parser::parse(text).ok()?;
            limits::problem(tree)
        });
        if let Some(problem) = problem {
            return Err(BuildError::invalid(format!(
                "the transform `{name}` is too much for its compiler: {problem}"
            )));
        }
        let functions = functions::checked();
        let external = ExternalEnv::default();
        let config = CompileConfig::default();
        let compiled =
            compile_with_external(text, &functions, &external, config).map_err(|diagnostics| {
                let shown = Formatter::new(text, diagnostics).to_string();
                BuildError::invalid(format!(
                    "the transform `{name}` does not compile:\n{}",
                    shown.trim()
                ))
            })?;
        let warnings = Formatter::new(text, compiled.warnings).to_string();
        let warnings = warnings.trim();
        Ok(Transform {
            text: text.into(),
            program: Arc::new(compiled.program),
            warnings: (!warnings.is_empty()).then(|| warnings.to_string()),
        })
    }

    /// Returns the compiler's warnings about an accepted program.
    #[must_use]
    pub fn warnings(&self) -> Option<&str> {
        self.warnings.as_deref()
    }

    /// Returns a fingerprint of the program.
    pub(crate) fn fingerprint(&self) -> String {
        object_id(self.text.as_bytes())
    }

    /// Returns the source of the documents that this program makes of a source's records. Another program may make more
    /// or fewer of them, whose numbers would then name other documents.
    pub(crate) fn source_of(&self, source: SourceId) -> SourceId {
        let origin = [b"transform\0".as_slice(), &source.to_u128().to_be_bytes()].concat();
        SourceId::of(&origin, self.text.as_bytes())
    }
}

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Transform").field(&self.text).finish()
    }
}

impl PartialEq for Transform {
    fn eq(&self, other: &Transform) -> bool {
        self.text == other.text
    }
}

impl Eq for Transform {}
