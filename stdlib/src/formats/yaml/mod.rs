//! YAML 1.2 (<https://yaml.org/spec/1.2.2/>), one document a message. Plain scalars have the kinds of
//! the core schema; keys are text; an alias stands for its anchor's value, within [`NODES_MAX`].

mod scalar;
mod write;

pub use write::encode;

use saphyr_parser::{Event, Parser, ScanError, Tag};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use temblor_lang::value::{Arena, Value};

/// Containers nested deeper than this are refused.
pub const DEPTH_MAX: usize = 512;
/// Values in a document at the most, those behind aliases counted each time: a short text of
/// aliases to aliases may otherwise stand for more than any memory holds.
pub const NODES_MAX: usize = 1 << 20;

/// A text that is no YAML, or no YAML that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, in words.
    pub what: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {}, column {}", self.what, self.line, self.column)
    }
}

impl std::error::Error for YamlError {}

impl From<ScanError> for YamlError {
    fn from(error: ScanError) -> Self {
        let place = error.marker();
        Self { line: place.line(), column: place.col() + 1, what: error.info().to_string() }
    }
}

/// The value of the one document in `text`; `null` when there is none.
///
/// # Errors
/// Where the text stops being YAML, or goes beyond a limit.
pub fn parse<'a>(text: &'a str, arena: &'a Arena) -> Result<Value<'a>, YamlError> {
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        arena,
        anchors: HashMap::new(),
        nodes: 0,
        place: (1, 1),
    };
    let mut document = None;
    loop {
        match reader.next()? {
            Event::StreamEnd => return Ok(document.unwrap_or(Value::Null)),
            Event::DocumentStart(_) if document.is_some() => {
                return Err(reader.wrong("a second document begins; a message holds one"));
            }
            Event::DocumentStart(_) => {
                let first = reader.next()?;
                document = Some(reader.value(first, 0)?);
            }
            _ => {}
        }
    }
}

/// A value with the number of values in it.
#[derive(Clone, Copy)]
struct Anchor<'a> {
    value: Value<'a>,
    nodes: usize,
}

