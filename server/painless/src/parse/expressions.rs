//! Expressions, from assignments down to operands.

use crate::ast::{Expr, Kind, Operator};
use crate::error::ScriptError;
use crate::lexer::Token;
use crate::values::{Type, Value};

use super::parser::Parser;

/// Operators with two operands, those that bind least first.
const LEVELS: [&[(&str, Operator)]; 8] = [
    &[("|", Operator::BitOr)],
    &[("^", Operator::BitXor)],
    &[("&", Operator::BitAnd)],
    &[("==", Operator::Equal), ("!=", Operator::NotEqual)],
    &[
        ("<", Operator::Less),
        ("<=", Operator::LessOrEqual),
        (">", Operator::Greater),
        (">=", Operator::GreaterOrEqual),
    ],
    &[
        ("<<", Operator::ShiftLeft),
        (">>", Operator::ShiftRight),
        (">>>", Operator::ShiftRightUnsigned),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[
        ("*", Operator::Multiply),
        ("/", Operator::Divide),
        ("%", Operator::Remainder),
    ],
];

/// The level of comparisons, beside which `instanceof` stands.
const COMPARISONS: usize = 4;

const ASSIGNMENTS: [(&str, Option<Operator>); 12] = [
    ("=", None),
    ("+=", Some(Operator::Add)),
    ("-=", Some(Operator::Subtract)),
    ("*=", Some(Operator::Multiply)),
    ("/=", Some(Operator::Divide)),
    ("%=", Some(Operator::Remainder)),
    ("&=", Some(Operator::BitAnd)),
    ("|=", Some(Operator::BitOr)),
    ("^=", Some(Operator::BitXor)),
    ("<<=", Some(Operator::ShiftLeft)),
    (">>=", Some(Operator::ShiftRight)),
    (">>>=", Some(Operator::ShiftRightUnsigned)),
];

const UNSUPPORTED: [&str; 6] = ["===", "!==", "=~", "==~", "::", "$"];

impl Parser {
    /// Reads an expression.
    pub(super) fn expression(&mut self) -> Result<Expr, ScriptError> {
        let read = self.deeper(Self::assignment)?;
        match self.peek() {
            Token::Symbol(symbol) if UNSUPPORTED.contains(symbol) => {
                Err(self.error(format!("[{symbol}] is not supported in scripts here")))
            }
            _ => Ok(read),
        }
    }

    fn assignment(&mut self) -> Result<Expr, ScriptError> {
        let target = self.conditional_value()?;
        let Token::Symbol(symbol) = *self.peek() else {
            return Ok(target);
        };
        let found = ASSIGNMENTS.into_iter().find(|(name, _)| *name == symbol);
        let Some((_, operator)) = found else {
            return Ok(target);
        };
        self.check_target(&target)?;
        let at = self.at();
        self.next += 1;
        let value = self.expression()?;
        let depth = [target.depth, value.depth];
        let (target, value) = (Box::new(target), Box::new(value));
        self.made(
            at,
            depth.into_iter().max().unwrap_or(0),
            Kind::Assign {
                target,
                operator,
                value,
            },
        )
    }

    /// Checks that a value can be assigned to.
    pub(super) fn check_target(&self, target: &Expr) -> Result<(), ScriptError> {
        let is_target = match &target.kind {
            Kind::Local(_) | Kind::Index(..) => true,
            Kind::Field { is_null_safe, .. } => !is_null_safe,
            _ => false,
        };
        match is_target {
            true => Ok(()),
            false => Err(ScriptError::compiling(
                target.at,
                "invalid assignment: cannot assign a value to this expression",
            )),
        }
    }

    fn conditional_value(&mut self) -> Result<Expr, ScriptError> {
        let condition = self.either()?;
        let at = self.at();
        if self.takes("?:") {
            let otherwise = self.deeper(Self::conditional_value)?;
            return self.two(at, condition, otherwise, Kind::Elvis);
        }
        if !self.takes("?") {
            return Ok(condition);
        }
        let mut yes = self.deeper(Self::conditional_value)?;
        self.expect(":")?;
        let mut no = self.deeper(Self::conditional_value)?;
        // Numbers of several types are of the wider.
        if let (Kind::Constant(a), Kind::Constant(b)) = (&mut yes.kind, &mut no.kind) {
            widen(a, b);
            widen(b, a);
        }
        let depth = [condition.depth, yes.depth, no.depth].into_iter().max();
        let parts = Box::new([condition, yes, no]);
        self.made(at, depth.unwrap_or(0), Kind::Conditional(parts))
    }

    fn either(&mut self) -> Result<Expr, ScriptError> {
        let mut left = self.both()?;
        loop {
            let at = self.at();
            if !self.takes("||") {
                return Ok(left);
            }
            let right = self.both()?;
            left = self.two(at, left, right, Kind::Or)?;
        }
    }

    fn both(&mut self) -> Result<Expr, ScriptError> {
        let mut left = self.binary(0)?;
        loop {
            let at = self.at();
            if !self.takes("&&") {
                return Ok(left);
            }
            let right = self.binary(0)?;
            left = self.two(at, left, right, Kind::And)?;
        }
    }

    fn binary(&mut self, level: usize) -> Result<Expr, ScriptError> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        loop {
            let at = self.at();
            if level == COMPARISONS && self.takes_word("instanceof") {
                let Some((of, len)) = self.type_at(0) else {
                    return Err(self.error(format!("cannot resolve type [{}]", self.name_here())));
                };
                self.next += len;
                let depth = left.depth;
                let inner = Box::new(left);
                left = self.made(at, depth, Kind::InstanceOf(inner, of))?;
                continue;
            }
            let Token::Symbol(symbol) = *self.peek() else {
                return Ok(left);
            };
            let found = operators.iter().find(|(name, _)| *name == symbol);
            let Some((_, operator)) = found else {
                return Ok(left);
            };
            self.next += 1;
            let right = self.binary(level + 1)?;
            left = self.two(at, left, right, |left, right| {
                Kind::Binary(*operator, left, right)
            })?;
        }
    }

    fn two(
        &self,
        at: usize,
        left: Expr,
        right: Expr,
        kind: impl FnOnce(Box<Expr>, Box<Expr>) -> Kind,
    ) -> Result<Expr, ScriptError> {
        let depth = left.depth.max(right.depth);
        self.made(at, depth, kind(Box::new(left), Box::new(right)))
    }

    /// Returns the name that stands here, for messages.
    pub(super) fn name_here(&self) -> String {
        match self.peek() {
            Token::Name(name) => name.to_string(),
            _ => String::new(),
        }
    }

    pub(super) fn unary(&mut self) -> Result<Expr, ScriptError> {
        self.deeper(Self::unary_here)
    }

    fn unary_here(&mut self) -> Result<Expr, ScriptError> {
        let at = self.at();
        if let (Token::Symbol("-"), Token::Number(number)) = (self.peek(), self.peek_at(1)) {
            let value = self.number(number, true)?;
            self.next += 2;
            return self.made(at, 0, Kind::Constant(value));
        }
        for (symbol, by) in [("++", 1), ("--", -1)] {
            if self.takes(symbol) {
                let target = self.unary()?;
                self.check_target(&target)?;
                return self.one(at, target, |target| Kind::Step {
                    target,
                    by,
                    is_prefix: true,
                });
            }
        }
        type Made = fn(Box<Expr>) -> Kind;
        let kinds: [(&str, Made); 4] = [
            ("!", Kind::Not),
            ("-", Kind::Negate),
            ("+", Kind::Plus),
            ("~", Kind::Complement),
        ];
        for (symbol, kind) in kinds {
            if self.takes(symbol) {
                let operand = self.unary()?;
                return self.one(at, operand, kind);
            }
        }
        if let Some(to) = self.cast_type() {
            let operand = self.unary()?;
            return self.one(at, operand, |operand| Kind::Cast(to, operand));
        }
        let value = self.postfix()?;
        for (symbol, by) in [("++", 1), ("--", -1)] {
            if self.takes(symbol) {
                self.check_target(&value)?;
                return self.one(at, value, |target| Kind::Step {
                    target,
                    by,
                    is_prefix: false,
                });
            }
        }
        Ok(value)
    }

    fn one(
        &self,
        at: usize,
        operand: Expr,
        kind: impl FnOnce(Box<Expr>) -> Kind,
    ) -> Result<Expr, ScriptError> {
        let depth = operand.depth;
        let operand = Box::new(operand);
        self.made(at, depth, kind(operand))
    }

    /// Takes `(type)` if it stands here.
    fn cast_type(&mut self) -> Option<Type> {
        if !self.is("(") {
            return None;
        }
        let (to, len) = self.type_at(1)?;
        if *self.peek_at(1 + len) != Token::Symbol(")") {
            return None;
        }
        self.next += 2 + len;
        Some(to)
    }
}

/// Converts a number to the type of another if that is wider.
fn widen(value: &mut Value, other: &Value) {
    *value = match (&*value, other) {
        (Value::Int(a), Value::Long(_)) => Value::Long(i64::from(*a)),
        (Value::Int(a), Value::Float(_)) => Value::Float(*a as f32),
        (Value::Long(a), Value::Float(_)) => Value::Float(*a as f32),
        (Value::Int(a), Value::Double(_)) => Value::Double(f64::from(*a)),
        (Value::Long(a), Value::Double(_)) => Value::Double(*a as f64),
        (Value::Float(a), Value::Double(_)) => Value::Double(f64::from(*a)),
        _ => return,
    };
}
