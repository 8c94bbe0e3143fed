//! Statements.

use crate::ast::{Expr, Statement};
use crate::error::ScriptError;
use crate::values::{Type, Value};

use super::machine::{Flow, Machine};

impl<'s> Machine<'s> {
    pub(super) fn block(&mut self, statements: &'s [Statement]) -> Result<Flow, ScriptError> {
        for statement in statements {
            match self.statement(statement)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &'s Statement) -> Result<Flow, ScriptError> {
        self.heap.spend(1)?;
        self.deeper(|machine| machine.statement_here(statement))
    }

    fn statement_here(&mut self, statement: &'s Statement) -> Result<Flow, ScriptError> {
        match statement {
            Statement::Expr(value) => {
                self.value(value)?;
                Ok(Flow::Next)
            }
            Statement::Declare(variable, value) => {
                let of = self.types.get(*variable).copied().unwrap_or(Type::Def);
                let value = match value {
                    Some(value) => self.value(value)?,
                    None => of.default_value(),
                };
                self.set(*variable, value)?;
                Ok(Flow::Next)
            }
            Statement::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if self.condition(condition)? {
                        return self.block(body);
                    }
                }
                self.block(otherwise)
            }
            Statement::While(condition, body) => self.repeat(Some(condition), body, None),
            Statement::DoWhile(body, condition) => match self.block(body)? {
                Flow::Return(value) => Ok(Flow::Return(value)),
                Flow::Break => Ok(Flow::Next),
                Flow::Next | Flow::Continue => self.repeat(Some(condition), body, None),
            },
            Statement::For {
                start,
                condition,
                step,
                body,
            } => {
                self.block(start)?;
                self.repeat(condition.as_ref(), body, step.as_ref())
            }
            Statement::Each { variable, of, body } => self.each(*variable, of, body),
            Statement::Block(statements) => self.block(statements),
            Statement::Break => Ok(Flow::Break),
            Statement::Continue => Ok(Flow::Continue),
            Statement::Return(None) => Ok(Flow::Return(Value::Null)),
            Statement::Return(Some(value)) => self.value(value).map(Flow::Return),
        }
    }

    fn repeat(
        &mut self,
        condition: Option<&'s Expr>,
        body: &'s [Statement],
        step: Option<&'s Expr>,
    ) -> Result<Flow, ScriptError> {
        loop {
            self.heap.spend(1)?;
            if let Some(condition) = condition
                && !self.condition(condition)?
            {
                return Ok(Flow::Next);
            }
            match self.block(body)? {
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Break => return Ok(Flow::Next),
                Flow::Next | Flow::Continue => {}
            }
            if let Some(step) = step {
                self.value(step)?;
            }
        }
    }

    /// Runs statements for each element of a value, which must not become longer or shorter meanwhile.
    fn each(
        &mut self,
        variable: usize,
        of: &'s Expr,
        body: &'s [Statement],
    ) -> Result<Flow, ScriptError> {
        let list = self.value(of)?;
        self.heap.at = of.at;
        let (elements, id) = self.heap.elements(&list)?;
        let num_changes = self.heap.num_changes(id);
        let is_items = matches!(list, Value::List(_));
        let num = elements.len();
        for (ord, element) in elements.into_iter().enumerate() {
            self.heap.spend(1)?;
            if self.heap.num_changes(id) != num_changes {
                // As in Java, a list of which all is read but its last element can be cut to what was read.
                if is_items && self.heap.items(id).len() == ord {
                    return Ok(Flow::Next);
                }
                self.heap.at = of.at;
                let reason = "the list or map was changed while a loop ran over it";
                return Err(self.heap.error("concurrent_modification_exception", reason));
            }
            // Elements may be set meanwhile.
            let current = match is_items {
                true => self.heap.items(id).get(ord).cloned(),
                false => None,
            };
            self.set(variable, current.unwrap_or(element))?;
            match self.block(body)? {
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Break => return Ok(Flow::Next),
                Flow::Next | Flow::Continue => {}
            }
        }
        // Java asks for another element of a list that became longer.
        let is_changed = self.heap.num_changes(id) != num_changes;
        match is_items && is_changed && self.heap.items(id).len() != num {
            true => {
                self.heap.at = of.at;
                let reason = "the list was changed while a loop ran over it";
                Err(self.heap.error("concurrent_modification_exception", reason))
            }
            false => Ok(Flow::Next),
        }
    }

    pub(super) fn condition(&mut self, condition: &'s Expr) -> Result<bool, ScriptError> {
        let value = self.value(condition)?;
        self.heap.at = condition.at;
        match value {
            Value::Bool(is_true) => Ok(is_true),
            Value::Null => Err(self
                .heap
                .error("null_pointer_exception", "cannot convert null to [boolean]")),
            other => Err(self.heap.error(
                "class_cast_exception",
                format!("Cannot cast from [{}] to [boolean].", other.class()),
            )),
        }
    }
}
