//! `lookup names into event.host else port`: to a sink that asks, and on with what it gives back.

use super::{ELSE, Expander};
use crate::graph::complain;
use crate::graph::names::{Meaning, name_of};
use crate::operator::{ERR, OUT};
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{Expr, ExprKind, Ident, Path, PathRoot, Segment, StreamRef};

impl Expander<'_> {
    pub(super) fn lookup(
        &mut self,
        positional: &[Expr],
        clauses: &[(Ident, Option<Expr>)],
        span: Span,
    ) {
        let name = match positional {
            [name] => name_of(name),
            _ => None,
        };
        let Some(name) = name else { return self.complain(complain::lookup_without_name(span)) };
        if self.names.meaning(&name.text) != Some(Meaning::Output) {
            return self.complain(complain::lookup_of_no_sink(&name));
        }
        self.pass(StreamRef { node: name.clone(), port: None, span });
        let answers = Ident { text: OUT.to_string(), span };
        self.at = StreamRef { node: name.clone(), port: Some(answers), span };
        self.expansion.asked.push(name.clone());
        for (word, value) in clauses {
            match (word.text.as_str(), value.as_ref()) {
                (ELSE, Some(value)) => match name_of(value) {
                    Some(port) => {
                        self.port(&port);
                        self.branch(&name, ERR, &port, span);
                    }
                    None => self.complain(complain::not_a_path(value.span)),
                },
                ("into", Some(Expr { kind: ExprKind::Path(place), .. })) => {
                    self.set(&[((**place).clone(), answer(span))], span);
                }
                _ => self.complain(complain::unexpected_value("lookup", word.span)),
            }
        }
    }
}

/// `$lookup.answer`
fn answer(span: Span) -> Expr {
    let segments = ["lookup", "answer"];
    let segments = segments.map(|text| Segment::Name(Ident { text: text.to_string(), span }));
    let path = Path { root: PathRoot::Meta, segments: segments.to_vec(), span };
    Expr { kind: ExprKind::Path(Box::new(path)), span }
}
