//! What is said about the name or word under the pointer, as Markdown.

use super::analysis::Dialect;
use super::configuration;
pub(crate) use super::declaration::{aggregate_signature, signature};
use super::declared;
use super::navigate::Meaning;
use super::workspace::Workspace;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Uri};
use std::fmt::Write;
use temblor_catalog::registry;
use temblor_declare::{Connector, Ends, Setting};
use temblor_lang::builtin::{Aggregate, Function};
use temblor_lang::index::{Symbol, Target};
use temblor_lang::span::{SourceId, Span};
use temblor_lang::syntax::{KEYWORDS, TokenClass, classes};
use temblor_pipeline::operators::OperatorKind;

/// The ports that are there without a word.
const BUILT_IN_PORTS: [(&str, &str); 3] = [
    ("in", "Where events come in."),
    ("out", "Where events go that nothing sends elsewhere."),
    ("err", "Where events go that fail, each with the reason."),
];

impl Workspace {
    /// What is known about the name or word at a byte.
    #[must_use]
    pub(crate) fn hover(&self, uri: &Uri, offset: usize) -> Option<Hover> {
        let document = self.document(uri)?;
        let analysis = &document.analysis;
        if document.dialect == Dialect::Logstash {
            return configuration::hover(analysis, offset);
        }
        let named = self.meaning(uri, offset);
        let named = named.and_then(|(meaning, span)| Some((about(&meaning)?, span)));
        let (text, span) = named.or_else(|| word(&analysis.text, offset))?;
        let contents =
            HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
        Some(Hover { contents, range: Some(analysis.lines.range(&analysis.text, span)) })
    }
}

fn about(meaning: &Meaning) -> Option<String> {
    Some(match meaning {
        Meaning::Symbol(definition) => symbol(definition.get()),
        Meaning::Function(one) => function(one),
        Meaning::Aggregate(one) => aggregate(one),
        Meaning::Module(path, file) => {
            let file = file.as_ref().map(|file| format!("\n\n{}", file.display()));
            format!("module `{path}`{}", file.unwrap_or_default())
        }
        Meaning::Other(target) => return other(target),
    })
}

fn other(target: &Target) -> Option<String> {
    Some(match target {
        Target::OperatorKind(name) => operator(registry().operator(name)?),
        Target::Setting(kind, name) => setting(setting_of(kind, name)?),
        Target::Connector(end, kind) => {
            let (notation, ends) = declared::place_of(*end)?;
            connector(registry().connector(kind, notation)?, ends)
        }
        Target::ConnectorSetting(end, kind, name) => {
            let mut rows = declared::rows(*end, kind).into_iter().flatten();
            setting(rows.find(|row| row.name == *name)?)
        }
        Target::Extractor(name) => {
            let kind = temblor_stdlib::registry().extractor(name)?;
            let mut text = format!("{}\n\n{}", code(&format!("{}|…|", kind.name)), kind.doc);
            for (expression, value) in kind.examples.iter().take(2) {
                // Writing into a String does not fail.
                let _ = write!(text, "\n{}", code(&format!("{expression}\n# {value}")));
            }
            text
        }
        Target::Field(path) => format!("field `{path}`"),
        Target::Port(_, name) => {
            let (_, doc) = BUILT_IN_PORTS.iter().find(|(port, _)| port == name)?;
            format!("{}\n\n{doc}", code(&format!("port {name}")))
        }
        _ => return None,
    })
}

/// The setting that a chain or a `with` calls so.
fn setting_of(kind: &str, name: &str) -> Option<&'static Setting> {
    let is_it = |one: &&Setting| one.name == name || one.word() == Some(name);
    registry().operator(kind)?.settings.iter().find(is_it)
}

fn word(text: &str, offset: usize) -> Option<(String, Span)> {
    let pieces = classes(text);
    let covers = |piece: &&(usize, usize, TokenClass)| piece.0 <= offset && offset <= piece.1;
    let (start, end, _) =
        *pieces.iter().filter(covers).find(|piece| piece.2 == TokenClass::Word)?;
    let (word, doc) = KEYWORDS.iter().find(|(word, _)| *word == &text[start..end])?;
    Some((format!("**{word}**\n\n{doc}"), Span::new(SourceId::default(), start, end)))
}

fn code(text: &str) -> String {
    format!("```temblor\n{text}\n```")
}

/// A symbol: how it is declared, and its doc comment.
#[must_use]
pub(crate) fn symbol(symbol: &Symbol) -> String {
    let docs: Vec<_> = symbol.docs.iter().map(|line| line.trim()).collect();
    format!("{}\n\n{}", code(&symbol.detail), docs.join("\n")).trim_end().to_string()
}

/// A function of the library.
#[must_use]
pub(crate) fn function(function: &Function) -> String {
    let mut text = format!("{}\n\n{}", code(&signature(function).0), function.doc);
    if let Some(advice) = function.warning {
        let _ = write!(text, "\n\nSlow: {advice}.");
    }
    if !function.examples.is_empty() {
        let _ = write!(text, "\n\n{}", code(&function.examples.join("\n")));
    }
    text
}

/// An aggregate of the library.
#[must_use]
pub(crate) fn aggregate(aggregate: &Aggregate) -> String {
    format!("{}\n\n{}", code(&aggregate_signature(aggregate).0), aggregate.doc)
}

/// A kind of operator, with its settings and ports.
#[must_use]
pub(crate) fn operator(kind: &OperatorKind) -> String {
    let mut text = format!("**{}**\n\n{}\n", kind.path, kind.doc);
    for one in kind.settings {
        let _ = write!(text, "\n- {}", setting(one));
    }
    if !kind.ports.is_empty() {
        let _ = write!(text, "\n\nPorts: `out`, `err`, `{}`", kind.ports.join("`, `"));
    }
    if let Some(example) = kind.examples.first() {
        let _ = write!(text, "\n\n{}", code(example));
    }
    text
}

/// A connector as a source, a sink or both, with its settings.
#[must_use]
pub(crate) fn connector(row: &Connector, ends: Ends) -> String {
    let mut text = format!("**{}**\n\n{}", row.kind, row.doc);
    if let Some(address) = row.address {
        let _ = write!(text, "\n\nAddress: {address}.");
    }
    let rows = [(Ends::Source, row.source), (Ends::Sink, row.sink)];
    let wanted = rows.into_iter().filter(|(end, _)| ends == *end || ends == Ends::Both);
    text.push('\n');
    for one in wanted.flat_map(|(_, rows)| rows).filter(|one| !one.takes.is_hidden()) {
        let _ = write!(text, "\n- {}", setting(one));
    }
    if let Some(example) = row.examples.first() {
        let _ = write!(text, "\n\n{}", code(example));
    }
    text
}

/// One setting: what it takes, what holds without it, and what it does.
#[must_use]
pub(crate) fn setting(row: &Setting) -> String {
    let word = row.word().filter(|word| *word != row.name);
    let word = word.map_or(String::new(), |word| format!(" (in a chain: `{word}`)"));
    let default = row
        .default
        .map_or(String::new(), |default| format!(", `{}` unless set", default.escape_debug()));
    let required = if row.required { ", required" } else { "" };
    format!("`{}`{word}: {}{default}{required}. {}", row.name, row.takes.describe(), row.doc)
}