struct Reader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    arena: &'a Arena,
    /// By the numbers that the parser gives to anchors.
    anchors: HashMap<usize, Anchor<'a>>,
    nodes: usize,
    place: (usize, usize),
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Event<'a>, YamlError> {
        match self.parser.next() {
            Some(Ok((event, span))) => {
                self.place = (span.start.line(), span.start.col() + 1);
                Ok(event)
            }
            Some(Err(error)) => Err(error.into()),
            None => Ok(Event::StreamEnd),
        }
    }

    fn wrong(&self, what: impl Into<String>) -> YamlError {
        YamlError { line: self.place.0, column: self.place.1, what: what.into() }
    }

    fn count(&mut self, nodes: usize) -> Result<(), YamlError> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > NODES_MAX {
            return Err(self.wrong(format!("the document holds more than {NODES_MAX} values")));
        }
        Ok(())
    }

    /// The value that begins with `event`.
    fn value(&mut self, event: Event<'a>, depth: usize) -> Result<Value<'a>, YamlError> {
        if depth > DEPTH_MAX {
            return Err(self.wrong(format!("nested more than {DEPTH_MAX} levels")));
        }
        let before = self.nodes;
        self.count(1)?;
        let (anchor, value) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let text = self.text(text);
                let value = scalar::value(text, style, self.tag(tag.as_deref())?)
                    .ok_or_else(|| self.wrong(format!("{text:?} is not what its tag says")))?;
                (anchor, value)
            }
            Event::SequenceStart(anchor, tag) => {
                self.tag(tag.as_deref())?;
                (anchor, self.sequence(depth)?)
            }
            Event::MappingStart(anchor, tag) => {
                self.tag(tag.as_deref())?;
                (anchor, self.mapping(depth)?)
            }
            Event::Alias(id) => return self.alias(id),
            _ => return Err(self.wrong("a value is expected")),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, Anchor { value, nodes: self.nodes - before });
        }
        Ok(value)
    }

    fn alias(&mut self, id: usize) -> Result<Value<'a>, YamlError> {
        let anchor = self
            .anchors
            .get(&id)
            .copied()
            .ok_or_else(|| self.wrong("an alias within its own anchor"))?;
        self.count(anchor.nodes)?;
        Ok(anchor.value)
    }

    fn sequence(&mut self, depth: usize) -> Result<Value<'a>, YamlError> {
        let mut items = self.arena.array_builder(0);
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(items.finish()),
                event => items.push(self.value(event, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Value<'a>, YamlError> {
        let mut record = self.arena.record_builder(0);
        loop {
            let key = match self.next()? {
                Event::MappingEnd => return Ok(record.finish()),
                Event::Scalar(text, ..) => self.text(text),
                Event::Alias(id) => match self.alias(id)? {
                    Value::Str(text) => text,
                    _ => return Err(self.wrong("a key must be text")),
                },
                _ => return Err(self.wrong("a key must be text, not an array or a record")),
            };
            let event = self.next()?;
            let value = self.value(event, depth + 1)?;
            record.insert(key, value);
        }
    }

    fn text(&self, text: Cow<'a, str>) -> &'a str {
        match text {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => self.arena.str(&text),
        }
    }

    /// The word of a tag of the core schema; other tags have no meaning here.
    fn tag<'t>(&self, tag: Option<&'t Tag>) -> Result<Option<&'t str>, YamlError> {
        match tag {
            None => Ok(None),
            Some(tag) if tag.is_yaml_core_schema() => Ok(Some(&tag.suffix)),
            Some(tag) if tag.handle.is_empty() && tag.suffix == "!" => Ok(Some("str")),
            Some(tag) => Err(self.wrong(format!("unknown tag {}{}", tag.handle, tag.suffix))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::json;
    use temblor_lang::value::to_json;

    fn read(text: &str) -> Result<String, String> {
        parse(text, &Arena::new()).map(to_json).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_values_of_the_core_schema() {
        for (text, expected) in [
            (
                "a: 1\nb: [x, 2.5, null, ~]\nc:\n- d: true\n",
                r#"{"a":1,"b":["x",2.5,null,null],"c":[{"d":true}]}"#,
            ),
            ("", "null"),
            ("--- 5\n...\n", "5"),
            (
                "- 0x1f\n- 0o17\n- -3\n- +3\n- 1e3\n- .5\n- 0123\n- 1_000\n- yes\n",
                r#"[31,15,-3,3,1000.0,0.5,"0123","1_000","yes"]"#,
            ),
            (
                "- .inf\n- .nan\n- 18446744073709551615\n- 18446744073709551616",
                "[null,null,18446744073709551615,1.8446744073709552e19]",
            ),
            (
                "'1': \"a\\tb\"\n2: |\n  x\n  y\n3: >-\n  x\n  y\n",
                r#"{"1":"a\tb","2":"x\ny\n","3":"x y"}"#,
            ),
            ("a: &x {k: 1}\nb: *x\n", r#"{"a":{"k":1},"b":{"k":1}}"#),
            ("- !!str 1\n- !!int '2'\n- !!float 3\n- ! 4", r#"["1",2,3.0,"4"]"#),
            ("a: 1 # comment\na: 2", r#"{"a":2}"#),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_document() {
        for (text, expected) in [
            ("a: [1", "expected ',' or ']' at line 2"),
            ("a: 1\n b: 2\n", "line 2"),
            ("--- 1\n--- 2\n", "a second document begins; a message holds one at line 2, column 1"),
            ("? [1]\n: 2\n", "a key must be text, not an array or a record"),
            ("!!int x", r#""x" is not what its tag says"#),
            ("!thing 1", "unknown tag !thing"),
            ("*x", "line 1"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        let deep = format!("{}{}", "[".repeat(DEPTH_MAX + 2), "]".repeat(DEPTH_MAX + 2));
        assert!(read(&deep).is_err());
    }

    #[test]
    fn aliases_cannot_multiply_without_end() {
        let mut text = String::from("- &a0 [x, x, x, x, x, x, x, x]\n");
        for level in 1..9 {
            let aliases = vec![format!("*a{}", level - 1); 8].join(", ");
            text.push_str(&format!("- &a{level} [{aliases}]\n"));
        }
        assert!(read(&text).expect_err("a bomb").contains("holds more than"));
    }

    #[test]
    fn what_is_written_reads_the_same() {
        for text in [
            r#"{"a":1,"b":[],"c":{},"d":[1,[2,{"e":null}],{"f":{"g":[true,-1.5]}}]}"#,
            r##"["","~","null","1","1.0","0x1","true","a b"," a","a ","a: b","a #b","- a","a:","-","#","'q'","\"q\"","a\nb","a\n\n","\t","é","\u0001","---",".inf","0123","{","[x]","a, b","@x","*x","!x","%x","y\u2028z"]"##,
            r#"{"a: b":1,"":2,"- x":{"1":[{"y":"multi\n  line\n"}]}}"#,
            r#""x""#,
            "1.0",
            "[[[]],[{}]]",
        ] {
            let arena = Arena::new();
            let value = json::parse(text, &arena).expect(text);
            let mut out = Vec::new();
            encode(value, &arena, &mut out);
            let written = String::from_utf8(out).expect("YAML is text");
            assert_eq!(read(&written).as_deref(), Ok(to_json(value).as_str()), "{written}");
        }
    }

    #[test]
    fn writes_block_style() {
        let arena = Arena::new();
        let text = r#"{"a":[1,{"b":"x","c":[]}],"d":{"e":"1"},"f":"two\nlines","g":[[1,2]]}"#;
        let value = json::parse(text, &arena).expect("JSON");
        let mut out = Vec::new();
        encode(value, &arena, &mut out);
        let expected =
            "a:\n- 1\n- b: x\n  c: []\nd:\n  e: '1'\nf: |-\n  two\n  lines\ng:\n- - 1\n  - 2\n";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
}
