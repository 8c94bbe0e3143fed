//! Valid names of new indexes.

use crate::requests::Problem;

/// Words in paths at the position of a name.
const RESERVED: [&str; 8] = [
    "api",
    "health",
    "indexes",
    "metrics",
    "openapi.json",
    "otlp",
    "ui",
    "v1",
];

/// Returns an error if a new index cannot have the name: it must be unambiguous in a path, and be a folder in a bucket.
pub(super) fn check_index_name(name: &str) -> Result<(), Problem> {
    let invalid = |problem: &str| {
        let reason = format!("Invalid index name [{name}], {problem}");
        Err(Problem::invalid("invalid_index_name_exception", reason))
    };
    if let Err(problem) = canter_index_builder::check_index_name(name) {
        return invalid(problem);
    }
    if RESERVED.contains(&name) {
        return invalid("there is a path of that name");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_no_name_of_a_path() {
        assert!(check_index_name("logs").is_ok());
        for (bad, part) in [("ui", "path"), ("api", "path"), ("a/b", "letters")] {
            let problem = check_index_name(bad).unwrap_err();
            assert!(problem.reason.contains(part), "{bad}: {}", problem.reason);
        }
    }
}
