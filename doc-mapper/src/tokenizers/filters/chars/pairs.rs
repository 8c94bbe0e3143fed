//! Parts of texts that a filter of characters replaces, as rules list them.

use super::changed::Changed;

/// Reads rules such as `& => and`.
pub(super) fn of_rules(rules: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::with_capacity(rules.len());
    for rule in rules {
        let wrong = || format!("Invalid Mapping Rule : [{rule}]");
        let (from, to) = rule.rsplit_once("=>").ok_or_else(wrong)?;
        let (from, to) = (unescaped(from.trim()), unescaped(to.trim()));
        let (from, to) = from.zip(to).ok_or_else(wrong)?;
        if from.is_empty() {
            return Err(wrong());
        }
        pairs.push((from, to));
    }
    canter_sorting::sort(&mut pairs);
    let twice = pairs.windows(2).find_map(|pair| match pair {
        [(one, _), (two, _)] if one == two => Some(one),
        _ => None,
    });
    match twice {
        Some(from) => Err(format!("match \"{from}\" already exists")),
        None => Ok(pairs),
    }
}

fn unescaped(text: &str) -> Option<String> {
    let mut written = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            written.push(character);
            continue;
        }
        written.push(match characters.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let digits: String = characters.by_ref().take(4).collect();
                char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
            }
            other => other,
        });
    }
    Some(written)
}

/// Replaces the longest of the parts that begin at each place.
pub(super) fn replace(pairs: &[(String, String)], out: &mut Changed<'_>) {
    let text = out.source();
    let (mut at, mut kept) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let len = rest.chars().next().map_or(1, char::len_utf8);
        let first = rest.get(..len).unwrap_or_default();
        let begin = pairs.partition_point(|(from, _)| from.as_str() < first);
        let candidates = pairs.get(begin..).unwrap_or_default().iter();
        let candidates = candidates.take_while(|(from, _)| from.starts_with(first));
        // The longer of two that begin alike is sorted behind the shorter.
        let found = candidates.filter(|(from, _)| rest.starts_with(from.as_str()));
        match found.last() {
            Some((from, to)) => {
                out.keep(kept..at);
                out.replace(at..at + from.len(), to);
                at += from.len();
                kept = at;
            }
            None => at += len,
        }
    }
    out.keep(kept..text.len());
}
