//! Expressions of RainerScript: read, and said in Temblor's language.

use super::property;
use super::tree::Expression;
use crate::notation::{text, texts};

/// Expressions in each other, at the most.
pub(crate) const DEPTH_MAX: usize = 64;

/// Reads an expression; the error is what should stand there.
pub(crate) fn parse(source: &str) -> Result<Expression, String> {
    let tokens = tokens(source)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let expression = parser.binary(0)?;
    match tokens.get(parser.at) {
        None => Ok(expression),
        Some(token) => Err(format!("an operator in front of `{}`", token.shown())),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Text(String),
    Number(i64),
    Variable(String),
    Word(String),
    Sign(String),
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Token::Text(text) => text.clone(),
            Token::Number(number) => number.to_string(),
            Token::Variable(name) => format!("${name}"),
            Token::Word(word) | Token::Sign(word) => word.clone(),
        }
    }
}

const SIGNS: [&str; 19] = [
    "==", "!=", "<>", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "&", "(", ")", "[", "]", ",",
    "=",
];

fn tokens(source: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some(inside) = rest.strip_prefix("/*") {
            rest = inside.split_once("*/").map_or("", |(_, behind)| behind).trim_start();
            continue;
        }
        if first == '#' {
            rest = rest.split_once('\n').map_or("", |(_, behind)| behind).trim_start();
            continue;
        }
        let length = match first {
            '"' | '\'' => {
                let (text, length) = quoted(rest).ok_or("the end of a text")?;
                out.push(Token::Text(text));
                length
            }
            '$' => {
                let ends = |one: char| one.is_whitespace() || "=<>+*/%&()[],'\"".contains(one);
                let end = rest[1..].find(ends).map_or(rest.len(), |end| end + 1);
                // A name does not end with a comparison.
                let name = rest[1..end].trim_end_matches('!');
                let end = if name.is_empty() { end } else { name.len() + 1 };
                out.push(Token::Variable(if name.is_empty() {
                    "!".into()
                } else {
                    name.to_string()
                }));
                end
            }
            one if one.is_ascii_digit() => {
                let end = rest.find(|one: char| !one.is_ascii_alphanumeric()).unwrap_or(rest.len());
                let word = &rest[..end];
                let number = match word.strip_prefix("0x") {
                    Some(digits) => i64::from_str_radix(digits, 16),
                    None => word.parse(),
                };
                out.push(Token::Number(
                    number.map_err(|_| format!("a number instead of `{word}`"))?,
                ));
                end
            }
            one if one.is_ascii_alphabetic() || one == '_' => {
                let end = rest
                    .find(|one: char| !one.is_ascii_alphanumeric() && one != '_')
                    .unwrap_or(rest.len());
                out.push(Token::Word(rest[..end].to_string()));
                end
            }
            _ => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                let sign = sign.ok_or_else(|| format!("no `{first}`"))?;
                out.push(Token::Sign((*sign).to_string()));
                sign.len()
            }
        };
        rest = rest[length..].trim_start();
    }
    Ok(out)
}

