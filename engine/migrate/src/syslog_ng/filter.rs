//! Filters as conditions. What cannot be one says why; nothing is taken for something else.

use super::names::{Value, value_of};
use super::reader::{FACILITIES, LEVELS};
use super::template::{Scene, argument};
use super::token::{Kind, Lexer, Names};
use super::tree::{Call, Node, canonical};
use crate::notation::{found, plain, text, texts};
use temblor_lang::span::SourceId;

/// Brackets in a condition, at the most.
const DEPTH_MAX: usize = 64;

/// Lines of a list that become part of the program, at the most.
const LIST_LINES_MAX: usize = 1_000;

/// Kinds of filters.
pub(crate) const KINDS: &[&str] = &[
    "facility",
    "level",
    "priority",
    "severity",
    "program",
    "host",
    "message",
    "match",
    "netmask",
    "netmask6",
    "filter",
    "tags",
    "in_list",
    "source",
    "throttle",
    "rate_limit",
];

/// The condition of a filter.
pub(crate) fn condition(nodes: &[Node], scene: Scene<'_>) -> Result<Value, String> {
    let nodes: Vec<&Node> = nodes.iter().filter(|node| !node.is_mark(";")).collect();
    let mut reader = Reader { nodes: &nodes, at: 0, scene, depth: 0 };
    let value = reader.either()?;
    match reader.nodes.get(reader.at) {
        None => Ok(value),
        Some(_) => Err("something stands behind the end of the condition".to_string()),
    }
}

/// A condition that stands in a text: that of `$(if)`.
pub(crate) fn of_text(written: &str, scene: Scene<'_>) -> Result<Value, String> {
    let (names, mut lexer) = (Names::new(), Lexer::new(written, SourceId(0), 0));
    let mut stack: Vec<Vec<Node>> = vec![Vec::new()];
    while let Some(token) = lexer.next(&names) {
        let depth = stack.len();
        let top = stack.last_mut().expect("the first is never taken");
        match token.kind {
            Kind::Word(word) => top.push(Node::Word(word, token.span)),
            Kind::Text(text) => top.push(Node::Text(text, token.span)),
            Kind::Mark("(") if depth <= DEPTH_MAX => stack.push(Vec::new()),
            Kind::Mark(")") if depth > 1 => {
                let inside = stack.pop().unwrap_or_default();
                let top = stack.last_mut().expect("the first is never taken");
                match top.last().cloned() {
                    Some(Node::Word(name, span))
                        if !matches!(canonical(&name).as_str(), "and" | "or" | "not") =>
                    {
                        top.pop();
                        let arguments =
                            inside.into_iter().filter(|node| !node.is_mark(",")).collect();
                        top.push(Node::Call(Call { name, arguments, span }));
                    }
                    _ => top.push(Node::Group(inside, token.span)),
                }
            }
            Kind::Mark(mark) => top.push(Node::Mark(mark, token.span)),
            Kind::Directive(_) => return Err("a condition holds a directive".to_string()),
        }
    }
    condition(&stack.remove(0), scene)
}

struct Reader<'n, 's> {
    nodes: &'n [&'n Node],
    at: usize,
    scene: Scene<'s>,
    depth: usize,
}

/// Comparisons of texts and of numbers.
const COMPARISONS: &[(&str, &str, bool)] = &[
    ("eq", "==", false),
    ("ne", "!=", false),
    ("lt", "<", false),
    ("gt", ">", false),
    ("le", "<=", false),
    ("ge", ">=", false),
    ("==", "==", true),
    ("!=", "!=", true),
    ("<", "<", true),
    (">", ">", true),
    ("<=", "<=", true),
    (">=", ">=", true),
];

impl Reader<'_, '_> {
    fn is(&self, word: &str) -> bool {
        self.nodes.get(self.at).is_some_and(|node| match node {
            Node::Word(one, _) => one.eq_ignore_ascii_case(word),
            _ => false,
        })
    }

