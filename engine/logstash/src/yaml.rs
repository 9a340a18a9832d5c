//! As much of YAML as `pipelines.yml` and `logstash.yml` use: maps and lists in blocks, scalars, lists in
//! brackets, and texts over several lines behind `|` or `>`. Anything else is refused with its line.

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// A scalar, without its quotes.
    Text(String),
    /// `- a`, `[a, b]`
    List(Vec<Node>),
    /// `key: value`
    Map(Vec<(String, Node)>),
}

/// Blocks inside of each other, at the most.
const DEPTH_MAX: usize = 50;

struct Line<'t> {
    number: usize,
    indent: usize,
    text: &'t str,
}

struct Reader<'t> {
    lines: Vec<Line<'t>>,
    at: usize,
    raw: Vec<&'t str>,
}

/// Reads a text. The error is the number of the line that is not understood, from 1.
pub(crate) fn read(text: &str) -> Result<Node, usize> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let raw: Vec<&str> = text.lines().collect();
    let mut lines = Vec::new();
    for (number, line) in raw.iter().enumerate() {
        let content = without_comment(line).trim_end();
        let trimmed = content.trim_start();
        if !trimmed.is_empty() && trimmed != "---" {
            let indent = content.len() - trimmed.len();
            lines.push(Line { number: number + 1, indent, text: trimmed });
        }
    }
    let mut reader = Reader { lines, at: 0, raw };
    if reader.lines.is_empty() {
        return Ok(Node::List(Vec::new()));
    }
    let indent = reader.lines[0].indent;
    let node = reader.block(indent, 0)?;
    match reader.lines.get(reader.at) {
        Some(line) => Err(line.number),
        None => Ok(node),
    }
}

/// The line without a comment, which begins with a `#` behind a blank and outside of quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, character) in line.char_indices() {
        match (quote, character) {
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, '#') if before.is_whitespace() => return &line[..at],
            _ => {}
        }
        before = character;
    }
    line
}

impl<'t> Reader<'t> {
    fn block(&mut self, indent: usize, depth: usize) -> Result<Node, usize> {
        let line = &self.lines[self.at];
        if depth > DEPTH_MAX {
            return Err(line.number);
        }
        if line.text == "-" || line.text.starts_with("- ") {
            return self.list(indent, depth);
        }
        if key(line.text).is_some() {
            return self.map(indent, depth);
        }
        let node = scalar(line.text, line.number)?;
        self.at += 1;
        Ok(node)
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Node, usize> {
        let mut items = Vec::new();
        while let Some(line) = self.lines.get(self.at) {
            let is_item = line.text == "-" || line.text.starts_with("- ");
            if line.indent != indent || !is_item {
                break;
            }
            let rest = line.text[1..].trim_start();
            if rest.is_empty() {
                self.at += 1;
                let Some(next) = self.lines.get(self.at).filter(|next| next.indent > indent) else {
                    items.push(Node::Text(String::new()));
                    continue;
                };
                let inner = next.indent;
                items.push(self.block(inner, depth + 1)?);
            } else {
                // What stands behind the dash is a block of its own.
                let inner = indent + (line.text.len() - rest.len());
                let line = &mut self.lines[self.at];
                (line.indent, line.text) = (inner, rest);
                items.push(self.block(inner, depth + 1)?);
            }
        }
        Ok(Node::List(items))
    }

    fn map(&mut self, indent: usize, depth: usize) -> Result<Node, usize> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        while let Some(line) = self.lines.get(self.at) {
            if line.indent != indent {
                break;
            }
            let (name, rest) = key(line.text).ok_or(line.number)?;
            let number = line.number;
            self.at += 1;
            let value = if matches!(rest, "|" | ">" | "|-" | ">-" | "|+" | ">+") {
                Node::Text(self.text(indent, number, rest.starts_with('|')))
            } else if !rest.is_empty() {
                scalar(rest, number)?
            } else {
                let inner = self.lines.get(self.at).filter(|next| {
                    next.indent > indent || next.indent == indent && next.text.starts_with('-')
                });
                match inner.map(|next| next.indent) {
                    Some(inner) => self.block(inner, depth + 1)?,
                    None => Node::Text(String::new()),
                }
            };
            entries.push((name, value));
        }
        match self.lines.get(self.at) {
            Some(line) if line.indent > indent => Err(line.number),
            _ => Ok(Node::Map(entries)),
        }
    }

