//! A script that was read.

use std::sync::Arc;

use crate::values::{Type, Value};

/// An expression and its place.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) at: usize,
    /// Number of expressions on the longest path into it.
    pub(crate) depth: u16,
    pub(crate) kind: Kind,
}

/// What an expression is.
#[derive(Debug)]
pub(crate) enum Kind {
    Constant(Value),
    Local(usize),
    Ctx,
    Params,
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    New(Type, Vec<Expr>),
    Field {
        of: Box<Expr>,
        name: Arc<str>,
        is_null_safe: bool,
    },
    Index(Box<Expr>, Box<Expr>),
    Call {
        of: Box<Expr>,
        name: Arc<str>,
        arguments: Vec<Argument>,
        is_null_safe: bool,
    },
    /// A method of a class.
    Static(&'static str, Arc<str>, Vec<Argument>),
    Negate(Box<Expr>),
    Plus(Box<Expr>),
    Complement(Box<Expr>),
    Not(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Conditional(Box<[Expr; 3]>),
    /// The first, or the second if the first is null.
    Elvis(Box<Expr>, Box<Expr>),
    InstanceOf(Box<Expr>, Type),
    Cast(Type, Box<Expr>),
    Assign {
        target: Box<Expr>,
        operator: Option<Operator>,
        value: Box<Expr>,
    },
    /// `x++` and its like.
    Step {
        target: Box<Expr>,
        by: i32,
        is_prefix: bool,
    },
}

/// An operator with two operands that are both computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What is passed to a method.
#[derive(Debug)]
pub(crate) enum Argument {
    Value(Expr),
    Lambda(Lambda),
}

/// A function that is passed to a method, which calls it before it returns.
#[derive(Debug)]
pub(crate) struct Lambda {
    pub(crate) at: usize,
    /// The places of its parameters among the variables.
    pub(crate) parameters: Vec<usize>,
    pub(crate) body: Body,
}

#[derive(Debug)]
pub(crate) enum Body {
    Expr(Box<Expr>),
    Block(Vec<Statement>),
}

#[derive(Debug)]
pub(crate) enum Statement {
    Expr(Expr),
    Declare(usize, Option<Expr>),
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    While(Expr, Vec<Statement>),
    DoWhile(Vec<Statement>, Expr),
    For {
        start: Vec<Statement>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Vec<Statement>,
    },
    Each {
        variable: usize,
        of: Expr,
        body: Vec<Statement>,
    },
    Block(Vec<Statement>),
    Break,
    Continue,
    Return(Option<Expr>),
}
