//! Proposals for what can be written at a place, with what they are and what they do.

use super::PROPOSALS_MAX;
use super::analysis::{Analysis, Dialect};
use super::completion::{Context, context};
use super::configuration;
use super::declared;
use super::hover;
use super::navigate::Meaning;
use super::workspace::Workspace;
use lsp_types::{
    CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind, Uri,
};
use std::collections::BTreeSet;
use temblor_catalog::registry;
use temblor_codec::Codec;
use temblor_codec::names::CODECS;
use temblor_declare::interceptor::Interceptor;
use temblor_declare::interceptor::after::POSTPROCESSORS;
use temblor_declare::interceptor::before::PREPROCESSORS;
use temblor_declare::{Ends, Notation, Setting, Takes};
use temblor_lang::index::{Direction, Maker, PartKind, Symbol, SymbolKind};
use temblor_lang::syntax::KEYWORDS;
use temblor_pipeline::graph::WINDOW_KINDS;
use temblor_stdlib::grok::Library;

/// Steps that are no operators, and what they do.
const STEPS: [&str; 8] = ["where", "set", "script", "route", "select", "when", "match", "drop"];

/// Gathers proposals; each name once.
#[derive(Default)]
struct Proposals {
    items: Vec<CompletionItem>,
    seen: BTreeSet<String>,
}

impl Proposals {
    fn add(&mut self, label: &str, kind: CompletionItemKind, detail: &str, doc: String) {
        if self.items.len() >= PROPOSALS_MAX || !self.seen.insert(label.to_string()) {
            return;
        }
        let markdown = MarkupContent { kind: MarkupKind::Markdown, value: doc };
        let documentation =
            (!markdown.value.is_empty()).then_some(Documentation::MarkupContent(markdown));
        self.items.push(CompletionItem {
            label: label.to_string(),
            kind: Some(kind),
            detail: Some(detail.to_string()).filter(|detail| !detail.is_empty()),
            documentation,
            ..CompletionItem::default()
        });
    }

    fn words<'w>(&mut self, words: impl IntoIterator<Item = &'w str>, detail: &str) {
        for word in words {
            self.add(word, CompletionItemKind::KEYWORD, detail, String::new());
        }
    }

    fn keyword(&mut self, word: &str) {
        let doc = KEYWORDS.iter().find(|(one, _)| *one == word).map_or("", |(_, doc)| doc);
        self.add(word, CompletionItemKind::KEYWORD, "", doc.to_string());
    }

    fn symbol(&mut self, symbol: &Symbol) {
        let docs: Vec<_> = symbol.docs.iter().map(|line| line.trim()).collect();
        self.add(&quoted(&symbol.name), item_kind(symbol.kind), &symbol.detail, docs.join("\n"));
    }
}

fn item_kind(kind: SymbolKind) -> CompletionItemKind {
    match kind {
        SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Binding | SymbolKind::Argument => {
            CompletionItemKind::VARIABLE
        }
        SymbolKind::Constant => CompletionItemKind::CONSTANT,
        SymbolKind::Function => CompletionItemKind::FUNCTION,
        SymbolKind::Module => CompletionItemKind::MODULE,
        SymbolKind::Node | SymbolKind::Port => CompletionItemKind::INTERFACE,
        _ => CompletionItemKind::CLASS,
    }
}

/// The kinds that can stand at such an end.
fn connectors(notation: Notation, ends: Ends, out: &mut Proposals) {
    let detail = match ends {
        Ends::Source => "source",
        Ends::Sink => "sink",
        Ends::Both => "connector",
    };
    for kind in registry().kinds(notation, ends) {
        let row = registry().connector(kind, notation);
        let doc = row.map_or(String::new(), |row| hover::connector(row, ends));
        out.add(kind, CompletionItemKind::CLASS, detail, doc);
    }
}

