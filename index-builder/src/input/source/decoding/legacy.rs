//! Conversion of the encodings before UTF-8: Windows-1252, and ISO 8859-1 within it, by rules of our own, which a few
//! letters satisfy; those of Japan, China, Korea, Russia and others as `chardetng` guesses them, where what it reads are
//! words.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, Encoding, UTF_8, WINDOWS_1252};

use super::converted::Converted;

/// Minimum number of characters beyond ASCII by which an encoding is guessed.
const MIN_CHARACTERS: usize = 6;

/// Minimum number of different ones among them: words have more than the marks in other data.
const MIN_DISTINCT: usize = 5;

/// Number of bytes that are converted at a time.
const NUM_AT_ONCE: usize = 16 << 10;

/// Returns the encoding of text with this beginning; `None` if it may be UTF-8, or is none that is certain.
pub(super) fn encoding_of(beginning: &[u8], is_whole: bool) -> Option<&'static Encoding> {
    let Err(error) = std::str::from_utf8(beginning) else {
        return None;
    };
    if !is_whole && error.error_len().is_none() {
        return None;
    }
    let guess = guessed(beginning, is_whole);
    match is_latin(beginning) {
        // The letters of Central Europe stand in the same places.
        true => guess
            .filter(|guess| guess.is_single_byte())
            .or(Some(WINDOWS_1252)),
        false => guess,
    }
}

/// Returns the encoding in which a text that is mostly no UTF-8 beyond ASCII has words there.
fn guessed(beginning: &[u8], is_whole: bool) -> Option<&'static Encoding> {
    let is_control =
        |byte: &u8| matches!(byte, 0..0x20 | 0x7f) && !b"\t\n\r\x0c\x1b".contains(byte);
    if beginning.iter().any(is_control) || is_mostly_utf8(beginning) {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(beginning, is_whole);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    // The last character may be cut off.
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(beginning.len())?);
    let (_, _, has_errors) = decoder.decode_to_string(beginning, &mut text, is_whole);
    let beyond: Vec<char> = text.chars().filter(|c| !c.is_ascii()).collect();
    let is_of_words = |c: &&char| c.is_alphanumeric() || is_punctuation(**c);
    let num_of_words = beyond.iter().filter(is_of_words).count();
    let distinct: BTreeSet<&char> = beyond.iter().collect();
    let are_many = beyond.len() >= MIN_CHARACTERS && distinct.len() >= MIN_DISTINCT;
    let is_text = are_many && num_of_words * 20 >= beyond.len() * 19;
    let is_drawn = encoding.is_single_byte() && has_runs(&text);
    let is_it = is_text && !has_errors && !is_drawn && encoding != UTF_8 && are_words(&text);
    is_it.then_some(encoding)
}

/// Returns whether a character is a sign of the scripts of East Asia, or one of typography.
fn is_punctuation(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' | '\u{2010}'..='\u{2026}' | '\u{a0}' | '\u{ab}' | '\u{bb}' | '\u{2116}' | '\u{30fb}' | '\u{30fc}')
}

/// Returns whether a letter beyond ASCII stands three times in a row, as the lines of boxes do.
fn has_runs(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let mut runs = letters.windows(3);
    runs.any(|run| matches!(run, [a, b, c] if !a.is_ascii() && a == b && b == c))
}

/// Returns whether letters beyond ASCII stand beside each other, as those of other scripts do, or in words with others.
fn are_words(text: &str) -> bool {
    let (mut num_all, mut num_beside) = (0_usize, 0_usize);
    let characters: Vec<char> = text.chars().collect();
    let is_letter = |place: Option<usize>| {
        place
            .and_then(|place| characters.get(place))
            .is_some_and(|c| c.is_alphabetic())
    };
    for (place, c) in characters.iter().enumerate() {
        if c.is_ascii() || !c.is_alphabetic() {
            continue;
        }
        num_all += 1;
        num_beside +=
            usize::from(is_letter(place.checked_sub(1)) || is_letter(place.checked_add(1)));
    }
    num_beside * 10 >= num_all * 8
}

/// Returns whether most of a text beyond ASCII is UTF-8: it is damaged, or of several encodings. Two bytes of other
/// encodings look like UTF-8 now and then.
fn is_mostly_utf8(text: &[u8]) -> bool {
    let valid = text.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
    let num_valid: usize = valid.filter(|c| !c.is_ascii()).map(char::len_utf8).sum();
    let num_high = text.iter().filter(|byte| !byte.is_ascii()).count();
    num_valid * 2 > num_high
}

