//! A configuration of syslog-ng as a tree: statements of nested calls. What a call means is known by who reads it.

use temblor_lang::span::Span;

/// A part of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// `x`
    Word(String, Span),
    /// `"x"`
    Text(String, Span),
    /// `x(…)`
    Call(Call),
    /// `(…)`
    Group(Vec<Node>, Span),
    /// `{ … }`
    Block(Vec<Node>, Span),
    /// `;`, `,`, `|` or `..`
    Mark(&'static str, Span),
}

/// `name(arguments)`
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Node>,
    /// That of the whole call.
    pub(crate) span: Span,
}

/// `source s_net { … };`, `log { … };`, `options { … };`
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// `source`
    pub(crate) word: String,
    /// `s_net`; what stands between the word and the braces.
    pub(crate) name: Option<(String, Span)>,
    pub(crate) body: Vec<Node>,
    pub(crate) span: Span,
    /// Comments in front of it.
    pub(crate) comments: Vec<String>,
}

impl Node {
    pub(crate) fn span(&self) -> Span {
        match self {
            Node::Word(_, span)
            | Node::Text(_, span)
            | Node::Group(_, span)
            | Node::Block(_, span)
            | Node::Mark(_, span) => *span,
            Node::Call(call) => call.span,
        }
    }

    /// A word or a text.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Node::Word(text, _) | Node::Text(text, _) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn call(&self) -> Option<&Call> {
        match self {
            Node::Call(call) => Some(call),
            _ => None,
        }
    }

    pub(crate) fn is_mark(&self, mark: &str) -> bool {
        matches!(self, Node::Mark(one, _) if *one == mark)
    }
}

/// As names of options are compared: syslog-ng takes `-` for `_`.
pub(crate) fn canonical(name: &str) -> String {
    name.replace('-', "_").to_ascii_lowercase()
}

impl Call {
    /// The name with `_` for `-`.
    pub(crate) fn is(&self, name: &str) -> bool {
        canonical(&self.name) == name
    }

    /// The option of a name, the last one given.
    pub(crate) fn option(&self, name: &str) -> Option<&Call> {
        option(&self.arguments, name)
    }

    /// What an option says, as a text.
    pub(crate) fn option_text(&self, name: &str) -> Option<&str> {
        self.option(name)?.first_text()
    }

    /// Whether an option is there and says yes.
    pub(crate) fn option_flag(&self, name: &str) -> Option<bool> {
        self.option_text(name).map(is_yes)
    }

    /// The first argument, if it is a word or a text.
    pub(crate) fn first_text(&self) -> Option<&str> {
        self.arguments.first().and_then(Node::text)
    }

    /// All arguments that are words or texts.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.arguments.iter().filter_map(Node::text).collect()
    }

    /// The flags of `flags(…)`, canonical.
    pub(crate) fn flags(&self) -> Vec<String> {
        flags(&self.arguments)
    }
}

/// The option of a name among nodes, the last one given.
pub(crate) fn option<'n>(nodes: &'n [Node], name: &str) -> Option<&'n Call> {
    nodes.iter().rev().filter_map(Node::call).find(|call| call.is(name))
}

/// All flags of `flags(…)` among nodes, canonical.
pub(crate) fn flags(nodes: &[Node]) -> Vec<String> {
    let calls = nodes.iter().filter_map(Node::call).filter(|call| call.is("flags"));
    calls.flat_map(|call| call.texts().into_iter().map(canonical).collect::<Vec<_>>()).collect()
}

/// `yes`, `on`, `1`, `true`
pub(crate) fn is_yes(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "yes" | "on" | "1" | "true" | "y")
}
