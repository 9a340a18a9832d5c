//! A step of an operator: values by their places and words become the settings that its rows name.

use super::tree::{binding, local, text};
use super::{ELSE, Expander, Written};
use crate::graph::complain;
use crate::graph::names::name_of;
use crate::operator::OUT;
use crate::operators::{ANY_PORT, OperatorKind};
use temblor_declare::{InChain, Setting, Takes};
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    Binding, CreateKind, DefineKind, Expr, ExprKind, Ident, ModPath, OperatorDef, Path, PathRoot,
    Segment, StreamRef,
};

/// The setting that names the ports of an operator.
const OUTPUTS: &str = "outputs";

impl Expander<'_> {
    pub(super) fn operator(
        &mut self,
        kind: &'static OperatorKind,
        name: &ModPath,
        (positional, clauses, with): Written<'_>,
        span: Span,
    ) -> bool {
        let mut bindings = self.positional(kind, positional);
        let mut other = None;
        let clauses = self.take_name(clauses);
        for (word, value) in &clauses {
            match (word.text.as_str(), value) {
                (ELSE, Some(value)) => match name_of(value) {
                    Some(port) => {
                        self.port(&port);
                        if !kind.ports.contains(&ELSE) {
                            let word = kind.word.unwrap_or(kind.path);
                            let ports = kind.ports.iter().copied();
                            self.complain(complain::unknown_port(word, ELSE, port.span, ports));
                        }
                        other = Some(port);
                    }
                    None => self.complain(complain::not_a_path(value.span)),
                },
                _ => bindings.extend(self.clause(kind, word, value.as_ref())),
            }
        }
        bindings.extend(with.iter().cloned());
        let word = kind.word.unwrap_or_else(|| kind.path.rsplit(':').next().unwrap_or(kind.path));
        let node = self.node_name(word, span);
        let segments = kind
            .path
            .split("::")
            .map(|text| Ident { text: text.to_string(), span: name.span })
            .collect();
        let path = ModPath { segments, span: name.span };
        let outputs = named_outputs(kind, &bindings);
        let def = OperatorDef { kind: path, args: Vec::new(), with: bindings };
        self.create(CreateKind::Operator, DefineKind::Operator(def), &node, span);
        self.pass(StreamRef { node: node.clone(), port: None, span });
        self.at = StreamRef { node: node.clone(), port: None, span };
        if let Some(port) = other {
            self.branch(&node, ELSE, &port, span);
        }
        let mut goes_on = outputs.is_empty() || outputs.iter().any(|name| name.text == OUT);
        for port in outputs.iter().filter(|name| name.text != OUT) {
            match self.names.meaning(&port.text) {
                Some(_) => self.branch(&node, &port.text, port, span),
                None => {
                    self.complain(complain::leads_nowhere(word, port));
                    goes_on = true;
                }
            }
        }
        goes_on
    }

    /// Values without a word: flags and words by their name, others in the order of declaration.
    fn positional(&mut self, kind: &'static OperatorKind, values: &[Expr]) -> Vec<Binding> {
        let mut bindings: Vec<Binding> = Vec::new();
        for value in values {
            if let Some(name) = name_of(value)
                && let Some(setting) = kind.settings.iter().find(|one| is_flag(one, &name.text))
            {
                let flag = Expr { kind: ExprKind::Bool(true), span: value.span };
                bindings.push(binding(setting.name, flag));
                continue;
            }
            let is_free = |one: &Setting| !bindings.iter().any(|got| got.name.text == one.name);
            let named = |one: &&Setting| {
                is_free(one) && name_of(value).is_some_and(|name| offers(one, &name.text))
            };
            let next = |one: &&Setting| {
                is_free(one) && one.chain == InChain::Positional && accepts(one, value)
            };
            let settings = || kind.settings.iter();
            let chosen = settings().find(named);
            // A word is wanted here, and this is none of those that it can be.
            let word = settings().find(|one| is_free(one) && one.chain == InChain::Positional);
            if let (
                None,
                Some(Setting { name: setting, takes: Takes::Word(words), .. }),
                Some(name),
            ) = (chosen, word, name_of(value))
            {
                self.complain(complain::unknown_choice(setting, &name, words));
                let any = Ident { text: words[0].to_string(), span: name.span };
                // All else depends on it, and is not judged.
                return vec![binding(setting, text(&any))];
            }
            match chosen.or_else(|| settings().find(next)) {
                Some(setting) => bindings.push(binding(setting.name, as_setting(setting, value))),
                None => {
                    let word = kind.word.unwrap_or(kind.path);
                    self.complain(complain::unexpected_value(word, value.span));
                }
            }
        }
        bindings
    }

    fn clause(
        &mut self,
        kind: &'static OperatorKind,
        word: &Ident,
        value: Option<&Expr>,
    ) -> Option<Binding> {
        let named =
            |one: &&Setting| matches!(one.chain, InChain::Clause(clause) if clause == word.text);
        if let Some(setting) = kind.settings.iter().find(|one| is_flag(one, &word.text)) {
            let flag = Expr { kind: ExprKind::Bool(true), span: word.span };
            return Some(binding(setting.name, flag));
        }
        match (kind.settings.iter().find(named), value) {
            (Some(setting), Some(value)) => Some(binding(setting.name, as_setting(setting, value))),
            // A word of a setting's choice may be a clause word of another operator.
            (_, None) if kind.settings.iter().any(|one| offers(one, &word.text)) => {
                self.positional(kind, &[local(word)]).pop()
            }
            _ => {
                let known = kind.settings.iter().filter_map(|one| match one.chain {
                    InChain::Clause(word) | InChain::Flag(word) => Some(word),
                    _ => None,
                });
                self.complain(complain::unknown_setting(&word.text, word.span, known));
                None
            }
        }
    }
}

