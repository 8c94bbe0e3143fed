//! `convert`: values of other types.

use std::net::IpAddr;

use serde_json::{Number, Value};

use crate::document::{Document, Path, class_of, shortest};
use crate::engine::{Flow, Process, Run};
use crate::error::{ConfigError, Failure};
use crate::options::Options;
use crate::snippet::shown;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Integer,
    Long,
    Float,
    Double,
    Boolean,
    Text,
    Ip,
    Auto,
}

#[derive(Debug)]
struct Convert {
    field: Path,
    target: Path,
    to: Type,
    ignores_missing: bool,
}

pub(super) fn convert(options: &mut Options) -> Result<Box<dyn Process>, ConfigError> {
    let field = options.required_path("field")?;
    let to = match options.required("type")?.to_lowercase().as_str() {
        "integer" => Type::Integer,
        "long" => Type::Long,
        "float" => Type::Float,
        "double" => Type::Double,
        "boolean" => Type::Boolean,
        "string" => Type::Text,
        "ip" => Type::Ip,
        "auto" => Type::Auto,
        other => {
            let reason = format!("type [{other}] not supported, cannot convert field.");
            return Err(options.wrong("type", &reason));
        }
    };
    Ok(Box::new(Convert {
        target: options
            .path("target_field")?
            .unwrap_or_else(|| field.clone()),
        field,
        to,
        ignores_missing: options.flag("ignore_missing", false)?,
    }))
}

impl Process for Convert {
    fn run(&self, document: &mut Document, _: &mut Run<'_>) -> Result<Flow, Failure> {
        let value = match document.get(&self.field) {
            Err(_) if self.ignores_missing => return Ok(Flow::Next),
            value => value?,
        };
        let made = match value {
            Value::Null if self.ignores_missing => return Ok(Flow::Next),
            Value::Null => {
                return Err(Failure::illegal(format!(
                    "Field [{}] is null, cannot be converted to type [{}]",
                    self.field.text,
                    self.to.name()
                )));
            }
            Value::Array(list) => {
                let made = list.iter().map(|value| self.to.of(value));
                Value::Array(made.collect::<Result<_, _>>()?)
            }
            one => self.to.of(&one)?,
        };
        document.set(&self.target, made)?;
        Ok(Flow::Next)
    }
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Boolean => "boolean",
            Self::Text => "string",
            Self::Ip => "ip",
            Self::Auto => "auto",
        }
    }

    fn of(self, value: &Value) -> Result<Value, Failure> {
        let text = shown(value);
        let unable = || Failure::illegal(format!("unable to convert [{text}] to {}", self.name()));
        Ok(match self {
            Self::Integer | Self::Long => {
                let number = whole(&text).ok_or_else(unable)?;
                if self == Self::Integer && i32::try_from(number).is_err() {
                    return Err(unable());
                }
                number.into()
            }
            Self::Float => {
                let number = text.trim().parse::<f32>().ok();
                let number = number.and_then(shortest).ok_or_else(unable)?;
                number.into()
            }
            Self::Double => {
                let number = text.trim().parse::<f64>().ok().and_then(Number::from_f64);
                number.ok_or_else(unable)?.into()
            }
            Self::Boolean => match text.to_lowercase().as_str() {
                "true" => true.into(),
                "false" => false.into(),
                _ => {
                    return Err(Failure::illegal(format!(
                        "[{text}] is not a boolean value, cannot convert to boolean"
                    )));
                }
            },
            Self::Text => match value {
                Value::Object(_) | Value::Array(_) => {
                    return Err(Failure::illegal(format!(
                        "[{}] cannot be converted to string here",
                        class_of(value)
                    )));
                }
                _ => text.into(),
            },
            Self::Ip => match text.parse::<IpAddr>() {
                Ok(_) => text.into(),
                Err(_) => {
                    return Err(Failure::illegal(format!(
                        "'{text}' is not an IP string literal."
                    )));
                }
            },
            Self::Auto => guessed(value, &text),
        })
    }
}

/// Reads a whole number as Java's `decode` does.
fn whole(text: &str) -> Option<i64> {
    let (sign, digits) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
        (Some(digits), _) => ("-", digits),
        (_, Some(digits)) => ("", digits),
        _ => ("", text),
    };
    let hex = ["0x", "0X", "#"]
        .into_iter()
        .find_map(|prefix| digits.strip_prefix(prefix));
    if digits.starts_with(['-', '+']) || hex.is_some_and(|hex| hex.starts_with(['-', '+'])) {
        return None;
    }
    match hex {
        Some(hex) => i64::from_str_radix(&format!("{sign}{hex}"), 16).ok(),
        None => format!("{sign}{digits}").parse().ok(),
    }
}

fn guessed(value: &Value, text: &str) -> Value {
    if !value.is_string() {
        return value.clone();
    }
    match text.to_lowercase().as_str() {
        "true" => return true.into(),
        "false" => return false.into(),
        _ => {}
    }
    if let Some(number) = whole(text) {
        return number.into();
    }
    let number = text.parse::<f32>().ok().and_then(shortest);
    number.map_or_else(|| value.clone(), Value::from)
}
