//! Valid names of new indexes.

use crate::requests::Problem;

/// Words in paths at the position of a name, below which nothing of an index is reached. Others, such as `metrics`,
/// are told from an index by what follows them.
const RESERVED: [&str; 3] = ["indexes", "openapi.json", "ui"];

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
        for good in ["logs", "metrics", "api", "health", "otlp", "v1"] {
            assert!(check_index_name(good).is_ok(), "{good}");
        }
        for (bad, part) in [
            ("ui", "path"),
            ("indexes", "path"),
            ("openapi.json", "path"),
            ("a/b", "letters"),
        ] {
            let problem = check_index_name(bad).unwrap_err();
            assert!(problem.reason.contains(part), "{bad}: {}", problem.reason);
        }
    }
}