/// Settings, each with what it takes.
fn settings(rows: &[&'static [Setting]], out: &mut Proposals) {
    for row in rows.iter().flat_map(|rows| rows.iter()) {
        if row.takes.is_hidden() || row.name == "address" {
            continue;
        }
        let (takes, doc) = (row.takes.describe(), hover::setting(row));
        out.add(row.name, CompletionItemKind::PROPERTY, &takes, doc);
    }
}

fn codecs(reads: bool, out: &mut Proposals) {
    let is_such = |row: &&Codec| if reads { row.reads.is_some() } else { row.writes.is_some() };
    for row in CODECS.iter().filter(is_such) {
        out.add(row.name, CompletionItemKind::VALUE, "codec", row.doc.to_string());
    }
}

fn interceptors<T>(rows: &[Interceptor<T>], out: &mut Proposals) {
    for row in rows {
        let mut doc = row.doc.to_string();
        row.settings.iter().for_each(|one| doc.push_str(&format!("\n\n- {}", hover::setting(one))));
        out.add(row.name, CompletionItemKind::VALUE, "", doc);
    }
}

/// A name as it is written: in backticks when it is no plain name.
fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|one| one.is_alphanumeric() || one == '_')
        && name.starts_with(char::is_alphabetic)
        && !temblor_lang::syntax::RESERVED.contains(&name);
    if is_plain { name.to_string() } else { format!("`{name}`") }
}

impl Workspace {
    /// What can be written at a byte of an open text.
    #[must_use]
    pub(crate) fn complete(&self, uri: &Uri, offset: usize) -> Vec<CompletionItem> {
        let Some(document) = self.document(uri) else { return Vec::new() };
        let mut out = Proposals::default();
        if document.dialect == Dialect::Logstash {
            if !configuration::wants_pattern(&document.analysis, offset) {
                return configuration::proposals(&document.analysis, offset);
            }
            grok_patterns(&mut out);
            return out.items;
        }
        let text = &document.analysis.text;
        let known = [document.analysis.as_ref(), document.complete.as_ref()];
        match context(text, offset) {
            Context::Nothing => {}
            Context::GrokPattern => grok_patterns(&mut out),
            Context::GrokKind => out.words(["int", "float", "string"], "type of the field"),
            Context::Extractor => extractors(&mut out),
            Context::ModulePath(path) => self.module_paths(uri, &path, &mut out),
            Context::Member(path) => self.members(uri, &known, &path, &mut out),
            Context::Field(path) => fields(&known, &path, &mut out),
            Context::Step => {
                steps(&mut out);
                named(&known, offset, |kind| kind == SymbolKind::Node, &mut out);
            }
            Context::Stream => streams(&known, offset, &mut out),
            Context::Port(node, direction) => {
                known.iter().for_each(|one| self.ports(uri, one, (&node, direction), &mut out));
            }
            Context::OperatorKind => {
                for kind in registry().operators() {
                    let doc = hover::operator(kind);
                    out.add(kind.path, CompletionItemKind::CLASS, "operator", doc);
                }
            }
            Context::WindowKind => out.words(WINDOW_KINDS, "window"),
            Context::ConnectorKind => connectors(Notation::Tremor, Ends::Both, &mut out),
            Context::Endpoint(true) => connectors(Notation::Temblor, Ends::Source, &mut out),
            Context::Endpoint(false) => connectors(Notation::Temblor, Ends::Sink, &mut out),
            Context::Setting(end, kind) => settings(&declared::rows(end, &kind), &mut out),
            Context::Configuration(kind) => settings(&[declared::configuration(&kind)], &mut out),
            Context::Defined(word, kind) => {
                settings(&[declared::of_definition(&word, &kind)], &mut out);
            }
            Context::Codec(reads) => codecs(reads, &mut out),
            Context::Interceptor(true) => interceptors(PREPROCESSORS, &mut out),
            Context::Interceptor(false) => interceptors(POSTPROCESSORS, &mut out),
            Context::Definition(word) => {
                named(&known, offset, |kind| kind.noun() == word, &mut out);
                named(&known, offset, |kind| kind == SymbolKind::Module, &mut out);
            }
            Context::Clause(operator) => {
                clauses(&operator, &mut out);
                self.anything(&known, offset, &mut out);
            }
            Context::Anything => self.anything(&known, offset, &mut out),
        }
        out.items
    }

