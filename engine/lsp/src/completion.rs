//! Where the cursor stands, as far as it matters for what can be written there. Only tokens are
//! looked at: while a person types, the text is seldom a program.

use temblor_lang::index::{Direction, EndKind};
use temblor_lang::syntax::{TokenClass, classes};

/// What can follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// Nothing is proposed: in comments and strings.
    Nothing,
    /// `%{NAME` of a grok pattern.
    GrokPattern,
    /// The field type behind `%{NAME:field:`.
    GrokKind,
    /// `~ name`
    Extractor,
    /// `use a::`: the path so far.
    ModulePath(Vec<String>),
    /// `string::`: the path in front.
    Member(Vec<String>),
    /// `event.a.`: the path in front, as written.
    Field(String),
    /// `in |> word`
    Step,
    /// `from`, `into`: a stream or port.
    Stream,
    /// `from name/`, `into name/`: the node, and which way events go there.
    Port(String, Direction),
    /// `define operator x from`
    OperatorKind,
    /// `define window x from`
    WindowKind,
    /// `define connector x from`
    ConnectorKind,
    /// `source x from`, and whether it is no sink.
    Endpoint(bool),
    /// `source x from kind with`: the name of a setting.
    Setting(EndKind, String),
    /// `define connector x from kind with config = {`: a key.
    Configuration(String),
    /// `define operator x from kind with`: the word that is defined, and the kind.
    Defined(String, String),
    /// `codec = "`: a codec, and whether it has to read.
    Codec(bool),
    /// `preprocessors = ["`, and whether they are those.
    Interceptor(bool),
    /// `create script x from`: the word of what is created.
    Definition(String),
    /// In a step of a chain: its operator.
    Clause(String),
    /// Anywhere else.
    Anything,
}

/// A token: start, end, class.
type Piece = (usize, usize, TokenClass);

/// The context at a byte of a text.
#[must_use]
pub(crate) fn context(text: &str, offset: usize) -> Context {
    let pieces = classes(text);
    let inside = pieces.iter().position(|piece| piece.0 < offset && offset <= piece.1);
    let Some(at) = inside else { return Context::Anything };
    let piece = pieces[at];
    let before = Before { text, pieces: &pieces[..at] };
    match piece.2 {
        TokenClass::Comment if !text[piece.0..offset].contains('\n') => Context::Nothing,
        TokenClass::Comment if line_of(text, offset).trim_start().starts_with('#') => {
            Context::Nothing
        }
        TokenClass::Number => Context::Nothing,
        TokenClass::Text if !text[piece.0..].starts_with('`') => {
            in_text(&before, &text[piece.0..offset])
        }
        // A name behind a dot is a text; behind it stands what it belongs to.
        TokenClass::Word | TokenClass::Text => before.context(),
        TokenClass::Sign | TokenClass::Blank | TokenClass::Comment => {
            Before { text, pieces: &pieces[..=at] }.context()
        }
    }
}

/// The part of the line in front of a byte.
fn line_of(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    &text[start..offset]
}

fn in_text(before: &Before<'_>, so_far: &str) -> Context {
    if so_far.chars().next().is_some_and(|first| first.is_alphabetic() && first != 'r') {
        return before.context();
    }
    let open = so_far.rfind("#{").filter(|at| !so_far[*at..].contains('}'));
    if open.is_some() {
        return Context::Anything;
    }
    if let Some(context) = before.named() {
        return context;
    }
    let words: Vec<_> = before.tokens().map(|piece| before.word(piece)).take(2).collect();
    let is_grok = words.contains(&"grok");
    match so_far.rfind("%{").map(|at| &so_far[at + 2..]).filter(|rest| !rest.contains('}')) {
        Some(rest) if is_grok && rest.matches(':').count() == 0 => Context::GrokPattern,
        Some(rest) if is_grok && rest.matches(':').count() == 2 => Context::GrokKind,
        _ => Context::Nothing,
    }
}

/// What stands in front of the cursor or of the word at it.
struct Before<'t> {
    text: &'t str,
    pieces: &'t [Piece],
}

