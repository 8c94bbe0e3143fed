//! Name patterns in which `*` matches any text: whether two of them can match the same name.

/// Returns whether both patterns can match the same name.
pub(super) fn overlap(left: &str, right: &str) -> bool {
    let right: Vec<char> = right.chars().collect();
    // By position in `right`: whether its prefix and the prefix of `left` read so far have a common
    // match.
    let mut reach = vec![false; right.len() + 1];
    reach[0] = true;
    fill_stars(&mut reach, &right);
    for of_left in left.chars() {
        let mut next = vec![false; right.len() + 1];
        for (position, is_reached) in reach.iter().enumerate() {
            if !is_reached {
                continue;
            }
            let of_right = right.get(position);
            match (of_left, of_right) {
                // The star matches any amount of the other pattern.
                ('*', _) => next[position..].fill(true),
                (_, Some('*')) => next[position] = true,
                (char, Some(other)) if char == *other => next[position + 1] = true,
                _ => {}
            }
        }
        fill_stars(&mut next, &right);
        reach = next;
    }
    reach.last().copied().unwrap_or(false)
}

/// Extends matches over stars, which may match the empty text.
fn fill_stars(reach: &mut [bool], right: &[char]) {
    for (position, char) in right.iter().enumerate() {
        if *char == '*' && reach[position] {
            reach[position + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_overlap_if_one_name_has_both() {
        for (left, right, expect) in [
            ("logs-*", "logs-*", true),
            ("logs-*", "logs-app-*", true),
            ("logs-*", "metrics-*", false),
            ("*-app", "logs-*", true),
            ("a*b", "*c*", true),
            ("a*b", "b*", false),
            ("logs", "logs", true),
            ("logs", "logs2", false),
            ("*", "anything", true),
            ("a*", "a", true),
            ("a*z", "ab*yz", true),
            ("a*z", "ab*y", false),
        ] {
            assert_eq!(overlap(left, right), expect, "{left} {right}");
            assert_eq!(overlap(right, left), expect, "{right} {left}");
        }
    }
}
