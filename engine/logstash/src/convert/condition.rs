//! Conditions as Temblor expressions that are true for the same events. What has no order fails the
//! event there as it removes it here.

use super::notation::{field, field_or_null, number, text};
use crate::settings::Settings;
use crate::syntax::tree::{Comparison, Expr, ExprKind, Operand, OperandKind, Word};
use temblor_logstash_event::reference::FieldRef;

/// The expression, or why there is none.
pub(crate) fn expression(expr: &Expr, settings: &Settings) -> Result<String, String> {
    Writer { settings }.expression(expr, false).map(|test| test.text)
}

/// The opposite of the expression, or why there is none.
pub(crate) fn opposite(expr: &Expr, settings: &Settings) -> Result<String, String> {
    Writer { settings }.expression(expr, true).map(|test| test.text)
}

/// How tight what a test is made of holds together, as in the language; later is tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binds {
    Or,
    Xor,
    And,
    Compare,
    Not,
    Call,
}

/// A test as it is written.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub text: String,
    binds: Binds,
}

impl Test {
    pub(super) fn call(text: String) -> Self {
        Self { text, binds: Binds::Call }
    }

    /// `left == right`, or its opposite.
    pub(super) fn equality(left: &str, right: &str, negated: bool) -> Self {
        let sign = if negated { "!=" } else { "==" };
        Self { text: format!("{left} {sign} {right}"), binds: Binds::Compare }
    }

    /// As a part of what holds its parts as tight as that.
    fn within(self, around: Binds) -> String {
        if self.binds < around { format!("({})", self.text) } else { self.text }
    }

    /// The opposite, if it is asked for.
    pub(super) fn turned(self, negated: bool) -> Self {
        if !negated {
            return self;
        }
        Self { text: format!("not {}", self.within(Binds::Not)), binds: Binds::Not }
    }

    pub(super) fn joined(parts: Vec<Self>, around: Binds) -> Self {
        let word = match around {
            Binds::Or => " or ",
            Binds::Xor => " xor ",
            _ => " and ",
        };
        let parts: Vec<_> = parts.into_iter().map(|part| part.within(around)).collect();
        Self { text: parts.join(word), binds: around }
    }
}

/// `[field] == "text"`: the field, and the text.
pub(crate) fn equality<'e>(expr: &'e Expr, settings: &Settings) -> Option<(&'e str, String)> {
    let ExprKind::Compare { left, comparison: Comparison::Equal, right } = &expr.kind else {
        return None;
    };
    match (&left.kind, &right.kind) {
        (OperandKind::Field(field), OperandKind::Text(text))
        | (OperandKind::Text(text), OperandKind::Field(field)) => {
            let text = settings.substitute(&settings.unescape(text)).ok()?;
            Some((field, text))
        }
        _ => None,
    }
}

/// `"text" in [tags]`: the text.
pub(crate) fn tag_test(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::In { left, right, negated: false } => match (&left.kind, &right.kind) {
            (OperandKind::Text(tag), OperandKind::Field(field)) if field == "[tags]" => Some(tag),
            _ => None,
        },
        _ => None,
    }
}

struct Writer<'s> {
    settings: &'s Settings,
}

/// One side of a comparison.
enum Side {
    Field(FieldRef),
    Text(String),
    Number(String),
    /// As a list of Temblor; what its elements print as does not matter here.
    List(String),
}

impl Side {
    /// As a value, null for a missing field.
    fn value(&self) -> String {
        match self {
            Side::Field(reference) => field_or_null(reference),
            Side::Text(content) => text(content),
            Side::Number(written) => number(written),
            Side::List(list) => list.clone(),
        }
    }

    /// As an operand of a comparison.
    fn operand(&self) -> String {
        match self.value() {
            value if value.contains(" ?? ") => format!("({value})"),
            value => value,
        }
    }

    /// As a value that fails when a field is missing.
    fn present(&self) -> String {
        match self {
            Side::Field(reference) => field(reference),
            other => other.value(),
        }
    }
}

