//! Text of HTML, as Lucene's `HTMLStripCharFilter` finds it: elements within a line leave nothing behind, all others a
//! line feed; scripts, styles and comments are dropped, and references are resolved.

use super::chars::Changed;

/// Elements within a line.
const INLINE: &str = " a abbr acronym b basefont bdo big cite code dfn em font i img input kbd label q s samp select small \
    span strike strong sub sup textarea tt u var ";

/// Names of the characters from U+A0 on.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn \
    sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave \
    Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc \
    Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute \
    THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml \
    igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave \
    uacute ucirc uuml yacute thorn yuml";

/// Names of other characters, and their numbers.
const OTHERS: &str = "quot 22 amp 26 lt 3c gt 3e OElig 152 oelig 153 Scaron 160 scaron 161 Yuml 178 fnof 192 circ \
    2c6 tilde 2dc Alpha 391 Beta 392 Gamma 393 Delta 394 Epsilon 395 Zeta 396 Eta 397 Theta 398 \
    Iota 399 Kappa 39a Lambda 39b Mu 39c Nu 39d Xi 39e Omicron 39f Pi 3a0 Rho 3a1 Sigma 3a3 Tau \
    3a4 Upsilon 3a5 Phi 3a6 Chi 3a7 Psi 3a8 Omega 3a9 alpha 3b1 beta 3b2 gamma 3b3 delta 3b4 \
    epsilon 3b5 zeta 3b6 eta 3b7 theta 3b8 iota 3b9 kappa 3ba lambda 3bb mu 3bc nu 3bd xi 3be \
    omicron 3bf pi 3c0 rho 3c1 sigmaf 3c2 sigma 3c3 tau 3c4 upsilon 3c5 phi 3c6 chi 3c7 psi 3c8 \
    omega 3c9 thetasym 3d1 upsih 3d2 piv 3d6 ensp 2002 emsp 2003 thinsp 2009 zwnj 200c zwj 200d \
    lrm 200e rlm 200f ndash 2013 mdash 2014 lsquo 2018 rsquo 2019 sbquo 201a ldquo 201c rdquo \
    201d bdquo 201e dagger 2020 Dagger 2021 bull 2022 hellip 2026 permil 2030 prime 2032 Prime \
    2033 lsaquo 2039 rsaquo 203a oline 203e frasl 2044 euro 20ac image 2111 weierp 2118 real \
    211c trade 2122 alefsym 2135 larr 2190 uarr 2191 rarr 2192 darr 2193 harr 2194 crarr 21b5 \
    lArr 21d0 uArr 21d1 rArr 21d2 dArr 21d3 hArr 21d4 forall 2200 part 2202 exist 2203 empty \
    2205 nabla 2207 isin 2208 notin 2209 ni 220b prod 220f sum 2211 minus 2212 lowast 2217 radic \
    221a prop 221d infin 221e ang 2220 and 2227 or 2228 cap 2229 cup 222a int 222b there4 2234 \
    sim 223c cong 2245 asymp 2248 ne 2260 equiv 2261 le 2264 ge 2265 sub 2282 sup 2283 nsub 2284 \
    sube 2286 supe 2287 oplus 2295 otimes 2297 perp 22a5 sdot 22c5 lceil 2308 rceil 2309 lfloor \
    230a rfloor 230b lang 2329 rang 232a loz 25ca spades 2660 clubs 2663 hearts 2665 diams 2666 \
    apos 27";

/// Writes what a text of HTML says. The tags in `escaped` stay.
pub(super) fn strip(escaped: &[String], out: &mut Changed<'_>) {
    let text = out.source();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(['<', '&'])) {
        let start = at + found;
        out.keep(at..start);
        let rest = text.get(start..).unwrap_or_default();
        if let Some(inner) = rest.strip_prefix("<![CDATA[") {
            let len = inner.find("]]>");
            let (begin, end) = (text.len() - inner.len(), len.unwrap_or(inner.len()));
            out.replace(start..begin, "");
            out.keep(begin..begin + end);
            at = begin + end;
            if len.is_some() {
                out.replace(at..at + 3, "");
                at += 3;
            }
            continue;
        }
        at = match markup(rest, escaped) {
            Some((len, text)) => {
                out.replace(start..start + len, &text);
                start + len
            }
            None => {
                out.keep(start..start + 1);
                start + 1
            }
        };
    }
    out.keep(at..text.len());
}

/// Returns the length of the markup at the beginning of a text, and what it stands for.
fn markup(text: &str, escaped: &[String]) -> Option<(usize, String)> {
    if let Some(name) = text.strip_prefix('&') {
        let (len, character) = reference(name)?;
        return Some((1 + len, character.to_string()));
    }
    let end_at = |end: &str| text.find(end).map(|at| at + end.len());
    if text.starts_with("<!--") {
        return Some((end_at("-->").unwrap_or(text.len()), String::new()));
    }
    if text.starts_with("<!") {
        return Some((end_at(">")?, String::new()));
    }
    if text.starts_with("<?") {
        let len = end_at(">")?;
        let is_one = text.get(..len)?.ends_with("?>") || text.get(..len)?.ends_with("/>");
        return is_one.then(|| (len, String::new()));
    }
    let inner = text.strip_prefix('<')?;
    let inner = inner.trim_start();
    let (is_end, inner) = match inner.strip_prefix('/') {
        Some(inner) => (true, inner.trim_start()),
        None => (false, inner),
    };
    let is_first = |char: char| char.is_alphabetic() || matches!(char, ':' | '_');
    let is_next = |char: char| char.is_alphanumeric() || matches!(char, '-' | '.' | ':' | '_');
    let len = inner.find(|char| !is_next(char)).unwrap_or(inner.len());
    let (name, tail) = inner.split_at_checked(len)?;
    let name = name.to_lowercase();
    if !name.starts_with(is_first) || escaped.iter().any(|tag| tag.eq_ignore_ascii_case(&name)) {
        return None;
    }
    let tail_len = match is_end {
        true => tail
            .trim_start()
            .strip_prefix('>')
            .map(|rest| tail.len() - rest.len()),
        false => tail_len(tail, true).or_else(|| tail_len(tail, false)),
    }?;
    let mut len = text.len() - tail.len() + tail_len;
    if !is_end && matches!(name.as_str(), "script" | "style") {
        len += content_len(text.get(len..)?, &name);
    }
    let is_inline = INLINE.contains(&format!(" {name} "));
    Some((len, String::from(if is_inline { "" } else { "\n" })))
}

