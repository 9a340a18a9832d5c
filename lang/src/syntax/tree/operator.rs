//! Prefix and infix operators.

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `+x`
    Plus,
    /// `-x`
    Minus,
    /// `not x`
    Not,
    /// `!x`
    BitNot,
}

impl UnaryOp {
    /// As written.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Not => "not",
            UnaryOp::BitNot => "!",
        }
    }
}

/// Infix operators, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `or`
    Or,
    /// `xor`
    Xor,
    /// `and`
    And,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// `==`
    Eq,
    /// `!=`
    NotEq,
    /// `>=`
    Gte,
    /// `>`
    Gt,
    /// `<=`
    Lte,
    /// `<`
    Lt,
    /// `>>`
    Shr,
    /// `>>>`
    ShrUnsigned,
    /// `<<`
    Shl,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
}

impl BinaryOp {
    /// As written.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            BinaryOp::Or => "or",
            BinaryOp::Xor => "xor",
            BinaryOp::And => "and",
            BinaryOp::BitXor => "^",
            BinaryOp::BitAnd => "&",
            BinaryOp::Eq => "==",
            BinaryOp::NotEq => "!=",
            BinaryOp::Gte => ">=",
            BinaryOp::Gt => ">",
            BinaryOp::Lte => "<=",
            BinaryOp::Lt => "<",
            BinaryOp::Shr => ">>",
            BinaryOp::ShrUnsigned => ">>>",
            BinaryOp::Shl => "<<",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Mod => "%",
        }
    }
}