/// Returns whether text with this beginning is Windows-1252 (`https://encoding.spec.whatwg.org/index-windows-1252.txt`): it
/// is not UTF-8 anywhere, letters beyond ASCII are few and stand beside others, and so do signs.
fn is_latin(beginning: &[u8]) -> bool {
    let (mut num_high, mut num_likely) = (0_usize, 0_usize);
    let mut before = b' ';
    let mut bytes = beginning.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let after = bytes.peek().copied().unwrap_or(b' ');
        match byte {
            b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | b' '..=b'~' => {}
            0..=0x1f | 0x7f | 0x81 | 0x8d | 0x8f | 0x90 | 0x9d => return false,
            _ => {
                num_high += 1;
                num_likely += usize::from(is_likely(before, byte, after));
            }
        }
        before = byte;
    }
    let is_utf8_within = beginning
        .utf8_chunks()
        .any(|chunk| !chunk.valid().is_ascii());
    num_high * 5 < beginning.len() && num_likely * 10 >= num_high * 9 && !is_utf8_within
}

/// Returns whether a character stands where it would in words and numbers.
fn is_likely(before: u8, byte: u8, after: u8) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic();
    match byte {
        // `÷`, `þ` and `ÿ` are no letters of many words, and begin binary data.
        0xd7 | 0xf7 | 0xde | 0xf0 | 0xfe | 0xff => false,
        0xc0..=0xff | 0x8a | 0x8c | 0x8e | 0x9a | 0x9c | 0x9e | 0x9f => {
            // `Maß`, `Öl`; `é` and `à` are words; two may stand together: `ïë`.
            let stands_apart = |byte: u8| byte.is_ascii_punctuation() || byte.is_ascii_whitespace();
            is_letter(before)
                || is_letter(after)
                || (stands_apart(before)
                    && stands_apart(after)
                    && matches!(byte, 0xe0 | 0xe8 | 0xe9 | 0xc0 | 0xf3))
        }
        // Quotes, dashes and signs of money and units.
        0x80
        | 0x82
        | 0x84
        | 0x85
        | 0x91..=0x97
        | 0x99
        | 0xa0
        | 0xa3
        | 0xa7
        | 0xa9
        | 0xab
        | 0xae
        | 0xb0
        | 0xb2
        | 0xb3
        | 0xb4
        | 0xb5
        | 0xb7
        | 0xbb => true,
        _ => false,
    }
}

/// Reads an encoding as UTF-8. What is no character of it becomes U+FFFD.
pub(super) struct Legacy<R> {
    reader: R,
    decoder: Decoder,
    out: Converted,
    is_ended: bool,
}

impl<R: BufRead> Legacy<R> {
    pub(super) fn new(reader: R, encoding: &'static Encoding) -> Legacy<R> {
        Legacy {
            reader,
            decoder: encoding.new_decoder_without_bom_handling(),
            out: Converted::default(),
            is_ended: false,
        }
    }

    /// Decodes a part of the reader's buffer; returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.out.clear();
        if self.is_ended {
            return Ok(false);
        }
        let bytes = self.reader.fill_buf()?;
        let bytes = &bytes[..bytes.len().min(NUM_AT_ONCE)];
        let is_last = bytes.is_empty();
        let room = self.decoder.max_utf8_buffer_length(bytes.len());
        let room = room.ok_or_else(|| io::Error::other("a text that is too long to convert"))?;
        let mut text = String::with_capacity(room);
        let (_, num_read, _) = self.decoder.decode_to_string(bytes, &mut text, is_last);
        self.reader.consume(num_read);
        self.is_ended = is_last;
        self.out.extend(&text);
        Ok(true)
    }
}

