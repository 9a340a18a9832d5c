//! The syntax tree of a configuration. Texts stand as they were written, without their quotes;
//! what they mean is the business of who reads the option.

use temblor_lang::span::Span;

/// One file.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// In the order of the text.
    pub sections: Vec<Section>,
}

/// The three kinds of sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// `input { … }`
    Input,
    /// `filter { … }`
    Filter,
    /// `output { … }`
    Output,
}

impl SectionKind {
    /// The word that opens it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            SectionKind::Input => "input",
            SectionKind::Filter => "filter",
            SectionKind::Output => "output",
        }
    }
}

/// `filter { … }`
#[derive(Clone, Debug)]
pub struct Section {
    /// Which one.
    pub kind: SectionKind,
    /// Its word.
    pub span: Span,
    /// What it holds.
    pub body: Vec<Statement>,
}

/// What a section or a branch holds.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `mutate { … }`
    Plugin(Plugin),
    /// `if … { … } else if … { … } else { … }`
    Branch(Branch),
}

/// A chain of conditions.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The word `if`.
    pub span: Span,
    /// `if` and every `else if`.
    pub arms: Vec<(Expr, Vec<Statement>)>,
    /// `else { … }`
    pub otherwise: Option<Vec<Statement>>,
    /// From `if` to the last brace.
    pub whole: Span,
}

/// `name { option => value }`
#[derive(Clone, Debug)]
pub struct Plugin {
    /// Its name.
    pub name: Word,
    /// Its options as written; may repeat.
    pub options: Vec<(Word, Value)>,
    /// From its name to its closing brace.
    pub span: Span,
}

/// A text and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Without quotes.
    pub text: String,
    /// With quotes.
    pub span: Span,
}

/// The value of an option.
#[derive(Clone, Debug)]
pub struct Value {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: ValueKind,
}

/// The kinds of values.
#[derive(Clone, Debug)]
pub enum ValueKind {
    /// `json`
    Bare(String),
    /// `"text"`, `'text'`
    Text(String),
    /// `-12`, `1.5`
    Number(String),
    /// `["a", 1]`
    Array(Vec<Value>),
    /// `{ "a" => 1 }`
    Hash(Vec<(Word, Value)>),
    /// `json { target => "x" }`
    Plugin(Plugin),
}

/// A condition.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: ExprKind,
}

/// The kinds of conditions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `a and b and c`
    All(Vec<Expr>),
    /// `a or b or c`
    Any(Vec<Expr>),
    /// `a xor b`
    Xor(Box<Expr>, Box<Expr>),
    /// `a nand b`
    Nand(Box<Expr>, Box<Expr>),
    /// `!(a)`
    Not(Box<Expr>),
    /// `a in b`, `a not in b`
    In {
        /// What is looked for.
        left: Operand,
        /// Where.
        right: Operand,
        /// `not in`
        negated: bool,
    },
    /// `a == b`
    Compare {
        /// One side.
        left: Operand,
        /// How.
        comparison: Comparison,
        /// The other side.
        right: Operand,
    },
    /// `a =~ /b/`, `a !~ "b"`
    Match {
        /// What is searched.
        left: Operand,
        /// For what.
        regex: Word,
        /// `!~`
        negated: bool,
    },
    /// `[field]`
    Value(Operand),
}

/// `==` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// What conditions compare.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: OperandKind,
}

/// The kinds of operands.
#[derive(Clone, Debug)]
pub enum OperandKind {
    /// `"text"`
    Text(String),
    /// `12`
    Number(String),
    /// `[a][b]`
    Field(String),
    /// `["a", "b"]`
    List(Vec<Operand>),
    /// `/a+/`
    Regex(String),
}
