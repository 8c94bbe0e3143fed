//! Limits on a program, so that its compilation ends: its nesting, and the array indexes it names. The compiler is
//! recursive, and stores the type of each element of an array up to the highest index that is named.
//!
//! ```text
//!   text ─ brackets counted ─▶ parsed (no recursion) ─▶ tree, taken apart (no recursion) ─▶ within the limits: compiled
//! ```

use vrl::parser::Program;
use vrl::parser::ast::{
    Assignment, AssignmentTarget, Container, Expr, FunctionCall, Node, Predicate, Query,
    QueryTarget, RootExpr, Unary,
};
use vrl::path::{OwnedSegment, OwnedValuePath};

/// Maximum nesting of expressions: each operator, condition, call, array and object is a level.
const MAX_DEPTH: usize = 256;
/// Maximum number of expressions.
const MAX_EXPRESSIONS: usize = 20_000;
/// Maximum number of segments in a path: a record has no more levels.
const MAX_SEGMENTS: usize = 64;
/// Maximum array index that a path may name.
const MAX_INDEX: usize = 1_000;
/// Maximum sum of the indexes in all paths of a program.
const MAX_INDEX_SUM: usize = 20_000;

/// Returns the problem if the brackets of a program nest too deeply: the lexer searches for the end of each, which
/// takes time quadratic in their depth.
pub(super) fn problem_of_brackets(text: &str) -> Option<String> {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'#' => drop(bytes.find(|byte| *byte == b'\n')),
            // Strings, and literals such as regular expressions: r'…'.
            b'"' | b'\'' => {
                while let Some(inner) = bytes.next().filter(|inner| *inner != byte) {
                    if inner == b'\\' {
                        bytes.next();
                    }
                }
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    (deepest > MAX_DEPTH).then(|| {
        format!("it nests {deepest} brackets, more than the {MAX_DEPTH} that a transform may have")
    })
}

/// Returns what is too large in a program, if anything.
pub(super) fn problem(program: Program) -> Option<String> {
    let mut walk = Walk::default();
    let roots = program.0.into_iter().map(Node::into_inner);
    walk.open.extend(roots.filter_map(|root| match root {
        RootExpr::Expr(expr) => Some((expr, 1)),
        // The compiler reports it.
        RootExpr::Error(_) => None,
    }));
    // Also after the first problem: a dismantled tree can be dropped without a stack.
    while let Some((expr, depth)) = walk.open.pop() {
        walk.num_expressions += 1;
        walk.deepest = walk.deepest.max(depth);
        walk.take_apart(expr.into_inner(), depth + 1);
    }
    walk.problem()
}

#[derive(Default)]
struct Walk {
    /// Nodes to be dismantled, with their depths.
    open: Vec<(Node<Expr>, usize)>,
    deepest: usize,
    num_expressions: usize,
    most_segments: usize,
    last_index: usize,
    index_sum: usize,
}

impl Walk {
    fn problem(&self) -> Option<String> {
        let check = |what: &str, is: usize, max: usize| {
            (is > max).then(|| format!("{what}, more than the {max} that a transform may have"))
        };
        check(
            &format!("it nests {} expressions", self.deepest),
            self.deepest,
            MAX_DEPTH,
        )
        .or_else(|| {
            let what = format!("it has {} expressions", self.num_expressions);
            check(&what, self.num_expressions, MAX_EXPRESSIONS)
        })
        .or_else(|| {
            let what = format!("a path has {} segments", self.most_segments);
            check(&what, self.most_segments, MAX_SEGMENTS)
        })
        .or_else(|| {
            (self.last_index > MAX_INDEX).then(|| {
                format!(
                    "a path names place {} of an array: the last that may be named is {MAX_INDEX}",
                    self.last_index
                )
            })
        })
        .or_else(|| {
            let what = format!("its paths name {} places of arrays", self.index_sum);
            check(&what, self.index_sum, MAX_INDEX_SUM)
        })
    }

    fn take_apart(&mut self, expr: Expr, depth: usize) {
        match expr {
            Expr::Literal(_) | Expr::Variable(_) | Expr::Break(_) => {}
            Expr::Container(container) => self.container(container.into_inner(), depth),
            Expr::IfStatement(branch) => {
                let branch = branch.into_inner();
                match branch.predicate.into_inner() {
                    Predicate::One(expr) => self.open.push((*expr, depth)),
                    Predicate::Many(exprs) => self.all(exprs, depth),
                }
                self.all(branch.if_node.into_inner().0, depth);
                if let Some(block) = branch.else_node {
                    self.all(block.into_inner().0, depth);
                }
            }
            Expr::Op(op) => {
                let op = op.into_inner();
                self.all([*op.0, *op.2], depth);
            }
            Expr::Assignment(assignment) => match assignment.into_inner() {
                Assignment::Single { target, expr, .. } => {
                    self.target(target.into_inner(), depth);
                    self.open.push((*expr, depth));
                }
                Assignment::Infallible { ok, err, expr, .. } => {
                    self.target(ok.into_inner(), depth);
                    self.target(err.into_inner(), depth);
                    self.open.push((*expr, depth));
                }
            },
            Expr::Query(query) => self.query(query.into_inner(), depth),
            Expr::FunctionCall(call) => self.call(call.into_inner(), depth),
            Expr::Unary(unary) => match unary.into_inner() {
                Unary::Not(not) => {
                    let (_, expr) = not.into_inner().take();
                    self.open.push((*expr, depth));
                }
            },
            Expr::Abort(abort) => {
                let message = abort.into_inner().message;
                self.open.extend(message.map(|expr| (*expr, depth)));
            }
            Expr::Return(value) => self.open.push((*value.into_inner().expr, depth)),
        }
    }

    fn all(&mut self, exprs: impl IntoIterator<Item = Node<Expr>>, depth: usize) {
        self.open
            .extend(exprs.into_iter().map(|expr| (expr, depth)));
    }

    fn container(&mut self, container: Container, depth: usize) {
        match container {
            Container::Group(group) => self.open.push(((*group).into_inner().into_inner(), depth)),
            Container::Block(block) => self.all(block.into_inner().0, depth),
            Container::Array(array) => self.all(array.into_inner(), depth),
            Container::Object(object) => {
                let entries = object.into_inner().into_iter();
                self.all(entries.map(|(_, value)| value), depth);
            }
        }
    }

    fn call(&mut self, call: FunctionCall, depth: usize) {
        let arguments = call.arguments.into_iter();
        self.all(arguments.map(|argument| argument.into_inner().expr), depth);
        if let Some(closure) = call.closure {
            self.all(closure.into_inner().block.into_inner().0, depth);
        }
    }

    fn query(&mut self, query: Query, depth: usize) {
        self.path(query.path.inner());
        match query.target.into_inner() {
            QueryTarget::Internal(_) | QueryTarget::External(_) => {}
            QueryTarget::FunctionCall(call) => self.call(call, depth),
            QueryTarget::Container(container) => self.container(container, depth),
        }
    }

    fn target(&mut self, target: AssignmentTarget, depth: usize) {
        match target {
            AssignmentTarget::Noop => {}
            AssignmentTarget::Query(query) => self.query(query, depth),
            AssignmentTarget::Internal(_, path) => path.iter().for_each(|path| self.path(path)),
            AssignmentTarget::External(path) => {
                path.iter().for_each(|path| self.path(&path.path));
            }
        }
    }

    fn path(&mut self, path: &OwnedValuePath) {
        self.most_segments = self.most_segments.max(path.segments.len());
        for segment in &path.segments {
            if let OwnedSegment::Index(index) = segment {
                let index = index.unsigned_abs();
                self.last_index = self.last_index.max(index);
                self.index_sum = self.index_sum.saturating_add(index);
            }
        }
    }
}
