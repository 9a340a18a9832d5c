//! From a name to what it stands for, to all its other places, and to another name for it. A rename
//! that would change what any name leads to is refused.

use super::analysis::Analysis;
use super::library;
use super::place::{path_of, uri_of};
use super::workspace::Workspace;
use lsp_types::{DocumentHighlight, Location, Range, TextEdit, Uri};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use temblor_lang::builtin::{Aggregate, Function};
use temblor_lang::index::{Index, Part, Symbol, SymbolKind, Target};
use temblor_lang::span::Span;
use temblor_lang::syntax::RESERVED;

/// What the name at a place stands for.
#[derive(Debug)]
pub(crate) enum Meaning {
    /// A symbol of a text.
    Symbol(Definition),
    /// A module, with its file; a standard one has none.
    Module(String, Option<PathBuf>),
    /// A function of the library.
    Function(&'static Function),
    /// An aggregate of the library.
    Aggregate(&'static Aggregate),
    /// Anything else that the index knows.
    Other(Target),
}

/// A symbol and its text.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    /// The text.
    pub uri: Uri,
    /// Its names.
    pub analysis: Rc<Analysis>,
    /// The number of the symbol.
    pub symbol: usize,
}

impl Definition {
    /// The symbol itself.
    #[must_use]
    pub(crate) fn get(&self) -> &Symbol {
        &self.analysis.index.symbols[self.symbol]
    }

    fn location(&self) -> Location {
        Location::new(self.uri.clone(), range(&self.analysis, self.get().span))
    }

    fn is(&self, other: &Definition) -> bool {
        self.uri.as_str() == other.uri.as_str() && self.symbol == other.symbol
    }
}

fn range(analysis: &Analysis, span: Span) -> Range {
    analysis.lines.range(&analysis.text, span)
}

/// Where a function of the library can be read.
fn library_place(path: &str) -> Option<Location> {
    library::location(path.rsplit_once("::")?.0, Some(path))
}

/// Modules that hand on names of modules are followed so far.
const FORWARD_DEPTH_MAX: usize = 8;

impl Workspace {
    /// What the name at a byte stands for, and where the name is.
    #[must_use]
    pub(crate) fn meaning(&self, uri: &Uri, offset: usize) -> Option<(Meaning, Span)> {
        let analysis = self.document(uri)?.analysis.clone();
        let reference = analysis.index.at(offset)?;
        Some((self.resolve(uri, &analysis, &reference.target), reference.span))
    }

    /// What a target stands for.
    #[must_use]
    pub(crate) fn resolve(&self, uri: &Uri, analysis: &Rc<Analysis>, target: &Target) -> Meaning {
        match target {
            Target::Symbol(symbol) => Meaning::Symbol(Definition {
                uri: uri.clone(),
                analysis: analysis.clone(),
                symbol: *symbol,
            }),
            Target::Module(path) => Meaning::Module(path.clone(), self.modules(uri).file(path)),
            Target::Member(module, name) => {
                self.member(uri, module, name).unwrap_or_else(|| Meaning::Other(target.clone()))
            }
            Target::Part(part) => {
                self.part(uri, part).map_or_else(|| Meaning::Other(target.clone()), Meaning::Symbol)
            }
            other => Meaning::Other(other.clone()),
        }
    }

    /// An argument or a port of a definition of a module.
    fn part(&self, uri: &Uri, part: &Part) -> Option<Definition> {
        let Some(Meaning::Symbol(owner)) = self.member(uri, &part.module, &part.owner) else {
            return None;
        };
        let symbol = owner.analysis.index.part(owner.symbol, part.kind, &part.name)?;
        Some(Definition { symbol, ..owner })
    }

