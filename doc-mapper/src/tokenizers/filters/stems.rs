//! Stemmers by their names: English ones, the light stemmers of five languages, and Snowball's of five others.
//!
//! The light stemmers are those of the University of Neuchâtel (Jacques Savoy, "Light Stemming Approaches for the French,
//! Portuguese, German and Hungarian Languages"), with which Elasticsearch's analyzers reduce words. Each is a text of
//! rules, because a function for each language would be several times as large in the component.

mod porter;

use frostem::Algorithm;

use crate::tokenizers::definition::{Stem, StemBut};

/// Rules of a light stemmer. Words of fewer characters are unchanged.
///
/// `steps` has steps between slashes, and `~` where letters lose their marks. Of the rules of a step the first that fits is
/// applied: `5eis=el` replaces `eis` in words of at least 5 characters (`a` is 10). `!` ends all steps.
struct Rules {
    min_chars: usize,
    marks: &'static str,
    steps: &'static str,
}

const GERMAN: Rules = Rules {
    min_chars: 0,
    marks: "äàáâ=a öòóô=o ïìíî=i üùúû=u",
    steps: "~/6ern= 5em= 5en= 5er= 5es= 4e= 4bs=b 4ds=d 4fs=f 4gs=g 4hs=h 4ks=k 4ls=l 4ms=m 4ns=n 4ts=t\
            /6est= 5er= 5en= 5bst=b 5dst=d 5fst=f 5gst=g 5hst=h 5kst=k 5lst=l 5mst=m 5nst=n 5tst=t",
};

const SPANISH: Rules = Rules {
    min_chars: 5,
    marks: "àáâä=a òóôö=o èéêë=e ùúûü=u ìíîï=i",
    steps: "~/0o= 0a= 0e= 0eses=es 0ces=z 0os= 0as= 0es=",
};

const ITALIAN: Rules = Rules {
    min_chars: 6,
    marks: SPANISH.marks,
    steps: "~/0ie= 0he= 0e= 0hi= 0ii= 0i= 0ia= 0a= 0io= 0o=",
};

const PORTUGUESE: Rules = Rules {
    min_chars: 4,
    marks: "àáâäã=a òóôöõ=o èéêë=e ùúûü=u ìíîï=i ç=c",
    steps: "5res=r 5ses=s 5les=l 5zes=z 4ns=m 5eis=el 5éis=el 5ais=al 5óis=ol 5is=il 4ões=ão 4ães=ão 7mente= 4s=\
            /8inha=inho 8iaca=iaco 8eira=eiro 7osa=oso 7ica=ico 7ida=ido 7ada=ado 7iva=ivo 7ama=amo 7ona=ão 7ora=or \
            7esa=ês 7na=no/5e= 5a= 5o=/~",
};

const FRENCH: Rules = Rules {
    min_chars: 0,
    marks: "àáâ=a ô=o èéê=e ùû=u î=i ç=c",
    steps: "6eaux=eau 6aux=al 6x=/4x=/4s=\
            /aissement=ir! 9issant=ir! 8ivement=if! 7ement=e! cficatrice=fier! bficateur=fier! acatrice=quer! 9cateur=quer! \
            9atrice=er! 8ateur=er! 7trice=teur\
            /6ième=! 8teuse=ter! 7teur=ter! 6euse=eu! 9ère=er! 8ive=if! 5folle=fou! 5molle=mou! annelle=n! annel=n! 5ète=et\
            /9ique=/9esse=e! 8inage=in! dualisation=uel! aisation=! aisateur=! 9ation=! 9ition=!",
};

