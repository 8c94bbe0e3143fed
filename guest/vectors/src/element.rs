//! What a vector's numbers are, how they are stored, and which vectors are refused.

use std::fmt;

use crate::kernels::dot;
use crate::similarity::Similarity;

/// How far the squared length of a vector of length 1 may be from 1.
const LENGTH_TOLERANCE: f32 = 1e-3;

/// What a vector's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Floating-point numbers of 32 bits.
    Float,
    /// Whole numbers from -128 to 127.
    Byte,
    /// Bits, eight of them in a byte.
    Bit,
}

/// Why a vector is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// Another number of dimensions.
    WrongLength {
        /// Number of dimensions of the field.
        expected: usize,
        /// Number of dimensions of the vector.
        found: usize,
    },
    /// Infinity, or a value that is not a number.
    NotFinite {
        /// Its dimension, from 0.
        dimension: usize,
    },
    /// A number that the element type does not have.
    NotOfType {
        /// Its dimension, from 0.
        dimension: usize,
        /// Element type of the field.
        element: Element,
        /// The number.
        number: f32,
    },
    /// Zeros have no direction.
    ZeroLength,
    /// The field's similarity is for vectors of length 1.
    NotOfUnitLength {
        /// Length of the vector.
        length: f32,
    },
    /// The square of the vector's length is not finite.
    TooLong,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongLength { expected, found } => write!(
                out,
                "a vector of {found} dimensions, but the field has {expected}"
            ),
            Self::NotFinite { dimension } => {
                write!(out, "number {dimension} of the vector is not finite")
            }
            Self::NotOfType {
                dimension,
                element,
                number,
            } => {
                let name = match element {
                    Element::Float => "float",
                    Element::Byte => "byte, a whole number from -128 to 127",
                    Element::Bit => "byte of bits, a whole number from -128 to 127",
                };
                write!(
                    out,
                    "number {dimension} of the vector, {number}, is no {name}"
                )
            }
            Self::ZeroLength => out.write_str(
                "a vector of zeros has no direction, which the similarity cosine compares",
            ),
            Self::NotOfUnitLength { length } => write!(
                out,
                "a vector of length {length}, but the similarity dot_product is for vectors of length 1: normalise it, \
                 or use cosine or max_inner_product"
            ),
            Self::TooLong => {
                out.write_str("a vector whose squared length exceeds 32-bit floating-point numbers")
            }
        }
    }
}

impl Element {
    /// Returns the number of bytes of a stored vector.
    pub fn stored_len(self, dims: usize) -> usize {
        match self {
            Self::Float => dims.saturating_mul(4),
            Self::Byte => dims,
            Self::Bit => dims.div_ceil(8),
        }
    }

    /// Checks the numbers of a vector, and returns the bytes in which it is stored. Those of a vector of bits are
    /// given as one number for eight of them, highest bit first.
    ///
    /// # Errors
    /// The vector does not suit the field.
    pub fn store(
        self,
        numbers: &[f32],
        dims: usize,
        similarity: Similarity,
    ) -> Result<Vec<u8>, Problem> {
        let per_number = match self {
            Self::Bit => 8,
            Self::Float | Self::Byte => 1,
        };
        let found = numbers.len().saturating_mul(per_number);
        if found != dims {
            return Err(Problem::WrongLength {
                expected: dims,
                found,
            });
        }
        if let Some(dimension) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(Problem::NotFinite { dimension });
        }
        let bytes = match self {
            Self::Float => numbers
                .iter()
                .flat_map(|number| number.to_le_bytes())
                .collect(),
            Self::Byte | Self::Bit => self.to_bytes(numbers)?,
        };
        if self != Self::Bit {
            check_length(numbers, self, similarity)?;
        }
        Ok(bytes)
    }

    fn to_bytes(self, numbers: &[f32]) -> Result<Vec<u8>, Problem> {
        let bytes = numbers.iter().enumerate().map(|(dimension, number)| {
            let is_byte = (-128.0..=127.0).contains(number) && number.fract() == 0.0;
            let refused = Problem::NotOfType {
                dimension,
                element: self,
                number: *number,
            };
            is_byte
                .then(|| signed_byte(*number).cast_unsigned())
                .ok_or(refused)
        });
        bytes.collect()
    }

    /// Returns the numbers of a stored vector; a bit is 1 or -1.
    pub fn numbers(self, stored: &[u8]) -> Vec<f32> {
        match self {
            Self::Float => {
                let numbers = stored.as_chunks().0;
                numbers
                    .iter()
                    .map(|bytes| f32::from_le_bytes(*bytes))
                    .collect()
            }
            Self::Byte => {
                let numbers = stored.iter();
                numbers.map(|byte| f32::from(byte.cast_signed())).collect()
            }
            Self::Bit => {
                let bits = stored
                    .iter()
                    .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
                bits.map(|bit| if bit == 1 { 1.0 } else { -1.0 }).collect()
            }
        }
    }
}

fn check_length(numbers: &[f32], element: Element, similarity: Similarity) -> Result<(), Problem> {
    let square = dot(numbers, numbers);
    if !square.is_finite() {
        return Err(Problem::TooLong);
    }
    match similarity {
        Similarity::Cosine if square == 0.0 => Err(Problem::ZeroLength),
        Similarity::DotProduct
            if element == Element::Float && (square - 1.0).abs() > LENGTH_TOLERANCE =>
        {
            Err(Problem::NotOfUnitLength {
                length: square.sqrt(),
            })
        }
        _ => Ok(()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a whole number that fits")]
fn signed_byte(number: f32) -> i8 {
    number as i8
}