    /// What a module has under a name.
    #[must_use]
    pub(crate) fn member(&self, uri: &Uri, module: &str, name: &str) -> Option<Meaning> {
        if let Some(found) = self.module_file(uri, module, FORWARD_DEPTH_MAX)
            && let Some(analysis) = self.analysis(&found)
            && let Some(symbol) = analysis.index.member(name)
        {
            let uri = uri_of(&found)?;
            return Some(Meaning::Symbol(Definition { uri, analysis, symbol }));
        }
        let registry = temblor_stdlib::registry();
        [format!("{module}::{name}"), format!("std::{module}::{name}")].iter().find_map(|path| {
            let function = registry.function(path).map(Meaning::Function);
            function.or_else(|| registry.aggregate(path).map(Meaning::Aggregate))
        })
    }

    /// The file of a module; `a::b` may be what the module `a` calls `b`.
    fn module_file(&self, uri: &Uri, module: &str, depth: usize) -> Option<PathBuf> {
        if let Some(file) = self.modules(uri).file(module) {
            return Some(file);
        }
        let (outer, inner) = module.rsplit_once("::").filter(|_| depth > 0)?;
        let file = self.module_file(uri, outer, depth - 1)?;
        let analysis = self.analysis(&file)?;
        let import = analysis.index.imports.iter().find(|import| import.alias == inner)?;
        self.modules(&uri_of(&file)?).file(&import.path)
    }

    /// Where the name at a byte is defined.
    #[must_use]
    pub(crate) fn definition(&self, uri: &Uri, offset: usize) -> Option<Location> {
        match self.meaning(uri, offset)?.0 {
            Meaning::Symbol(definition) => Some(definition.location()),
            Meaning::Module(_, Some(file)) => Some(Location::new(uri_of(&file)?, Range::default())),
            Meaning::Module(path, None) => {
                let long = format!("std::{path}");
                library::location(&path, None).or_else(|| library::location(&long, None))
            }
            Meaning::Function(one) => library_place(one.path),
            Meaning::Aggregate(one) => library_place(one.path),
            // A port that no word defines is one of what has it.
            Meaning::Other(Target::Port(Some(symbol), _)) => {
                let analysis = self.document(uri)?.analysis.clone();
                Some(Definition { uri: uri.clone(), analysis, symbol }.location())
            }
            Meaning::Other(_) => None,
        }
    }

    /// All places of the name at a byte, by text.
    fn places(&self, definition: &Definition) -> Vec<(Uri, Rc<Analysis>, Vec<Span>)> {
        let own = definition.analysis.index.references_to(definition.symbol);
        let mut own: Vec<_> = own.map(|one| one.span).collect();
        own.dedup();
        let mut found = vec![(definition.uri.clone(), definition.analysis.clone(), own)];
        if !definition.analysis.index.is_public(definition.symbol) {
            return found;
        }
        let symbol = definition.get();
        for file in self.files() {
            let Some(uri) = uri_of(&file) else { continue };
            if uri.as_str() == definition.uri.as_str() {
                continue;
            }
            let may_name = |text: &str| may_name(text, symbol);
            let Some(analysis) = self.analysis_if(&file, may_name) else { continue };
            let spans = self.places_in(&uri, &analysis, definition);
            if !spans.is_empty() {
                found.push((uri, analysis, spans));
            }
        }
        found
    }

    fn places_in(&self, uri: &Uri, analysis: &Analysis, wanted: &Definition) -> Vec<Span> {
        let name = &wanted.get().name;
        let is_meant = |target: &Target| match target {
            Target::Member(module, member) if member == name => {
                let found = self.member(uri, module, name);
                matches!(found, Some(Meaning::Symbol(found)) if found.is(wanted))
            }
            Target::Part(part) if part.name == *name => {
                self.part(uri, part).is_some_and(|found| found.is(wanted))
            }
            _ => false,
        };
        let references = analysis.index.references.iter();
        references.filter(|one| is_meant(&one.target)).map(|one| one.span).collect()
    }

    /// Where the name at a byte is used, and where it is defined if `declaration`.
    #[must_use]
    pub(crate) fn references(&self, uri: &Uri, offset: usize, declaration: bool) -> Vec<Location> {
        let Some((Meaning::Symbol(definition), _)) = self.meaning(uri, offset) else {
            return self.same_target(uri, offset);
        };
        let at = (definition.uri.clone(), definition.get().span);
        let mut locations = Vec::new();
        for (uri, analysis, spans) in self.places(&definition) {
            for span in spans {
                if declaration || uri.as_str() != at.0.as_str() || span != at.1 {
                    locations.push(Location::new(uri.clone(), range(&analysis, span)));
                }
            }
        }
        locations
    }

