//! Operands, and the fields, elements and methods of them.

use std::sync::Arc;

use crate::ast::{Argument, Body, Expr, Kind, Lambda};
use crate::calls::{class_of, constant_of};
use crate::error::ScriptError;
use crate::lexer::Token;
use crate::values::{Type, Value};

use super::parser::Parser;

impl Parser {
    /// Reads an operand with all that follows it.
    pub(super) fn postfix(&mut self) -> Result<Expr, ScriptError> {
        let mut value = self.operand()?;
        loop {
            let at = self.at();
            if self.takes("[") {
                let index = self.expression()?;
                self.expect("]")?;
                let depth = value.depth.max(index.depth);
                let (of, index) = (Box::new(value), Box::new(index));
                value = self.made(at, depth, Kind::Index(of, index))?;
            } else if self.is(".") || self.is("?.") {
                value = self.member(value)?;
            } else {
                return Ok(value);
            }
        }
    }

    /// Reads `.name` or `.name(arguments)`.
    fn member(&mut self, of: Expr) -> Result<Expr, ScriptError> {
        let at = self.at();
        let is_null_safe = self.is("?.");
        self.next += 1;
        let name: Arc<str> = match self.peek() {
            // An element of a list, as in `list.0`.
            Token::Number(number) if !number.is_fraction && number.suffix.is_none() => {
                let digits = Arc::clone(&number.digits);
                self.next += 1;
                digits
            }
            _ => self.name()?,
        };
        let depth = of.depth;
        let of = Box::new(of);
        if !self.is("(") {
            return self.made(
                at,
                depth,
                Kind::Field {
                    of,
                    name,
                    is_null_safe,
                },
            );
        }
        let (arguments, inner) = self.arguments()?;
        self.made(
            at,
            depth.max(inner),
            Kind::Call {
                of,
                name,
                arguments,
                is_null_safe,
            },
        )
    }

    /// Reads arguments in parentheses; returns their depth too.
    fn arguments(&mut self) -> Result<(Vec<Argument>, u16), ScriptError> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        let mut depth = 0;
        if self.takes(")") {
            return Ok((arguments, depth));
        }
        loop {
            let argument = match self.is_lambda() {
                true => Argument::Lambda(self.deeper(Self::lambda)?),
                false => Argument::Value(self.expression()?),
            };
            if let Argument::Value(value) = &argument {
                depth = depth.max(value.depth);
            }
            arguments.push(argument);
            if !self.takes(",") {
                self.expect(")")?;
                return Ok((arguments, depth));
            }
        }
    }

    /// Returns whether a function stands here: `x ->`, or names in parentheses before `->`.
    fn is_lambda(&self) -> bool {
        if let Token::Name(_) = self.peek() {
            return *self.peek_at(1) == Token::Symbol("->");
        }
        let mut ahead = 1;
        while matches!(
            self.peek_at(ahead),
            Token::Name(_) | Token::Symbol("," | ".")
        ) {
            ahead += 1;
        }
        self.is("(")
            && *self.peek_at(ahead) == Token::Symbol(")")
            && *self.peek_at(ahead + 1) == Token::Symbol("->")
    }

    fn lambda(&mut self) -> Result<Lambda, ScriptError> {
        let at = self.at();
        let num_visible = self.visible.len();
        let mut parameters = Vec::new();
        if self.takes("(") {
            while !self.takes(")") {
                let typed = self
                    .type_at(0)
                    .filter(|(_, len)| matches!(self.peek_at(*len), Token::Name(_)));
                self.next += typed.map_or(0, |(_, len)| len);
                let name = self.name()?;
                parameters.push(self.declare(&name, typed.map_or(Type::Def, |(of, _)| of))?);
                if !self.takes(",") && !self.is(")") {
                    return Err(self.unexpected("[)]"));
                }
            }
        } else {
            let name = self.name()?;
            parameters.push(self.declare(&name, Type::Def)?);
        }
        self.expect("->")?;
        let body = match self.is("{") {
            true => Body::Block(self.block()?),
            false => Body::Expr(Box::new(self.expression()?)),
        };
        self.visible.truncate(num_visible);
        Ok(Lambda {
            at,
            parameters,
            body,
        })
    }

    fn operand(&mut self) -> Result<Expr, ScriptError> {
        let at = self.at();
        let kind = match self.peek().clone() {
            Token::Number(number) => Kind::Constant(self.number(&number, false)?),
            Token::Text(text) => Kind::Constant(Value::Text(text)),
            Token::Symbol("[") => return self.list_or_map(),
            Token::Symbol("(") => {
                self.next += 1;
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Symbol("/") => {
                return Err(self.error("regular expressions are not supported in scripts here"));
            }
            Token::Name(name) => return self.named(at, &name),
            _ => return Err(self.unexpected("a value")),
        };
        self.next += 1;
        self.made(at, 0, kind)
    }

    /// Reads what a name begins.
    fn named(&mut self, at: usize, name: &Arc<str>) -> Result<Expr, ScriptError> {
        if let Some(place) = self.variable(name) {
            self.next += 1;
            return self.made(at, 0, Kind::Local(place));
        }
        let kind = match &**name {
            "null" => Kind::Constant(Value::Null),
            "true" => Kind::Constant(Value::Bool(true)),
            "false" => Kind::Constant(Value::Bool(false)),
            "ctx" => Kind::Ctx,
            "params" => Kind::Params,
            "new" => return self.new_object(at),
            "doc" => {
                return Err(self.error(
                    "cannot resolve symbol [doc]: a script that changes documents reads them as [ctx._source]",
                ));
            }
            _ => return self.of_class(at, name),
        };
        self.next += 1;
        self.made(at, 0, kind)
    }

    /// Reads a constant or method of a class.
    fn of_class(&mut self, at: usize, name: &str) -> Result<Expr, ScriptError> {
        if *self.peek_at(1) == Token::Symbol("(") {
            return Err(self.error(format!(
                "Unknown call [{name}]: functions are not supported in scripts here"
            )));
        }
        let Some(class) = class_of(name) else {
            return Err(self.error(format!("cannot resolve symbol [{name}]")));
        };
        self.next += 1;
        self.expect(".")?;
        let member = self.name()?;
        if !self.is("(") {
            let constant = constant_of(class, &member);
            let unknown =
                || ScriptError::compiling(at, format!("field [{class}, {member}] not found"));
            let constant = constant.ok_or_else(unknown)?;
            return self.made(at, 0, Kind::Constant(constant));
        }
        let (arguments, depth) = self.arguments()?;
        self.made(at, depth, Kind::Static(class, member, arguments))
    }

    fn new_object(&mut self, at: usize) -> Result<Expr, ScriptError> {
        self.next += 1;
        let found = self
            .type_at(0)
            .filter(|(of, _)| matches!(of, Type::List | Type::Map | Type::Set));
        let Some((of, len)) = found else {
            return Err(self.error(format!(
                "[new {}] is not supported in scripts here: there are ArrayList, HashMap, LinkedHashMap and HashSet",
                self.name_here()
            )));
        };
        self.next += len;
        let (arguments, depth) = self.arguments()?;
        let mut values = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Value(value) => values.push(value),
                Argument::Lambda(lambda) => {
                    return Err(ScriptError::compiling(
                        lambda.at,
                        "a function cannot stand here",
                    ));
                }
            }
        }
        self.made(at, depth, Kind::New(of, values))
    }
}
