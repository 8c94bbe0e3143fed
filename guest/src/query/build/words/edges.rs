//! Words of a tokenizer that makes several terms of a place, such as one with synonyms. Any term of a place is enough;
//! terms that reach over several places are ways beside those of the single places.
//!
//! ```text
//!   "nyc pizza" with "nyc, new york"
//!        ┌─ new ─▶ 1 ─ york ─┐
//!      0 ┤                   ├▶ 2 ─ pizza ─▶ 3        groups: 0 to 2, 2 to 3
//!        └─────── nyc ───────┘
//! ```

use canter_doc_mapper::DocMapper;
use canter_doc_mapper::tokenizers::length_of;
use tantivy::Term;

use crate::SearchError;

/// Maximum number of ways through the words of a phrase.
const MAX_WAYS: usize = 256;

/// Term from one place to another.
#[derive(Clone, Debug)]
pub(in crate::query::build) struct Edge {
    from: usize,
    to: usize,
    term: Term,
}

impl Edge {
    pub(super) fn term(&self) -> Term {
        self.term.clone()
    }

    /// Returns the place where it begins.
    pub(super) fn place(&self) -> usize {
        self.from
    }
}

/// Terms one behind the other, with their places.
pub(super) type Way = Vec<(usize, Term)>;

/// Cuts a text.
///
/// # Errors
/// There is no such tokenizer.
pub(in crate::query::build) fn edges_of(
    mapper: &DocMapper,
    tokenizer: &str,
    text: &str,
    make_term: &dyn Fn(&str) -> Term,
) -> Result<Vec<Edge>, SearchError> {
    let mut analyzer = mapper.tokenizers().get(tokenizer).ok_or_else(|| {
        SearchError::internal(format!("the tokenizer {tokenizer:?} is not registered"))
    })?;
    let mut edges = Vec::new();
    analyzer.token_stream(text).process(&mut |token| {
        edges.push(Edge {
            from: token.position,
            to: token.position + length_of(token),
            term: make_term(&token.text),
        });
    });
    canter_sorting::sort_by_key(&mut edges, |edge| edge.from);
    Ok(edges)
}

/// Returns whether a term reaches over several places.
pub(in crate::query::build) fn has_ways(edges: &[Edge]) -> bool {
    edges.iter().any(|edge| edge.to > edge.from + 1)
}

/// Returns the terms, if none of them reaches over several places.
pub(in crate::query::build) fn terms_of(edges: Vec<Edge>) -> Way {
    let terms = edges.into_iter().map(|edge| (edge.from, edge.term));
    terms.collect()
}

/// Divides terms at the places that all ways pass.
pub(super) fn groups_of(edges: Vec<Edge>) -> Vec<Vec<Edge>> {
    let mut groups: Vec<Vec<Edge>> = Vec::new();
    let mut end = 0;
    for edge in edges {
        let is_inside = edge.from < end;
        end = end.max(edge.to);
        match groups.last_mut().filter(|_| is_inside) {
            Some(group) => group.push(edge),
            None => groups.push(vec![edge]),
        }
    }
    groups
}

/// Returns the ways through terms; `None` if there are too many.
pub(super) fn ways_through(edges: &[Edge]) -> Option<Vec<Way>> {
    let next_at = |place: usize| {
        let begin = edges.partition_point(|edge| edge.from < place);
        let rest = edges.get(begin..).unwrap_or_default();
        let from = rest.first().map(|edge| edge.from);
        rest.iter().take_while(move |edge| Some(edge.from) == from)
    };
    // Each with the place that it has reached, and the position behind its last term.
    let mut open: Vec<(Way, usize, usize)> = vec![(Vec::new(), 0, 0)];
    let mut ways = Vec::new();
    while let Some((mut way, mut at, mut position)) = open.pop() {
        loop {
            let mut next = next_at(at);
            let Some(edge) = next.next() else {
                break;
            };
            // Words that are left out have a place, too.
            position += edge.from - at;
            for other in next {
                let mut longer = way.clone();
                longer.push((position, other.term.clone()));
                open.push((longer, other.to, position + 1));
            }
            way.push((position, edge.term.clone()));
            (at, position) = (edge.to, position + 1);
            if open.len() + ways.len() > MAX_WAYS {
                return None;
            }
        }
        ways.push(way);
    }
    Some(ways)
}

#[cfg(test)]
mod tests {
    use tantivy::schema::Field;

    use super::*;

    fn edges(given: &[(usize, usize, &str)]) -> Vec<Edge> {
        let edges = given.iter().map(|(from, to, text)| Edge {
            from: *from,
            to: *to,
            term: Term::from_field_text(Field::from_field_id(0), text),
        });
        edges.collect()
    }

    fn shown(way: &Way) -> String {
        let words = way.iter().map(|(at, term)| {
            let text = term.value().as_str().unwrap_or_default().to_owned();
            format!("{text}{at}")
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ways_go_through_all_places() {
        let given = edges(&[
            (0, 1, "new"),
            (0, 2, "nyc"),
            (1, 2, "york"),
            (2, 3, "pizza"),
            // A word was left out.
            (4, 5, "bar"),
            (4, 5, "pub"),
        ]);
        let mut ways: Vec<String> = ways_through(&given).unwrap().iter().map(shown).collect();
        ways.sort();
        let expect = [
            "new0 york1 pizza2 bar4",
            "new0 york1 pizza2 pub4",
            "nyc0 pizza1 bar3",
            "nyc0 pizza1 pub3",
        ];
        assert_eq!(ways, expect);
        let groups = groups_of(given);
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        assert_eq!(sizes, [3, 1, 2]);
    }

    #[test]
    fn too_many_ways_are_none() {
        let many: Vec<_> = (0..9)
            .flat_map(|at| [(at, at + 1, "a"), (at, at + 1, "b")])
            .collect();
        assert!(ways_through(&edges(&many)).is_none());
        assert_eq!(ways_through(&edges(&many[..16])).unwrap().len(), 256);
    }
}