    /// All places in this text of the name at a byte.
    #[must_use]
    pub(crate) fn highlights(&self, uri: &Uri, offset: usize) -> Vec<DocumentHighlight> {
        let Some(document) = self.document(uri) else { return Vec::new() };
        let analysis = &document.analysis;
        let shown = |span| DocumentHighlight { range: range(analysis, span), kind: None };
        match self.meaning(uri, offset) {
            Some((Meaning::Symbol(one), _)) if one.uri.as_str() == uri.as_str() => {
                let own = analysis.index.references_to(one.symbol);
                own.map(|one| shown(one.span)).collect()
            }
            Some((Meaning::Symbol(one), _)) => {
                self.places_in(uri, analysis, &one).into_iter().map(shown).collect()
            }
            _ => {
                let same = self.same_target(uri, offset).into_iter();
                same.map(|one| DocumentHighlight { range: one.range, kind: None }).collect()
            }
        }
    }

    /// Other uses, in this text, of what is defined outside of it.
    fn same_target(&self, uri: &Uri, offset: usize) -> Vec<Location> {
        let Some(document) = self.document(uri) else { return Vec::new() };
        let analysis = &document.analysis;
        let Some(one) = analysis.index.at(offset) else { return Vec::new() };
        if one.target == Target::Unknown {
            return Vec::new();
        }
        let same = analysis.index.references.iter().filter(|other| other.target == one.target);
        same.map(|other| Location::new(uri.clone(), range(analysis, other.span))).collect()
    }

    /// The place of the name at a byte, if it can be renamed.
    ///
    /// # Errors
    /// Why it cannot, as a sentence.
    pub(crate) fn renameable(
        &self,
        uri: &Uri,
        offset: usize,
    ) -> Result<(Definition, Range), String> {
        let Some((meaning, span)) = self.meaning(uri, offset) else {
            return Err("there is no name here".to_string());
        };
        let analysis = &self.document(uri).ok_or("the text is not open")?.analysis;
        let port = |name: &str| format!("the built-in port `{name}`");
        let known = match meaning {
            Meaning::Symbol(one) if is_built_in(one.get()) => port(&one.get().name),
            Meaning::Symbol(definition) => return Ok((definition, range(analysis, span))),
            Meaning::Function(function) => format!("the built-in function `{}`", function.path),
            Meaning::Aggregate(aggregate) => format!("the built-in aggregate `{}`", aggregate.path),
            Meaning::Module(path, _) => format!("the module `{path}`: its name is that of a file"),
            Meaning::Other(Target::OperatorKind(name)) => format!("the built-in operator `{name}`"),
            Meaning::Other(Target::Setting(_, name)) => format!("the built-in setting `{name}`"),
            Meaning::Other(Target::Extractor(name)) => format!("the built-in extractor `{name}`"),
            Meaning::Other(Target::Kind(name) | Target::Connector(_, name)) => {
                format!("the built-in kind `{name}`")
            }
            Meaning::Other(Target::ConnectorSetting(.., name)) => {
                format!("the built-in setting `{name}`")
            }
            Meaning::Other(Target::Port(_, name)) => port(&name),
            Meaning::Other(Target::Field(path)) => format!("the field `{path}` of the data"),
            Meaning::Other(_) => "a name that nothing in this text defines".to_string(),
        };
        Err(format!("{known} cannot be renamed"))
    }