impl<R: BufRead> Read for Legacy<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.out.is_read() {
            if !self.fill()? {
                return Ok(0);
            }
        }
        Ok(self.out.read(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(encoding: &'static Encoding, bytes: &[u8], at_once: usize) -> String {
        let mut text = String::new();
        let reader = io::BufReader::with_capacity(at_once, bytes);
        Legacy::new(reader, encoding)
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    #[test]
    fn bytes_become_the_characters_of_their_encoding() {
        let bytes = b"Gr\xf6\xdfe \x80 5 \x84x\x93 caf\xe9\n";
        let expect = "Größe € 5 „x“ café\n";
        assert_eq!(read_as(WINDOWS_1252, bytes, 4_096), expect);
        let expect = "2024-05-01 起動 担当者 ログイン失敗\n";
        let (bytes, ..) = encoding_rs::SHIFT_JIS.encode(expect);
        for at_once in 1..9 {
            assert_eq!(read_as(encoding_rs::SHIFT_JIS, &bytes, at_once), expect);
        }
        // Half a character at the end.
        let cut = &bytes[..bytes.len() - 2];
        let text = read_as(encoding_rs::SHIFT_JIS, cut, 3);
        assert!(text.ends_with("失\u{fffd}"), "{text}");
    }

    #[test]
    fn texts_of_other_scripts_are_told_apart() {
        use encoding_rs::{BIG5, EUC_JP, EUC_KR, GBK, KOI8_R, SHIFT_JIS, WINDOWS_1251};
        let japanese =
            "2024-05-01 10:00:00 情報 サーバーを起動しました。担当者がログインに失敗しました。\n";
        let chinese = "2024-05-01 10:00:00 信息 服务器已启动，用户登录失败，请检查密码。\n";
        let taiwanese = "2024-05-01 10:00:00 資訊 伺服器已啟動，使用者登入失敗，請檢查密碼。\n";
        let korean =
            "2024-05-01 10:00:00 정보 서버가 시작되었습니다. 사용자 로그인에 실패했습니다.\n";
        let russian = "2024-05-01 10:00:00 ИНФО Сервер запущен, пользователь не вошёл в систему\n";
        for (text, encoding) in [
            (japanese, SHIFT_JIS),
            (japanese, EUC_JP),
            (chinese, GBK),
            (taiwanese, BIG5),
            (korean, EUC_KR),
            (russian, WINDOWS_1251),
            (russian, KOI8_R),
        ] {
            let (bytes, ..) = encoding.encode(text);
            let found = encoding_of(&bytes, true);
            let found = found.unwrap_or_else(|| panic!("{}", encoding.name()));
            // Some are parts of others: KOI8-U has the letters of KOI8-R.
            assert_eq!(read_as(found, &bytes, 4_096), text, "{}", found.name());
            // Not where a character is cut off.
            assert!(encoding_of(&bytes[..bytes.len() - 3], false).is_some());
        }
    }

    #[test]
    fn languages_of_europe_are_told_apart() {
        use encoding_rs::{WINDOWS_1250, WINDOWS_1254};
        for (text, encoding) in [
            (
                "INFO Größe geändert, Straße nach Zürich völlig gesperrt\n",
                WINDOWS_1252,
            ),
            (
                "Échec de la connexion à la base : délai dépassé, où c'était prévu\n",
                WINDOWS_1252,
            ),
            (
                "Fejl på forbindelsen: brugeren Søren kunne ikke tilføjes\n",
                WINDOWS_1252,
            ),
            (
                "Sikertelen csatlakozás: a felhasználó jelszava hibás, próbálja később, idő túllépés, műszer, fűtő\n",
                WINDOWS_1250,
            ),
            (
                "Błąd połączenia: użytkownik, nieprawidłowe hasło, spróbuj później\n",
                WINDOWS_1250,
            ),
            (
                "Bağlantı hatası: kullanıcı şifresi geçersiz, lütfen daha sonra yeniden deneyin, güncelleme\n",
                WINDOWS_1254,
            ),
        ] {
            let (bytes, ..) = encoding.encode(text);
            assert_eq!(encoding_of(&bytes, true), Some(encoding), "{text}");
        }
    }

    #[test]
    fn bytes_without_words_have_no_encoding() {
        use proptest::prelude::*;
        proptest!(|(bytes in prop::collection::vec(any::<u8>(), 64..512))| {
            prop_assert_eq!(encoding_of(&bytes, true), None);
        });
        // Numbers between lines of text, and signs of old terminals.
        for bytes in [
            &b"record \xfe\xff\xfe\xff\xfe\xff\xfe\xff\n"[..],
            b"\xc9\xcd\xcd\xcd\xcd\xbb\n\xba menu \xba\n\xc8\xcd\xcd\xcd\xcd\xbc\n",
            b"a \x96 b \x96 c \x96 d \xb7 e \xb7 f \xfe\n",
        ] {
            assert_eq!(encoding_of(bytes, true), None, "{bytes:?}");
        }
    }

    #[test]
    fn text_of_western_europe_is_told_from_others() {
        for text in [
            &b"2024-05-01 10:00:00 INFO Gr\xf6\xdfe ge\xe4ndert\n"[..],
            b"Buchungstag;Empf\xe4nger;Betrag\n13.05.2024;B\xe4cker;12,50 \x80\n",
            b"d\xe9j\xe0 vu \xe0 la veille de No\xebl\n",
            b"temp 20 \xb0C\n",
        ] {
            assert_eq!(encoding_of(text, true), Some(WINDOWS_1252), "{text:?}");
        }
        for text in [
            &b"plain\n"[..],
            "Größe\n".as_bytes(),
            // UTF-8 with a damaged byte, or cut off.
            b"Gr\xc3\xb6\xc3\x9fe \xff\n",
            b"{\"ts\":1,\"text\":\"\xff\xfe\"}\n",
            b"bad \xff line\n",
            // Japanese and Russian in their own encodings.
            b"\x93\xfa\x95t,\x92S\x93\x96,\x8b\xe0\x8az\n",
            b"\xcf\xf0\xe8\xe2\xe5\xf2 \xec\xe8\xf0\n",
            b"\x00\x01Gr\xf6\xdfe\n",
        ] {
            assert_ne!(encoding_of(text, true), Some(WINDOWS_1252), "{text:?}");
        }
        assert_eq!(encoding_of(&"Größe".as_bytes()[..3], false), None);
    }
}