impl<'t> Before<'t> {
    /// From the cursor backwards, without blanks and comments.
    fn tokens(&self) -> impl Iterator<Item = Piece> + use<'t> {
        let blank = |class| matches!(class, TokenClass::Blank | TokenClass::Comment);
        self.pieces.iter().rev().copied().filter(move |piece| !blank(piece.2))
    }

    fn word(&self, piece: Piece) -> &'t str {
        &self.text[piece.0..piece.1]
    }

    fn context(&self) -> Context {
        let mut tokens = self.tokens();
        let last = tokens.next().map_or("", |piece| self.word(piece));
        match last {
            "::" => {
                let (path, in_front) = self.path();
                if in_front == "use" { Context::ModulePath(path) } else { Context::Member(path) }
            }
            "use" => Context::ModulePath(Vec::new()),
            "." => Context::Field(self.data_path()),
            "$" => Context::Field("$".to_string()),
            "~" | "~=" => Context::Extractor,
            "|>" | "do" => Context::Step,
            "from" | "into" => self.source_of(last),
            "/" => self.port().unwrap_or_else(|| self.clause()),
            _ => self.clause(),
        }
    }

    /// `a::b::`: the names, and the word in front of them.
    fn path(&self) -> (Vec<String>, &'t str) {
        let mut names = Vec::new();
        let mut tokens = self.tokens();
        loop {
            match tokens.next().map(|piece| self.word(piece)) {
                Some("::") => {}
                other => return (names, other.unwrap_or("")),
            }
            let Some(name) = tokens.next() else { return (names, "") };
            names.insert(0, self.word(name).to_string());
        }
    }

    /// `event.a.`: the path without its last dot.
    fn data_path(&self) -> String {
        let mut tokens = self.tokens().skip(1);
        let mut parts: Vec<&str> = Vec::new();
        while let Some(name) = tokens.next() {
            parts.insert(0, self.word(name).trim_matches('`'));
            match tokens.next().map(|piece| self.word(piece)) {
                Some(".") => {}
                Some("$") => return format!("${}", parts.join(".")),
                _ => break,
            }
        }
        parts.join(".")
    }

    /// What can stand behind `from` or `into`.
    fn source_of(&self, word: &str) -> Context {
        let names: Vec<_> = self.tokens().skip(1).take(3).map(|piece| self.word(piece)).collect();
        match names.as_slice() {
            [_, "operator", "define"] => Context::OperatorKind,
            [_, "window", "define"] => Context::WindowKind,
            [_, "connector", "define"] => Context::ConnectorKind,
            [_, kind, "create"] => Context::Definition((*kind).to_string()),
            [_, "flow", "deploy"] => Context::Definition("flow".to_string()),
            [_, "source", ..] => Context::Endpoint(true),
            [_, "sink", ..] if word == "into" => Context::Endpoint(false),
            _ => Context::Stream,
        }
    }

    /// `from name/`: a slash anywhere else divides.
    fn port(&self) -> Option<Context> {
        let mut words = self.tokens().skip(1).map(|piece| self.word(piece));
        let node = words.next()?.trim_matches('`').to_string();
        match words.next()? {
            "from" => Some(Context::Port(node, Direction::Out)),
            "into" | "|>" => Some(Context::Port(node, Direction::In)),
            _ => None,
        }
    }

    /// `codec = "`, `preprocessors = ["a", "`: the name of a codec or an interceptor.
    fn named(&self) -> Option<Context> {
        let mut words = self.tokens().map(|piece| self.word(piece));
        let (mut word, mut is_list) = (words.next()?, false);
        while matches!(word, "[" | ",") || word.starts_with('"') {
            is_list |= word == "[";
            word = words.next()?;
        }
        let setting = (word == "=").then(|| words.next())??;
        match setting {
            "codec" if !is_list => {
                let is_sink = words.any(|word| word == "into");
                Some(Context::Codec(!is_sink))
            }
            "preprocessors" if is_list => Some(Context::Interceptor(true)),
            "postprocessors" if is_list => Some(Context::Interceptor(false)),
            _ => None,
        }
    }

    /// `source x from kind "address" with a = 1, `: the name of a setting.
    fn setting(&self) -> Option<Context> {
        let mut words: Vec<&str> = Vec::new();
        let (mut closed, mut open) = (0, 0);
        for word in self.tokens().map(|piece| self.word(piece)) {
            match word {
                ";" => break,
                ")" | "]" | "}" => closed += 1,
                "(" | "[" | "{" if closed > 0 => closed -= 1,
                "(" | "[" | "{" => open += 1,
                _ => {}
            }
            words.insert(0, word);
        }
        let is_name = matches!(words.last(), Some(&"with" | &","));
        if !words.contains(&"with") || words.contains(&"end") {
            return None;
        }
        let kind = |at: usize| words.get(at).map(|kind| (*kind).to_string());
        match words.as_slice() {
            ["source", _, "from", kind, ..] if is_name && open == 0 => {
                Some(Context::Setting(EndKind::Source, (*kind).to_string()))
            }
            ["sink", _, "into", kind, ..] if is_name && open == 0 => {
                Some(Context::Setting(EndKind::Sink, (*kind).to_string()))
            }
            ["table", _, "from", kind, ..] if is_name && open == 0 => {
                Some(Context::Setting(EndKind::Table, (*kind).to_string()))
            }
            ["define", "connector", _, "from", ..] if is_name && open == 0 => {
                Some(Context::Setting(EndKind::Flow, kind(4)?))
            }
            ["define", "connector", _, "from", ..] if open == 1 => {
                let is_key = matches!(words.last(), Some(&"{" | &","));
                is_key.then(|| kind(4).map(Context::Configuration))?
            }
            ["define", word @ ("operator" | "window"), _, "from", rest @ ..]
                if is_name && open == 0 =>
            {
                let path = rest.iter().take_while(|word| **word != "with").copied();
                Some(Context::Defined((*word).to_string(), path.collect()))
            }
            _ => None,
        }
    }

    /// In a step of a chain, behind its operator, also its clauses can stand.
    fn clause(&self) -> Context {
        if let Some(context) = self.setting() {
            return context;
        }
        let mut behind = Vec::new();
        for piece in self.tokens() {
            let word = self.word(piece);
            match word {
                ";" | "=>" => break,
                "|>" | "do" => {
                    // The operator is the first word; a path of names has more.
                    let name: Vec<&str> = behind.into_iter().rev().collect();
                    let len = 1 + name[1.min(name.len())..]
                        .chunks(2)
                        .take_while(|pair| pair.first() == Some(&"::"))
                        .count()
                        * 2;
                    let name = name.get(..len.min(name.len())).unwrap_or_default();
                    return match name {
                        [] => Context::Step,
                        name => Context::Clause(name.concat()),
                    };
                }
                word => behind.push(word),
            }
        }
        // A chain may begin with its first step.
        match behind.last() {
            Some(first) if temblor_catalog::registry().operator(first).is_some() => {
                Context::Clause((*first).to_string())
            }
            _ => Context::Anything,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_says_what_can_follow() {
        let setting = |end, kind: &str| Context::Setting(end, kind.to_string());
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        for (text, expected) in [
            ("use ", Context::ModulePath(vec![])),
            ("use std::st", Context::ModulePath(names(&["std"]))),
            ("let x = string::", Context::Member(names(&["string"]))),
            ("let x = a::b::c", Context::Member(names(&["a", "b"]))),
            ("event.", Context::Field("event".to_string())),
            ("event.a.b", Context::Field("event.a".to_string())),
            ("$m.", Context::Field("$m".to_string())),
            ("$", Context::Field("$".to_string())),
            ("match event of case %{ a ~= ", Context::Extractor),
            ("case ~ r", Context::Extractor),
            ("in |> ", Context::Step),
            ("in |> ded", Context::Step),
            ("in |> when event.a do ", Context::Step),
            ("in |> when event.a do dedup by event.b ", Context::Clause("dedup".to_string())),
            ("in |> dedup by event.a ", Context::Clause("dedup".to_string())),
            ("in |> generic::batch w", Context::Clause("generic::batch".to_string())),
            ("rate_limit 5 ", Context::Clause("rate_limit".to_string())),
            ("select event from ", Context::Stream),
            ("select event from a/", Context::Port("a".to_string(), Direction::Out)),
            ("select event from b into a/er", Context::Port("a".to_string(), Direction::In)),
            ("let x = a / ", Context::Anything),
            ("define operator x from ", Context::OperatorKind),
            ("create script s from ", Context::Definition("script".to_string())),
            ("source a from ", Context::Endpoint(true)),
            ("sink a into ", Context::Endpoint(false)),
            ("parse grok \"%{IP", Context::GrokPattern),
            ("case ~ grok|%{IP:ip:", Context::GrokKind),
            ("parse grok \"%{IP:ip", Context::Nothing),
            ("\"text ", Context::Nothing),
            ("# note ", Context::Nothing),
            ("let x = ", Context::Anything),
            ("source a from tcp \"h:1\" with ", setting(EndKind::Source, "tcp")),
            (
                "source a from file \"x\" with codec = \"json\", fol",
                setting(EndKind::Source, "file"),
            ),
            (
                "sink a into http \"u\" with headers = {\"a\": \"b\"}, ",
                setting(EndKind::Sink, "http"),
            ),
            ("sink a into http \"u\" with headers = {\"a\": \"b\", ", Context::Anything),
            ("source a from file \"x\" with codec = ", Context::Anything),
            ("source a from file \"x\" with codec = \"js", Context::Codec(true)),
            ("sink a into file \"x\" with codec = \"", Context::Codec(false)),
            (
                "source a from stdin with preprocessors = [\"base64\", \"",
                Context::Interceptor(true),
            ),
            ("define connector a from file with ", setting(EndKind::Flow, "file")),
            (
                "define connector a from file with codec = \"json\", config = {",
                Context::Configuration("file".to_string()),
            ),
            (
                "define operator a from generic::batch with ",
                Context::Defined("operator".to_string(), "generic::batch".to_string()),
            ),
        ] {
            assert_eq!(context(text, text.len()), expected, "{text}");
        }
    }
}
