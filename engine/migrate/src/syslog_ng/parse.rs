//! From files to statements: includes, definitions and blocks with arguments are put in where they stand. What is
//! wrong in one statement does not hide what is wrong in the next; everything is bounded.

use super::token::{Kind, Lexer, Names, Token};
use super::tree::{Call, Node, Statement, canonical};
use crate::complain;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::{SourceId, Sources, Span};

/// Brackets and braces in each other, at the most.
pub(crate) const NESTING_MAX: usize = 64;
/// Files that include each other, and blocks that use each other, at the most.
pub(crate) const INCLUDE_DEPTH_MAX: usize = 16;
/// Files of one configuration, at the most.
pub(crate) const FILES_MAX: usize = 1_000;
/// Bytes of all files and used blocks together, at the most.
pub(crate) const TEXT_BYTES_MAX: usize = 16 << 20;

/// Uses of blocks in one configuration, at the most.
pub(crate) const BLOCKS_USED_MAX: usize = 2_000;

/// Words that statements begin with.
const STATEMENTS: &[&str] = &[
    "options",
    "source",
    "destination",
    "filter",
    "parser",
    "rewrite",
    "template",
    "template-function",
    "log",
    "block",
    "python",
    "channel",
];

/// A configuration that was read.
#[derive(Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) sources: Sources,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) statements: Vec<Statement>,
    /// `3.38`
    pub(crate) version: String,
}

/// `block source name(argument("default")) { … };`
#[derive(Debug)]
struct BlockText {
    context: String,
    parameters: Vec<(String, String)>,
    body: String,
    source: SourceId,
    base: usize,
}

/// Reads a file and all that it includes.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn read(path: &Path) -> Result<Configuration, String> {
    let text = crate::file::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut reader = Reader { folder: folder_of(path), ..Reader::default() };
    reader.names.insert("syslog-ng-root".into(), "/".into());
    reader.file(&path.display().to_string(), text, 0);
    Ok(reader.configuration)
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}

#[derive(Debug, Default)]
struct Reader {
    configuration: Configuration,
    names: Names,
    blocks: HashMap<String, BlockText>,
    folder: PathBuf,
    files: usize,
    bytes: usize,
    blocks_used: usize,
}

impl Reader {
    fn complain(&mut self, diagnostic: Diagnostic) {
        self.configuration.diagnostics.push(diagnostic);
    }