    /// The lines behind `number` that are deeper than `indent`, comments and blanks kept.
    fn text(&mut self, indent: usize, number: usize, keeps_lines: bool) -> String {
        let depth = |line: &str| line.len() - line.trim_start().len();
        let deeper = |line: &&&'t str| line.trim().is_empty() || depth(line) > indent;
        let lines: Vec<&str> = self.raw[number..].iter().take_while(deeper).copied().collect();
        let end = number + lines.len();
        while self.lines.get(self.at).is_some_and(|line| line.number <= end) {
            self.at += 1;
        }
        let filled = lines.iter().filter(|line| !line.trim().is_empty());
        let common = filled.map(|line| depth(line)).min().unwrap_or(0);
        let lines: Vec<&str> = lines.iter().map(|line| line.get(common..).unwrap_or("")).collect();
        lines.join(if keeps_lines { "\n" } else { " " }).trim_end().to_string() + "\n"
    }
}

/// `name: rest`, also with quotes around the name.
fn key(text: &str) -> Option<(String, &str)> {
    let (name, rest) = match text.chars().next()? {
        quote @ ('"' | '\'') => {
            let end = text[1..].find(quote)? + 1;
            (&text[1..end], text[end + 1..].trim_start().strip_prefix(':')?)
        }
        '[' | '{' => return None,
        _ => {
            let colon = text.find(": ").or_else(|| text.ends_with(':').then(|| text.len() - 1))?;
            (&text[..colon], &text[colon + 1..])
        }
    };
    Some((name.trim().to_string(), rest.trim()))
}

fn scalar(text: &str, line: usize) -> Result<Node, usize> {
    if let Some(inside) = text.strip_prefix('[') {
        let inside = inside.strip_suffix(']').ok_or(line)?;
        let items = inside.split(',').map(str::trim).filter(|item| !item.is_empty());
        return items.map(|item| scalar(item, line)).collect::<Result<_, _>>().map(Node::List);
    }
    if let Some(inside) = text.strip_prefix('"') {
        let inside = inside.strip_suffix('"').ok_or(line)?;
        let plain = inside.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"");
        return Ok(Node::Text(plain.replace("\\\\", "\\")));
    }
    if let Some(inside) = text.strip_prefix('\'') {
        return Ok(Node::Text(inside.strip_suffix('\'').ok_or(line)?.replace("''", "'")));
    }
    if text.starts_with(['{', '&', '*']) {
        return Err(line);
    }
    Ok(Node::Text(text.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{Node, read};

    #[test]
    fn reads_pipelines() {
        let text = "# pipelines\n- pipeline.id: a # first\n  path.config: \"/x/*.conf\"\n\
                    - pipeline.id: b\n  config.string: |\n    input { stdin {} } # kept\n\n    \
                    output { }\n  pipeline.workers: 2\n-\n  'path.config': [a, 'b']\n";
        let Ok(Node::List(items)) = read(text) else { panic!("{:?}", read(text)) };
        let text = |text: &str| Node::Text(text.to_string());
        let entry = |name: &str, value| (name.to_string(), value);
        assert_eq!(
            items,
            [
                Node::Map(vec![
                    entry("pipeline.id", text("a")),
                    entry("path.config", text("/x/*.conf"))
                ]),
                Node::Map(vec![
                    entry("pipeline.id", text("b")),
                    entry("config.string", text("input { stdin {} } # kept\n\noutput { }\n")),
                    entry("pipeline.workers", text("2")),
                ]),
                Node::Map(vec![entry("path.config", Node::List(vec![text("a"), text("b")]))]),
            ]
        );
        assert_eq!(read("a: {b: 1}"), Err(1));
        assert_eq!(read("a:\n  b: 1\n c: 2"), Err(3));
    }
}