/// Returns the length of what follows the name of an element up to the end of the tag. Values in quotes can contain `>`.
fn tail_len(tail: &str, has_quotes: bool) -> Option<usize> {
    let mut is_value = false;
    let mut rest = tail.char_indices();
    while let Some((at, char)) = rest.next() {
        match char {
            '>' => return Some(at + 1),
            '<' => return None,
            '"' | '\'' if is_value && has_quotes => {
                rest.by_ref().find(|(_, other)| *other == char)?;
                is_value = false;
            }
            other => is_value = other == '=' || (is_value && other.is_whitespace()),
        }
    }
    None
}

/// Returns the length of a script or style sheet with its end tag.
fn content_len(content: &str, name: &str) -> usize {
    let mut at = 0;
    while let Some(found) = content.get(at..).and_then(|rest| rest.find('<')) {
        at += found;
        let rest = content.get(at..).unwrap_or_default();
        if rest.starts_with("<!--") {
            at += rest.find("-->").unwrap_or(rest.len()).max(1);
            continue;
        }
        let inner = rest.strip_prefix("</").unwrap_or_default().trim_start();
        let is_own = inner
            .get(..name.len())
            .is_some_and(|own| own.eq_ignore_ascii_case(name));
        let behind = inner.get(name.len()..).unwrap_or_default().trim_start();
        if let Some(end) = behind.strip_prefix('>').filter(|_| is_own) {
            return content.len() - end.len();
        }
        at += 1;
    }
    content.len()
}

/// Returns the length of a reference behind its `&`, and its character. The semicolon may be missing only at the end.
fn reference(text: &str) -> Option<(usize, char)> {
    let len = text.find(';').unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(len)?;
    let character = match name.strip_prefix('#') {
        Some(number) => numbered(number)?,
        None => named(name)?,
    };
    Some((len + rest.len().min(1), character))
}

fn numbered(number: &str) -> Option<char> {
    let (digits, radix, most) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 5),
        None => (number, 10, 7),
    };
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    if !is_number || digits.len() > most {
        return None;
    }
    let number = u32::from_str_radix(digits, radix).ok()?;
    let character = char::from_u32(number);
    // Halves of a pair are no character.
    character.or_else(|| (number <= 0xffff).then_some(char::REPLACEMENT_CHARACTER))
}

fn named(name: &str) -> Option<char> {
    let lower = match name {
        "QUOT" | "COPY" | "GT" | "LT" | "REG" | "AMP" => &name.to_lowercase(),
        name => name,
    };
    if lower == "nbsp" {
        return Some(' ');
    }
    let latin = (0xa0..).zip(LATIN.split(' '));
    let mut latin = latin.filter(|(_, known)| *known == lower);
    if let Some((number, _)) = latin.next() {
        return char::from_u32(number);
    }
    let mut others = OTHERS.split(' ');
    while let (Some(known), Some(number)) = (others.next(), others.next()) {
        if known == lower {
            return char::from_u32(u32::from_str_radix(number, 16).ok()?);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expect: &str) {
        let mut changed = Changed::of(html);
        strip(&["b".to_owned()], &mut changed);
        assert_eq!(changed.into_text(), expect, "{html}");
    }

    #[test]
    fn html_becomes_its_text() {
        check("<p>I&apos;m so <i>happy</i>!</p>", "\nI'm so happy!\n");
        check("x<B class='a>b'>y</b >z", "x<B class='a>b'>y</b >z");
        check("a<br/>b< hr >c</ p>d", "a\nb\nc\nd");
        check("1 < 2 && 3 > 2 <3", "1 < 2 && 3 > 2 <3");
        check("<a title=\"x > y\" href=z>t</a>", "t");
        check("<a title=\"x>t", "t");
        check("a<!-- <b> -->b<!DOCTYPE html>c<?xml v?>d", "abcd");
        check(
            "a<script>if (a<b) '</p>'</SCRIPT >b<style>x</style>",
            "a\nb\n",
        );
        check("<script><!-- </script> --></script>x", "\nx");
        check("<![CDATA[a <i>&amp; b]]>c", "a <i>&amp; bc");
        check("&eacute;&#233;&#xE9;&Alpha;&AMP;&nope;&amp", "éééΑ&&nope;&");
        check("&#55357;&#xFFFFFFF;&#;&", "\u{fffd}&#xFFFFFFF;&#;&");
        check("a<i", "a<i");
        check("", "");
    }
}
