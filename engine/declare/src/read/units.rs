//! Durations that are written as plain numbers: `idle_timeout = 5` means seconds to most, and would be 5 ns.
//!
//! Invariant: only literals are looked at; what an expression comes to counts in nanoseconds, as `5s` does.

use temblor_lang::lower::Compiler;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{Expr, ExprKind};

use super::complain;
use crate::setting::{Setting, Takes};

/// Reports durations without a unit, also those in records and arrays of records.
pub(super) fn look(row: &Setting, tree: &Expr, compiler: &mut Compiler<'_>) {
    match (row.takes, &tree.kind) {
        (Takes::Duration | Takes::Offset, ExprKind::Int(number))
            if *number != 0 && is_plain(tree.span, compiler) =>
        {
            let reason = format!("must be {}, got {number} without a unit", row.takes.describe());
            let complaint = complain::unfit(row.name, &reason, tree.span);
            let help = format!("write {number}s for seconds, {number}ms for milliseconds");
            compiler.diagnostics.push(complaint.with_help(help));
        }
        (Takes::Record(rows), ExprKind::Record(fields)) => {
            for (name, value) in fields {
                let name = name.constant().unwrap_or_default();
                if let Some(row) = rows.iter().find(|row| row.name == name) {
                    look(row, value, compiler);
                }
            }
        }
        (Takes::Records(rows), ExprKind::List(items)) => {
            let takes = Takes::Record(rows);
            items.iter().for_each(|item| look(&Setting { takes, ..*row }, item, compiler));
        }
        _ => {}
    }
}

/// Whether a number is written with digits alone.
fn is_plain(span: Span, compiler: &Compiler<'_>) -> bool {
    let text = compiler.sources.get(span.source).and_then(|source| source.text.get(span.range()));
    text.is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_'))
}