/// The ports that settings name, of an operator whose ports they name.
fn named_outputs(kind: &OperatorKind, bindings: &[Binding]) -> Vec<Ident> {
    let lists =
        bindings.iter().filter(|one| kind.ports.contains(&ANY_PORT) && one.name.text == OUTPUTS);
    let items = lists.flat_map(|one| match &one.value.kind {
        ExprKind::List(items) => items.as_slice(),
        _ => &[],
    });
    let name = |item: &Expr| match &item.kind {
        ExprKind::String(text) => {
            text.constant().map(|text| Ident { text: text.to_string(), span: item.span })
        }
        _ => None,
    };
    items.filter_map(name).collect()
}

fn offers(setting: &Setting, word: &str) -> bool {
    matches!(setting.takes, Takes::Word(words) if words.contains(&word))
}

fn is_flag(setting: &Setting, word: &str) -> bool {
    matches!(setting.chain, InChain::Flag(flag) if flag == word)
}

/// Whether a bare name can be a value of the setting.
fn accepts(setting: &Setting, value: &Expr) -> bool {
    match (setting.takes, name_of(value)) {
        (Takes::Word(words), Some(name)) => words.contains(&name.text.as_str()),
        (Takes::Word(_), None) => matches!(value.kind, ExprKind::String(_)),
        _ => true,
    }
}

/// Words are written without quotes in a chain, and paths that are assigned to as paths.
fn as_setting(setting: &Setting, value: &Expr) -> Expr {
    match (setting.takes, &value.kind) {
        (Takes::Word(_), _) => name_of(value).map_or_else(|| value.clone(), |name| text(&name)),
        (Takes::Place, ExprKind::Path(path)) => match path_text(path) {
            Some(path) => text(&Ident { text: path, span: value.span }),
            None => value.clone(),
        },
        _ => value.clone(),
    }
}

/// `event.a.b` as the text `event.a.b`.
fn path_text(path: &Path) -> Option<String> {
    let mut text = match &path.root {
        PathRoot::Event => "event".to_string(),
        PathRoot::Meta => "$".to_string(),
        PathRoot::Local(name) => name.text.clone(),
        _ => return None,
    };
    for segment in &path.segments {
        let name = match segment {
            Segment::Name(name) => &name.text,
            Segment::Index(Expr { kind: ExprKind::String(name), .. }) => name.constant()?,
            _ => return None,
        };
        if !text.ends_with('$') {
            text.push('.');
        }
        text.push_str(name);
    }
    Some(text)
}
