//! Parameters that several clauses share.

use super::params::{Params, wrong};
use crate::SearchError;
use crate::query::tree::{AUTO, Edits, Factor, Fuzziness, MinShould, QueryNode, Role, Share};

/// Parses a number of clauses or characters with at most 32 bits, so that its validity does not depend on the platform.
fn number(text: &str) -> Option<usize> {
    usize::try_from(text.trim().parse::<u32>().ok()?).ok()
}

/// Takes the number of clauses that must match: `2`, `-1`, `75%`, `-25%`, `3<90%`, `2<-25% 9<-3`.
pub(super) fn min_should(params: &mut Params<'_>) -> Result<Option<MinShould>, SearchError> {
    let Some(given) = params.value("minimum_should_match")? else {
        return Ok(None);
    };
    let rules = given.text.split_whitespace().map(|rule| {
        let (more_than, share) = match rule.split_once('<') {
            Some((more_than, share)) => (number(more_than)?, share),
            None => (0, rule),
        };
        let share = match share.strip_suffix('%') {
            Some(percent) => Share::Percent(percent.parse().ok()?),
            None => Share::Count(share.parse().ok()?),
        };
        Some((more_than, share))
    });
    let rules: Option<Vec<(usize, Share)>> = rules.collect();
    match rules.filter(|rules| !rules.is_empty()) {
        Some(rules) => Ok(Some(MinShould { rules })),
        None => Err(wrong(
            &format!("{}.minimum_should_match", params.path),
            "this must be a number, a percentage, or numbers of clauses with these, such as 2<75%",
        )),
    }
}

/// Returns the number of clauses that must match, unless it is the default. A number of zero or less counts only beside
/// clauses that must match: where there are none, one of the optional clauses must, as in Lucene.
pub(super) fn effective(
    min_should: Option<MinShould>,
    clauses: &[(Role, QueryNode)],
) -> Option<MinShould> {
    let num = |wanted: Role| clauses.iter().filter(|(role, _)| *role == wanted).count();
    let num_should = num(Role::Should);
    let needs_others = num(Role::Must) + num(Role::Filter) > 0;
    // Without a clause everything matches, however many must match.
    min_should.filter(|rule| {
        !clauses.is_empty() && (needs_others || num_should == 0 || rule.of(num_should) > 0)
    })
}

/// Takes whether all words must match: `operator: and`.
pub(super) fn needs_all(
    params: &mut Params<'_>,
    name: &'static str,
) -> Result<Option<bool>, SearchError> {
    // Quickwit's plugin for Grafana leaves it empty.
    params.choice(name, &[("or", false), ("and", true), ("", false)])
}

/// Takes `0`, `1`, `2`, `AUTO` or `AUTO:3,6`.
pub(super) fn edits(params: &mut Params<'_>) -> Result<Option<Edits>, SearchError> {
    let Some(given) = params.value("fuzziness")? else {
        return Ok(None);
    };
    edits_of(&params.path, &given.text).map(Some)
}

/// Parses `0`, `1`, `2`, `AUTO` or `AUTO:3,6`.
pub(crate) fn edits_of(path: &str, text: &str) -> Result<Edits, SearchError> {
    let text = text.to_ascii_uppercase();
    let edits = match text.strip_prefix("AUTO") {
        Some("") => Some(AUTO),
        Some(lengths) => lengths.strip_prefix(':').and_then(|lengths| {
            let (one, two) = lengths.split_once(',')?;
            let (one, two) = (number(one)?, number(two)?);
            (one <= two).then_some(Edits::Auto(one, two))
        }),
        None => match text.as_str() {
            "0" | "0.0" => Some(Edits::Most(0)),
            "1" | "1.0" => Some(Edits::Most(1)),
            "2" | "2.0" => Some(Edits::Most(2)),
            _ => None,
        },
    };
    edits.ok_or_else(|| {
        wrong(
            &format!("{path}.fuzziness"),
            "this must be 0, 1, 2, AUTO, or AUTO with two lengths, such as AUTO:3,6",
        )
    })
}

/// Takes `fuzziness` and its companions: `prefix_length` and `fuzzy_transpositions` or `transpositions`. All terms
/// within the distance match, so `max_expansions` has no effect.
pub(super) fn fuzziness(
    params: &mut Params<'_>,
    transpositions: &'static str,
    default: Option<Edits>,
) -> Result<Option<Fuzziness>, SearchError> {
    let edits = edits(params)?.or(default);
    let prefix_len = params.count("prefix_length")?.unwrap_or(0);
    let has_transpositions = params.flag(transpositions)?.unwrap_or(true);
    params.count("max_expansions")?;
    Ok(edits.map(|edits| Fuzziness {
        edits,
        prefix_len: usize::try_from(prefix_len).unwrap_or(usize::MAX),
        has_transpositions,
    }))
}

/// Takes a way to rewrite multi-term queries if it keeps all terms, as opposed to `top_terms_5`.
pub(super) fn rewrite(params: &mut Params<'_>, name: &'static str) -> Result<(), SearchError> {
    let known = [
        ("constant_score", ()),
        ("constant_score_blended", ()),
        ("constant_score_boolean", ()),
        ("scoring_boolean", ()),
    ];
    params.choice(name, &known).map(|_| ())
}

/// Parses names of fields with factors for their scores: `title^3`.
pub(super) fn weighed(
    path: &str,
    names: Vec<String>,
) -> Result<Vec<(String, Factor)>, SearchError> {
    let weighed = names.into_iter().map(|name| {
        let Some((field, boost)) = name.rsplit_once('^') else {
            return Ok((name, Factor(1.0)));
        };
        let boost: Option<f32> = boost.parse().ok();
        match boost.filter(|boost| boost.is_finite() && *boost >= 0.0) {
            Some(boost) => Ok((field.to_owned(), Factor(boost))),
            None => Err(wrong(
                path,
                format!("{name:?}: behind ^ stands a number, 0 or more"),
            )),
        }
    });
    weighed.collect()
}