/// Reduces a lowercase word to its stem.
pub(super) fn stem(stem: Stem, word: &mut String) {
    let algorithm = match stem {
        Stem::Porter => return porter::stem(word),
        Stem::Possessive => return drop_possessive(word),
        Stem::GermanLetters => return german_letters(word),
        Stem::LightGerman => return GERMAN.apply(word),
        Stem::LightSpanish => return SPANISH.apply(word),
        Stem::LightItalian => return ITALIAN.apply(word),
        Stem::LightPortuguese => return PORTUGUESE.apply(word),
        Stem::LightFrench => {
            FRENCH.apply(word);
            return french_ending(word);
        }
        Stem::English => Algorithm::English,
        Stem::Russian => Algorithm::Russian,
        Stem::Swedish => Algorithm::Swedish,
        Stem::Danish => Algorithm::Danish,
        Stem::Norwegian => Algorithm::Norwegian,
        Stem::Dutch => Algorithm::DutchPorter,
    };
    let reduced = frostem::Stemmer::new(algorithm).stem(word).into_owned();
    *word = reduced;
}

impl StemBut {
    /// Returns the stem of a word: its own, if it has one.
    pub(super) fn of(&self, word: &str) -> String {
        let own = self
            .overrides
            .binary_search_by(|(given, _)| given.as_str().cmp(word));
        if let Some((_, own)) = own.ok().and_then(|place| self.overrides.get(place)) {
            return own.clone();
        }
        let mut word = word.to_owned();
        stem(self.stem, &mut word);
        word
    }
}

fn drop_possessive(word: &mut String) {
    let ends = ["'", "\u{2019}", "\u{ff07}"];
    let owner = word.strip_suffix(['s', 'S']);
    let owner = owner.and_then(|rest| ends.iter().find_map(|end| rest.strip_suffix(end)));
    if let Some(len) = owner.map(str::len) {
        word.truncate(len);
    }
}

impl Rules {
    fn apply(&self, word: &mut String) {
        if word.chars().count() < self.min_chars {
            return;
        }
        for step in self.steps.split('/') {
            if step == "~" {
                // French words of four letters keep their marks: `french_ending` drops those of longer ones.
                self.drop_marks(word);
            } else if apply_step(step, word) {
                break;
            }
        }
    }

    fn drop_marks(&self, word: &mut String) {
        for entry in self.marks.split(' ') {
            let Some((marked, plain)) = entry.split_once('=') else {
                continue;
            };
            if word.contains(|char: char| marked.contains(char)) {
                *word = word.replace(|char: char| marked.contains(char), plain);
            }
        }
    }
}

/// Applies the first rule of a step that fits; returns whether it ends all steps.
fn apply_step(step: &str, word: &mut String) -> bool {
    let num_chars = word.chars().count();
    for rule in step.split(' ') {
        let mut chars = rule.chars();
        let min_chars = chars.next().and_then(|digit| digit.to_digit(36));
        let Some((ending, by)) = chars.as_str().split_once('=') else {
            continue;
        };
        let len = word.strip_suffix(ending).map(str::len);
        if let Some(len) = len.filter(|_| num_chars >= min_chars.unwrap_or(0) as usize) {
            word.truncate(len);
            word.push_str(by.trim_end_matches('!'));
            return by.ends_with('!');
        }
    }
    false
}

/// Writes German letters without marks, and what is written for them: `ae`, `oe` and `ss` become `a`, `o` and `ss`, and `ue`
/// `u` unless it follows a vowel or `q`.
fn german_letters(word: &mut String) {
    /// What an `e` may follow.
    #[derive(PartialEq)]
    enum Before {
        Other,
        Vowel,
        /// An `a`, `o` or `u` of which an `e` is a mark.
        Base,
    }
    let mut before = Before::Other;
    let mut plain = String::with_capacity(word.len());
    for char in word.chars() {
        before = match char {
            'e' if before == Before::Base => {
                before = Before::Vowel;
                continue;
            }
            'a' | 'o' => Before::Base,
            'u' if before == Before::Other => Before::Base,
            'u' | 'e' | 'i' | 'q' | 'y' | 'ä' | 'ö' | 'ü' => Before::Vowel,
            _ => Before::Other,
        };
        match char {
            'ä' => plain.push('a'),
            'ö' => plain.push('o'),
            'ü' => plain.push('u'),
            'ß' => plain.push_str("ss"),
            char => plain.push(char),
        }
    }
    *word = plain;
}