/// The text between quotes, and how long it is with them.
fn quoted(source: &str) -> Option<(String, usize)> {
    let quote = source.chars().next()?;
    let mut out = String::new();
    let mut characters = source.char_indices().skip(1);
    while let Some((at, one)) = characters.next() {
        match one {
            '\\' => match characters.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                other if matches!(other, '\\' | '"' | '\'' | '$' | '`') => out.push(other),
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

/// Operators, from those that bind least: `and` and `or` bind alike, from left to right, and `not` binds most.
const LEVELS: [&[&str]; 4] = [
    &["or", "and"],
    &[
        "==",
        "!=",
        "<>",
        "<=",
        ">=",
        "<",
        ">",
        "=",
        "contains",
        "contains_i",
        "startswith",
        "startswith_i",
        "endswith",
    ],
    &["+", "-", "&"],
    &["*", "/", "%"],
];

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn operator(&self, level: usize) -> Option<String> {
        let word = match self.tokens.get(self.at)? {
            Token::Word(word) => word.to_ascii_lowercase(),
            Token::Sign(sign) => sign.clone(),
            _ => return None,
        };
        LEVELS[level].contains(&word.as_str()).then_some(word)
    }

    fn binary(&mut self, level: usize) -> Result<Expression, String> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(level) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("expressions not more than {DEPTH_MAX} deep"));
        }
        let token = self.tokens.get(self.at).cloned().ok_or("a value")?;
        self.at += 1;
        let expression = match token {
            Token::Word(word) if word.eq_ignore_ascii_case("not") => {
                Expression::Not(Box::new(self.unary()?))
            }
            Token::Sign(sign) if sign == "-" => Expression::Minus(Box::new(self.unary()?)),
            Token::Sign(sign) if sign == "(" => {
                let inside = self.binary(0)?;
                self.expect(")")?;
                inside
            }
            Token::Sign(sign) if sign == "[" => Expression::Array(self.list("]")?),
            Token::Text(text) => Expression::Text(text),
            Token::Number(number) => Expression::Number(number),
            Token::Variable(name) => Expression::Variable(name),
            Token::Word(word) => {
                if self.tokens.get(self.at) != Some(&Token::Sign("(".into())) {
                    return Err(format!("a value instead of `{word}`"));
                }
                self.at += 1;
                Expression::Call(word.to_ascii_lowercase(), self.list(")")?)
            }
            Token::Sign(sign) => return Err(format!("a value instead of `{sign}`")),
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        match self.tokens.get(self.at) {
            Some(Token::Sign(found)) if found == sign => {
                self.at += 1;
                Ok(())
            }
            _ => Err(format!("`{sign}`")),
        }
    }

    fn list(&mut self, closer: &str) -> Result<Vec<Expression>, String> {
        let mut out = Vec::new();
        while self.expect(closer).is_err() {
            if !out.is_empty() {
                self.expect(",")?;
            }
            out.push(self.binary(0)?);
        }
        Ok(out)
    }
}

/// What an expression is said with: the root of the message, templates and tables.
pub(crate) trait Known {
    /// The function of a template.
    fn template(&self, name: &str) -> Option<String>;
    /// The constant that holds a lookup table, and what it gives for other keys.
    fn table(&self, name: &str) -> Option<(String, String)>;
}

/// An expression in Temblor's language, with the modules that it needs.
pub(crate) struct Writer<'k> {
    pub(crate) root: &'k str,
    pub(crate) known: &'k dyn Known,
    pub(crate) uses: Vec<&'static str>,
}

