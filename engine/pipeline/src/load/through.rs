//! `through "command"` in a chain: a sink of the kind `through`, and a chain that goes on with its answers.
//!
//! Invariant: what the step says is what the sink would be told; the chain has the order that it is written in.

use crate::graph::THROUGH as WORD;
use std::borrow::Cow;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    Chain, EndpointDef, EndpointRole, Expr, ExprKind, Ident, PathRoot, Program, Statement, Step,
    StepKind, StreamRef, StringLit,
};

/// The program without such steps, each of them a sink and the chains around it.
pub(super) fn expanded(program: &Program) -> Cow<'_, Program> {
    taken_apart(program, |step| asked(step).is_some(), split)
}

/// The program with `split` done to its chains, if any of them has such a step.
pub(super) fn taken_apart<'p>(
    program: &'p Program,
    is_asked: impl Fn(&Step) -> bool,
    split: impl Fn(Chain, &mut Program),
) -> Cow<'p, Program> {
    let has_step = |statement: &Statement| match statement {
        Statement::Chain(chain) => chain.steps.iter().any(&is_asked),
        _ => false,
    };
    if !program.query.statements.iter().any(has_step) {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    let statements = std::mem::take(&mut program.query.statements);
    for statement in statements {
        match statement {
            Statement::Chain(chain) => split(chain, &mut program),
            other => program.query.statements.push(other),
        }
    }
    Cow::Owned(program)
}

/// What a step asks of which process, and where what it refuses goes.
struct Asked<'s> {
    command: &'s StringLit,
    refused: Option<&'s Expr>,
}

fn asked(step: &Step) -> Option<Asked<'_>> {
    let StepKind::Operator { name, positional, clauses, .. } = &step.kind else { return None };
    let ([word], [Expr { kind: ExprKind::String(command), .. }]) =
        (name.segments.as_slice(), positional.as_slice())
    else {
        return None;
    };
    let refused = match clauses.as_slice() {
        [] => None,
        [(clause, Some(place))] if clause.text == "else" => Some(place),
        _ => return None,
    };
    (word.text == WORD).then_some(Asked { command, refused })
}

/// A chain as those around its processes.
fn split(chain: Chain, program: &mut Program) {
    let Chain { mut from, steps, span } = chain;
    let mut before: Vec<Step> = Vec::new();
    for step in steps {
        let Some(Asked { command, refused }) = asked(&step) else {
            before.push(step);
            continue;
        };
        let StepKind::Operator { name, with, .. } = &step.kind else { continue };
        let sink = free_name(program, WORD, step.span);
        program.endpoints.push(EndpointDef {
            role: EndpointRole::Sink,
            name: sink.clone(),
            kind: name.segments[0].clone(),
            argument: Some(command.clone()),
            with: with.clone(),
            span: step.span,
        });
        let port = |port: &str| StreamRef {
            node: sink.clone(),
            port: Some(Ident { text: port.to_string(), span: step.span }),
            span: step.span,
        };
        before.push(into(StreamRef { node: sink.clone(), port: None, span: step.span }));
        let steps = std::mem::take(&mut before);
        program.query.statements.push(Statement::Chain(Chain { from, steps, span }));
        if let Some(place) = refused.and_then(place_of) {
            // As behind any `else`, a name that nothing declares is a place of its own.
            let kind = StepKind::Route { all: false, arms: Vec::new(), default: Some(place) };
            let (from, steps) =
                (Some(port("err")), vec![Step { kind, name: None, span: step.span }]);
            program.query.statements.push(Statement::Chain(Chain { from, steps, span }));
        }
        from = Some(port("out"));
    }
    if before.is_empty() {
        let out = Ident { text: "out".to_string(), span };
        before.push(into(StreamRef { node: out, port: None, span }));
    }
    program.query.statements.push(Statement::Chain(Chain { from, steps: before, span }));
}

pub(super) fn into(place: StreamRef) -> Step {
    Step { span: place.span, name: None, kind: StepKind::Into(place) }
}

/// The place behind `else`, which is read as an expression.
fn place_of(place: &Expr) -> Option<Ident> {
    let ExprKind::Path(path) = &place.kind else { return None };
    let PathRoot::Local(node) = &path.root else { return None };
    path.segments.is_empty().then(|| node.clone())
}

/// A name that no endpoint has.
pub(super) fn free_name(program: &Program, word: &str, span: Span) -> Ident {
    let is_free = |name: &String| program.endpoints.iter().all(|one| one.name.text != *name);
    let name = (1..).map(|number| format!("{word}_{number}")).find(is_free);
    Ident { text: name.expect("there are more numbers than endpoints"), span }
}
