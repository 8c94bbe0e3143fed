//! Patterns as automata, compiled once for all splits of a search: compiling takes longer than matching a
//! dictionary.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use tantivy_fst::Regex;

use crate::SearchError;

/// Number of kept automata, the most recent ones: more than the patterns of most queries. Each automaton has its own
/// size limit.
const MAX_KEPT: usize = 8;

thread_local! {
    static KEPT: RefCell<VecDeque<(String, Arc<Regex>)>> = const { RefCell::new(VecDeque::new()) };
}

/// Returns the automaton of an expression.
pub(in crate::query::build) fn compiled(expression: &str) -> Result<Arc<Regex>, SearchError> {
    KEPT.with_borrow_mut(|kept| {
        if let Some((_, regex)) = kept.iter().find(|(of, _)| of == expression) {
            return Ok(Arc::clone(regex));
        }
        let regex = Regex::new(expression).map_err(|error| {
            SearchError::invalid(format!(
                "the pattern {expression:?} cannot be used: {error}"
            ))
        })?;
        let regex = Arc::new(regex);
        if kept.len() >= MAX_KEPT {
            kept.pop_front();
        }
        kept.push_back((expression.to_owned(), Arc::clone(&regex)));
        Ok(regex)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_compiled_once_and_only_the_last_are_kept() {
        let first = compiled("a.*").unwrap();
        for ord in 1..MAX_KEPT {
            compiled(&format!("b{ord}")).unwrap();
            assert!(Arc::ptr_eq(&first, &compiled("a.*").unwrap()));
        }
        assert!(compiled("(").is_err());
        assert!(Arc::ptr_eq(&first, &compiled("a.*").unwrap()));
        compiled("one more").unwrap();
        assert!(!Arc::ptr_eq(&first, &compiled("a.*").unwrap()));
    }
}
