//! Functions of the user.

use super::inference::Origins;
use super::module::Scope;
use super::names::{Names, Position, Rules};
use super::{Compiler, complain};
use crate::builtin::{Function, Purity};
use crate::coverage::BranchKind;
use crate::program::{FnCase, FnCases, UserFn, UserFnBody};
use crate::syntax::tree;

/// `intrinsic fn f(a) as string::len`
pub(super) fn intrinsic(def: &tree::IntrinsicDef, builtin: &'static Function) -> UserFn {
    UserFn {
        name: def.name.text.as_str().into(),
        params: def.params.len(),
        varargs: def.varargs,
        slots: 0,
        body: UserFnBody::Intrinsic(builtin),
        pure: builtin.purity == Purity::Pure,
        returns: builtin.returns,
        span: def.span,
    }
}

impl Compiler<'_> {
    pub(super) fn lower_function(&mut self, def: &tree::FnDef, scope: &Scope) -> UserFn {
        let mut names = Names::new(Rules::FUNCTION);
        names.params = Some((def.params.len(), def.varargs));
        for param in &def.params {
            self.check_binding(param, scope);
            let slot = names.slots;
            if names.parameter(&param.text) != slot {
                let complaint = complain::duplicate("parameter", &param.text, param.span);
                self.diagnostics.push(complaint);
                names.slots += 1;
            }
        }
        let body = match &def.body {
            tree::FnBody::Block(block) => {
                UserFnBody::Block(self.block(block, Position::TAIL, (scope, &mut names)))
            }
            tree::FnBody::Cases(cases, default) => {
                UserFnBody::Cases(self.fn_cases(cases, default, (scope, &mut names)))
            }
        };
        self.check_names(&names);
        self.gather_risks(|walk| walk.function(&body));
        let returns = match &body {
            UserFnBody::Intrinsic(builtin) => builtin.returns,
            UserFnBody::Block(block) => Origins::of_blocks([block]).known(&names),
            UserFnBody::Cases(cases) => {
                let blocks = cases.cases.iter().map(|case| &case.body);
                Origins::of_blocks(blocks.chain([&cases.default])).known(&names)
            }
        };
        UserFn {
            name: def.name.text.as_str().into(),
            params: def.params.len(),
            varargs: def.varargs,
            slots: names.slots,
            body,
            pure: !names.impure,
            returns,
            span: def.span,
        }
    }

    fn fn_cases(
        &mut self,
        cases: &[tree::FnCase],
        default: &[tree::Expr],
        (scope, names): (&Scope, &mut Names),
    ) -> FnCases {
        let mut lowered = Vec::with_capacity(cases.len());
        for case in cases {
            let (wanted, _) = names.params.unwrap_or_default();
            if case.patterns.len() != wanted {
                let got = case.patterns.len();
                self.diagnostics.push(complain::case_arity(got, wanted, case.span));
            }
            let patterns =
                case.patterns.iter().map(|one| self.pattern(one, (scope, names))).collect();
            let guard = self.guard(case.guard.as_ref(), (scope, names));
            let body = self.block(&case.body, Position::TAIL, (scope, names));
            let body = self.counted(BranchKind::Call, case.span, body);
            if case.patterns.len() == wanted {
                lowered.push(FnCase { patterns, guard, body });
            }
        }
        let mut otherwise = self.block(default, Position::TAIL, (scope, names));
        if let Some(first) = default.first() {
            otherwise = self.counted(BranchKind::Call, first.span, otherwise);
        }
        FnCases { cases: lowered, default: otherwise }
    }
}