    /// `use a::`: standard modules and module files.
    fn module_paths(&self, uri: &Uri, path: &[String], out: &mut Proposals) {
        let prefix = path.iter().map(|name| format!("{name}::")).collect::<String>();
        for module in temblor_stdlib::registry().module_paths() {
            if let Some(rest) = module.strip_prefix(&prefix) {
                let next = rest.split("::").next().unwrap_or(rest);
                let detail = format!("{prefix}{next}");
                out.add(next, CompletionItemKind::MODULE, &detail, String::new());
            }
        }
        for directory in self.modules(uri).directories().list() {
            let folder = path.iter().fold(directory.clone(), |folder, name| folder.join(name));
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let file = entry.path();
                let is_module =
                    temblor_pipeline::load::Language::of(&file).is_some() || file.is_dir();
                let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or("");
                if is_module && !name.is_empty() && !name.starts_with('.') {
                    let detail = file.display().to_string();
                    out.add(&quoted(name), CompletionItemKind::MODULE, &detail, String::new());
                }
            }
        }
    }

    /// `string::`: what the module has.
    fn members(&self, uri: &Uri, known: &[&Analysis], path: &[String], out: &mut Proposals) {
        let Some((first, rest)) = path.split_first() else { return };
        let imports = known.iter().flat_map(|one| &one.index.imports);
        let import = imports.into_iter().find(|import| import.alias == *first);
        let mut module = import.map_or_else(|| first.clone(), |import| import.path.clone());
        rest.iter().for_each(|name| module = format!("{module}::{name}"));
        if let Some(file) = self.modules(uri).file(&module)
            && let Some(analysis) = self.analysis(&file)
        {
            let symbols = analysis.index.symbols.iter();
            symbols
                .filter(|one| one.kind.is_member() && one.parent.is_none())
                .for_each(|one| out.symbol(one));
        }
        let full = [format!("{module}::"), format!("std::{module}::")];
        for prefix in full {
            library_members(&prefix, out);
            self.constants_of(uri, prefix.trim_end_matches("::"), out);
        }
    }

    /// Constants of a standard module that is written in the language itself.
    fn constants_of(&self, uri: &Uri, module: &str, out: &mut Proposals) {
        let Some(text) = temblor_stdlib::registry().module(module) else { return };
        if self.modules(uri).file(module).is_some() {
            return;
        }
        let dialect = Dialect::Program(temblor_pipeline::load::Language::Script);
        let analysis = Analysis::new(text.to_string(), dialect);
        let symbols = analysis.index.symbols.iter();
        symbols
            .filter(|one| one.kind.is_member() && one.parent.is_none())
            .for_each(|one| out.symbol(one));
    }

    /// `node/`: the ports that its definition names, and those that every node has.
    fn ports(
        &self,
        uri: &Uri,
        analysis: &Analysis,
        (node, direction): (&str, Direction),
        out: &mut Proposals,
    ) {
        let index = &analysis.index;
        let is_node = |one: &Symbol| one.name == node && is_stream(one.kind);
        let Some(node) = index.symbols.iter().position(is_node) else { return };
        let kind = PartKind::Port(direction);
        match index.maker(node) {
            Some(Maker::Elsewhere(module, name)) => {
                if let Some(Meaning::Symbol(owner)) = self.member(uri, module, name) {
                    let ports = owner.analysis.index.parts(owner.symbol, kind);
                    ports.for_each(|port| out.symbol(port));
                }
            }
            Some(Maker::Here(owner)) => index.parts(*owner, kind).for_each(|one| out.symbol(one)),
            None => index.parts(node, kind).for_each(|one| out.symbol(one)),
        }
        match direction {
            Direction::In => out.words(["in"], "port"),
            Direction::Out => out.words(["out", "err"], "port"),
        }
    }

    /// Words, names and modules.
    fn anything(&self, known: &[&Analysis], offset: usize, out: &mut Proposals) {
        let is_value = |kind| {
            matches!(
                kind,
                SymbolKind::Local
                    | SymbolKind::Parameter
                    | SymbolKind::Binding
                    | SymbolKind::Constant
                    | SymbolKind::Function
                    | SymbolKind::Module
                    | SymbolKind::Argument
                    | SymbolKind::Node
            )
        };
        named(known, offset, is_value, out);
        KEYWORDS.iter().for_each(|(word, _)| out.keyword(word));
        for path in temblor_stdlib::registry().module_paths() {
            let name = path.rsplit("::").next().unwrap_or(path);
            out.add(name, CompletionItemKind::MODULE, path, String::new());
        }
    }
}