impl Writer<'_> {
    /// As a condition.
    pub(crate) fn condition(&mut self, expression: &Expression) -> Result<String, String> {
        match expression {
            Expression::Binary(operator, left, right) => match operator.as_str() {
                "and" | "or" => {
                    let (left, right) = (self.condition(left)?, self.condition(right)?);
                    let bracket = |code: String| {
                        if operator == "and" && code.contains(" or ") && !is_bracketed(&code) {
                            format!("({code})")
                        } else {
                            code
                        }
                    };
                    Ok(format!("{} {operator} {}", bracket(left), bracket(right)))
                }
                "+" | "-" | "*" | "/" | "%" => Ok(format!("{} != 0", self.number(expression)?)),
                _ => self.comparison(operator, left, right),
            },
            Expression::Not(inner) => {
                let inner = self.condition(inner)?;
                Ok(format!("not ({inner})"))
            }
            Expression::Call(name, arguments) => match (name.as_str(), arguments.as_slice()) {
                ("re_match" | "re_match_i", [of, Expression::Text(pattern)]) => {
                    let flags = if name == "re_match_i" { "(?i)" } else { "" };
                    self.matching(of, &format!("{flags}{pattern}"))
                }
                ("exists", [Expression::Variable(name)]) => {
                    let place = property::place(self.root, name)?;
                    Ok(format!("present {place}"))
                }
                ("prifilt", [Expression::Text(selector)]) => {
                    self.uses.push("array");
                    super::selector::condition(selector, self.root)
                }
                _ => Ok(format!("{} != 0", self.number(expression)?)),
            },
            Expression::Number(number) => Ok((*number != 0).to_string()),
            _ => Ok(format!("{} != 0", self.number(expression)?)),
        }
    }

    fn matching(&mut self, of: &Expression, pattern: &str) -> Result<String, String> {
        crate::rsyslog::compiles(pattern)?;
        let of = self.text(of)?;
        let (code, module) = crate::notation::found(pattern, false, &of);
        self.uses.push(module);
        Ok(code)
    }

    fn comparison(
        &mut self,
        operator: &str,
        left: &Expression,
        right: &Expression,
    ) -> Result<String, String> {
        if let Expression::Array(items) = right {
            let tests: Result<Vec<String>, String> =
                items.iter().map(|item| self.comparison(operator, left, item)).collect();
            let all_texts = items.iter().all(|item| matches!(item, Expression::Text(_)));
            if all_texts && matches!(operator, "==" | "!=" | "<>") {
                let items: Vec<&str> = items
                    .iter()
                    .filter_map(|item| match item {
                        Expression::Text(text) => Some(text.as_str()),
                        _ => None,
                    })
                    .collect();
                let left = self.text(left)?;
                self.uses.push("array");
                let not = if operator == "==" { "" } else { "not " };
                return Ok(format!("{not}array::contains({}, {left})", texts(&items)));
            }
            return Ok(format!("({})", tests?.join(" or ")));
        }
        let function = match operator {
            "contains" | "contains_i" => Some("contains"),
            "startswith" | "startswith_i" => Some("starts_with"),
            "endswith" => Some("ends_with"),
            _ => None,
        };
        if let Some(function) = function {
            let (mut left, mut right) = (self.text(left)?, self.text(right)?);
            self.uses.push("string");
            if operator.ends_with("_i") {
                left = format!("string::lowercase({left})");
                right = if right.starts_with('"') && !right.contains("#{") {
                    right.to_lowercase()
                } else {
                    format!("string::lowercase({right})")
                };
            }
            return Ok(format!("string::{function}({left}, {right})"));
        }
        let operator = match operator {
            "<>" => "!=",
            "=" => "==",
            other => other,
        };
        let is_numeric = is_number(left) || is_number(right);
        if is_numeric {
            return Ok(format!("{} {operator} {}", self.number(left)?, self.number(right)?));
        }
        Ok(format!("{} {operator} {}", self.text(left)?, self.text(right)?))
    }

    /// As a text.
    pub(crate) fn text(&mut self, expression: &Expression) -> Result<String, String> {
        match expression {
            Expression::Text(given) => Ok(text(given)),
            Expression::Number(number) => Ok(format!("\"{number}\"")),
            Expression::Variable(name) => {
                let value = property::value(self.root, name)?;
                self.uses.extend(value.uses);
                if value.is_text {
                    return Ok(value.code);
                }
                self.uses.push("string");
                Ok(format!("string::to_text({})", value.code))
            }
            Expression::Binary(operator, left, right) if operator == "&" => {
                let piece =
                    |expression: &Expression, writer: &mut Self| -> Result<String, String> {
                        let code = writer.text(expression)?;
                        Ok(match code.strip_prefix('"').and_then(|code| code.strip_suffix('"')) {
                            Some(inside) => inside.to_string(),
                            None => format!("#{{{code}}}"),
                        })
                    };
                let (left, right) = (piece(left, self)?, piece(right, self)?);
                Ok(format!("\"{left}{right}\""))
            }
            Expression::Call(name, arguments) => self.call(name, arguments),
            Expression::Array(_) => Err("a list stands where a text should".to_string()),
            _ => {
                self.uses.push("string");
                Ok(format!("string::to_text({})", self.number(expression)?))
            }
        }
    }

    /// As a number.
    pub(crate) fn number(&mut self, expression: &Expression) -> Result<String, String> {
        match expression {
            Expression::Number(number) => Ok(number.to_string()),
            Expression::Text(given) => Ok(given.trim().parse::<i64>().unwrap_or(0).to_string()),
            Expression::Variable(name) => {
                let value = property::value(self.root, name)?;
                self.uses.extend(value.uses);
                if value.is_number {
                    return Ok(value.code);
                }
                self.uses.push("integer");
                Ok(format!("integer::parse_or({}, 0)", value.code))
            }
            Expression::Minus(inner) => Ok(format!("(0 - {})", self.number(inner)?)),
            Expression::Binary(operator, left, right)
                if matches!(operator.as_str(), "+" | "-" | "*" | "/" | "%") =>
            {
                let (left, right) = (self.number(left)?, self.number(right)?);
                if operator == "/" {
                    self.uses.push("math");
                    return Ok(format!("math::trunc({left} / {right})"));
                }
                Ok(format!("({left} {operator} {right})"))
            }
            Expression::Call(name, arguments) => match (name.as_str(), arguments.as_slice()) {
                ("cnum", [inner]) => self.number(inner),
                ("strlen", [inner]) => {
                    let inner = self.text(inner)?;
                    self.uses.push("string");
                    Ok(format!("string::bytes({inner})"))
                }
                ("ip42num" | "ipv42num", [inner]) => {
                    let inner = self.text(inner)?;
                    self.uses.push("ip");
                    Ok(format!("ip::to_integer({inner})"))
                }
                ("re_match" | "re_match_i" | "exists" | "prifilt", _) => {
                    let condition = self.condition(expression)?;
                    Ok(format!("if {condition} then 1 else 0 end"))
                }
                _ => {
                    let code = self.call(name, arguments)?;
                    self.uses.push("integer");
                    Ok(format!("integer::parse_or({code}, 0)"))
                }
            },
            Expression::Not(_) | Expression::Binary(..) => {
                let condition = self.condition(expression)?;
                Ok(format!("if {condition} then 1 else 0 end"))
            }
            Expression::Array(_) => Err("a list stands where a number should".to_string()),
        }
    }

    fn call(&mut self, name: &str, arguments: &[Expression]) -> Result<String, String> {
        let mut one = |function: &str,
                       module: &'static str,
                       argument: &Expression|
         -> Result<String, String> {
            let inner = self.text(argument)?;
            self.uses.push(module);
            Ok(format!("{module}::{function}({inner})"))
        };
        match (name, arguments) {
            ("tolower", [inner]) => one("lowercase", "string", inner),
            ("toupper", [inner]) => one("uppercase", "string", inner),
            ("ltrim", [inner]) => one("trim_start", "string", inner),
            ("rtrim", [inner]) => one("trim_end", "string", inner),
            ("cstr", [inner]) => self.text(inner),
            ("num2ipv4", [inner]) => {
                let inner = self.number(inner)?;
                self.uses.push("ip");
                Ok(format!("ip::from_integer({inner})"))
            }
            ("getenv", [Expression::Text(name)]) => {
                Ok(text(&std::env::var(name).unwrap_or_default()))
            }
            ("replace", [of, from, to]) => {
                let (of, from, to) = (self.text(of)?, self.text(from)?, self.text(to)?);
                self.uses.push("string");
                Ok(format!("string::replace({of}, {from}, {to})"))
            }
            ("wrap", [of, around]) => {
                let (of, around) = (self.text(of)?, self.text(around)?);
                Ok(format!("\"#{{{around}}}#{{{of}}}#{{{around}}}\""))
            }
            ("substring", [of, Expression::Number(start), Expression::Number(length)]) => {
                let of = self.text(of)?;
                self.uses.push("string");
                let end =
                    if *length < 0 { length.to_string() } else { (start + length).to_string() };
                Ok(format!("string::slice({of}, {start}, {end})"))
            }
            ("field", [of, delimiter, Expression::Number(number)]) if *number > 0 => {
                let of = self.text(of)?;
                let delimiter = match delimiter {
                    Expression::Number(code) => {
                        let code = u32::try_from(*code).ok().and_then(char::from_u32);
                        text(&code.ok_or("the delimiter is no character")?.to_string())
                    }
                    other => self.text(other)?,
                };
                self.uses.push("string");
                Ok(format!(
                    "((string::split({of}, {delimiter}))[{}] ?? \"***FIELD NOT FOUND***\")",
                    number - 1
                ))
            }
            (
                "re_extract" | "re_extract_i",
                [
                    of,
                    Expression::Text(pattern),
                    Expression::Number(0),
                    Expression::Number(group),
                    otherwise,
                ],
            ) => {
                let flags = if name == "re_extract_i" { "(?i)" } else { "" };
                let pattern = format!("{flags}{pattern}");
                crate::rsyslog::compiles(&pattern)?;
                let (of, otherwise) = (self.text(of)?, self.text(otherwise)?);
                self.uses.push("re");
                Ok(format!(
                    "((re::captures({}, {of}) ?? {{}})[\"{group}\"] ?? {otherwise})",
                    text(&pattern)
                ))
            }
            ("exec_template", [Expression::Text(name)]) => {
                let function = self
                    .known
                    .template(name)
                    .ok_or_else(|| format!("there is no template `{name}`"))?;
                Ok(format!("{function}({})", self.root))
            }
            ("lookup", [Expression::Text(table), key]) => {
                let (constant, otherwise) = self
                    .known
                    .table(table)
                    .ok_or_else(|| format!("the table `{table}` was not read"))?;
                let key = self.text(key)?;
                Ok(format!("({constant}[{key}] ?? {otherwise})"))
            }
            ("format_time", [inner, Expression::Text(form)]) => {
                let form = match form.as_str() {
                    "date-rfc3164" => "%b %e %H:%M:%S",
                    "date-rfc3339" => "%Y-%m-%dT%H:%M:%SZ",
                    other => return Err(format!("there is no format `{other}`")),
                };
                let inner = self.number(inner)?;
                self.uses.push("datetime");
                Ok(format!("datetime::format({inner} * 1000000000, {})", text(form)))
            }
            _ => Err(format!(
                "there is no equivalent of the function `{name}()` with these arguments"
            )),
        }
    }
}

