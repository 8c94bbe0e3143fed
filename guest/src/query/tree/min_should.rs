//! How many of several clauses must match.

use serde::{Deserialize, Serialize};

/// How many of several clauses must match, by how many there are.
///
/// See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-minimum-should-match>.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MinShould {
    /// With more clauses than so many, this share; the last that applies counts. What holds for any number stands
    /// with 0, or with nothing before it.
    pub(crate) rules: Vec<(usize, Share)>,
}

/// A number or a part of clauses; a negative one says how many may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Share {
    /// So many.
    Count(i64),
    /// So many of a hundred, rounded down.
    Percent(i64),
}

impl MinShould {
    /// How many of `num_clauses` must match; possibly more than there are.
    pub(crate) fn of(&self, num_clauses: usize) -> usize {
        let mut rules = self.rules.iter();
        let applies =
            |(more_than, _): &&(usize, Share)| *more_than == 0 || num_clauses > *more_than;
        let Some((_, share)) = rules.rfind(applies) else {
            // No rule reaches so few: all of them.
            return num_clauses;
        };
        let num = i64::try_from(num_clauses).unwrap_or(i64::MAX);
        // A part is rounded towards nothing, as Elasticsearch does. What is negative says how many need not match, also
        // where that is none.
        let (may_lack, wanted) = match share {
            Share::Count(count) => (*count < 0, *count),
            Share::Percent(percent) => (*percent < 0, num.saturating_mul(*percent) / 100),
        };
        let wanted = match may_lack {
            true => num.saturating_add(wanted),
            false => wanted,
        };
        // What is too large for a pointer is more than there are, wherever this runs.
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