/// Functions, aggregates and inner modules whose path begins so.
fn library_members(prefix: &str, out: &mut Proposals) {
    let registry = temblor_stdlib::registry();
    for path in registry.function_paths() {
        let Some(name) = path.strip_prefix(prefix).filter(|name| !name.contains("::")) else {
            continue;
        };
        let Some(function) = registry.function(path) else { continue };
        let (signature, _) = hover::signature(function);
        out.add(name, CompletionItemKind::FUNCTION, &signature, hover::function(function));
    }
    for path in registry.aggregate_paths() {
        let Some(name) = path.strip_prefix(prefix).filter(|name| !name.contains("::")) else {
            continue;
        };
        let Some(aggregate) = registry.aggregate(path) else { continue };
        let (signature, _) = hover::aggregate_signature(aggregate);
        out.add(name, CompletionItemKind::FUNCTION, &signature, hover::aggregate(aggregate));
    }
    for path in registry.module_paths() {
        if let Some(rest) = path.strip_prefix(prefix) {
            let name = rest.split("::").next().unwrap_or(rest);
            out.add(name, CompletionItemKind::MODULE, path, String::new());
        }
    }
}

/// Symbols of some kinds that can be named at a byte; those of the last complete text, too.
fn named(
    known: &[&Analysis],
    offset: usize,
    wanted: impl Fn(SymbolKind) -> bool,
    out: &mut Proposals,
) {
    for analysis in known {
        let mut visible: Vec<_> =
            analysis.index.visible(offset).filter(|one| wanted(one.kind)).collect();
        visible.sort_by_key(|one| std::cmp::Reverse(one.visible.start));
        visible.into_iter().for_each(|one| out.symbol(one));
    }
}

fn fields(known: &[&Analysis], path: &str, out: &mut Proposals) {
    let prefix = if path == "$" { path.to_string() } else { format!("{path}.") };
    for field in known.iter().flat_map(|one| &one.index.fields) {
        if let Some(rest) = field.strip_prefix(&prefix) {
            let name = rest.split('.').next().unwrap_or(rest);
            out.add(&quoted(name), CompletionItemKind::FIELD, "field of this text", String::new());
        }
    }
    if path == "args" {
        for symbol in known.iter().flat_map(|one| &one.index.symbols) {
            if symbol.kind == SymbolKind::Argument {
                out.symbol(symbol);
            }
        }
    }
}

fn steps(out: &mut Proposals) {
    for kind in registry().operators() {
        if let Some(word) = kind.word {
            out.add(word, CompletionItemKind::FUNCTION, kind.path, hover::operator(kind));
        }
    }
    STEPS.iter().for_each(|word| out.keyword(word));
    out.words(["pass"], "step that lets all events go on");
    out.words(["out", "err"], "port");
}

fn streams(known: &[&Analysis], offset: usize, out: &mut Proposals) {
    named(known, offset, is_stream, out);
    out.words(["in", "out", "err"], "port");
}

/// Whether a symbol can be named as a stream: what was created, or the definition of its name.
fn is_stream(kind: SymbolKind) -> bool {
    let made = [SymbolKind::Script, SymbolKind::Operator, SymbolKind::Pipeline];
    kind == SymbolKind::Node || made.contains(&kind)
}

/// The words that an operator's step knows.
fn clauses(operator: &str, out: &mut Proposals) {
    let Some(kind) = registry().operator(operator) else { return };
    for setting in kind.settings {
        let Some(word) = setting.word() else { continue };
        out.add(word, CompletionItemKind::PROPERTY, setting.name, hover::setting(setting));
        if let Takes::Word(words) = setting.takes {
            out.words(words.iter().copied(), setting.name);
        }
    }
    if kind.ports.contains(&temblor_pipeline::operator::ELSE) {
        out.keyword("else");
    }
    out.keyword("with");
}

fn extractors(out: &mut Proposals) {
    let registry = temblor_stdlib::registry();
    for name in registry.extractor_names() {
        let doc = registry.extractor(name).map_or("", |kind| kind.doc);
        out.add(name, CompletionItemKind::FUNCTION, &format!("{name}|…|"), doc.to_string());
    }
}

fn grok_patterns(out: &mut Proposals) {
    let library = Library::legacy();
    for name in library.names() {
        let pattern = library.get(name).unwrap_or("");
        out.add(name, CompletionItemKind::CONSTANT, pattern, String::new());
    }
}
