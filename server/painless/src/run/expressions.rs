//! Expressions.

use std::sync::Arc;

use crate::ast::{Argument, Expr, Kind, Operator};
use crate::calls::{Passed, call, call_static, member, new_object};
use crate::error::ScriptError;
use crate::values::{Value, add, arithmetic, bits, cast, is_equal, negate, order, shift};

use super::machine::Machine;

impl<'s> Machine<'s> {
    /// Returns the value of an expression.
    pub(super) fn value(&mut self, expr: &'s Expr) -> Result<Value, ScriptError> {
        self.heap.at = expr.at;
        self.heap.spend(1)?;
        self.deeper(|machine| machine.value_here(expr))
    }

    fn value_here(&mut self, expr: &'s Expr) -> Result<Value, ScriptError> {
        match &expr.kind {
            Kind::Constant(value) => Ok(value.clone()),
            Kind::Local(variable) => {
                let value = self.variables.get(*variable);
                Ok(value.cloned().unwrap_or(Value::Null))
            }
            Kind::Ctx => Ok(self.ctx.clone()),
            Kind::Params => Ok(self.params.clone()),
            Kind::List(_) | Kind::Map(_) | Kind::New(..) => self.made(expr),
            Kind::Field { .. } | Kind::Index(..) => self.part(expr),
            Kind::Call { .. } | Kind::Static(..) => self.called(expr),
            Kind::Not(inner) => Ok(Value::Bool(!self.condition(inner)?)),
            Kind::And(left, right) => {
                Ok(Value::Bool(self.condition(left)? && self.condition(right)?))
            }
            Kind::Or(left, right) => {
                Ok(Value::Bool(self.condition(left)? || self.condition(right)?))
            }
            Kind::Negate(_) | Kind::Plus(_) | Kind::Complement(_) => self.unary(expr),
            Kind::Binary(operator, left, right) => {
                let left = self.value(left)?;
                let right = self.value(right)?;
                self.heap.at = expr.at;
                self.binary(*operator, &left, &right)
            }
            Kind::Conditional(parts) => {
                let [condition, yes, no] = &**parts;
                match self.condition(condition)? {
                    true => self.value(yes),
                    false => self.value(no),
                }
            }
            Kind::Elvis(first, otherwise) => match self.value(first)? {
                Value::Null => self.value(otherwise),
                value => Ok(value),
            },
            Kind::InstanceOf(inner, of) => {
                let value = self.value(inner)?;
                Ok(Value::Bool(!matches!(value, Value::Null) && of.has(&value)))
            }
            Kind::Cast(to, inner) => {
                let value = self.value(inner)?;
                self.heap.at = expr.at;
                cast(&self.heap, value, *to)
            }
            Kind::Assign { .. } => self.assign(expr),
            Kind::Step { .. } => self.step(expr),
        }
    }

    pub(super) fn binary(
        &mut self,
        operator: Operator,
        left: &Value,
        right: &Value,
    ) -> Result<Value, ScriptError> {
        let heap = &mut self.heap;
        match operator {
            Operator::Add => add(heap, left, right),
            Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Remainder => {
                arithmetic(heap, operator, left, right)
            }
            Operator::ShiftLeft | Operator::ShiftRight | Operator::ShiftRightUnsigned => {
                shift(heap, operator, left, right)
            }
            Operator::BitAnd | Operator::BitOr | Operator::BitXor => {
                bits(heap, operator, left, right)
            }
            Operator::Equal => is_equal(heap, left, right).map(Value::Bool),
            Operator::NotEqual => is_equal(heap, left, right).map(|is| Value::Bool(!is)),
            Operator::Less
            | Operator::LessOrEqual
            | Operator::Greater
            | Operator::GreaterOrEqual => order(heap, operator, left, right).map(Value::Bool),
        }
    }