    /// The edits that give the name at a byte another name.
    ///
    /// # Errors
    /// Why it cannot be done, as a sentence.
    pub(crate) fn rename(
        &self,
        uri: &Uri,
        offset: usize,
        name: &str,
    ) -> Result<BTreeMap<String, Vec<TextEdit>>, String> {
        let written = written(name)?;
        let (definition, _) = self.renameable(uri, offset)?;
        if definition.get().kind == SymbolKind::Port && written.starts_with('`') {
            return Err(format!("`{name}` cannot name a port: write letters, digits and `_`"));
        }
        let mut edits = BTreeMap::new();
        for (uri, analysis, spans) in self.places(&definition) {
            let file = path_of(&uri).unwrap_or_else(|| PathBuf::from(uri.as_str()));
            check_rename(&analysis, &file, &spans, &written, name, self.dialect(&uri, &file))?;
            let edit = |span: &Span| TextEdit::new(range(&analysis, *span), written.clone());
            edits.insert(uri.as_str().to_string(), spans.iter().map(edit).collect());
        }
        Ok(edits)
    }

    fn dialect(&self, uri: &Uri, file: &Path) -> super::analysis::Dialect {
        let open = self.document(uri).map(|document| document.dialect);
        open.unwrap_or_else(|| super::analysis::Dialect::of(file, ""))
    }
}

/// Whether another text may name a symbol: it stands behind the name of a module, but for the parts of a
/// definition.
fn may_name(text: &str, symbol: &Symbol) -> bool {
    let is_named = |at: usize| {
        let before = text[..at].trim_end_matches('`').trim_end();
        // What stands between may be a comment.
        before.ends_with("::") || before.lines().last().is_some_and(|line| line.contains('#'))
    };
    let mut places = text.match_indices(&symbol.name);
    places.any(|(at, _)| symbol.parent.is_some() || is_named(at))
}

/// Whether a symbol is a port that events take when nothing is said.
fn is_built_in(symbol: &Symbol) -> bool {
    let is_port = matches!(symbol.kind, SymbolKind::Port | SymbolKind::Node);
    is_port && ["in", "out", "err"].contains(&symbol.name.as_str())
}

/// A name as it is written: what is no plain name stands in backticks.
fn written(name: &str) -> Result<String, String> {
    let name = name.trim_matches('`');
    if RESERVED.contains(&name) {
        return Err(format!("`{name}` is a word of the language"));
    }
    if name.is_empty() || name.contains(['`', '\n', '\r']) {
        return Err("a name has at least one character, and no backtick or line end".to_string());
    }
    let mut characters = name.chars();
    let starts = characters.next().is_some_and(char::is_alphabetic);
    let is_plain = starts && characters.all(|one| one.is_alphanumeric() || one == '_');
    Ok(if is_plain { name.to_string() } else { format!("`{name}`") })
}

/// Whether each renamed place, and no other, leads to the same symbol when the edits are done.
fn check_rename(
    analysis: &Analysis,
    file: &Path,
    spans: &[Span],
    written: &str,
    name: &str,
    dialect: super::analysis::Dialect,
) -> Result<(), String> {
    let (mut text, mut moved, mut end) = (String::new(), Vec::new(), 0);
    for span in spans {
        text.push_str(&analysis.text[end..span.start as usize]);
        moved.push(text.len());
        text.push_str(written);
        end = span.end as usize;
    }
    text.push_str(&analysis.text[end..]);
    let after = Analysis::new(text, dialect);
    let refused = || {
        let name = name.trim_matches('`');
        Err(format!("`{name}` would be confused with another name in {}", file.display()))
    };
    if after.is_partial && !analysis.is_partial {
        return refused();
    }
    let before = leads(&analysis.index);
    if before != leads(&after.index) || after.index.symbols.len() != analysis.index.symbols.len() {
        return refused();
    }
    let all_there = moved
        .iter()
        .all(|at| after.index.references.iter().any(|one| one.span.start as usize == *at));
    if all_there { Ok(()) } else { refused() }
}

/// The symbols that the names of a text lead to, in the order of their places.
fn leads(index: &Index) -> Vec<Option<usize>> {
    let symbol = |target: &Target| match target {
        Target::Symbol(symbol) => Some(*symbol),
        _ => None,
    };
    index.references.iter().map(|one| symbol(&one.target)).collect()
}