    fn either(&mut self) -> Result<Value, String> {
        let mut left = self.both()?;
        while self.is("or") {
            self.at += 1;
            let right = self.both()?;
            left = with(left, "or", right);
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Value, String> {
        let mut left = self.negated()?;
        while self.is("and") {
            self.at += 1;
            let right = self.negated()?;
            left = with(left, "and", right);
        }
        Ok(left)
    }

    fn negated(&mut self) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("the condition is nested more than {DEPTH_MAX} deep"));
        }
        let value = match self.nodes.get(self.at) {
            Some(Node::Word(word, _)) if word.eq_ignore_ascii_case("not") => {
                self.at += 1;
                let inner = self.negated()?;
                Value { code: format!("not {}", bracketed(&inner.code)), uses: inner.uses }
            }
            Some(Node::Group(inside, _)) => {
                self.at += 1;
                let inner = self.inside(inside)?;
                Value { code: bracketed(&inner.code), uses: inner.uses }
            }
            _ => self.primary()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn inside(&self, nodes: &[Node]) -> Result<Value, String> {
        let nodes: Vec<&Node> = nodes.iter().filter(|node| !node.is_mark(";")).collect();
        let mut reader = Reader { nodes: &nodes, at: 0, scene: self.scene, depth: self.depth };
        let value = reader.either()?;
        if reader.at < nodes.len() {
            return Err("something stands behind the end of a condition".to_string());
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<Value, String> {
        let Some(node) = self.nodes.get(self.at) else {
            return Err("the condition ends where a filter should stand".to_string());
        };
        self.at += 1;
        match node {
            Node::Call(call) => self.filter(call),
            Node::Text(left, _) | Node::Word(left, _) => {
                let (left, left_text) = (left.clone(), matches!(node, Node::Text(..)));
                self.comparison(&left, left_text)
            }
            _ => Err("a filter should stand here".to_string()),
        }
    }

    fn comparison(&mut self, left: &str, is_text: bool) -> Result<Value, String> {
        if !is_text && left.parse::<f64>().is_err() {
            return Err(format!("`{left}` is no filter"));
        }
        let operator = match self.nodes.get(self.at) {
            Some(Node::Word(word, _)) => word.clone(),
            // A text alone is true unless it is empty.
            _ => {
                let value = argument(left, self.scene, 0)?;
                return Ok(Value { code: format!("({}) != \"\"", value.code), uses: value.uses });
            }
        };
        let found = COMPARISONS.iter().find(|(word, _, _)| operator.eq_ignore_ascii_case(word));
        let Some((_, operator, numeric)) = found else {
            return Err(format!("`{operator}` is no comparison"));
        };
        self.at += 1;
        let right = self.nodes.get(self.at).and_then(|node| node.text());
        let right = right.ok_or("a comparison lacks its right side")?;
        self.at += 1;
        let (left, right) = (argument(left, self.scene, 0)?, argument(right, self.scene, 0)?);
        let is_number = |code: &str| code.trim_matches('"').parse::<f64>().is_ok();
        // With types, `==` compares texts unless one of them is a number.
        let numeric =
            *numeric && (!self.scene.is_typed || is_number(&left.code) || is_number(&right.code));
        let mut uses = left.uses;
        uses.extend(right.uses);
        if numeric {
            uses.push("float");
            let (left, right) = (number(&left.code), number(&right.code));
            return Ok(Value { code: format!("{left} {operator} {right}"), uses });
        }
        let (left, right) = (as_text(&left.code), as_text(&right.code));
        Ok(Value { code: format!("{left} {operator} {right}"), uses })
    }

    fn filter(&self, call: &Call) -> Result<Value, String> {
        let root = self.scene.root;
        match canonical(&call.name).as_str() {
            "facility" => self.one_of(call, "FACILITY", &FACILITIES),
            "level" | "priority" | "severity" => self.one_of(call, "LEVEL", &LEVELS),
            "program" => self.matching(call, "PROGRAM"),
            "host" => self.matching(call, "HOST"),
            "message" => self.matching(call, "MESSAGE"),
            "match" => match (call.option_text("value"), call.option_text("template")) {
                (Some(name), _) => self.matching(call, name.trim_start_matches('$')),
                (None, Some(template)) => {
                    let value = argument(template, self.scene, 0)?;
                    self.matching_value(call, value)
                }
                (None, None) => {
                    let code = format!("\"#{{{root}.MSGHDR}}#{{{root}.MESSAGE}}\"");
                    self.matching_value(call, Value::new(code))
                }
            },
            "netmask" | "netmask6" => {
                let network = call.first_text().ok_or("`netmask()` needs a network")?;
                let network = network_of(network)?;
                Ok(Value::using(format!("ip::in_cidr({root}.SOURCEIP, {})", text(&network)), "ip"))
            }
            "filter" => {
                let name = call.first_text().ok_or("`filter()` needs a name")?;
                Ok(Value::new(format!("{}({root})", function_name(name))))
            }
            "tags" => {
                let tags = call.texts();
                let tests: Vec<_> = tags
                    .iter()
                    .map(|tag| format!("array::contains({root}.TAGS, {})", text(tag)))
                    .collect();
                let code = tests.join(" or ");
                let code = if tests.len() > 1 { format!("({code})") } else { code };
                Ok(Value::using(code, "array"))
            }
            "source" => {
                let name = call.first_text().ok_or("`source()` needs a name")?;
                Ok(Value::new(format!("{root}.SOURCE == {}", text(name))))
            }
            "in_list" => {
                let path = call.first_text().ok_or("`in-list()` needs a file")?;
                let name = call.option_text("value").ok_or("`in-list()` needs `value()`")?;
                let value = value_of(root, name, "")?;
                let mut uses = value.uses;
                uses.push("array");
                let listed = crate::file::read(std::path::Path::new(path));
                let listed =
                    listed.map_err(|error| format!("its list `{path}` was not read: {error}"))?;
                let lines: Vec<&str> = listed.lines().filter(|line| !line.is_empty()).collect();
                if lines.len() > LIST_LINES_MAX {
                    return Err(format!(
                        "its list has more than {LIST_LINES_MAX} lines: use a table"
                    ));
                }
                let code = format!("array::contains({}, {})", texts(&lines), value.code);
                Ok(Value { code, uses })
            }
            "throttle" | "rate_limit" => {
                Err("it remembers messages, which a condition within another cannot".to_string())
            }
            other => Err(format!("there is no equivalent of the filter `{other}()`")),
        }
    }

    /// `level(info..err, debug)`
    fn one_of(&self, call: &Call, field: &str, names: &[&str]) -> Result<Value, String> {
        let code_of = |word: &str| -> Result<usize, String> {
            let word = match word.to_ascii_lowercase().as_str() {
                "warn" => "warning".to_string(),
                "error" => "err".to_string(),
                "panic" => "emerg".to_string(),
                other => other.to_string(),
            };
            if let Ok(number) = word.parse::<usize>() {
                let number = if number >= 8 && field == "FACILITY" && number % 8 == 0 && number > 23
                {
                    number / 8
                } else {
                    number
                };
                return Ok(number.min(names.len() - 1));
            }
            names.iter().position(|name| *name == word).ok_or_else(|| {
                let near = temblor_lang::diagnostic::nearest(&word, names.iter().copied());
                let near =
                    near.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
                format!("`{word}` is no {}{near}", field.to_ascii_lowercase())
            })
        };
        let mut chosen = vec![false; names.len()];
        let nodes = &call.arguments;
        let mut at = 0;
        while at < nodes.len() {
            let word = nodes[at].text().ok_or("a name should stand here")?;
            let first = code_of(word)?;
            let mut last = first;
            if nodes.get(at + 1).is_some_and(|node| node.is_mark("..")) {
                let word = nodes.get(at + 2).and_then(Node::text).ok_or("a range lacks its end")?;
                last = code_of(word)?;
                at += 2;
            }
            for one in &mut chosen[first.min(last)..=first.max(last)] {
                *one = true;
            }
            at += 1;
        }
        let place = format!("{}.{field}", self.scene.root);
        let chosen: Vec<&str> =
            names.iter().zip(&chosen).filter(|(_, one)| **one).map(|(name, _)| *name).collect();
        match chosen.as_slice() {
            [] => Err("it names nothing".to_string()),
            [one] => Ok(Value::new(format!("{place} == {}", text(one)))),
            several => {
                Ok(Value::using(format!("array::contains({}, {place})", texts(several)), "array"))
            }
        }
    }

    fn matching(&self, call: &Call, name: &str) -> Result<Value, String> {
        let value = value_of(self.scene.root, name, "")?;
        self.matching_value(call, value)
    }

    /// `program("x" type("glob") flags("ignore-case"))`
    fn matching_value(&self, call: &Call, value: Value) -> Result<Value, String> {
        let pattern = call.first_text().ok_or("a pattern is missing")?;
        let (code, module) = test(call, pattern, &value.code)?;
        let mut uses = value.uses;
        uses.push(module);
        Ok(Value { code, uses })
    }
}

/// How a pattern is looked for.
fn test(call: &Call, pattern: &str, place: &str) -> Result<(String, &'static str), String> {
    let flags = call.flags();
    let has = |flag: &str| flags.iter().any(|one| one == flag);
    let place = if place.contains("??") { format!("({place})") } else { place.to_string() };
    let ignore_case = has("ignore_case") || has("icase");
    match call.option_text("type").unwrap_or("pcre").to_ascii_lowercase().as_str() {
        "string" => {
            let (place, wanted) = if ignore_case {
                (format!("string::lowercase({place})"), pattern.to_lowercase())
            } else {
                (place, pattern.to_string())
            };
            let function = match (has("prefix"), has("substring")) {
                (true, _) => "starts_with",
                (false, true) => "contains",
                (false, false) => return Ok((format!("{place} == {}", text(&wanted)), "string")),
            };
            Ok((format!("string::{function}({place}, {})", text(&wanted)), "string"))
        }
        "glob" => {
            let mut expression = String::from("(?s)^");
            for one in pattern.chars() {
                match one {
                    '*' => expression.push_str(".*"),
                    '?' => expression.push('.'),
                    other => expression.push_str(&regex::escape(&other.to_string())),
                }
            }
            Ok(found(&(expression + "$"), ignore_case, &place))
        }
        "pcre" | "posix" => {
            compiles(pattern)?;
            Ok(found(pattern, ignore_case, &place))
        }
        other => Err(format!("there is no kind of pattern `{other}`")),
    }
}

/// Whether an expression can be said here.
pub(crate) fn compiles(pattern: &str) -> Result<(), String> {
    crate::notation::compiles(pattern)
}

/// `10.0.0.0/8`, also of `10.0.0.0/255.0.0.0`.
fn network_of(written: &str) -> Result<String, String> {
    let (address, mask) = written.split_once('/').unwrap_or((written, ""));
    if mask.is_empty() {
        let bits = if address.contains(':') { 128 } else { 32 };
        return Ok(format!("{address}/{bits}"));
    }
    if let Ok(mask) = mask.parse::<std::net::Ipv4Addr>() {
        let bits = u32::from(mask);
        if bits.leading_ones() + bits.trailing_zeros() < 32 {
            return Err(format!("`{mask}` is no mask of a network"));
        }
        return Ok(format!("{address}/{}", bits.leading_ones()));
    }
    Ok(written.to_string())
}

/// The function that stands for a filter.
pub(crate) fn function_name(name: &str) -> String {
    plain(name)
}

fn number(code: &str) -> String {
    match code.trim_matches('"').parse::<f64>() {
        Ok(_) => code.trim_matches('"').to_string(),
        Err(_) => format!("float::parse_or({code}, 0.0)"),
    }
}

fn as_text(code: &str) -> String {
    if code.contains("??") && !code.starts_with('"') {
        format!("({code})")
    } else {
        code.to_string()
    }
}

fn with(left: Value, word: &str, right: Value) -> Value {
    let mut uses = left.uses;
    uses.extend(right.uses);
    let bracket = |code: &str| {
        if word == "and" && code.contains(" or ") { bracketed(code) } else { code.to_string() }
    };
    Value { code: format!("{} {word} {}", bracket(&left.code), bracket(&right.code)), uses }
}

/// In brackets, unless it is one call.
pub(crate) fn bracketed(code: &str) -> String {
    let is_one = code.starts_with('(') && code.ends_with(')') && {
        let mut depth = 0_i32;
        code.char_indices().all(|(at, one)| {
            depth += i32::from(one == '(') - i32::from(one == ')');
            depth > 0 || at + 1 == code.len()
        })
    };
    if is_one || !code.contains(' ') || !code.contains([' ', '"']) {
        code.to_string()
    } else {
        format!("({code})")
    }
}
