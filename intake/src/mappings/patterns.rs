//! Patterns of names, in which `*` stands for any text: whether two of them have a name in common.

/// Whether there is a name that both patterns match.
pub(super) fn overlap(left: &str, right: &str) -> bool {
    let right: Vec<char> = right.chars().collect();
    // By position in `right`: whether what is before it can be what is before the current place in `left`.
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
                // Any text, which may be as much of the other as is there.
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

/// A star may stand for nothing.
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
