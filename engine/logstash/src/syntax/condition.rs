//! Conditions: operators, their precedence, and what they compare. An operator chain is one node, so
//! that a long one is not deep.

use super::parser::Parser;
use super::scan::Failure;
use super::tree::{Comparison, Expr, ExprKind, Operand, OperandKind, Word};
use crate::complain;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    And,
    Or,
    Xor,
    Nand,
}

const JOINS: [(&str, Join); 4] =
    [("and", Join::And), ("or", Join::Or), ("xor", Join::Xor), ("nand", Join::Nand)];

/// Longer operators first.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Parser<'_> {
    pub(super) fn condition(&mut self) -> Result<Expr, Failure> {
        let start = self.scanner.at();
        let mut terms = vec![self.term()?];
        let mut joins = Vec::new();
        loop {
            let end = self.scanner.at();
            self.scanner.skip();
            let Some((_, join)) = JOINS.iter().find(|(word, _)| self.scanner.take_word(word))
            else {
                let span = self.scanner.span_from(start);
                let _ = end;
                return self.join(terms, &joins, span);
            };
            joins.push(*join);
            self.scanner.skip();
            terms.push(self.term()?);
        }
    }

    fn join(
        &mut self,
        mut terms: Vec<Expr>,
        joins: &[Join],
        span: temblor_lang::span::Span,
    ) -> Result<Expr, Failure> {
        let expr = |kind| Expr { span, kind };
        if let [Join::Xor | Join::Nand] = joins {
            let right = Box::new(terms.pop().expect("two terms around one operator"));
            let left = Box::new(terms.pop().expect("two terms around one operator"));
            let is_xor = joins[0] == Join::Xor;
            let make = if is_xor { ExprKind::Xor } else { ExprKind::Nand };
            return Ok(expr(make(left, right)));
        }
        if joins.iter().any(|join| matches!(join, Join::Xor | Join::Nand)) {
            return Err(Box::new(complain::needs_parentheses(span)));
        }
        let mut groups: Vec<Vec<Expr>> = Vec::new();
        let mut terms = terms.into_iter();
        groups.extend(terms.next().map(|first| vec![first]));
        for (join, term) in joins.iter().zip(terms) {
            match (join, groups.last_mut()) {
                (Join::And, Some(group)) => group.push(term),
                _ => groups.push(vec![term]),
            }
        }
        let all = |mut group: Vec<Expr>| match group.len() {
            1 => group.remove(0),
            _ => expr(ExprKind::All(group)),
        };
        let mut groups: Vec<Expr> = groups.into_iter().map(all).collect();
        Ok(match groups.len() {
            1 => groups.remove(0),
            _ => expr(ExprKind::Any(groups)),
        })
    }

    fn term(&mut self) -> Result<Expr, Failure> {
        let start = self.scanner.at();
        if self.scanner.take("(") {
            return self.in_parentheses();
        }
        if self.scanner.take("!") {
            self.scanner.skip();
            let inner = if self.scanner.take("(") {
                self.in_parentheses()?
            } else {
                let operand = self.selector().ok_or_else(|| {
                    self.scanner.unexpected("a field such as [name], or a parenthesis, after `!`")
                })?;
                Expr { span: operand.span, kind: ExprKind::Value(operand) }
            };
            let span = self.scanner.span_from(start);
            return Ok(Expr { span, kind: ExprKind::Not(Box::new(inner)) });
        }
        let left = self.operand()?;
        let kind = self.relation(left)?;
        Ok(Expr { span: self.scanner.span_from(start), kind })
    }

    fn in_parentheses(&mut self) -> Result<Expr, Failure> {
        self.deeper()?;
        self.scanner.skip();
        let inner = self.condition()?;
        self.scanner.skip();
        self.scanner.expect(")", "`)`, or `and`, `or` and another condition")?;
        self.shallower();
        Ok(inner)
    }

    /// What follows the first operand.
    fn relation(&mut self, left: Operand) -> Result<ExprKind, Failure> {
        self.scanner.skip();
        if self.scanner.take_word("in") {
            let right = self.right_operand()?;
            return Ok(ExprKind::In { left, right, negated: false });
        }
        if self.scanner.take_word("not") {
            self.scanner.skip();
            if !self.scanner.take_word("in") {
                return Err(self.scanner.unexpected("`in` after `not`"));
            }
            let right = self.right_operand()?;
            return Ok(ExprKind::In { left, right, negated: true });
        }
        for (token, negated) in [("=~", false), ("!~", true)] {
            if self.scanner.take(token) {
                self.scanner.skip();
                let regex = self.regex_text()?;
                return Ok(ExprKind::Match { left, regex, negated });
            }
        }
        let found = COMPARISONS.iter().find(|(token, _)| self.scanner.take(token));
        if let Some((_, comparison)) = found {
            let right = self.right_operand()?;
            return Ok(ExprKind::Compare { left, comparison: *comparison, right });
        }
        Ok(ExprKind::Value(left))
    }

    fn right_operand(&mut self) -> Result<Operand, Failure> {
        self.scanner.skip();
        self.operand()
    }

    fn regex_text(&mut self) -> Result<Word, Failure> {
        let start = self.scanner.at();
        match self.scanner.peek() {
            Some('"' | '\'' | '/') => {
                let text = self.scanner.quoted()?.to_string();
                Ok(Word { text, span: self.scanner.span_from(start) })
            }
            _ => Err(self.scanner.unexpected("a regular expression such as /^a/ or \"^a\"")),
        }
    }

    /// `[a][b]`
    fn selector(&mut self) -> Option<Operand> {
        let start = self.scanner.at();
        let mut text = String::new();
        while let Some(step) = self.scanner.selector_step() {
            text.push('[');
            text.push_str(step);
            text.push(']');
        }
        let span = self.scanner.span_from(start);
        (!text.is_empty()).then_some(Operand { span, kind: OperandKind::Field(text) })
    }

    fn operand(&mut self) -> Result<Operand, Failure> {
        let start = self.scanner.at();
        let kind = match self.scanner.peek() {
            Some('"' | '\'') => OperandKind::Text(self.scanner.quoted()?.to_string()),
            Some('/') => OperandKind::Regex(self.scanner.quoted()?.to_string()),
            Some('[') => match self.selector() {
                Some(selector) => return Ok(selector),
                None => self.operand_list()?,
            },
            _ => match self.scanner.number() {
                Some(number) => OperandKind::Number(number.to_string()),
                None => {
                    let wanted = "a field such as [name], a text in quotes, a number or a list";
                    return Err(self.scanner.unexpected(wanted));
                }
            },
        };
        Ok(Operand { span: self.scanner.span_from(start), kind })
    }

    fn operand_list(&mut self) -> Result<OperandKind, Failure> {
        self.list(Self::list_item).map(OperandKind::List)
    }

    /// In lists bare words are texts.
    fn list_item(&mut self) -> Result<Operand, Failure> {
        let start = self.scanner.at();
        match self.scanner.peek() {
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let word = self.scanner.take_while(super::scan::is_word).to_string();
                Ok(Operand { span: self.scanner.span_from(start), kind: OperandKind::Text(word) })
            }
            _ => self.operand(),
        }
    }
}