    /// Whether there is room for so many more bytes.
    fn takes(&mut self, bytes: usize, span: Span) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > TEXT_BYTES_MAX {
            let what = "the configuration has too many bytes";
            self.complain(complain::too_much(span, what, TEXT_BYTES_MAX));
        }
        self.bytes <= TEXT_BYTES_MAX
    }

    fn file(&mut self, name: &str, text: String, depth: usize) {
        let id = self.configuration.sources.add(name, text.clone());
        if !self.takes(text.len(), Span::new(id, 0, 0)) {
            return;
        }
        let mut input = Input::new(Lexer::new(&text, id, 0));
        while let Some(token) = input.next(&self.names) {
            match token.kind {
                Kind::Directive(line) => self.directive(&line, token.span, depth),
                Kind::Mark(";") => {}
                Kind::Word(ref word) if word == "block" => self.block(&mut input),
                Kind::Word(ref word) => {
                    let word = word.clone();
                    if let Some(statement) = self.statement(&word, token.span, &mut input) {
                        self.configuration.statements.push(statement);
                    }
                }
                Kind::Text(ref found) => {
                    let found = found.clone();
                    self.complain(complain::unexpected(token.span, &found, "a statement"));
                    input.skip_statement(&self.names);
                }
                Kind::Mark(found) => {
                    self.complain(complain::unexpected(token.span, found, "a statement"));
                }
            }
        }
        self.configuration.diagnostics.append(&mut input.lexer.diagnostics);
    }

    /// `@include "x"`, `@define x y`, `@version: 3.38`
    fn directive(&mut self, line: &str, span: Span, depth: usize) {
        let (word, rest) = line.split_once([' ', ':', '\t']).unwrap_or((line, ""));
        let rest = rest.trim_start_matches([':', ' ', '\t']);
        let value = |text: &str| {
            let text = text.split('#').next().unwrap_or("").trim();
            text.trim_matches(['"', '\'']).to_string()
        };
        match word {
            "version" => self.configuration.version = value(rest),
            "module" | "requires" => {}
            "define" => {
                let (name, text) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
                let text = Lexer::new(text.trim(), span.source, span.start as usize);
                let mut lexer = text;
                let text = match lexer.next(&self.names).map(|token| token.kind) {
                    Some(Kind::Word(text) | Kind::Text(text)) => text,
                    _ => String::new(),
                };
                self.names.insert(name.to_string(), text);
            }
            "include" => self.include(&value(rest), span, depth),
            _ => {
                let known = ["include", "define", "version", "module", "requires"];
                self.complain(complain::unknown(span, "directive", word, &known));
            }
        }
    }

    fn include(&mut self, pattern: &str, span: Span, depth: usize) {
        // The library that comes with syslog-ng: what it declares is known here.
        let is_library = pattern == "scl.conf"
            || pattern.ends_with("/scl.conf")
            || pattern.starts_with("scl/")
            || pattern.contains("/scl/");
        if is_library {
            return;
        }
        if depth >= INCLUDE_DEPTH_MAX {
            let what = "files include each other too deep";
            return self.complain(complain::too_much(span, what, INCLUDE_DEPTH_MAX));
        }
        let path = self.folder.join(pattern);
        let is_folder = path.is_dir();
        let path = if is_folder { path.join("*.conf") } else { path };
        let shown = path.display().to_string();
        let has_wildcards = shown.contains(['*', '?', '[']);
        let found: Vec<PathBuf> = match glob::glob(&shown) {
            Ok(paths) => paths.flatten().collect(),
            Err(_) => vec![path.clone()],
        };
        if found.is_empty() && !has_wildcards {
            self.complain(complain::missing_file(span, &shown, "it is not there"));
        }
        for file in found {
            self.files += 1;
            if self.files > FILES_MAX {
                return self.complain(complain::too_much(span, "too many files", FILES_MAX));
            }
            let name = file.display().to_string();
            match crate::file::read(&file) {
                Ok(text) => self.file(&name, text, depth + 1),
                Err(error) => self.complain(complain::missing_file(span, &name, &error)),
            }
        }
    }

    /// `block source name(a("x") b()) { … };`
    fn block(&mut self, input: &mut Input<'_>) {
        let mut words = Vec::new();
        let mut parameters = Vec::new();
        while let Some(token) = input.next(&self.names) {
            match token.kind {
                Kind::Word(word) => words.push(word),
                Kind::Mark("(") if words.len() == 2 => {
                    parameters = self.parameters(input, token.span);
                }
                Kind::Mark("{") => {
                    let (body, base) = input.lexer.raw_block(&self.names, token.span);
                    let source = token.span.source;
                    let mut words = words.into_iter();
                    let context = words.next().unwrap_or_default();
                    let name = canonical(&words.next().unwrap_or_default());
                    let block = BlockText { context, parameters, body, source, base };
                    self.blocks.insert(name, block);
                    return;
                }
                _ => {
                    let wanted = "`block KIND NAME(ARGUMENTS) { … };`";
                    self.complain(complain::unexpected(token.span, "block", wanted));
                    return input.skip_statement(&self.names);
                }
            }
        }
    }

    fn parameters(&mut self, input: &mut Input<'_>, opened: Span) -> Vec<(String, String)> {
        let mut parameters: Vec<(String, String)> = Vec::new();
        while let Some(token) = input.next(&self.names) {
            match token.kind {
                Kind::Word(word) => parameters.push((word, String::new())),
                Kind::Mark("(") => {
                    let text = input.lexer.raw_argument(&self.names, token.span);
                    if let Some((_, default)) = parameters.last_mut() {
                        *default = text;
                    }
                }
                Kind::Mark(")") => return parameters,
                _ => {}
            }
        }
        self.complain(complain::unclosed(opened, "("));
        parameters
    }

    fn statement(&mut self, word: &str, span: Span, input: &mut Input<'_>) -> Option<Statement> {
        let comments = std::mem::take(&mut input.lexer.comments);
        let comments =
            comments.into_iter().filter(|one| one.at < span.start && !one.text.is_empty());
        let comments = comments.map(|one| one.text).collect();
        if !STATEMENTS.contains(&word) {
            self.complain(complain::unknown(span, "statement", word, STATEMENTS));
            input.skip_statement(&self.names);
            return None;
        }
        let mut name = None;
        loop {
            let Some(token) = input.next(&self.names) else {
                self.complain(complain::unexpected(input.lexer.place(), "", "`{`"));
                return None;
            };
            match token.kind {
                Kind::Word(text) | Kind::Text(text) if name.is_none() => {
                    name = Some((text, token.span));
                }
                // `template t "…";`
                Kind::Text(text) if word == "template" => {
                    let body = vec![Node::Text(text, token.span)];
                    return Some(Statement { word: word.into(), name, body, span, comments });
                }
                Kind::Mark("{") => {
                    let body = self.nodes(input, "}", token.span, 1, word);
                    let whole = span.to(input.last);
                    return Some(Statement {
                        word: word.into(),
                        name,
                        body,
                        span: whole,
                        comments,
                    });
                }
                Kind::Word(found) | Kind::Text(found) | Kind::Directive(found) => {
                    self.complain(complain::unexpected(token.span, &found, "`{`"));
                    input.skip_statement(&self.names);
                    return None;
                }
                Kind::Mark(found) => {
                    self.complain(complain::unexpected(token.span, found, "`{`"));
                    if found != ";" {
                        input.skip_statement(&self.names);
                    }
                    return None;
                }
            }
        }
    }

    /// What stands between brackets, up to the one that closes them.
    fn nodes(
        &mut self,
        input: &mut Input<'_>,
        closer: &'static str,
        opened: Span,
        depth: usize,
        context: &str,
    ) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::new();
        if depth > NESTING_MAX {
            self.complain(complain::too_much(opened, "nested too deep", NESTING_MAX));
            input.skip_to_end(&self.names);
            return nodes;
        }
        while let Some(token) = input.next(&self.names) {
            match token.kind {
                Kind::Mark(mark) if mark == closer => return nodes,
                Kind::Mark("(") => {
                    let operators = ["and", "or", "not"];
                    let called = match nodes.last() {
                        Some(Node::Word(name, start))
                            if !operators.contains(&name.to_ascii_lowercase().as_str()) =>
                        {
                            Some((name.clone(), *start))
                        }
                        _ => None,
                    };
                    if let Some((name, start)) = called {
                        nodes.pop();
                        self.call(input, (name, start), token.span, depth, context, &mut nodes);
                    } else {
                        let inside = self.nodes(input, ")", token.span, depth + 1, context);
                        nodes.push(Node::Group(inside, token.span.to(input.last)));
                    }
                }
                Kind::Mark("{") => {
                    let context = match nodes.last() {
                        Some(Node::Word(word, _)) if STATEMENTS.contains(&word.as_str()) => word,
                        _ => context,
                    };
                    let context = context.to_string();
                    let inside = self.nodes(input, "}", token.span, depth + 1, &context);
                    nodes.push(Node::Block(inside, token.span.to(input.last)));
                }
                Kind::Mark(found @ (")" | "}")) => {
                    self.complain(
                        complain::unexpected(token.span, found, &format!("`{closer}`"))
                            .with_place(opened, "opened here"),
                    );
                    input.ahead = Some(token);
                    return nodes;
                }
                Kind::Mark(mark) => nodes.push(Node::Mark(mark, token.span)),
                Kind::Word(word) => nodes.push(Node::Word(word, token.span)),
                Kind::Text(text) => nodes.push(Node::Text(text, token.span)),
                Kind::Directive(line) => {
                    self.complain(complain::unexpected(
                        token.span,
                        &format!("@{line}"),
                        "a part of the statement",
                    ));
                }
            }
        }
        let opener = if closer == ")" { "(" } else { "{" };
        self.complain(complain::unclosed(opened, opener));
        nodes
    }

    /// `name(…)`: a call, or the use of a block.
    fn call(
        &mut self,
        input: &mut Input<'_>,
        (name, start): (String, Span),
        opened: Span,
        depth: usize,
        context: &str,
        nodes: &mut Vec<Node>,
    ) {
        let key = canonical(&name);
        let is_block = self
            .blocks
            .get(&key)
            .is_some_and(|block| block.context == context || block.context == "root");
        if !is_block {
            let arguments = self.nodes(input, ")", opened, depth + 1, context);
            let arguments = arguments.into_iter().filter(|node| !node.is_mark(",")).collect();
            nodes.push(Node::Call(Call { name, arguments, span: start.to(input.last) }));
            return;
        }
        let mut given = Names::new();
        let mut rest = Vec::new();
        while let Some(token) = input.next(&self.names) {
            match token.kind {
                Kind::Word(word) => {
                    let Some(next) = input.next(&self.names) else { break };
                    if next.kind == Kind::Mark("(") {
                        let text = input.lexer.raw_argument(&self.names, next.span);
                        rest.push(format!("{word}({text})"));
                        given.insert(canonical(&word), text);
                    } else {
                        input.ahead = Some(next);
                    }
                }
                Kind::Mark(")") => break,
                _ => {}
            }
        }
        nodes.extend(self.used(&key, &given, &rest.join(" "), start, depth, context));
    }

    /// The body of a block with its arguments.
    fn used(
        &mut self,
        key: &str,
        given: &Names,
        rest: &str,
        span: Span,
        depth: usize,
        context: &str,
    ) -> Vec<Node> {
        let Some(block) = self.blocks.remove(key) else { return Vec::new() };
        let mut names = self.names.clone();
        for (name, default) in &block.parameters {
            let value = given.get(&canonical(name)).unwrap_or(default);
            names.insert(name.clone(), bare(value).to_string());
        }
        names.insert("__VARARGS__".to_string(), rest.to_string());
        let before = std::mem::replace(&mut self.names, names);
        let mut nodes = Vec::new();
        self.blocks_used += 1;
        if self.blocks_used > BLOCKS_USED_MAX {
            if self.blocks_used == BLOCKS_USED_MAX + 1 {
                let what = "blocks are used too often";
                self.complain(complain::too_much(span, what, BLOCKS_USED_MAX));
            }
        } else if depth >= NESTING_MAX {
            self.complain(complain::too_much(span, "nested too deep", NESTING_MAX));
        } else if self.takes(block.body.len(), span) {
            let body = format!("{}}}", unquoted_names(&block.body, &self.names));
            let lexer = Lexer::new(&body, block.source, block.base);
            let mut inner = Input::new(lexer);
            // A block cannot use itself: it is not known while it is read.
            nodes = self.nodes(&mut inner, "}", span, depth + 1, context);
            self.configuration.diagnostics.append(&mut inner.lexer.diagnostics);
        }
        self.names = before;
        self.blocks.insert(key.to_string(), block);
        nodes
    }
}

