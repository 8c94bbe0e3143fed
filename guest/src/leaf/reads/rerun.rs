//! Running a synchronous search again when it reads bytes that the warmup did not foresee.

use crate::SearchError;
use crate::exchange::Interrupt;
use crate::split::OpenSplit;

/// Maximum number of runs of one split after synchronous reads missed their bytes.
const MAX_RERUNS: usize = 1_000;

/// Runs `work` until no synchronous read misses its bytes. The warmup is meant to leave nothing to
/// miss; the reruns keep the answer right where it does.
pub(in crate::leaf) async fn rerun_on_gaps<T>(
    split: &OpenSplit,
    interrupt: &Interrupt,
    work: impl Fn() -> canter_aggregations::Result<T>,
) -> Result<T, SearchError> {
    for _ in 0..MAX_RERUNS {
        let result = work();
        interrupt.check()?;
        let gaps = split.body.take_gaps();
        if gaps.is_empty() {
            return result.map_err(|error| error_of_work(split, error));
        }
        split.body.load_all(gaps).await?;
    }
    Err(SearchError::internal(format!(
        "split {}: bytes were still missing after {MAX_RERUNS} attempts",
        split.entry.id
    )))
}

/// Returns the request's error if an aggregation exceeded its limits or names something that does not exist.
fn error_of_work(split: &OpenSplit, error: canter_aggregations::Error) -> SearchError {
    use canter_aggregations::Error;
    use tantivy::TantivyError;
    match error {
        Error::Columns(TantivyError::InvalidArgument(what)) => {
            SearchError::invalid(format!("this cannot be searched: {what}"))
        }
        Error::Columns(error) => split.error(error),
        error => error.into(),
    }
}
