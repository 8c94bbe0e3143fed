//! Statements.

use crate::ast::{Expr, Kind, Statement};
use crate::error::ScriptError;
use crate::lexer::{Token, tokens_of};
use crate::values::Type;

use super::parser::{Parser, Program};

/// Words of the language that this crate does not know.
const UNSUPPORTED: [&str; 10] = [
    "try", "throw", "catch", "switch", "byte", "short", "char", "class", "import", "static",
];

/// Reads a whole script.
pub(crate) fn program_of(source: &str) -> Result<Program, ScriptError> {
    let mut parser = Parser::new(tokens_of(source)?);
    let mut statements = Vec::new();
    while *parser.peek() != Token::End {
        statements.extend(parser.statement()?);
    }
    Ok(Program {
        statements,
        variables: parser.variables,
    })
}

impl Parser {
    /// Reads a statement; none if it is empty.
    fn statement(&mut self) -> Result<Option<Statement>, ScriptError> {
        self.deeper(|parser| parser.statement_here())
    }

    fn statement_here(&mut self) -> Result<Option<Statement>, ScriptError> {
        if self.takes(";") {
            return Ok(None);
        }
        if self.is("{") {
            return Ok(Some(Statement::Block(self.block()?)));
        }
        let Token::Name(word) = self.peek().clone() else {
            return self.simple().map(Some);
        };
        if UNSUPPORTED.contains(&&*word) {
            return Err(self.error(format!("[{word}] is not supported in scripts here")));
        }
        let read = match &*word {
            "if" => Self::conditional,
            "while" => Self::while_loop,
            "do" => Self::do_loop,
            "for" => Self::for_loop,
            "break" => |parser: &mut Self| parser.word_statement(Statement::Break),
            "continue" => |parser: &mut Self| parser.word_statement(Statement::Continue),
            "return" => Self::return_statement,
            _ => return self.simple().map(Some),
        };
        self.next += 1;
        read(self).map(Some)
    }

    /// Reads statements in braces.
    pub(super) fn block(&mut self) -> Result<Vec<Statement>, ScriptError> {
        self.expect("{")?;
        let num_visible = self.visible.len();
        let mut statements = Vec::new();
        while !self.is("}") {
            if *self.peek() == Token::End {
                return Err(self.unexpected("[}]"));
            }
            statements.extend(self.statement()?);
        }
        self.next += 1;
        self.visible.truncate(num_visible);
        Ok(statements)
    }

    /// Reads the body of a loop or condition: a block, or one statement.
    fn body(&mut self) -> Result<Vec<Statement>, ScriptError> {
        if self.is("{") {
            return self.block();
        }
        let num_visible = self.visible.len();
        let statement = self.statement()?;
        self.visible.truncate(num_visible);
        Ok(statement.into_iter().collect())
    }

    fn word_statement(&mut self, statement: Statement) -> Result<Statement, ScriptError> {
        self.ends()?;
        Ok(statement)
    }

    fn return_statement(&mut self) -> Result<Statement, ScriptError> {
        let value = match self.is(";") || self.is("}") || *self.peek() == Token::End {
            true => None,
            false => Some(self.expression()?),
        };
        self.ends()?;
        Ok(Statement::Return(value))
    }

    /// Takes what ends a statement: a semicolon, which the last in a block may lack.
    fn ends(&mut self) -> Result<(), ScriptError> {
        match self.takes(";") || self.is("}") || *self.peek() == Token::End {
            true => Ok(()),
            false => Err(self.unexpected("[;]")),
        }
    }

    fn conditional(&mut self) -> Result<Statement, ScriptError> {
        let mut branches = Vec::new();
        loop {
            self.expect("(")?;
            let condition = self.expression()?;
            self.expect(")")?;
            branches.push((condition, self.body()?));
            if !self.takes_word("else") {
                return Ok(Statement::If(branches, Vec::new()));
            }
            if !self.takes_word("if") {
                let otherwise = self.body()?;
                return Ok(Statement::If(branches, otherwise));
            }
        }
    }

    fn while_loop(&mut self) -> Result<Statement, ScriptError> {
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        Ok(Statement::While(condition, self.body()?))
    }

