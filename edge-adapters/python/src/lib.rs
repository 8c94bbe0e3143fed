//! Python module `canter._canter`: search, building and the command line, for the package around
//! it.
//!
//! Requests, configs and answers are JSON texts here; `canter/` converts them to Python objects.
//! The interpreter's lock is released while Rust code runs.

mod builder;
mod documents;
mod errors;
mod searcher;

use pyo3::prelude::*;

/// Native functions and types on which `canter/` is built.
#[pymodule]
mod _canter {
    #[pymodule_export]
    use super::builder::{build_split, create, publish};
    #[pymodule_export]
    use super::documents::{DocumentReader, index_config, list_documents};
    #[pymodule_export]
    use super::errors::{
        CanterError, DataError, IndexNotFoundError, InternalError, InvalidRequestError, LimitError,
        UnavailableError,
    };
    #[pymodule_export]
    use super::run_command;
    #[pymodule_export]
    use super::searcher::{Searcher, describe};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

/// Runs the program `canter` with these arguments, including its name. Returns the exit code.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| canter_cli::run(arguments))
}
