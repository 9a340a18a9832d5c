//! From files to statements, includes in their places. Old lines and RainerScript may stand side by side, as in
//! rsyslog; what is wrong in one statement does not hide what is wrong in the next, and everything is bounded.

use super::expression;
use super::tree::{Expression, Kind, Object, Statement, Test};
use crate::complain;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::{SourceId, Sources, Span};

/// Statements in each other, at the most.
pub(crate) const NESTING_MAX: usize = 64;
/// Files that include each other, at the most.
pub(crate) const INCLUDE_DEPTH_MAX: usize = 16;
/// Files of one configuration, at the most.
pub(crate) const FILES_MAX: usize = 1_000;
/// Bytes of all files together, at the most.
pub(crate) const TEXT_BYTES_MAX: usize = 16 << 20;

/// Objects, as they begin.
const OBJECTS: &[&str] = &[
    "module",
    "input",
    "action",
    "template",
    "ruleset",
    "main_queue",
    "global",
    "include",
    "lookup_table",
    "parser",
    "timezone",
    "dyn_stats",
    "ratelimit",
];
/// The ruleset that inputs have which name none.
pub(crate) const DEFAULT_RULESET: &str = "RSYSLOG_DefaultRuleset";

/// A configuration that was read.
#[derive(Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) sources: Sources,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Objects that are no actions, in order.
    pub(crate) objects: Vec<Object>,
    /// Statements by ruleset, in the order in which rulesets begin.
    pub(crate) rulesets: Vec<(String, Vec<Statement>)>,
    /// `$Name value` with the ruleset that was current.
    pub(crate) directives: Vec<(String, String, Span)>,
}

/// Reads a file and all that it includes.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn read(path: &Path) -> Result<Configuration, String> {
    let text = crate::file::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut reader = Reader {
        folder: path.parent().map(Path::to_path_buf).unwrap_or_default(),
        ruleset: DEFAULT_RULESET.to_string(),
        ..Reader::default()
    };
    reader.file(&path.display().to_string(), &text, 0);
    Ok(reader.configuration)
}

#[derive(Debug, Default)]
struct Reader {
    configuration: Configuration,
    folder: PathBuf,
    /// The ruleset that `$RuleSet` has begun.
    ruleset: String,
    /// `$Action…` for the next action.
    pending: HashMap<String, String>,
    files: usize,
    bytes: usize,
}

/// A place in a text.
struct Cursor<'t> {
    text: &'t str,
    source: SourceId,
    at: usize,
    comments: Vec<String>,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.source, start, self.at.max(start + 1))
    }

    fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if rest.starts_with('#') {
                let end = rest.find('\n').unwrap_or(rest.len());
                let words = rest[..end].trim_matches(|one: char| one == '#' || one.is_whitespace());
                if !words.is_empty() {
                    self.comments.push(words.to_string());
                }
                self.at += end;
            } else if let Some(inside) = rest.strip_prefix("/*") {
                self.at += inside.find("*/").map_or(rest.len(), |end| end + 4);
            } else {
                return;
            }
        }
    }

    /// Up to the end of the line; a backslash there goes on in the next.
    fn line(&mut self) -> String {
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find('\n').unwrap_or(rest.len());
            self.at += (end + 1).min(rest.len());
            let line = rest[..end].trim_end();
            match line.strip_suffix('\\') {
                Some(line) if !self.rest().is_empty() => {
                    out.push_str(line);
                    self.at += self.rest().len() - self.rest().trim_start().len();
                }
                _ => {
                    out.push_str(line);
                    return out;
                }
            }
        }
    }

    fn word(&self) -> &'t str {
        let rest = self.rest();
        let end =
            rest.find(|one: char| !one.is_ascii_alphanumeric() && one != '_').unwrap_or(rest.len());
        &rest[..end]
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_there = self.rest().starts_with(text);
        if is_there {
            self.at += text.len();
        }
        is_there
    }
}

