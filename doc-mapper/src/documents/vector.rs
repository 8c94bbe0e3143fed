//! Options of vectors, and vectors as documents and queries write them.
//!
//! ```text
//!   [0.5, -1, 2e-3]      numbers, of every element type; of bits, one number for eight of them
//!   "AAAAPwAAgL8"        float: base64 of 32-bit numbers, little-endian
//!   "7f80"               byte, bit: two hexadecimal digits for each byte
//! ```

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};
use canter_vectors::{Element, Similarity};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;

/// Maximum number of dimensions.
pub(crate) const MAX_DIMS: u64 = 4_096;

/// Names of element types in a config.
pub(crate) const ELEMENTS: [(&str, Element); 3] = [
    ("float", Element::Float),
    ("byte", Element::Byte),
    ("bit", Element::Bit),
];

/// Padding may be left out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Options of `dense_vector`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorKind {
    /// Number of dimensions, 1 to 4,096; of bits, a multiple of 8.
    pub dims: u32,
    /// How vectors are compared.
    pub similarity: Similarity,
    /// What their numbers are.
    pub element: Element,
}

impl VectorKind {
    /// Creates the options.
    ///
    /// # Errors
    /// Says which option does not suit the others.
    pub(crate) fn new(
        dims: u32,
        similarity: Option<Similarity>,
        element: Element,
    ) -> Result<Self, String> {
        let similarity = match (element, similarity) {
            (Element::Bit, None | Some(Similarity::L2Norm)) => Similarity::L2Norm,
            (Element::Bit, Some(other)) => {
                return Err(format!(
                    "vectors of bits are compared by l2_norm (the number of bits that differ), and not by {}",
                    other.name()
                ));
            }
            (_, similarity) => similarity.unwrap_or(Similarity::Cosine),
        };
        if element == Element::Bit && !dims.is_multiple_of(8) {
            return Err(format!(
                "vectors of bits have a multiple of 8 dimensions, and not {dims}"
            ));
        }
        Ok(Self {
            dims,
            similarity,
            element,
        })
    }

    /// Returns the number of dimensions.
    #[must_use]
    pub fn num_dims(self) -> usize {
        usize::try_from(self.dims).unwrap_or(usize::MAX)
    }

    /// Returns the name of the element type.
    #[must_use]
    pub fn element_name(self) -> &'static str {
        let mut all = ELEMENTS.iter();
        let found = all.find(|(_, element)| *element == self.element);
        found.map_or("float", |(name, _)| name)
    }

    /// Serializes the options.
    pub(crate) fn serialize_options<M: SerializeMap>(self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("dims", &self.dims)?;
        map.serialize_entry("similarity", self.similarity.name())?;
        map.serialize_entry("element_type", self.element_name())
    }

    /// Reads a value; `None` for `null`. The inner error says why it is no vector of the field.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn read<'de, D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Result<Option<Vec<f32>>, String>, D::Error> {
        let given = deserializer.deserialize_any(Vector)?;
        Ok(given.and_then(|given| match given {
            Given::Nothing => Ok(None),
            Given::Numbers(numbers) => Ok(Some(numbers)),
            Given::Text(text) => self.of_text(&text).map(Some),
        }))
    }

    /// Returns the bytes in which a vector is stored.
    ///
    /// # Errors
    /// Says why it is no vector of the field.
    pub fn store(self, numbers: &[f32]) -> Result<Vec<u8>, String> {
        let stored = self
            .element
            .store(numbers, self.num_dims(), self.similarity);
        stored.map_err(|problem| problem.to_string())
    }

    fn of_text(self, text: &str) -> Result<Vec<f32>, String> {
        match self.element {
            Element::Float => {
                let bytes = BASE64.decode(text).ok();
                let numbers = bytes.as_deref().map(|bytes| bytes.as_chunks::<4>());
                match numbers {
                    Some((numbers, [])) => Ok(numbers
                        .iter()
                        .map(|bytes| f32::from_le_bytes(*bytes))
                        .collect()),
                    _ => Err("a text is base64 of 32-bit numbers, little-endian".to_owned()),
                }
            }
            Element::Byte | Element::Bit => {
                let digits = text.as_bytes().chunks(2).map(|pair| {
                    let pair = std::str::from_utf8(pair)
                        .ok()
                        .filter(|pair| pair.len() == 2)?;
                    let is_hex = pair.bytes().all(|digit| digit.is_ascii_hexdigit());
                    let byte = u8::from_str_radix(pair, 16).ok().filter(|_| is_hex)?;
                    Some(f32::from(byte.cast_signed()))
                });
                let numbers: Option<Vec<f32>> = digits.collect();
                numbers.ok_or_else(|| "a text has two hexadecimal digits for each byte".to_owned())
            }
        }
    }
}