    fn unary(&mut self, expr: &'s Expr) -> Result<Value, ScriptError> {
        let (Kind::Negate(inner) | Kind::Plus(inner) | Kind::Complement(inner)) = &expr.kind else {
            return Ok(Value::Null);
        };
        let value = self.value(inner)?;
        self.heap.at = expr.at;
        match (&expr.kind, &value) {
            (Kind::Complement(_), Value::Int(value)) => Ok(Value::Int(!value)),
            (Kind::Complement(_), Value::Long(value)) => Ok(Value::Long(!value)),
            (
                Kind::Plus(_),
                Value::Int(_) | Value::Long(_) | Value::Float(_) | Value::Double(_),
            ) => Ok(value),
            (Kind::Negate(_), value) => negate(&self.heap, value),
            _ => Err(self.heap.error(
                "class_cast_exception",
                format!("Cannot apply a sign or [~] to type [{}].", value.class()),
            )),
        }
    }

    /// Makes a list, a map, or an object of a class.
    fn made(&mut self, expr: &'s Expr) -> Result<Value, ScriptError> {
        match &expr.kind {
            Kind::List(elements) => {
                let mut list = Vec::with_capacity(elements.len());
                for element in elements {
                    list.push(self.value(element)?);
                }
                self.heap.new_items(list).map(Value::List)
            }
            Kind::Map(entries) => {
                let mut made = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let found = self.value(key)?;
                    self.heap.at = key.at;
                    let key = self.key(&found)?;
                    made.push((key, self.value(value)?));
                }
                self.heap.new_table(made).map(Value::Map)
            }
            Kind::New(of, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.value(argument)?);
                }
                self.heap.at = expr.at;
                new_object(&mut self.heap, *of, &values)
            }
            _ => Ok(Value::Null),
        }
    }

    /// Returns the key of a map that a value is.
    pub(super) fn key(&self, value: &Value) -> Result<Arc<str>, ScriptError> {
        match value {
            Value::Text(key) => Ok(Arc::clone(key)),
            other => Err(self.heap.illegal(format!(
                "a key of a map is a text here, and not a [{}]",
                other.class()
            ))),
        }
    }

    /// Returns a field or an element.
    fn part(&mut self, expr: &'s Expr) -> Result<Value, ScriptError> {
        match &expr.kind {
            Kind::Field {
                of,
                name,
                is_null_safe,
            } => {
                let of = self.value(of)?;
                self.heap.at = expr.at;
                match of {
                    Value::Null if *is_null_safe => Ok(Value::Null),
                    of => member(&mut self.heap, &of, name),
                }
            }
            Kind::Index(of, index) => {
                let of = self.value(of)?;
                let index = self.value(index)?;
                self.heap.at = expr.at;
                let place = self.element(&of, &index)?;
                Ok(self.read(&place))
            }
            _ => Ok(Value::Null),
        }
    }

    fn called(&mut self, expr: &'s Expr) -> Result<Value, ScriptError> {
        match &expr.kind {
            Kind::Call {
                of,
                name,
                arguments,
                is_null_safe,
            } => {
                let of = self.value(of)?;
                if *is_null_safe && matches!(of, Value::Null) {
                    return Ok(Value::Null);
                }
                let passed = self.passed(arguments)?;
                self.heap.at = expr.at;
                call(self, &of, name, &passed)
            }
            Kind::Static(class, name, arguments) => {
                let passed = self.passed(arguments)?;
                self.heap.at = expr.at;
                call_static(self, class, name, &passed)
            }
            _ => Ok(Value::Null),
        }
    }

    fn passed(&mut self, arguments: &'s [Argument]) -> Result<Vec<Passed<'s>>, ScriptError> {
        let mut passed = Vec::with_capacity(arguments.len());
        for argument in arguments {
            passed.push(match argument {
                Argument::Value(value) => Passed::Value(self.value(value)?),
                Argument::Lambda(lambda) => Passed::Lambda(lambda),
            });
        }
        Ok(passed)
    }
}
