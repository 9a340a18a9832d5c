//! Conditions as Temblor expressions that are true for the same events. What has no order fails the
//! event there as it removes it here.

use super::notation::{field, field_or_null, number, text};
use crate::logstash::reference::FieldRef;
use crate::logstash::settings::Settings;
use crate::logstash::syntax::tree::{Comparison, Expr, ExprKind, Operand, OperandKind, Word};

/// The expression, or why there is none.
pub fn expression(expr: &Expr, settings: &Settings) -> Result<String, String> {
    Writer { settings }.expression(expr)
}

/// `[field] == "text"`: the field, and the text.
pub fn equality<'e>(expr: &'e Expr, settings: &Settings) -> Option<(&'e str, String)> {
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
pub fn tag_test(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::In { left, right, negated: false } => match (&left.kind, &right.kind) {
            (OperandKind::Text(tag), OperandKind::Field(field)) if field == "[tags]" => Some(tag),
            _ => None,
        },
        _ => None,
    }
}

/// `"text" not in [tags]`, or the negation of a [`tag_test`]: the text.
pub fn no_tag_test(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Not(inner) => tag_test(inner),
        ExprKind::In { left, right, negated: true } => match (&left.kind, &right.kind) {
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
    fn expression(&self, expr: &Expr) -> Result<String, String> {
        match &expr.kind {
            ExprKind::All(parts) => self.joined(parts, " and "),
            ExprKind::Any(parts) => self.joined(parts, " or "),
            ExprKind::Xor(left, right) => {
                Ok(format!("{} xor {}", self.part(left)?, self.part(right)?))
            }
            ExprKind::Nand(left, right) => {
                Ok(format!("not ({} and {})", self.part(left)?, self.part(right)?))
            }
            ExprKind::Not(inner) => Ok(format!("not {}", self.part(inner)?)),
            ExprKind::In { left, right, negated } => {
                let test = self.membership(left, right)?;
                Ok(if *negated { format!("not {test}") } else { test })
            }
            ExprKind::Compare { left, comparison, right } => self.compare(left, *comparison, right),
            ExprKind::Match { left, regex, negated } => {
                let test = self.matching(left, regex)?;
                Ok(if *negated { format!("not {test}") } else { test })
            }
            ExprKind::Value(operand) => match self.side(operand)? {
                Side::Field(reference) if reference.steps.is_empty() => Ok("true".to_string()),
                side => Ok(format!("logstash::is_true({})", side.value())),
            },
        }
    }

    fn joined(&self, parts: &[Expr], word: &str) -> Result<String, String> {
        let parts: Result<Vec<_>, _> = parts.iter().map(|part| self.part(part)).collect();
        Ok(parts?.join(word))
    }

    /// In parentheses unless it is a call or a comparison in them.
    fn part(&self, expr: &Expr) -> Result<String, String> {
        let written = self.expression(expr)?;
        let is_call = matches!(expr.kind, ExprKind::Value(_))
            || matches!(expr.kind, ExprKind::In { negated: false, .. })
            || matches!(expr.kind, ExprKind::Match { negated: false, .. });
        Ok(if is_call { written } else { format!("({written})") })
    }

    fn compare(
        &self,
        left: &Operand,
        comparison: Comparison,
        right: &Operand,
    ) -> Result<String, String> {
        let (left, right) = (self.side(left)?, self.side(right)?);
        let ordered = |sign: &str| format!("{} {sign} {}", left.present(), right.present());
        Ok(match comparison {
            Comparison::Equal => format!("{} == {}", left.operand(), right.operand()),
            Comparison::Unequal => format!("{} != {}", left.operand(), right.operand()),
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