/// Drops the marks, repeated letters and last letters of a French word that is long enough.
fn french_ending(word: &mut String) {
    let is_long = |word: &str| word.chars().count() > 4;
    if is_long(word) {
        FRENCH.drop_marks(word);
        let mut last = None;
        word.retain(|char| {
            let is_repeated = last == Some(char) && char.is_alphabetic();
            last = Some(char);
            !is_repeated
        });
    }
    apply_step("5ie=", word);
    if is_long(word) {
        for ending in ["r", "e", "e"] {
            if let Some(len) = word.strip_suffix(ending).map(str::len) {
                word.truncate(len);
            }
        }
        let mut ending = word.chars().rev();
        let (last, before) = (ending.next(), ending.next());
        if last == before && last.is_some_and(char::is_alphabetic) {
            word.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: Stem, words: &[(&str, &str)]) {
        for (word, expected) in words {
            let mut reduced = (*word).to_owned();
            stem(language, &mut reduced);
            assert_eq!(reduced, *expected, "{word}");
        }
    }

    /// Words and stems follow from the published rules, by hand.
    #[test]
    fn words_of_a_language_have_their_stems() {
        let german = [
            ("hauser", "haus"),
            ("haus", "haus"),
            ("städten", "stadt"),
            ("kindern", "kind"),
            ("schönsten", "schon"),
            ("tages", "tag"),
            ("ein", "ein"),
        ];
        check(Stem::LightGerman, &german);
        let letters = [
            ("häuser", "hauser"),
            ("strasse", "strasse"),
            ("straße", "strasse"),
            ("mueller", "muller"),
            ("quelle", "quelle"),
            ("neue", "neue"),
            ("aerger", "arger"),
        ];
        check(Stem::GermanLetters, &letters);
        let spanish = [
            ("gatos", "gat"),
            ("casas", "cas"),
            ("canción", "cancion"),
            ("luces", "luz"),
            ("meses", "mes"),
            ("sol", "sol"),
        ];
        check(Stem::LightSpanish, &spanish);
        let italian = [
            ("biblioteche", "bibliotec"),
            ("biblioteca", "bibliotec"),
            ("libri", "libri"),
            ("negozio", "negoz"),
            ("negozi", "negoz"),
        ];
        check(Stem::LightItalian, &italian);
        let portuguese = [
            ("meninas", "menin"),
            ("canções", "canca"),
            ("jornais", "jornal"),
            ("flores", "flor"),
            ("rapidamente", "rapid"),
            ("portuguesa", "portugues"),
        ];
        check(Stem::LightPortuguese, &portuguese);
        let french = [
            ("chevaux", "cheval"),
            ("pommes", "pome"),
            ("pomme", "pome"),
            ("délicieuses", "delicieu"),
            ("établissement", "etabli"),
            ("été", "été"),
            ("nationalisation", "national"),
            ("directrices", "direct"),
        ];
        check(Stem::LightFrench, &french);
        let russian = [("книги", "книг"), ("книга", "книг")];
        check(Stem::Russian, &russian);
        check(
            Stem::Swedish,
            &[("flickorna", "flick"), ("flicka", "flick")],
        );
        check(Stem::Danish, &[("husene", "hus")]);
        check(Stem::Norwegian, &[("husene", "hus")]);
        check(Stem::Dutch, &[("katten", "kat"), ("kat", "kat")]);
    }

    #[test]
    fn a_word_may_have_a_stem_of_its_own() {
        let stems = StemBut {
            stem: Stem::Porter,
            overrides: vec![("jumping".to_owned(), "jumping".to_owned())],
            is_beside: false,
        };
        assert_eq!(stems.of("jumping"), "jumping");
        assert_eq!(stems.of("running"), "run");
    }
}
