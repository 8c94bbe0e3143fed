//! Validation of object names: every object read must lie below the index.
//!
//! Names derive from a manifest, and the author of a manifest must not be able to make a host read
//! other objects with the index's credentials. Reading a manifest already refuses such ids; this
//! check in front of every store is a second line of defence.

/// Error message for a name that could leave the index.
const LEADS_ELSEWHERE: &str = "the name leads out of the index, so nothing was asked for";

/// Returns an error, to be appended to the name, if `object` is no path below the index: absolute,
/// or with an empty part, `.`, `..`, a backslash (a separator for some servers and file systems) or
/// a control character.
pub fn check_object_name(object: &str) -> Result<(), &'static str> {
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    let is_plain = |char: char| char != '\\' && !char.is_control();
    match object.split('/').all(is_part) && object.chars().all(is_plain) {
        true => Ok(()),
        false => Err(LEADS_ELSEWHERE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_below_the_index_are_good_and_all_others_are_not() {
        for good in [
            "manifest.canter",
            "splits/0123456789abcdef0123456789abcdef.split",
            "a b/ü.%2e",
            "splits/..a..split",
            "...",
        ] {
            assert_eq!(check_object_name(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "splits/",
            "splits//a",
            ".",
            "..",
            "../other/manifest.canter",
            "splits/../../other/manifest.canter",
            "splits/./a",
            "splits/..",
            "splits\\..\\..\\a",
            "splits/a\0",
            "splits/a\r\nb",
        ] {
            assert!(check_object_name(bad).is_err(), "{bad:?}");
        }
    }
}
