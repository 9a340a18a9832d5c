//! Scripts and modules: `use`, `const`, `fn`, `intrinsic`, and the lists of items.

use super::super::grammar::{Pair, Rule};
use super::super::tree::{
    ConstDef, Docs, Expr, ExprKind, FnBody, FnCase, FnDef, Ident, IntrinsicDef, Item, ModPath,
    Script, Use,
};
use super::{Builder, only, parts, sole, take};
use crate::diagnostic::{Diagnostic, codes};

impl Builder {
    /// A script file or a module file.
    pub(in crate::syntax) fn script_file(&mut self, pair: Pair) -> Script {
        let mut script = Script::default();
        for part in parts(pair) {
            match part.as_rule() {
                Rule::mod_docs => script.docs = docs(part),
                Rule::script_body => script.items.extend(self.script_body(part).items),
                _ => self.item(part, &mut script.items),
            }
        }
        script
    }

    /// The items of a script inside a definition or a step.
    pub(super) fn script_body(&mut self, pair: Pair) -> Script {
        let mut script = Script::default();
        for part in parts(pair) {
            self.item(part, &mut script.items);
        }
        script
    }

    pub(super) fn item(&mut self, pair: Pair, items: &mut Vec<Item>) {
        match pair.as_rule() {
            Rule::use_def => items.extend(self.use_def(pair).into_iter().map(Item::Use)),
            Rule::const_def => items.push(Item::Const(self.const_def(pair))),
            Rule::fn_def => items.push(Item::Fn(self.fn_def(pair))),
            Rule::intrinsic_def => items.push(Item::Intrinsic(self.intrinsic_def(pair))),
            Rule::define => items.push(Item::Define(self.define(pair))),
            Rule::masked => {
                items.push(Item::Expr(Expr { kind: ExprKind::Error, span: self.span(&pair) }));
            }
            _ => items.push(Item::Expr(self.expr(pair))),
        }
    }

    /// One `Use` for each module that is named.
    pub(super) fn use_def(&mut self, pair: Pair) -> Vec<Use> {
        let mut uses = Vec::new();
        self.use_target(sole(pair), &[], &mut uses);
        uses
    }

    fn use_target(&mut self, pair: Pair, prefix: &[Ident], uses: &mut Vec<Use>) {
        let mut segments = prefix.to_vec();
        let mut alias = None;
        let span = self.span(&pair);
        for part in parts(pair) {
            match part.as_rule() {
                Rule::ident => segments.push(self.ident(&part)),
                Rule::alias => alias = Some(self.ident(&sole(part))),
                _ => {
                    only(part, Rule::use_target)
                        .for_each(|target| self.use_target(target, &segments, uses));
                    return;
                }
            }
        }
        let start = segments.first().map_or(span, |first| first.span);
        let end = segments.last().map_or(span, |last| last.span);
        uses.push(Use { path: ModPath { segments, span: start.to(end) }, alias, span });
    }

    fn const_def(&mut self, pair: Pair) -> ConstDef {
        let span = self.span(&pair);
        let (docs, mut inner) = with_docs(pair);
        let name = self.ident(&take(&mut inner));
        ConstDef { docs, name, value: self.expr(take(&mut inner)), span }
    }

    fn intrinsic_def(&mut self, pair: Pair) -> IntrinsicDef {
        let span = self.span(&pair);
        let (docs, mut inner) = with_docs(pair);
        let name = self.ident(&take(&mut inner));
        let (params, varargs) = self.params(take(&mut inner));
        let target = self.mod_path(take(&mut inner));
        IntrinsicDef { docs, name, params, varargs, target, span }
    }

    fn params(&mut self, pair: Pair) -> (Vec<Ident>, bool) {
        let varargs = only(pair.clone(), Rule::varargs).next().is_some();
        (self.idents(pair), varargs)
    }

    fn fn_def(&mut self, pair: Pair) -> FnDef {
        let span = self.span(&pair);
        let (docs, mut inner) = with_docs(pair);
        let name = self.ident(&take(&mut inner));
        let (params, varargs) = self.params(take(&mut inner));
        let body = take(&mut inner);
        let body = match body.as_rule() {
            Rule::fn_block => FnBody::Block(self.exprs(body)),
            _ if varargs => {
                self.report(varargs_with_cases(&name));
                self.fn_cases(body)
            }
            _ => self.fn_cases(body),
        };
        FnDef { docs, name, params, varargs, body, span }
    }

    fn fn_cases(&mut self, pair: Pair) -> FnBody {
        let mut cases = Vec::new();
        let mut default = Vec::new();
        for part in parts(pair) {
            match part.as_rule() {
                Rule::fn_case => cases.push(self.fn_case(part)),
                _ => {
                    let block = only(part, Rule::block).next().expect("a default case has a block");
                    default = self.block(block);
                }
            }
        }
        FnBody::Cases(cases, default)
    }

    fn fn_case(&mut self, pair: Pair) -> FnCase {
        let span = self.span(&pair);
        let mut case = FnCase { patterns: Vec::new(), guard: None, body: Vec::new(), span };
        for part in parts(pair) {
            match part.as_rule() {
                Rule::elem_pattern => case.patterns.push(self.pattern(part)),
                Rule::guard => case.guard = Some(self.expr(sole(part))),
                _ => case.body = self.block(part),
            }
        }
        case
    }
}

fn varargs_with_cases(name: &Ident) -> Diagnostic {
    let message = format!("`{}` has both `...` and cases", name.text);
    Diagnostic::error(codes::VARARGS_WITH_CASES, name.span, message)
        .with_help("match on `args` in the body: `fn f(a, ...) with match args of … end end`")
}

/// The texts of doc comment lines, without the hashes.
pub(super) fn docs(pair: Pair) -> Docs {
    pair.into_inner().map(|line| doc_text(&line)).collect()
}

fn doc_text(line: &Pair) -> String {
    line.as_str().trim_start_matches('#').trim_end_matches('\r').to_string()
}

/// The doc comment in front of a definition, and what follows it.
pub(super) fn with_docs(pair: Pair<'_>) -> (Docs, impl Iterator<Item = Pair<'_>>) {
    let lines = only(pair.clone(), Rule::doc_line).map(|line| doc_text(&line)).collect();
    (lines, parts(pair).filter(|part| part.as_rule() != Rule::doc_line))
}