impl Reader {
    fn complain(&mut self, diagnostic: Diagnostic) {
        self.configuration.diagnostics.push(diagnostic);
    }

    fn file(&mut self, name: &str, text: &str, depth: usize) {
        let source = self.configuration.sources.add(name, text);
        self.bytes = self.bytes.saturating_add(text.len());
        let mut cursor = Cursor { text, source, at: 0, comments: Vec::new() };
        if self.bytes > TEXT_BYTES_MAX {
            let what = "the configuration has too many bytes";
            return self.complain(complain::too_much(cursor.span(0), what, TEXT_BYTES_MAX));
        }
        loop {
            cursor.blanks();
            if cursor.rest().is_empty() {
                return;
            }
            let start = cursor.at;
            let found = self.statement(&mut cursor, depth, 0, true);
            for statement in found {
                let ruleset = self.ruleset.clone();
                self.add(&ruleset, statement);
            }
            if cursor.at == start {
                // Nothing was read: what stands there is no statement.
                let found = cursor.line();
                let span = cursor.span(start);
                self.complain(complain::unexpected(span, &found, "a statement"));
            }
        }
    }

    fn add(&mut self, ruleset: &str, statement: Statement) {
        match self.configuration.rulesets.iter_mut().find(|(name, _)| name == ruleset) {
            Some((_, statements)) => statements.push(statement),
            None => self.configuration.rulesets.push((ruleset.to_string(), vec![statement])),
        }
    }