fn is_bracketed(code: &str) -> bool {
    code.starts_with('(') && code.ends_with(')')
}

/// Whether an expression is one of numbers.
fn is_number(expression: &Expression) -> bool {
    match expression {
        Expression::Number(_) | Expression::Minus(_) => true,
        Expression::Binary(operator, ..) => {
            matches!(operator.as_str(), "+" | "-" | "*" | "/" | "%")
        }
        Expression::Call(name, _) => {
            matches!(name.as_str(), "cnum" | "strlen" | "ip42num" | "re_match" | "exists")
        }
        Expression::Variable(name) => property::is_number(name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, Writer, parse};

    struct Nothing;

    impl Known for Nothing {
        fn template(&self, _: &str) -> Option<String> {
            None
        }

        fn table(&self, _: &str) -> Option<(String, String)> {
            None
        }
    }

    fn said(source: &str) -> String {
        let mut writer = Writer { root: "event", known: &Nothing, uses: Vec::new() };
        match parse(source) {
            Ok(expression) => writer.condition(&expression).unwrap_or_else(|why| why),
            Err(wanted) => format!("expected {wanted}"),
        }
    }

    #[test]
    fn expressions_are_said_in_our_language() {
        for (source, wanted) in [
            (
                "$msg contains 'x' and $syslogseverity-text == 'err'",
                r#"string::contains(event.msg, "x") and event.severity == "err""#,
            ),
            ("not ($syslogseverity <= 4)", "not (event.severity_number <= 4)"),
            ("$programname == ['a', 'b']", r#"array::contains(["a", "b"], event.programname)"#),
            ("$!user!id == 5", "integer::parse_or(event.json.user.id ?? \"\", 0) == 5"),
            ("re_match($msg, '^ a+')", r#"re::is_match("^ a+", event.msg)"#),
            (
                "$msg contains 'a' or $pri == 1 and $pri == 2",
                r#"(string::contains(event.msg, "a") or event.pri == 1) and event.pri == 2"#,
            ),
            ("$msg contains", "expected a value"),
            ("$msg ~ 'x'", "expected no `~`"),
        ] {
            assert_eq!(said(source), wanted, "{source}");
        }
    }
}