/// Without its quotes, if it is one text.
fn bare(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote))
            && !inside.contains(quote)
        {
            return inside;
        }
    }
    text
}

/// The text with names between backticks filled in that stand outside of quotes: what they stand for may be several
/// words, or calls.
fn unquoted_names(text: &str, names: &Names) -> String {
    let mut out = String::new();
    let mut quote = None;
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let behind = &rest[character.len_utf8()..];
        match (character, quote) {
            ('`', None) => {
                if let Some((name, behind)) = behind.split_once('`')
                    && let Some(value) = names.get(name)
                {
                    out.push_str(value);
                    rest = behind;
                    continue;
                }
            }
            ('"' | '\'', None) => quote = Some(character),
            (one, Some(opened)) if one == opened => quote = None,
            ('\\', Some('"')) => {
                out.push(character);
                if let Some(next) = behind.chars().next() {
                    out.push(next);
                    rest = &behind[next.len_utf8()..];
                    continue;
                }
            }
            _ => {}
        }
        out.push(character);
        rest = behind;
    }
    out
}

/// Tokens with one that was given back.
struct Input<'t> {
    lexer: Lexer<'t>,
    ahead: Option<Token>,
    last: Span,
}

impl<'t> Input<'t> {
    fn new(lexer: Lexer<'t>) -> Self {
        let last = lexer.place();
        Self { lexer, ahead: None, last }
    }

    fn next(&mut self, names: &Names) -> Option<Token> {
        let token = self.ahead.take().or_else(|| self.lexer.next(names))?;
        self.last = token.span;
        Some(token)
    }

    /// Leaves out the rest of a statement.
    fn skip_statement(&mut self, names: &Names) {
        let mut depth = 0_usize;
        while let Some(token) = self.next(names) {
            match token.kind {
                Kind::Mark("{" | "(") => depth += 1,
                Kind::Mark("}" | ")") => depth = depth.saturating_sub(1),
                Kind::Mark(";") if depth == 0 => return,
                _ => {}
            }
        }
    }

    fn skip_to_end(&mut self, names: &Names) {
        while self.next(names).is_some() {}
    }
}
