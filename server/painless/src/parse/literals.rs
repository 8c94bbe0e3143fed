//! Numbers, lists and maps.

use crate::ast::{Expr, Kind};
use crate::error::ScriptError;
use crate::lexer::{Number, Token};
use crate::values::Value;

use super::parser::Parser;

impl Parser {
    /// Returns the value of a number.
    pub(super) fn number(&self, number: &Number, is_negative: bool) -> Result<Value, ScriptError> {
        let sign = if is_negative { "-" } else { "" };
        let text = format!("{sign}{}", number.digits);
        let invalid = |of: &str| self.error(format!("Invalid {of} constant [{text}]."));
        let fraction = || {
            let read = text.parse::<f64>().ok().filter(|value| value.is_finite());
            read.ok_or_else(|| invalid("double"))
        };
        match number.suffix {
            _ if number.radix != 10 => {
                let is_long = number.suffix == Some('l');
                let whole = i64::from_str_radix(&text, number.radix).map_err(|_| invalid("int"))?;
                match i32::try_from(whole) {
                    _ if is_long => Ok(Value::Long(whole)),
                    Ok(int) => Ok(Value::Int(int)),
                    Err(_) => Err(invalid("int")),
                }
            }
            Some('f') => {
                let read = text.parse::<f32>().ok().filter(|value| value.is_finite());
                read.map(Value::Float).ok_or_else(|| invalid("float"))
            }
            Some('d') => fraction().map(Value::Double),
            Some('l') if number.is_fraction => Err(invalid("long")),
            Some('l') => text.parse().map(Value::Long).map_err(|_| invalid("long")),
            _ if number.is_fraction => fraction().map(Value::Double),
            _ => text.parse().map(Value::Int).map_err(|_| invalid("int")),
        }
    }

    /// Reads a list or map, whose bracket is the next token.
    pub(super) fn list_or_map(&mut self) -> Result<Expr, ScriptError> {
        let at = self.at();
        self.expect("[")?;
        if self.takes("]") {
            return self.made(at, 0, Kind::List(Vec::new()));
        }
        if self.is(":") && *self.peek_at(1) == Token::Symbol("]") {
            self.next += 2;
            return self.made(at, 0, Kind::Map(Vec::new()));
        }
        let first = self.expression()?;
        if !self.takes(":") {
            let mut list = vec![first];
            while self.takes(",") {
                list.push(self.expression()?);
            }
            self.expect("]")?;
            let depth = list.iter().map(|part| part.depth).max().unwrap_or(0);
            return self.made(at, depth, Kind::List(list));
        }
        let mut entries = vec![(first, self.expression()?)];
        while self.takes(",") {
            let key = self.expression()?;
            self.expect(":")?;
            entries.push((key, self.expression()?));
        }
        self.expect("]")?;
        let depths = entries
            .iter()
            .map(|(key, value)| key.depth.max(value.depth));
        let depth = depths.max().unwrap_or(0);
        self.made(at, depth, Kind::Map(entries))
    }
}
