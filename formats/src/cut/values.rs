//! JSON values one after another, in arrays, or in an array that is the only member of an object.
//!
//! This is not a JSON parser: it counts brackets outside strings, and leaves errors in a value to its
//! parser. A broken value ends early, so that the next one is found:
//! - at the end of a line within a string, which JSON does not allow;
//! - before a `{` or `[` that follows neither `{`, `[`, `,` nor `:`.

use super::Cut;
use super::features::{Found, Members};

/// Structure around the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Bare,
    /// `[ … ]`, and the lists of records in an object.
    Array,
    /// `{"name": [ … ]}`, with one of these names.
    Within(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between values, outside any array.
    Outside,
    /// Between elements of the array.
    Between,
    /// After the array that is a member: its object must end.
    AfterArray,
    /// In a possible `{"name": [`.
    Opening { name: usize, place: usize },
    /// In an object that may have a list of records.
    Seeking(Members),
    /// Behind that array.
    AfterFeatures(Members),
    /// In a value.
    Value(Inside),
    /// In something that is not a value: until the end of the line, or the next value.
    Junk { in_array: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inside {
    in_array: bool,
    depth: u32,
    in_string: bool,
    is_escaped: bool,
    /// The last byte outside strings that is not white space.
    last: u8,
}

#[derive(Clone, Debug)]
pub(super) struct Values {
    shape: Shape,
    state: State,
    /// Within a list of records: the object around it.
    around: Option<Members>,
}

fn is_white(byte: u8) -> bool {
    // Includes the separator of RFC 7464, and the one of GELF over TCP.
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x1e | 0)
}

impl Values {
    pub(super) fn new(shape: Shape) -> Values {
        Values {
            shape,
            state: State::Outside,
            around: None,
        }
    }

    pub(super) fn begin_again(&mut self) {
        self.state = match self.state {
            State::Value(Inside { in_array: true, .. }) | State::Junk { in_array: true } => {
                State::Between
            }
            State::AfterFeatures(members) => State::AfterFeatures(members),
            _ => State::Outside,
        };
    }

    pub(super) fn cut(&mut self, bytes: &[u8]) -> Cut {
        match self.state {
            State::Value(inside) => self.in_value(inside, bytes, 0),
            State::Junk { in_array } => self.in_junk(in_array, bytes),
            State::Opening { name, place } => self.in_opening(name, place, bytes),
            State::Seeking(members) => self.seek(members, bytes),
            State::AfterFeatures(members) => self.after_features(members, bytes),
            State::Outside | State::Between | State::AfterArray => self.between(bytes),
        }
    }

    /// Skips white space, commas and brackets, then begins the next item.
    fn between(&mut self, bytes: &[u8]) -> Cut {
        for (place, byte) in bytes.iter().copied().enumerate() {
            let rest = bytes.get(place..).unwrap_or_default();
            let next = match (self.state, byte) {
                _ if is_white(byte) => continue,
                (State::Between, b']') => match (self.around.take(), self.shape) {
                    (Some(around), _) => {
                        self.state = State::AfterFeatures(around.after_array());
                        return Cut::Drop(place + 1);
                    }
                    (None, Shape::Within(_)) => State::AfterArray,
                    (None, Shape::Bare | Shape::Array) => State::Outside,
                },
                (State::AfterArray, b'}') => State::Outside,
                (State::Outside | State::Between, b',') => continue,
                (State::Outside, b'[') if self.shape == Shape::Array => State::Between,
                _ if place > 0 => return Cut::Drop(place),
                (State::Outside, b'{') if matches!(self.shape, Shape::Within(_)) => {
                    self.state = State::Opening { name: 0, place: 0 };
                    return self.in_opening(0, 0, rest);
                }
                (State::Outside, b'{') if self.shape == Shape::Array => {
                    return self.seek(Members::default(), rest);
                }
                (State::AfterArray, b'{') => {
                    self.state = State::Outside;
                    return self.between(bytes);
                }
                (State::AfterArray, _) => {
                    self.state = State::Junk { in_array: false };
                    return self.in_junk(false, rest);
                }
                (state, _) => return self.begin(state == State::Between, rest),
            };
            self.state = next;
        }
        Cut::Drop(bytes.len())
    }

    fn begin(&mut self, in_array: bool, bytes: &[u8]) -> Cut {
        let first = bytes.first().copied().unwrap_or_default();
        // In an array a value may be anything; outside, only objects and arrays are values.
        if in_array || matches!(first, b'{' | b'[') {
            let inside = Inside {
                in_array,
                depth: 0,
                in_string: false,
                is_escaped: false,
                last: b':',
            };
            self.state = State::Value(inside);
            return self.in_value(inside, bytes, 0);
        }
        self.state = State::Junk { in_array };
        self.in_junk(in_array, bytes)
    }

    /// Looks for a list of records. An object without one is an ordinary value.
    fn seek(&mut self, mut members: Members, bytes: &[u8]) -> Cut {
        for (place, byte) in bytes.iter().enumerate() {
            match members.step(*byte) {
                Found::Nothing => {}
                Found::Array => {
                    (self.state, self.around) = (State::Between, Some(members));
                    return Cut::Drop(place + 1);
                }
                Found::End => return self.end(false, place + 1),
            }
        }
        self.state = State::Seeking(members);
        Cut::More
    }

    /// Passes the members behind a list of records.
    fn after_features(&mut self, mut members: Members, bytes: &[u8]) -> Cut {
        for (place, byte) in bytes.iter().enumerate() {
            self.state = match members.step(*byte) {
                Found::End => State::Outside,
                Found::Array if members.may_have_more() => {
                    self.around = Some(members);
                    State::Between
                }
                Found::Array | Found::Nothing => continue,
            };
            return Cut::Drop(place + 1);
        }
        self.state = State::AfterFeatures(members);
        Cut::Drop(bytes.len())
    }

    fn end(&mut self, in_array: bool, place: usize) -> Cut {
        self.state = match in_array {
            true => State::Between,
            false => State::Outside,
        };
        Cut::End(place)
    }

    /// `from` is where to continue in `bytes`.
    fn in_value(&mut self, mut inside: Inside, bytes: &[u8], from: usize) -> Cut {
        let mut place = from;
        while let Some(byte) = bytes.get(place).copied() {
            if inside.in_string {
                if inside.is_escaped {
                    inside.is_escaped = false;
                    place += 1;
                    continue;
                }
                let rest = bytes.get(place..).unwrap_or_default();
                let Some(at) = memchr::memchr3(b'"', b'\\', b'\n', rest) else {
                    break;
                };
                place += at + 1;
                match rest.get(at) {
                    Some(b'"') => {
                        inside.in_string = false;
                        inside.last = b'"';
                        if inside.depth == 0 {
                            return self.end(inside.in_array, place);
                        }
                    }
                    Some(b'\\') => inside.is_escaped = true,
                    _ => return self.end(inside.in_array, place),
                }
                continue;
            }
            match byte {
                b'"' => inside.in_string = true,
                b'{' | b'[' if !matches!(inside.last, b'{' | b'[' | b',' | b':') => {
                    // It is not part of this value: it begins the next one.
                    return self.end(inside.in_array, place);
                }
                b'{' | b'[' => inside.depth = inside.depth.saturating_add(1),
                b'}' | b']' if inside.depth > 0 => {
                    inside.depth -= 1;
                    if inside.depth == 0 {
                        return self.end(inside.in_array, place + 1);
                    }
                }
                // The end of the array, or of an element that is not an object.
                b'}' | b']' | b',' if inside.depth == 0 && inside.in_array => {
                    let is_stray = byte == b'}';
                    return self.end(true, place + usize::from(is_stray));
                }
                _ => {}
            }
            if !is_white(byte) {
                inside.last = byte;
            }
            place += 1;
        }
        self.state = State::Value(inside);
        Cut::More
    }

    fn in_junk(&mut self, in_array: bool, bytes: &[u8]) -> Cut {
        match memchr::memchr2(b'\n', b'{', bytes) {
            Some(at) if bytes.get(at) == Some(&b'\n') => self.end(in_array, at + 1),
            Some(at) => self.end(in_array, at),
            None => {
                self.state = State::Junk { in_array };
                Cut::More
            }
        }
    }

    /// Compares with `{"name":[`, ignoring white space. A mismatch is an ordinary value.
    fn in_opening(&mut self, name: usize, place: usize, bytes: &[u8]) -> Cut {
        let Shape::Within(names) = self.shape else {
            return self.begin(false, bytes);
        };
        let (mut name, mut place) = (name, place);
        for (at, byte) in bytes.iter().copied().enumerate() {
            if is_white(byte) && !in_string(names, name, place) {
                continue;
            }
            // Another of the names may have the same beginning.
            let same = |other: usize| {
                (0..=place).all(|earlier| {
                    let wanted_there = wanted(names, other, earlier);
                    match earlier == place {
                        true => wanted_there == Some(byte),
                        false => wanted_there == wanted(names, name, earlier),
                    }
                })
            };
            match (name..names.len()).find(|other| same(*other)) {
                Some(found) => name = found,
                None => {
                    let inside = Inside {
                        in_array: false,
                        depth: u32::from(place > 0),
                        in_string: in_string(names, name, place),
                        is_escaped: false,
                        last: last_outside(names, name, place),
                    };
                    self.state = State::Value(inside);
                    return self.in_value(inside, bytes, at);
                }
            }
            place += 1;
            if wanted(names, name, place).is_none() {
                self.state = State::Between;
                return Cut::Drop(at + 1);
            }
        }
        self.state = State::Opening { name, place };
        Cut::More
    }
}

/// Returns the byte of `{"name":[` at a position.
fn wanted(names: &[&str], name: usize, place: usize) -> Option<u8> {
    let name = names.get(name)?.as_bytes();
    match place {
        0 => Some(b'{'),
        1 => Some(b'"'),
        _ => match place - 2 {
            within if within < name.len() => name.get(within).copied(),
            after => b"\":[".get(after - name.len()).copied(),
        },
    }
}

/// Returns whether the byte at a position of `{"name":[`, including its closing quote, is within the string.
fn in_string(names: &[&str], name: usize, place: usize) -> bool {
    let len = names.get(name).map_or(0, |name| name.len());
    place >= 2 && place - 2 <= len
}

/// Returns the last byte outside strings before a position of `{"name":[`.
fn last_outside(names: &[&str], name: usize, place: usize) -> u8 {
    match place {
        0 => b':',
        1 => b'{',
        _ if in_string(names, name, place) => b'{',
        _ => wanted(names, name, place - 1).unwrap_or(b':'),
    }
}
