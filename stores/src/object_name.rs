//! Names of objects: what is asked of a store must lie below the index.
//!
//! Names are made of what a manifest says, and whoever could write the manifest must not be able to have a
//! host ask for something else with the index's credentials. Manifests with such ids are refused where they
//! are read; this is the second lock on the same door, in front of every store.

/// What is said of a name that could lead elsewhere.
const LEADS_ELSEWHERE: &str = "the name leads out of the index, so nothing was asked for";

/// An error, to be shown behind the name, if `object` is no path below the index: absolute, with an empty
/// part, `.` or `..`, a backslash (which some servers and folders take for a slash) or a control character.
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