/// A vector as it is written.
enum Given {
    Nothing,
    Numbers(Vec<f32>),
    Text(String),
}

/// Visitor of a vector.
struct Vector;

/// Returns why something is no vector.
fn no_vector(what: &str) -> String {
    format!("a vector is an array of numbers, and not {what}")
}

impl<'de> Visitor<'de> for Vector {
    type Value = Result<Given, String>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a vector")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Ok(Given::Nothing))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Ok(Given::Text(text.to_owned())))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Err(no_vector("true or false")))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Err(no_vector("a number")))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Err(no_vector("a number")))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Err(no_vector("a number")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Err(no_vector("an object")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = seq.next_element_seed(Number)? {
            let Some(number) = number else {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(Err(format!(
                    "element {} of the array is no number",
                    numbers.len()
                )));
            };
            numbers.push(number);
        }
        Ok(Ok(Given::Numbers(numbers)))
    }
}

/// Seed and visitor of a number; `None` for anything else.
struct Number;

impl<'de> DeserializeSeed<'de> for Number {
    type Value = Option<f32>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Number {
    type Value = Option<f32>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number")
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "vectors have 32-bit numbers; those that are too large become infinite, which is refused"
    )]
    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Some(number as f32))
    }

    #[expect(clippy::cast_precision_loss, reason = "vectors have 32-bit numbers")]
    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(number as f32))
    }

    #[expect(clippy::cast_precision_loss, reason = "vectors have 32-bit numbers")]
    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(number as f32))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: VectorKind, json: &str) -> Result<Option<Vec<f32>>, String> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let read = kind.read(&mut deserializer).unwrap();
        deserializer.end().unwrap();
        read
    }

    #[test]
    fn vectors_are_numbers_or_text_by_their_type() {
        let float = VectorKind::new(3, None, Element::Float).unwrap();
        assert_eq!(float.similarity, Similarity::Cosine);
        assert_eq!(
            read(float, "[0.5, -1, 2e-3]"),
            Ok(Some(vec![0.5, -1.0, 2e-3]))
        );
        assert_eq!(read(float, "null"), Ok(None));
        for text in ["\"AAAAPwAAgL8=\"", "\"AAAAPwAAgL8\""] {
            assert_eq!(read(float, text), Ok(Some(vec![0.5, -1.0])));
        }
        let byte = VectorKind::new(2, None, Element::Byte).unwrap();
        assert_eq!(read(byte, "\"7f80\""), Ok(Some(vec![127.0, -128.0])));
        for (kind, json, problem) in [
            (
                float,
                "[1, \"2\", 3]",
                "element 1 of the array is no number",
            ),
            (float, "[1, [2], 3]", "element 1 of the array is no number"),
            (float, "[null]", "element 0 of the array is no number"),
            (float, "{\"a\": [1]}", "and not an object"),
            (float, "7", "and not a number"),
            (float, "true", "and not true or false"),
            (float, "\"AAAA\"", "base64 of 32-bit numbers"),
            (float, "\"?\"", "base64 of 32-bit numbers"),
            (byte, "\"7f8\"", "two hexadecimal digits"),
            (byte, "\"+f80\"", "two hexadecimal digits"),
        ] {
            let found = read(kind, json).unwrap_err();
            assert!(found.contains(problem), "{json}: {found}");
        }
    }

    #[test]
    fn options_that_do_not_suit_each_other_are_refused() {
        let bit = VectorKind::new(16, None, Element::Bit).unwrap();
        assert_eq!(bit.similarity, Similarity::L2Norm);
        assert!(VectorKind::new(12, None, Element::Bit).is_err());
        assert!(VectorKind::new(16, Some(Similarity::Cosine), Element::Bit).is_err());
    }
}
