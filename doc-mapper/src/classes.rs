//! Character classes that a regular expression may name.
//!
//! The component lacks the tables of all others, which would be a fortieth of it (see
//! `xtask/src/guest/tables.rs`). All hosts refuse these classes, so that all answer alike.

/// Names of classes, as normalized by [`plain`]: general categories, scripts, and common
/// properties.
const KNOWN: &str = " any ascii assigned alphabetic alpha emoji lowercase lower uppercase upper whitespace wspace space \
    c cc cf cn co cs l lc ll lm lo lt lu m mc me mn n nd nl no p pc pd pe pf pi po ps s sc sk sm so z zl zp zs \
    other control cntrl format unassigned privateuse surrogate letter casedletter lowercaseletter modifierletter \
    otherletter titlecaseletter uppercaseletter mark combiningmark spacingmark enclosingmark nonspacingmark number \
    decimalnumber digit letternumber othernumber punctuation punct connectorpunctuation dashpunctuation \
    closepunctuation finalpunctuation initialpunctuation otherpunctuation openpunctuation symbol currencysymbol \
    modifiersymbol mathsymbol othersymbol separator lineseparator paragraphseparator spaceseparator \
    arabic armenian bengali bopomofo cyrillic devanagari ethiopic georgian greek gujarati han hangul hebrew hiragana \
    kannada katakana khmer lao latin malayalam mongolian myanmar sinhala tamil telugu thai tibetan ";

/// Checks that a regular expression names only known classes.
///
/// # Errors
/// A class is unknown. The message is the end of a sentence about the pattern.
pub fn check_classes(pattern: &str) -> Result<(), String> {
    let mut rest = pattern;
    while let Some((_, behind)) = rest.split_once('\\') {
        let mut characters = behind.chars();
        let is_class = matches!(characters.next(), Some('p' | 'P'));
        rest = characters.as_str();
        let Some(name) = rest.strip_prefix('{').filter(|_| is_class) else {
            // `\pL` has a single letter, which is a general category.
            continue;
        };
        let name = name.split_once('}').map_or(name, |(name, _)| name);
        let plain = plain(name.trim_start_matches('^'));
        let of_script = ["script=", "sc=", "script:", "sc:", "script!=", "sc!="];
        let is_known = match of_script.iter().find_map(|key| plain.strip_prefix(key)) {
            // The component has all scripts; the parser reports unknown ones.
            Some(_) => true,
            None => {
                let value = plain
                    .strip_prefix("generalcategory")
                    .or(plain.strip_prefix("gc"));
                let value = value.map(|value| value.trim_start_matches(['!', '=', ':']));
                KNOWN.contains(&format!(" {} ", value.unwrap_or(&plain)))
            }
        };
        if !is_known {
            return Err(format!(
                "names the class {name:?}: general categories such as \\p{{Lu}}, scripts such as \\p{{script=Greek}}, \
                 and Alphabetic, Lowercase, Uppercase, White_Space and Emoji are known"
            ));
        }
    }
    Ok(())
}

/// Normalizes a name: removes the parts that the parser ignores.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_with_tables_are_known_and_no_others() {
        for pattern in [
            "a.*",
            "\\p{L}+",
            "\\pL\\PN",
            "\\p{Lu}",
            "\\p{^Lowercase_Letter}",
            "\\p{gc=Nd}",
            "\\p{gc!=Nd}",
            "\\p{Greek}",
            "\\p{script=Phoenician}",
            "\\p{sc:han}",
            "[\\p{White_Space}\\d]",
            "\\p{alphabetic}",
            "\\\\p{Age=3.0}",
            "\\p{is a typing mistake",
            "\\",
        ] {
            let is_none = pattern.contains("mistake");
            assert_eq!(check_classes(pattern).is_err(), is_none, "{pattern}");
        }
        for pattern in [
            "\\p{Age=3.0}",
            "a|\\p{XID_Start}",
            "\\P{Sentence_Break=Sp}",
            "[^\\p{scx=Greek}]",
            "\\p{Cased}",
            "\\\\\\p{gcb=LF}",
            "\\p{ }",
        ] {
            assert!(check_classes(pattern).is_err(), "{pattern}");
        }
    }
}