    /// The statement at a place; what belongs to no ruleset is put where it belongs.
    fn statement(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        nesting: usize,
        is_top: bool,
    ) -> Vec<Statement> {
        let start = cursor.at;
        let comments = std::mem::take(&mut cursor.comments);
        let one = |kind: Kind, cursor: &Cursor<'_>| {
            vec![Statement { kind, span: cursor.span(start), comments: comments.clone() }]
        };
        if nesting > NESTING_MAX {
            let span = cursor.span(start);
            self.complain(complain::too_much(span, "nested too deep", NESTING_MAX));
            cursor.at = cursor.text.len();
            return Vec::new();
        }
        let rest = cursor.rest();
        if rest.starts_with('$') && is_top {
            let line = cursor.line();
            let span = cursor.span(start);
            self.directive(&line[1..], span, depth);
            return Vec::new();
        }
        let word = cursor.word();
        let behind = rest[word.len()..].trim_start();
        let lower = word.to_ascii_lowercase();
        if behind.starts_with('(') && OBJECTS.contains(&lower.as_str()) {
            return self.object_statement(cursor, depth, nesting, comments);
        }
        match lower.as_str() {
            "if" => return self.branch(cursor, depth, nesting, comments),
            "set" | "reset" => {
                cursor.at += word.len();
                let text = self.up_to_semicolon(cursor);
                let span = cursor.span(start);
                let (name, value) = text.split_once('=').unwrap_or((&text, ""));
                let name = name.trim().trim_start_matches('$').to_string();
                return match self.expression(value, span) {
                    Some(value) => one(Kind::Set(name, value), cursor),
                    None => Vec::new(),
                };
            }
            "unset" => {
                cursor.at += word.len();
                let name = self.up_to_semicolon(cursor);
                return one(Kind::Unset(name.trim().trim_start_matches('$').to_string()), cursor);
            }
            "stop" if !behind.starts_with('(') => {
                cursor.at += word.len();
                return one(Kind::Stop, cursor);
            }
            "continue" if !behind.starts_with('(') => {
                cursor.at += word.len();
                return Vec::new();
            }
            "call" => {
                cursor.at += word.len();
                cursor.blanks();
                let name = cursor
                    .rest()
                    .split(|one: char| one.is_whitespace() || one == '}')
                    .next()
                    .unwrap_or("");
                cursor.at += name.len();
                return one(Kind::Call(name.trim_matches('"').to_string()), cursor);
            }
            "call_indirect" | "reload_lookup_table" => {
                let text = cursor.line();
                let name = text
                    .split(|one: char| !one.is_alphanumeric() && one != '_')
                    .next()
                    .unwrap_or("");
                return one(Kind::Other(name.to_string()), cursor);
            }
            "foreach" => return self.foreach(cursor, depth, nesting, comments),
            _ => {}
        }
        match rest.as_bytes()[0] {
            b'{' => {
                cursor.at += 1;
                self.block(cursor, depth, nesting + 1, start)
            }
            b':' => self.property_line(cursor, depth, nesting, comments),
            b'&' => {
                cursor.at += 1;
                let found = self.legacy_actions(cursor, depth, nesting);
                self.behind_last(found);
                Vec::new()
            }
            b'!' | b'+' if is_top => {
                let line = cursor.line();
                one(Kind::Other(format!("the block `{}`", line.trim())), cursor)
            }
            _ if is_selector(rest) => {
                let end = rest.find([' ', '\t', '\n']).unwrap_or(rest.len());
                let selector = rest[..end].to_string();
                cursor.at += end;
                let then = self.legacy_actions(cursor, depth, nesting);
                one(Kind::If(Test::Selector(selector), then, Vec::new()), cursor)
            }
            _ if is_top => {
                // A word that begins nothing.
                if behind.starts_with('(') && !word.is_empty() {
                    cursor.at += word.len();
                    let span = cursor.span(start);
                    let _ = self.object(cursor, word);
                    self.complain(complain::unknown(span, "object", word, OBJECTS));
                }
                Vec::new()
            }
            _ => self.legacy_actions(cursor, depth, nesting),
        }
    }

    /// `& action`: goes with the filter in front of it.
    fn behind_last(&mut self, found: Vec<Statement>) {
        let ruleset = self.ruleset.clone();
        let last = self.configuration.rulesets.iter_mut().find(|(name, _)| *name == ruleset);
        match last.and_then(|(_, statements)| statements.last_mut()) {
            Some(Statement { kind: Kind::If(_, then, _), .. }) => then.extend(found),
            _ => {
                for statement in found {
                    self.add(&ruleset, statement);
                }
            }
        }
    }

    fn block(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        nesting: usize,
        opened: usize,
    ) -> Vec<Statement> {
        let mut out: Vec<Statement> = Vec::new();
        loop {
            cursor.blanks();
            if cursor.eat("}") {
                return out;
            }
            if cursor.rest().is_empty() {
                let span = Span::new(cursor.source, opened, opened + 1);
                self.complain(complain::unclosed(span, "{"));
                return out;
            }
            let start = cursor.at;
            if cursor.rest().starts_with('&') {
                cursor.at += 1;
                let found = self.legacy_actions(cursor, depth, nesting);
                match out.last_mut() {
                    Some(Statement { kind: Kind::If(_, then, _), .. }) => then.extend(found),
                    _ => out.extend(found),
                }
            } else {
                out.extend(self.statement(cursor, depth, nesting + 1, false));
            }
            if cursor.at == start {
                let found = cursor.line();
                let span = cursor.span(start);
                self.complain(complain::unexpected(span, &found, "a statement"));
            }
        }
    }

    /// The text up to a semicolon outside of quotes.
    fn up_to_semicolon(&mut self, cursor: &mut Cursor<'_>) -> String {
        let rest = cursor.rest();
        let mut quote = None;
        let mut characters = rest.char_indices();
        while let Some((at, one)) = characters.next() {
            match (one, quote) {
                ('\\', Some(_)) => {
                    characters.next();
                }
                ('"' | '\'', None) => quote = Some(one),
                (one, Some(opened)) if one == opened => quote = None,
                (';', None) => {
                    cursor.at += at + 1;
                    return rest[..at].to_string();
                }
                _ => {}
            }
        }
        let start = cursor.at;
        cursor.at = cursor.text.len();
        self.complain(complain::unclosed(Span::new(cursor.source, start, start + 1), "set … ;"));
        rest.to_string()
    }

    fn expression(&mut self, text: &str, span: Span) -> Option<Expression> {
        match expression::parse(text) {
            Ok(expression) => Some(expression),
            Err(why) => {
                self.complain(complain::unexpected(span, text.trim(), &why));
                None
            }
        }
    }

    /// `if EXPRESSION then … else …`
    fn branch(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        nesting: usize,
        comments: Vec<String>,
    ) -> Vec<Statement> {
        let start = cursor.at;
        cursor.at += "if".len();
        let Some(length) = until_word(cursor.rest(), "then") else {
            let text = cursor.line();
            let span = cursor.span(start);
            self.complain(complain::unexpected(span, &text, "`then` behind the condition of `if`"));
            return Vec::new();
        };
        let condition = cursor.rest()[..length].to_string();
        let span = cursor.span(start);
        cursor.at += length + "then".len();
        cursor.blanks();
        let test = self.expression(&condition, span);
        let then = self.statement_or_action(cursor, depth, nesting + 1);
        let mut otherwise = Vec::new();
        let before = cursor.at;
        cursor.blanks();
        if cursor.word().eq_ignore_ascii_case("else") {
            cursor.at += "else".len();
            cursor.blanks();
            otherwise = self.statement_or_action(cursor, depth, nesting + 1);
        } else {
            cursor.at = before;
        }
        let Some(test) = test else { return Vec::new() };
        let kind = Kind::If(Test::Expression(test), then, otherwise);
        vec![Statement { kind, span, comments }]
    }

    fn statement_or_action(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        nesting: usize,
    ) -> Vec<Statement> {
        if cursor.rest().is_empty() {
            let span = cursor.span(cursor.at);
            self.complain(complain::unexpected(span, "", "a statement"));
            return Vec::new();
        }
        self.statement(cursor, depth, nesting, false)
    }

    /// `foreach ($.i in $!list) do { … }`
    fn foreach(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        nesting: usize,
        comments: Vec<String>,
    ) -> Vec<Statement> {
        let start = cursor.at;
        cursor.at += "foreach".len();
        let length = until_word(cursor.rest(), "do").unwrap_or(0);
        cursor.at += length + "do".len();
        cursor.at = cursor.at.min(cursor.text.len());
        cursor.blanks();
        let span = cursor.span(start);
        let _ = self.statement_or_action(cursor, depth, nesting + 1);
        vec![Statement { kind: Kind::Foreach, span, comments }]
    }

    /// `:msg, !contains, "x" action`
    fn property_line(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        nesting: usize,
        comments: Vec<String>,
    ) -> Vec<Statement> {
        let start = cursor.at;
        let line_end = cursor.rest().find('\n').unwrap_or(cursor.rest().len());
        let line = &cursor.rest()[..line_end];
        // `:omusrmsg:*`, `:ommysql:…`: an action without a filter.
        if !line.contains(',') {
            return self.legacy_actions(cursor, depth, nesting);
        }
        let mut parts = line[1..].splitn(3, ',');
        let property = parts.next().unwrap_or("").trim().to_string();
        let comparison = parts.next().unwrap_or("").trim();
        let rest = parts.next().unwrap_or("");
        let is_negated = comparison.starts_with('!');
        let comparison = comparison.trim_start_matches('!').trim().to_ascii_lowercase();
        let value_start = line.len() - rest.len();
        let Some(open) = rest.find('"') else {
            if comparison.starts_with("isempty") {
                let comparison = "isempty".to_string();
                cursor.at +=
                    line.to_ascii_lowercase().find("isempty").unwrap_or(0) + "isempty".len();
                let then = self.legacy_actions(cursor, depth, nesting);
                let test = Test::Property(property, is_negated, comparison, String::new());
                let kind = Kind::If(test, then, Vec::new());
                return vec![Statement { kind, span: cursor.span(start), comments }];
            }
            let text = cursor.line();
            let span = cursor.span(start);
            self.complain(complain::unexpected(
                span,
                &text,
                "`:property, comparison, \"value\" action`",
            ));
            return Vec::new();
        };
        let (value, length) = quoted(&rest[open..]).unwrap_or_default();
        if length == 0 {
            let span = Span::new(
                cursor.source,
                start + value_start + open,
                start + value_start + open + 1,
            );
            self.complain(complain::unclosed(span, "\""));
            let _ = cursor.line();
            return Vec::new();
        }
        cursor.at += value_start + open + length;
        let then = self.legacy_actions(cursor, depth, nesting);
        let test = Test::Property(property, is_negated, comparison, value);
        let kind = Kind::If(test, then, Vec::new());
        vec![Statement { kind, span: cursor.span(start), comments }]
    }

    /// An action as old lines have it, or a statement.
    fn legacy_actions(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        nesting: usize,
    ) -> Vec<Statement> {
        let before = cursor.rest();
        let blanks = before.len() - before.trim_start_matches([' ', '\t']).len();
        cursor.at += blanks;
        // The action may stand in the next line when a backslash ends this one.
        while cursor.rest().starts_with("\\\n") {
            cursor.at += 2;
            cursor.at += cursor.rest().len() - cursor.rest().trim_start().len();
        }
        let start = cursor.at;
        let word = cursor.word().to_ascii_lowercase();
        let behind = cursor.rest()[word.len()..].trim_start();
        let is_statement = matches!(
            word.as_str(),
            "stop" | "call" | "set" | "unset" | "if" | "foreach" | "continue"
        ) || word == "action" && behind.starts_with('(');
        if is_statement || cursor.rest().starts_with('{') {
            return self.statement(cursor, depth, nesting + 1, false);
        }
        let rest = cursor.rest();
        let end = rest.find(['\n', '}']).filter(|end| rest[*end..].starts_with('}') && nesting > 0);
        let text = match end {
            Some(end) => {
                cursor.at += end;
                rest[..end].to_string()
            }
            None => cursor.line(),
        };
        let text = text.split(" #").next().unwrap_or("").trim();
        let span = cursor.span(start);
        if text.is_empty() {
            self.complain(complain::unexpected(span, "", "an action"));
            return Vec::new();
        }
        let kind = match text {
            "~" => Kind::Stop,
            _ => match self.legacy_action(text, span) {
                Some(object) => Kind::Act(object),
                None => Kind::Other(format!("the action `{text}`")),
            },
        };
        vec![Statement { kind, span, comments: Vec::new() }]
    }

    /// `-/var/log/x;template`, `@host:514`, `?name`, `|/dev/x`
    fn legacy_action(&mut self, text: &str, span: Span) -> Option<Object> {
        let mut object = Object { kind: "action".into(), span, ..Object::default() };
        let mut set = |name: &str, value: &str| {
            object.parameters.push((name.to_string(), vec![value.to_string()]));
        };
        let (target, template) = match text.rsplit_once(';') {
            Some((target, template))
                if !text.starts_with(':')
                    || template.chars().all(|one| one.is_alphanumeric() || one == '_') =>
            {
                (target.trim(), Some(template.trim()))
            }
            _ => (text, None),
        };
        match target.as_bytes().first()? {
            b'/' => {
                set("type", "omfile");
                set("file", target);
            }
            b'-' => {
                set("type", "omfile");
                set("file", target[1..].trim_start());
            }
            b'?' => {
                set("type", "omfile");
                set("dynafile", &target[1..]);
            }
            b'|' => {
                set("type", "ompipe");
                set("pipe", target[1..].trim_start());
            }
            b'^' => {
                set("type", "omprog");
                set("binary", &target[1..]);
            }
            b'@' => {
                set("type", "omfwd");
                let (protocol, rest) = match target.strip_prefix("@@") {
                    Some(rest) => ("tcp", rest),
                    None => ("udp", &target[1..]),
                };
                set("protocol", protocol);
                let rest = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
                    Some((options, rest)) => {
                        if options.split(',').any(|option| option == "o") {
                            set("tcp_framing", "octet-counted");
                        }
                        rest
                    }
                    None => rest,
                };
                let (host, port) =
                    match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                        Some((host, port)) => (host.to_string(), port.strip_prefix(':')),
                        None => match rest.rsplit_once(':') {
                            Some((host, port)) => (host.to_string(), Some(port)),
                            None => (rest.to_string(), None),
                        },
                    };
                set("target", &host);
                set("port", port.unwrap_or("514"));
            }
            b':' => {
                let (module, rest) = target[1..].split_once(':')?;
                set("type", module);
                set("target", rest);
            }
            b'*' => set("type", "omusrmsg"),
            _ if target
                .chars()
                .all(|one| one.is_ascii_alphanumeric() || matches!(one, ',' | '_' | '-')) =>
            {
                set("type", "omusrmsg");
                set("users", target);
            }
            _ => return None,
        }
        if let Some(template) = template {
            set("template", template);
        }
        for (name, value) in self.pending.drain() {
            object.parameters.push((name, vec![value]));
        }
        Some(object)
    }

    /// `module(…)`, `input(…)`, `ruleset(…) { … }`
    fn object_statement(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        nesting: usize,
        comments: Vec<String>,
    ) -> Vec<Statement> {
        let start = cursor.at;
        let word = cursor.word().to_string();
        cursor.at += word.len();
        let Some(mut object) = self.object(cursor, &word) else { return Vec::new() };
        object.comments.clone_from(&comments);
        match object.kind.as_str() {
            "action" => {
                return vec![Statement {
                    kind: Kind::Act(object),
                    span: cursor.span(start),
                    comments,
                }];
            }
            "include" => {
                let pattern = object.text("file").map(str::to_string);
                match (pattern, object.text("text")) {
                    (Some(pattern), _) => {
                        self.include(&pattern, object.span, depth, object.text("mode"))
                    }
                    (None, Some(text)) => {
                        let text = text.to_string();
                        self.file("include(text)", &text, depth + 1);
                    }
                    (None, None) => {
                        self.complain(complain::unexpected(object.span, "include", "`file=\"…\"`"))
                    }
                }
                return Vec::new();
            }
            "ruleset" => {
                cursor.blanks();
                let opened = cursor.at;
                let name = object.text("name").unwrap_or("").to_string();
                if cursor.eat("{") {
                    let statements = self.block(cursor, depth, nesting + 1, opened);
                    if !self.configuration.rulesets.iter().any(|(one, _)| *one == name) {
                        self.configuration.rulesets.push((name.clone(), Vec::new()));
                    }
                    for statement in statements {
                        self.add(&name, statement);
                    }
                }
            }
            "template" => {
                let before = cursor.at;
                cursor.blanks();
                let opened = cursor.at;
                if cursor.eat("{") {
                    loop {
                        cursor.blanks();
                        if cursor.eat("}") {
                            break;
                        }
                        let word = cursor.word().to_string();
                        let start = cursor.at;
                        cursor.at += word.len();
                        if word.is_empty() {
                            let span = Span::new(cursor.source, opened, opened + 1);
                            self.complain(complain::unclosed(span, "{"));
                            let _ = cursor.line();
                            break;
                        }
                        if word != "property" && word != "constant" {
                            let span = cursor.span(start);
                            self.complain(complain::unknown(
                                span,
                                "part of a template",
                                &word,
                                &["property", "constant"],
                            ));
                        }
                        object.inside.extend(self.object(cursor, &word));
                    }
                } else {
                    cursor.at = before;
                }
            }
            _ => {}
        }
        self.configuration.objects.push(object);
        Vec::new()
    }

    /// `(a="b" c=["d"])`
    fn object(&mut self, cursor: &mut Cursor<'_>, word: &str) -> Option<Object> {
        let start = cursor.at - word.len();
        cursor.blanks();
        let opened = cursor.at;
        if !cursor.eat("(") {
            let span = cursor.span(start);
            self.complain(complain::unexpected(span, word, "`(` behind it"));
            let _ = cursor.line();
            return None;
        }
        let mut object = Object { kind: word.to_ascii_lowercase(), ..Object::default() };
        loop {
            cursor.blanks();
            if cursor.eat(")") {
                object.span = cursor.span(start);
                return Some(object);
            }
            let rest = cursor.rest();
            let end = rest
                .find(|one: char| one == '=' || one.is_whitespace() || one == ')')
                .unwrap_or(rest.len());
            let name = rest[..end].to_ascii_lowercase();
            cursor.at += end;
            cursor.blanks();
            if name.is_empty() || !cursor.eat("=") {
                let span = Span::new(cursor.source, opened, opened + 1);
                self.complain(complain::unclosed(span, "("));
                cursor.at = cursor.at.max(opened + 1);
                let _ = cursor.line();
                return None;
            }
            cursor.blanks();
            let mut values = Vec::new();
            if cursor.eat("[") {
                loop {
                    cursor.blanks();
                    if cursor.eat("]") || cursor.rest().is_empty() {
                        break;
                    }
                    if cursor.eat(",") {
                        continue;
                    }
                    match self.value(cursor) {
                        Some(value) => values.push(value),
                        None => return None,
                    }
                }
            } else {
                values.push(self.value(cursor)?);
            }
            object.parameters.push((name, values));
        }
    }

    /// `"x"`, `'x'`, or a word; `` `echo $NAME` `` is a variable of the environment.
    fn value(&mut self, cursor: &mut Cursor<'_>) -> Option<String> {
        let rest = cursor.rest();
        if let Some(inside) = rest.strip_prefix('`') {
            let end = inside.find('`')?;
            cursor.at += end + 2;
            let name = inside[..end]
                .trim()
                .strip_prefix("echo ")
                .unwrap_or("")
                .trim()
                .trim_start_matches('$');
            return Some(std::env::var(name).unwrap_or_default());
        }
        if rest.starts_with(['"', '\'']) {
            let Some((value, length)) = quoted(rest).filter(|(_, length)| *length > 0) else {
                let span = Span::new(cursor.source, cursor.at, cursor.at + 1);
                self.complain(complain::unclosed(span, &rest[..1]));
                cursor.at = cursor.text.len();
                return None;
            };
            cursor.at += length;
            return Some(value);
        }
        let end = rest
            .find(|one: char| one.is_whitespace() || one == ')' || one == ']' || one == ',')
            .unwrap_or(rest.len());
        cursor.at += end.max(1).min(rest.len());
        Some(rest[..end].to_string())
    }

    /// `$ModLoad imudp`, `$IncludeConfig /etc/rsyslog.d/*.conf`
    fn directive(&mut self, line: &str, span: Span, depth: usize) {
        let (name, value) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let value = value.split(" #").next().unwrap_or("").trim();
        match name.to_ascii_lowercase().as_str() {
            "includeconfig" => self.include(value, span, depth, Some("optional")),
            "ruleset" => {
                self.ruleset = value.to_string();
                if !self.configuration.rulesets.iter().any(|(one, _)| one == value) {
                    self.configuration.rulesets.push((value.to_string(), Vec::new()));
                }
            }
            "actionqueuetype" => self.keep("queue.type", value),
            "actionqueuefilename" => self.keep("queue.filename", value),
            "actionqueuesize" => self.keep("queue.size", value),
            "actionqueuemaxdiskspace" => self.keep("queue.maxdiskspace", value),
            "actionqueuesaveonshutdown" => self.keep("queue.saveonshutdown", value),
            "actionresumeretrycount" => self.keep("action.resumeretrycount", value),
            "actionsendstreamdriver" | "defaultnetstreamdriver" => {}
            "actionsendstreamdrivermode" => self.keep("streamdrivermode", value),
            "actionsendstreamdriverauthmode" => self.keep("streamdriverauthmode", value),
            _ => self.configuration.directives.push((name.to_string(), value.to_string(), span)),
        }
    }

    fn keep(&mut self, name: &str, value: &str) {
        self.pending.insert(name.to_string(), value.to_string());
    }

    fn include(&mut self, pattern: &str, span: Span, depth: usize, mode: Option<&str>) {
        if depth >= INCLUDE_DEPTH_MAX {
            let what = "files include each other too deep";
            return self.complain(complain::too_much(span, what, INCLUDE_DEPTH_MAX));
        }
        let path = self.folder.join(pattern);
        let path = if path.is_dir() { path.join("*") } else { path };
        let shown = path.display().to_string();
        let found: Vec<PathBuf> = match glob::glob(&shown) {
            Ok(paths) => paths.flatten().filter(|path| path.is_file()).collect(),
            Err(_) => Vec::new(),
        };
        if found.is_empty() && !shown.contains(['*', '?', '[']) && mode != Some("optional") {
            self.complain(complain::missing_file(span, &shown, "it is not there"));
        }
        for file in found {
            self.files += 1;
            if self.files > FILES_MAX {
                return self.complain(complain::too_much(span, "too many files", FILES_MAX));
            }
            let name = file.display().to_string();
            match crate::file::read(&file) {
                Ok(text) => self.file(&name, &text, depth + 1),
                Err(error) => self.complain(complain::missing_file(span, &name, &error)),
            }
        }
    }
}

