//! The part of XPath 1.0 (W3C) that configurations use, read into steps: axes `/` and `//`, names,
//! `@name`, `text()`, `.`, `..`, predicates, unions, and a few functions. What is not known is said.

/// A path, or a function over paths.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Path {
    /// `/a/b | /c`
    Union(Vec<Path>),
    /// `/a//b[1]`; whether it starts at the document
    Steps(bool, Vec<Step>),
    /// `count(/a)`
    Call(String, Vec<Path>),
    /// `a = b`
    Compare(Box<Path>, &'static str, Box<Path>),
    /// `a and b`
    All(Vec<Path>),
    /// `a or b`
    Any(Vec<Path>),
    /// `"x"`
    Text(String),
    /// `1`
    Number(f64),
}

/// A part of a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// Whether it looks at all depths below.
    pub deep: bool,
    pub test: Test,
    pub(crate) predicates: Vec<Path>,
}

/// What a step takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// `a`, `p:a`, `*`
    Element(Option<String>, String),
    /// `@a`, `@*`
    Attribute(Option<String>, String),
    /// `text()`
    Text,
    /// `node()`
    Any,
    /// `.`
    Here,
    /// `..`
    Parent,
    /// `following-sibling::a`
    Following(String),
}

/// Functions that are known.
const FUNCTIONS: &[&str] = &[
    "string",
    "count",
    "name",
    "local-name",
    "normalize-space",
    "contains",
    "starts-with",
    "concat",
    "not",
    "last",
    "position",
    "number",
    "sum",
    "string-length",
    "translate",
    "boolean",
    "true",
    "false",
    "substring-before",
    "substring-after",
];
/// Paths nest no deeper.
const NESTING_MAX: usize = 32;

