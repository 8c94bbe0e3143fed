//! Exceptions, one for each kind of error.

use canter_index_builder::BuildError;
use canter_runtime::SearchError;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(
    canter,
    CanterError,
    PyException,
    "Why there is no answer. Its subclasses say what to do."
);
create_exception!(
    canter,
    InvalidRequestError,
    CanterError,
    "The request, the config or an argument is wrong: fix it."
);
create_exception!(
    canter,
    IndexNotFoundError,
    CanterError,
    "There is no such index: check its address."
);
create_exception!(
    canter,
    DataError,
    CanterError,
    "The bytes of the index or of the input are wrong."
);
create_exception!(
    canter,
    UnavailableError,
    CanterError,
    "The store does not answer: try again."
);
create_exception!(
    canter,
    LimitError,
    CanterError,
    "A limit was reached: raise it, or ask for less."
);
create_exception!(
    canter,
    InternalError,
    CanterError,
    "A defect in Canter: report it."
);

/// Converts an error of a search.
pub(crate) fn of_search(error: SearchError) -> PyErr {
    use canter_runtime::ErrorKind as Kind;
    let message = error.message;
    match error.kind {
        Kind::Invalid => InvalidRequestError::new_err(message),
        Kind::NotFound => IndexNotFoundError::new_err(message),
        Kind::Data => DataError::new_err(message),
        Kind::Unavailable => UnavailableError::new_err(message),
        Kind::Limit => LimitError::new_err(message),
        Kind::Internal => InternalError::new_err(message),
    }
}

/// Converts an error of building.
pub(crate) fn of_build(error: &BuildError) -> PyErr {
    use canter_index_builder::ErrorKind as Kind;
    let message = with_causes(error);
    match error.kind() {
        Kind::Invalid => InvalidRequestError::new_err(message),
        Kind::Data => DataError::new_err(message),
        Kind::Unavailable => UnavailableError::new_err(message),
        Kind::Limit => LimitError::new_err(message),
        _ => InternalError::new_err(message),
    }
}

/// Returns the error and its causes, without repeated texts.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        cause = error.source();
    }
    message
}