/// The text between quotes, and how long it is with them; nothing when it is never closed.
fn quoted(text: &str) -> Option<(String, usize)> {
    let quote = text.chars().next()?;
    let mut out = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, one)) = characters.next() {
        match one {
            '\\' => match characters.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                other if other == quote || matches!(other, '\\' | '"' | '\'' | '$' | '`') => {
                    out.push(other)
                }
                other => {
                    out.push('\\');
                    out.push(other);
                }
            },
            one if one == quote => return Some((out, at + 1)),
            other => out.push(other),
        }
    }
    None
}

/// Where a word stands outside of quotes and brackets.
fn until_word(text: &str, word: &str) -> Option<usize> {
    let mut quote = None;
    let mut is_start = true;
    let mut characters = text.char_indices();
    while let Some((at, one)) = characters.next() {
        match (one, quote) {
            ('\\', Some(_)) => {
                characters.next();
                continue;
            }
            ('"' | '\'', None) => quote = Some(one),
            (one, Some(opened)) if one == opened => quote = None,
            (_, None) if is_start => {
                let found = text[at..]
                    .get(..word.len())
                    .is_some_and(|there| there.eq_ignore_ascii_case(word));
                let behind = text[at..].chars().nth(word.len());
                if found && behind.is_none_or(|one| !one.is_alphanumeric() && one != '_') {
                    return Some(at);
                }
            }
            _ => {}
        }
        is_start = quote.is_none()
            && !one.is_alphanumeric()
            && one != '_'
            && one != '$'
            && one != '!'
            && one != '.';
    }
    None
}

/// Whether a line begins with `facility.severity`.
fn is_selector(text: &str) -> bool {
    let word = text.split([' ', '\t', '\n']).next().unwrap_or("");
    let fits = |one: char| one.is_ascii_alphanumeric() || ".,;*=!-".contains(one);
    word.contains('.') && !word.starts_with(['-', '.']) && word.chars().all(fits)
}
