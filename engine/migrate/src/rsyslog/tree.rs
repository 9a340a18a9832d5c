//! A configuration of rsyslog as a tree: objects of RainerScript, statements, expressions, and the lines that rsyslog
//! had before it.

use temblor_lang::span::Span;

/// `module(load="imudp")`, `action(type="omfile" file="/x") `
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub(crate) kind: String,
    pub(crate) parameters: Vec<(String, Vec<String>)>,
    pub(crate) span: Span,
    /// Objects between the braces of a template.
    pub(crate) inside: Vec<Object>,
    /// Comments in front of it.
    pub(crate) comments: Vec<String>,
}

impl Object {
    /// A parameter, in lower case.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts(name).first().map(String::as_str)
    }

    /// All values of a parameter.
    pub(crate) fn texts(&self, name: &str) -> &[String] {
        let found = self.parameters.iter().rev().find(|(one, _)| one == name);
        found.map_or(&[], |(_, values)| values)
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.text(name).map(|text| text.eq_ignore_ascii_case("on"))
    }
}

/// A statement of a ruleset.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    pub(crate) comments: Vec<String>,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// `action(…)`, or a line of before.
    Act(Object),
    /// `if … then … else …`; a selector or a filter of a property, too.
    If(Test, Vec<Statement>, Vec<Statement>),
    /// `set $!x = …;`
    Set(String, Expression),
    /// `unset $!x;`
    Unset(String),
    /// `foreach ($.i in $!list) do { … }`
    Foreach,
    /// `call name`
    Call(String),
    /// `stop`, `~`
    Stop,
    /// What has no equivalent: its name.
    Other(String),
}

/// A condition.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// `$msg contains 'x'`
    Expression(Expression),
    /// `*.info;mail.none`
    Selector(String),
    /// `:msg, !contains, "x"`: property, whether it is negated, comparison, value.
    Property(String, bool, String, String),
}

/// A value of RainerScript.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    /// `'x'`
    Text(String),
    /// `5`
    Number(i64),
    /// `$msg`, without its sign.
    Variable(String),
    /// `["a", "b"]`
    Array(Vec<Expression>),
    /// `tolower($msg)`
    Call(String, Vec<Expression>),
    /// `not a`
    Not(Box<Expression>),
    /// `-a`
    Minus(Box<Expression>),
    /// `a == b`
    Binary(String, Box<Expression>, Box<Expression>),
}