    fn do_loop(&mut self) -> Result<Statement, ScriptError> {
        let body = self.block()?;
        if !self.takes_word("while") {
            return Err(self.unexpected("[while]"));
        }
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        self.ends()?;
        Ok(Statement::DoWhile(body, condition))
    }

    fn for_loop(&mut self) -> Result<Statement, ScriptError> {
        self.expect("(")?;
        let num_visible = self.visible.len();
        let read = match self.each_loop()? {
            Some(each) => each,
            None => self.counting_loop()?,
        };
        self.visible.truncate(num_visible);
        Ok(read)
    }

    /// Reads `type name : list)` or `name in list)` and what is done with each element, if that is what stands here.
    fn each_loop(&mut self) -> Result<Option<Statement>, ScriptError> {
        let typed = self.type_at(0);
        let ahead = typed.map_or(0, |(_, len)| len);
        let is_name = matches!(self.peek_at(ahead), Token::Name(_));
        let is_in = matches!(self.peek_at(ahead + 1), Token::Name(word) if &**word == "in");
        let is_each = is_in && typed.is_none()
            || *self.peek_at(ahead + 1) == Token::Symbol(":") && typed.is_some();
        if !is_name || !is_each {
            return Ok(None);
        }
        self.next += ahead;
        let name = self.name()?;
        self.next += 1;
        let of = self.expression()?;
        self.expect(")")?;
        let variable = self.declare(&name, typed.map_or(Type::Def, |(of, _)| of))?;
        let body = self.body()?;
        Ok(Some(Statement::Each { variable, of, body }))
    }

    fn counting_loop(&mut self) -> Result<Statement, ScriptError> {
        let start = match self.is(";") {
            true => Vec::new(),
            false => self.declarations_or_expression()?,
        };
        self.expect(";")?;
        let condition = match self.is(";") {
            true => None,
            false => Some(self.expression()?),
        };
        self.expect(";")?;
        let step = match self.is(")") {
            true => None,
            false => Some(self.expression()?),
        };
        self.expect(")")?;
        Ok(Statement::For {
            start,
            condition,
            step,
            body: self.body()?,
        })
    }

    /// Reads a statement that a semicolon ends.
    fn simple(&mut self) -> Result<Statement, ScriptError> {
        let mut statements = self.declarations_or_expression()?;
        self.ends()?;
        match (statements.pop(), statements.is_empty()) {
            (Some(one), true) => Ok(one),
            (Some(last), false) => {
                statements.push(last);
                Ok(Statement::Block(statements))
            }
            (None, _) => Err(self.unexpected("a statement")),
        }
    }

    fn declarations_or_expression(&mut self) -> Result<Vec<Statement>, ScriptError> {
        let typed = self.type_at(0);
        let Some((of, len)) = typed.filter(|(_, len)| matches!(self.peek_at(*len), Token::Name(_)))
        else {
            if typed.is_some_and(|(_, len)| *self.peek_at(len) == Token::Symbol("[")) {
                return Err(self.error("arrays are not supported in scripts here: use a list"));
            }
            let expr = self.expression()?;
            return self.as_statement(expr).map(|statement| vec![statement]);
        };
        self.next += len;
        let mut declared = Vec::new();
        loop {
            let name = self.name()?;
            if self.is("(") {
                return Err(self.error("functions are not supported in scripts here"));
            }
            let value = match self.takes("=") {
                true => Some(self.expression()?),
                false => None,
            };
            let place = self.declare(&name, of)?;
            declared.push(Statement::Declare(place, value));
            if !self.takes(",") {
                return Ok(declared);
            }
        }
    }

    /// Checks that an expression does something.
    fn as_statement(&self, expr: Expr) -> Result<Statement, ScriptError> {
        let is_last = *self.peek() == Token::End;
        match &expr.kind {
            Kind::Assign { .. }
            | Kind::Step { .. }
            | Kind::Call { .. }
            | Kind::Static(..)
            | Kind::New(..) => Ok(Statement::Expr(expr)),
            // The value of a script.
            _ if is_last => Ok(Statement::Return(Some(expr))),
            _ => Err(ScriptError::compiling(expr.at, "not a statement")),
        }
    }
}
