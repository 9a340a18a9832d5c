//! `when` and `match` in chains: a script sends each event to the chain of the first arm that takes
//! it, and a stream gathers what comes out of them again. An event takes one arm, so none is doubled.

use super::chain::{ELSE, Expander, arm, emit, event, stream_at};
use super::names::{Meaning, is_step, name_of};
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    Arm, ChainMatch, Create, CreateKind, Expr, ExprKind, Ident, Item, Match, Script, Statement,
    Step, StepKind, StreamRef,
};

/// A port of the script, and the steps behind it.
type Branch<'s> = (Ident, &'s [Step]);

impl Expander<'_> {
    /// `when c do … elif d do … else … end`. Whether events go on behind it.
    pub(super) fn when(
        &mut self,
        arms: &[(Expr, Vec<Step>)],
        otherwise: Option<&[Step]>,
        span: Span,
    ) -> bool {
        let mut arms = arms.to_vec();
        let misread = arms.last_mut().filter(|_| otherwise.is_none());
        let misread = misread.and_then(|(_, steps)| self.else_of_when(steps));
        let otherwise = otherwise.or(misread.as_deref());
        let mut cases = Vec::new();
        let mut branches: Vec<Branch<'_>> = Vec::new();
        for (number, (condition, steps)) in arms.iter().enumerate() {
            let word = if number == 0 { "do".to_string() } else { format!("elif_{number}") };
            let port = Ident { text: word, span: condition.span };
            cases.push(arm(Some(condition.clone()), emit(&port), condition.span));
            branches.push((port, steps));
        }
        self.rest(otherwise, &mut cases, &mut branches, span);
        let matching = Match { target: event(span), arms: cases };
        self.branches("when", matching, &branches, otherwise.is_none(), span)
    }

    /// `match event.a of case … => … default => … end`. Whether events go on behind it.
    pub(super) fn matching(&mut self, one: &ChainMatch, span: Span) -> bool {
        let mut cases = Vec::new();
        let mut branches: Vec<Branch<'_>> = Vec::new();
        for (number, arm) in one.arms.iter().enumerate() {
            let port = Ident { text: format!("case_{}", number + 1), span: arm.pattern.span };
            let (pattern, guard) = (arm.pattern.clone(), arm.guard.clone());
            let end = arm.steps.first().map_or(arm.span, |step| step.span);
            let span = Span::new(arm.span.source, arm.span.range().start, end.range().start);
            cases.push(Arm { pattern, guard, body: vec![emit(&port)], span });
            branches.push((port, &arm.steps));
        }
        self.rest(one.default.as_deref(), &mut cases, &mut branches, span);
        let matching = Match { target: one.target.clone(), arms: cases };
        self.branches("match", matching, &branches, one.default.is_none(), span)
    }

    /// The arm for all other events: they go on as they are, or to a branch of their own.
    fn rest<'s>(
        &self,
        steps: Option<&'s [Step]>,
        cases: &mut Vec<Arm>,
        branches: &mut Vec<Branch<'s>>,
        span: Span,
    ) {
        let Some(steps) = steps else { return cases.push(arm(None, event(span), span)) };
        let at = steps.first().map_or(span, |step| step.span);
        let port = Ident { text: ELSE.to_string(), span: at };
        cases.push(arm(None, emit(&port), at));
        branches.push((port, steps));
    }

    /// The script that parts the events, the branches, and the stream behind them.
    fn branches(
        &mut self,
        word: &str,
        matching: Match,
        branches: &[Branch<'_>],
        rest_goes_on: bool,
        span: Span,
    ) -> bool {
        let body = Expr { kind: ExprKind::Match(Box::new(matching)), span };
        let script = Script { docs: Vec::new(), items: vec![Item::Expr(body)] };
        let node = self.script(script, word, span);
        let behind = stream_at(&self.fresh("behind", span), span);
        let place = self.expansion.statements.len();
        let mut goes_on = rest_goes_on;
        if rest_goes_on {
            self.pass(behind.clone());
        }
        for (port, steps) in branches {
            self.at = StreamRef { node: node.clone(), port: Some(port.clone()), span };
            if self.steps(steps, true) {
                self.pass(behind.clone());
                goes_on = true;
            }
        }
        if goes_on {
            let (kind, name) = (CreateKind::Stream, behind.node.clone());
            let create = Create { kind, name, from: None, with: Vec::new(), span };
            self.expansion.statements.insert(place, Statement::Create(create));
        }
        self.at = if goes_on { behind } else { stream_at(&node, span) };
        goes_on
    }

    /// In `do parse json else dedup end` the `else` is that of the `when`: behind that of a step stands a
    /// place that events go to, and `dedup` is a step. Takes it off the last step.
    fn else_of_when(&self, steps: &mut [Step]) -> Option<Vec<Step>> {
        let StepKind::Operator { name, clauses, with, .. } = &mut steps.last_mut()?.kind else {
            return None;
        };
        let (word, value) = clauses.last().filter(|(word, _)| word.text == ELSE)?;
        let other = name_of(value.as_ref()?)?;
        let has_else = name.text() == "where"
            || self.registry.operator(&name.text()).is_none_or(|kind| kind.ports.contains(&ELSE));
        let is_place = match self.names.meaning(&other.text) {
            Some(Meaning::Node) => false,
            Some(_) => true,
            None => !is_step(self.registry, &other.text),
        };
        if !with.is_empty() || (has_else && is_place) {
            return None;
        }
        let span = word.span.to(other.span);
        clauses.pop();
        let kind = StepKind::Into(stream_at(&other, other.span));
        Some(vec![Step { kind, name: None, span }])
    }
}