impl Writer<'_> {
    /// The test, or with `negated` its opposite. What has parts is turned round part by part, as
    /// `not (a or b)` is `not a and not b`: the same parts are looked at in the same order.
    fn expression(&self, expr: &Expr, negated: bool) -> Result<Test, String> {
        match &expr.kind {
            ExprKind::All(parts) if negated => self.joined(parts, Binds::Or, negated),
            ExprKind::Any(parts) if negated => self.joined(parts, Binds::And, negated),
            ExprKind::All(parts) => self.joined(parts, Binds::And, negated),
            ExprKind::Any(parts) => self.joined(parts, Binds::Or, negated),
            ExprKind::Xor(left, right) => {
                let parts = [self.expression(left, negated)?, self.expression(right, false)?];
                Ok(Test::joined(parts.to_vec(), Binds::Xor))
            }
            // `a nand b` is `not (a and b)`.
            ExprKind::Nand(left, right) => {
                let parts =
                    vec![self.expression(left, !negated)?, self.expression(right, !negated)?];
                Ok(Test::joined(parts, if negated { Binds::And } else { Binds::Or }))
            }
            ExprKind::Not(inner) => self.expression(inner, !negated),
            ExprKind::In { left, right, negated: is_not } => {
                Ok(Test::call(self.membership(left, right)?).turned(*is_not != negated))
            }
            ExprKind::Compare { left, comparison, right } => {
                self.compare(left, *comparison, right, negated)
            }
            ExprKind::Match { left, regex, negated: is_not } => {
                Ok(Test::call(self.matching(left, regex)?).turned(*is_not != negated))
            }
            ExprKind::Value(operand) => Ok(match self.side(operand)? {
                Side::Field(reference) if reference.steps.is_empty() => {
                    Test::call((!negated).to_string())
                }
                side => Test::call(format!("logstash::is_true({})", side.value())).turned(negated),
            }),
        }
    }

    fn joined(&self, parts: &[Expr], word: Binds, negated: bool) -> Result<Test, String> {
        let parts: Result<Vec<_>, _> =
            parts.iter().map(|part| self.expression(part, negated)).collect();
        Ok(Test::joined(parts?, word))
    }

    fn compare(
        &self,
        left: &Operand,
        comparison: Comparison,
        right: &Operand,
        negated: bool,
    ) -> Result<Test, String> {
        let (left, right) = (self.side(left)?, self.side(right)?);
        let equal = |is_equal: bool| Test::equality(&left.operand(), &right.operand(), !is_equal);
        // The opposite of an order is no other order: what has none fails both.
        let ordered = |sign: &str| {
            let text = format!("{} {sign} {}", left.present(), right.present());
            Test { text, binds: Binds::Compare }.turned(negated)
        };
        Ok(match comparison {
            Comparison::Equal => equal(!negated),
            Comparison::Unequal => equal(negated),
            Comparison::Less => ordered("<"),
            Comparison::AtMost => ordered("<="),
            Comparison::Greater => ordered(">"),
            Comparison::AtLeast => ordered(">="),
        })
    }

    fn matching(&self, left: &Operand, regex: &Word) -> Result<String, String> {
        let value = self.side(left)?.value();
        Ok(format!("logstash::matches({value}, {})", text(&regex.text)))
    }

    fn membership(&self, left: &Operand, right: &Operand) -> Result<String, String> {
        let (left, right) = (self.side(left)?, self.side(right)?);
        let (item, container) = (left.value(), right.value());
        Ok(match (&left, &right) {
            (Side::List(_), _) => return Err("a list on the left of `in`".to_string()),
            (Side::Field(_), Side::List(_)) => format!("logstash::is_one_of({item}, {container})"),
            (Side::Field(_), Side::Field(_)) => format!("logstash::is_in({item}, {container})"),
            (_, Side::Number(_)) => "false".to_string(),
            _ => format!("logstash::has({container}, {item})"),
        })
    }

    fn side(&self, operand: &Operand) -> Result<Side, String> {
        Ok(match &operand.kind {
            OperandKind::Field(reference) => {
                let bad = |reason| format!("`{reference}` is no field reference: {reason}");
                Side::Field(FieldRef::parse(reference).map_err(bad)?)
            }
            OperandKind::Text(content) => {
                let content = self.settings.unescape(content);
                let unset = |name| format!("the environment variable `{name}` is not set");
                Side::Text(self.settings.substitute(&content).map_err(unset)?)
            }
            OperandKind::Number(written) => Side::Number(written.clone()),
            OperandKind::List(items) => {
                let items: Result<Vec<_>, _> = items.iter().map(|item| self.side(item)).collect();
                let items: Vec<_> = items?.iter().map(Side::value).collect();
                Side::List(format!("[{}]", items.join(", ")))
            }
            OperandKind::Regex(_) => {
                return Err("a regular expression stands where a value should".to_string());
            }
        })
    }
}