impl Path {
    /// Reads a path; the error is a sentence.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0, depth: 0 };
        let path = reader.any()?;
        reader.blanks();
        match reader.rest() {
            "" => Ok(path),
            rest => Err(format!("`{rest}` is not expected in a path")),
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, text: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// A word between blanks or brackets.
    fn take_word(&mut self, word: &str) -> bool {
        self.blanks();
        let found = self
            .rest()
            .strip_prefix(word)
            .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '-'));
        if found {
            self.at += word.len();
        }
        found
    }

    fn any(&mut self) -> Result<Path, String> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err(format!("nested deeper than {NESTING_MAX} levels"));
        }
        let mut parts = vec![self.all()?];
        while self.take_word("or") {
            parts.push(self.all()?);
        }
        self.depth -= 1;
        Ok(if parts.len() == 1 { parts.remove(0) } else { Path::Any(parts) })
    }

    fn all(&mut self) -> Result<Path, String> {
        let mut parts = vec![self.comparison()?];
        while self.take_word("and") {
            parts.push(self.comparison()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Path::All(parts) })
    }

    fn comparison(&mut self) -> Result<Path, String> {
        let left = self.union()?;
        for operator in ["!=", "<=", ">=", "=", "<", ">"] {
            if self.take(operator) {
                let right = self.union()?;
                return Ok(Path::Compare(Box::new(left), operator, Box::new(right)));
            }
        }
        Ok(left)
    }

    fn union(&mut self) -> Result<Path, String> {
        let mut parts = vec![self.value()?];
        while self.take("|") {
            parts.push(self.value()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Path::Union(parts) })
    }

    fn value(&mut self) -> Result<Path, String> {
        self.blanks();
        let rest = self.rest();
        if let Some(quote @ ('"' | '\'')) = rest.chars().next() {
            let inside = &rest[1..];
            let end = inside.find(quote).ok_or("a text is never closed")?;
            self.at += end + 2;
            return Ok(Path::Text(inside[..end].to_string()));
        }
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'));
            let digits = &rest[..end.unwrap_or(rest.len())];
            self.at += digits.len();
            return digits.parse().map(Path::Number).map_err(|_| "this is no number".to_string());
        }
        if self.take("(") {
            let inner = self.any()?;
            return if self.take(")") { Ok(inner) } else { Err("`)` is missing".to_string()) };
        }
        let name = name_of(rest);
        let behind = rest[name.len()..].trim_start();
        let is_call = behind.starts_with('(') && !matches!(name, "text" | "node");
        if is_call && !name.is_empty() {
            return self.call(name);
        }
        self.steps()
    }

    fn call(&mut self, name: &str) -> Result<Path, String> {
        if !FUNCTIONS.contains(&name) {
            return Err(format!("the function `{name}` of XPath is not known here"));
        }
        self.at += name.len();
        let _ = self.take("(");
        let mut arguments = Vec::new();
        while !self.take(")") {
            arguments.push(self.any()?);
            if !self.take(",") && !self.rest().trim_start().starts_with(')') {
                return Err("`)` is missing".to_string());
            }
        }
        Ok(Path::Call(name.to_string(), arguments))
    }

    fn steps(&mut self) -> Result<Path, String> {
        let mut steps = Vec::new();
        let absolute = self.rest().starts_with('/');
        let mut first = true;
        loop {
            let deep = self.take("//");
            let single = !deep && self.take("/");
            if !first && !deep && !single {
                break;
            }
            if first && single && self.rest().trim().is_empty() {
                break;
            }
            first = false;
            steps.push(self.step(deep)?);
        }
        Ok(Path::Steps(absolute, steps))
    }

    fn step(&mut self, deep: bool) -> Result<Step, String> {
        self.blanks();
        let test = if self.take("..") {
            Test::Parent
        } else if self.take(".") {
            Test::Here
        } else if self.take("@") || self.take("attribute::") {
            let (prefix, name) = self.name()?;
            Test::Attribute(prefix, name)
        } else if self.take("text()") {
            Test::Text
        } else if self.take("node()") {
            Test::Any
        } else if self.take("following-sibling::") {
            Test::Following(self.name()?.1)
        } else {
            let deeper = self.take("descendant::") || self.take("descendant-or-self::");
            let _ = self.take("child::");
            let (prefix, name) = self.name()?;
            let predicates = self.predicates()?;
            let test = Test::Element(prefix, name);
            return Ok(Step { deep: deep || deeper, test, predicates });
        };
        Ok(Step { deep, test, predicates: self.predicates()? })
    }

    fn predicates(&mut self) -> Result<Vec<Path>, String> {
        let mut predicates = Vec::new();
        while self.take("[") {
            predicates.push(self.any()?);
            if !self.take("]") {
                return Err("`]` is missing".to_string());
            }
        }
        Ok(predicates)
    }

    fn name(&mut self) -> Result<(Option<String>, String), String> {
        if self.take("*") {
            return Ok((None, "*".to_string()));
        }
        let first = name_of(self.rest());
        if first.is_empty() {
            let found =
                self.rest().chars().next().map_or("the end".to_string(), |c| format!("`{c}`"));
            return Err(format!("a name is expected in a path, not {found}"));
        }
        self.at += first.len();
        if !self.rest().starts_with(':') || self.rest().starts_with("::") {
            return Ok((None, first.to_string()));
        }
        self.at += 1;
        if self.take("*") {
            return Ok((Some(first.to_string()), "*".to_string()));
        }
        let second = name_of(self.rest());
        self.at += second.len();
        Ok((Some(first.to_string()), second.to_string()))
    }
}

fn name_of(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')));
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn says_what_it_does_not_know() {
        for path in ["/a/b[@c='1']/text()", "//a", "count(//a)", "/a | /b", "a[last()]", "/"] {
            assert!(Path::parse(path).is_ok(), "{path}: {:?}", Path::parse(path));
        }
        for path in ["/a[", "frob(1)", "/a/'x'", "$x"] {
            assert!(Path::parse(path).is_err(), "{path}");
        }
    }
}
