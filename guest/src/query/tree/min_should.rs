//! Minimum number of matching clauses.

use serde::{Deserialize, Serialize};

/// Minimum number of matching clauses, depending on their number.
///
/// See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-minimum-should-match>.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MinShould {
    /// Shares with the number of clauses above which each applies; the last applicable one counts. A share for
    /// any number of clauses has 0, or is the first.
    pub(crate) rules: Vec<(usize, Share)>,
}

/// A number or a percentage of clauses; if negative, of those that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Share {
    /// A number.
    Count(i64),
    /// A percentage, rounded down.
    Percent(i64),
}

impl MinShould {
    /// Returns the minimum for `num_clauses` clauses; possibly more than there are.
    pub(crate) fn of(&self, num_clauses: usize) -> usize {
        let mut rules = self.rules.iter();
        let applies =
            |(more_than, _): &&(usize, Share)| *more_than == 0 || num_clauses > *more_than;
        let Some((_, share)) = rules.rfind(applies) else {
            // No rule applies to so small a number: all must match.
            return num_clauses;
        };
        let num = i64::try_from(num_clauses).unwrap_or(i64::MAX);
        // A percentage is rounded towards zero, as Elasticsearch does. A negative one is the share that may be missing,
        // even if that is none.
        let (may_lack, wanted) = match share {
            Share::Count(count) => (*count < 0, *count),
            Share::Percent(percent) => (*percent < 0, num.saturating_mul(*percent) / 100),
        };
        let wanted = match may_lack {
            true => num.saturating_add(wanted),
            false => wanted,
        };
        // A value too large for a pointer exceeds the number of clauses on any platform.
        usize::try_from(wanted.max(0)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_many_clauses_must_match() {
        use Share::{Count, Percent};
        for (rules, num_clauses, expect) in [
            (vec![(0, Count(2))], 5, 2),
            (vec![(0, Count(-1))], 5, 4),
            (vec![(0, Count(7))], 5, 7),
            (vec![(0, Count(-7))], 5, 0),
            (
                vec![(0, Count(i64::MAX))],
                5,
                usize::try_from(i64::MAX).unwrap_or(usize::MAX),
            ),
            (vec![(0, Count(i64::MIN))], 5, 0),
            (vec![(0, Percent(75))], 5, 3),
            (vec![(0, Percent(-25))], 5, 4),
            (vec![(0, Percent(-30))], 4, 3),
            (vec![(3, Percent(90))], 3, 3),
            (vec![(3, Percent(90))], 10, 9),
            (vec![(2, Percent(-25)), (9, Count(-3))], 2, 2),
            (vec![(2, Percent(-25)), (9, Count(-3))], 9, 7),
            (vec![(2, Percent(-25)), (9, Count(-3))], 10, 7),
        ] {
            let min_should = MinShould { rules };
            assert_eq!(min_should.of(num_clauses), expect, "{min_should:?}");
        }
    }
}
