//! Pages of what is declared, as plain text.

use std::fmt::Write;
use temblor_catalog::registry;
use temblor_codec::names::CODECS;
use temblor_declare::interceptor::Interceptor;
use temblor_declare::interceptor::after::POSTPROCESSORS;
use temblor_declare::interceptor::before::PREPROCESSORS;
use temblor_declare::{CodecUse, Connector, Ends, Notation, Setting, Takes, codec, shared};
use temblor_pipeline::graph::WINDOW;
use temblor_pipeline::operators::OperatorKind;

/// The sorts of things that have pages besides codes.
pub(crate) const WORDS: [&str; 6] =
    ["codec", "connector", "operator", "postprocessor", "preprocessor", "window"];
/// Lines are broken behind so many characters.
const COLUMNS: usize = 100;

/// Something that has a page.
pub(crate) struct Topic {
    /// Its sort: one of [`WORDS`].
    pub word: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// Another name of it.
    pub other: Option<&'static str>,
    /// Its first sentence.
    pub summary: String,
    /// Writes the page.
    pub page: Box<dyn Fn() -> String>,
}

impl Topic {
    fn new(
        word: &'static str,
        name: &'static str,
        doc: &str,
        page: impl Fn() -> String + 'static,
    ) -> Self {
        let summary = doc.split_inclusive(". ").next().unwrap_or(doc).trim_end().to_string();
        Self { word, name, other: None, summary, page: Box::new(page) }
    }

    /// Whether a user means it by a name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.other == Some(name)
    }
}

/// All pages.
pub(crate) fn topics() -> Vec<Topic> {
    let connector = |row: &'static Connector| {
        Topic::new("connector", row.kind, row.doc, move || of_connector(row))
    };
    let operator = |kind: &'static OperatorKind| {
        let name = kind.word.unwrap_or(kind.path);
        let other = kind.word.map(|_| kind.path);
        let topic = Topic::new("operator", name, kind.doc, move || of_operator(kind));
        Topic { other, ..topic }
    };
    let mut all: Vec<Topic> = registry().connectors().map(connector).collect();
    all.extend(registry().operators().map(operator));
    all.extend(CODECS.iter().map(|row| {
        Topic::new("codec", row.name, row.doc, move || {
            let does = match (row.reads.is_some(), row.writes.is_some()) {
                (true, true) => "a codec",
                (true, false) => "a codec that only reads",
                _ => "a codec that only writes",
            };
            let mut text = head(row.name, does, row.doc);
            settings(&mut text, "Its configuration", codec::settings(row.name));
            text
        })
    }));
    all.extend(interceptors("preprocessor", PREPROCESSORS));
    all.extend(interceptors("postprocessor", POSTPROCESSORS));
    let windows = [
        (
            "tumbling",
            "Windows that follow one another; each closes by `size`, `interval` or its `state`.",
        ),
        (
            "sliding",
            "Windows that overlap: each step of `slide` gives what was in the last `size` or `interval`.",
        ),
        ("session", "Windows that close when nothing has come for `gap`."),
    ];
    all.extend(windows.into_iter().map(|(name, doc)| {
        Topic::new("window", name, doc, move || {
            let mut text = head(name, "a window, `define window name from …`", doc);
            settings(&mut text, "Settings of windows", WINDOW);
            text
        })
    }));
    all
}

fn interceptors<T>(
    word: &'static str,
    rows: &'static [Interceptor<T>],
) -> impl Iterator<Item = Topic> {
    rows.iter().map(move |row| {
        let (name, doc, rows) = (row.name, row.doc, row.settings);
        Topic::new(word, name, doc, move || {
            let mut text = head(name, &format!("a {word}"), doc);
            settings(&mut text, "Its configuration", rows);
            text
        })
    })
}

fn head(name: &str, what: &str, doc: &str) -> String {
    format!("{name}: {what}\n\n{}\n", wrapped(doc, ""))
}

fn of_connector(row: &Connector) -> String {
    let ends = match row.ends {
        Ends::Source => "a source",
        Ends::Sink => "a sink",
        Ends::Both => "a source and a sink",
    };
    let place = match row.notation {
        Notation::Temblor => "of Temblor files",
        Notation::Tremor => "of tremor's flows",
    };
    let mut text = head(row.kind, &format!("{ends} {place}"), row.doc);
    if let Some(address) = row.address {
        let _ = writeln!(text, "\nAddress: {address}.");
    }
    let codec = match row.codec {
        CodecUse::Required => "The program must name a codec.".to_string(),
        CodecUse::Default(name) => format!("The codec is `{name}` unless set."),
        CodecUse::Structured => "It gives and takes values, and has no codec.".to_string(),
        CodecUse::Letters => "It takes dead letters, and has no codec.".to_string(),
    };
    let _ = writeln!(text, "\n{codec}");
    match row.notation {
        Notation::Temblor => {
            if row.ends != Ends::Sink {
                settings(&mut text, "Settings as a source", row.source);
                settings(&mut text, "Settings of every source", shared::READING);
            }
            if row.ends != Ends::Source {
                settings(&mut text, "Settings as a sink", row.sink);
                settings(&mut text, "Settings of every sink", shared::WRITING);
            }
        }
        Notation::Tremor => {
            let own = if row.ends == Ends::Sink { row.sink } else { row.source };
            settings(&mut text, "Its configuration", own);
        }
    }
    examples(&mut text, row.examples);
    text
}

fn of_operator(kind: &OperatorKind) -> String {
    let name = kind.word.unwrap_or(kind.path);
    let mut text =
        head(name, &format!("an operator, `{}` in the long notation", kind.path), kind.doc);
    if !kind.ports.is_empty() {
        let _ = writeln!(text, "\nPorts besides `out` and `err`: `{}`.", kind.ports.join("`, `"));
    }
    settings(&mut text, "Settings", kind.settings);
    examples(&mut text, kind.examples);
    text
}

fn settings(text: &mut String, title: &str, rows: &[Setting]) {
    if rows.iter().any(is_shown) {
        let _ = writeln!(text, "\n{title}:");
        rows_of(text, "", rows);
    }
}

fn is_shown(row: &Setting) -> bool {
    !row.takes.is_hidden() && row.name != "address"
}

fn rows_of(text: &mut String, prefix: &str, rows: &[Setting]) {
    for row in rows.iter().filter(|row| is_shown(row)) {
        let default = match (row.required, row.default) {
            (true, _) => ", required".to_string(),
            (false, Some(default)) => format!(", {} unless set", default.escape_debug()),
            (false, None) => String::new(),
        };
        let word = row.word().filter(|word| *word != row.name);
        let word = word.map_or(String::new(), |word| format!(" (in a chain: {word})"));
        let takes = row.takes.describe();
        let _ = writeln!(text, "\n  {prefix}{}{word}: {takes}{default}", row.name);
        let _ = writeln!(text, "{}", wrapped(row.doc, "      "));
        if let Takes::Record(inner) | Takes::Records(inner) = row.takes {
            rows_of(text, &format!("{prefix}{}.", row.name), inner);
        }
    }
}

fn examples(text: &mut String, examples: &[&str]) {
    for example in examples.iter().take(2) {
        let _ = writeln!(text, "\n    {}", example.replace('\n', "\n    "));
    }
}

/// A text in lines that begin with `indent`.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![indent.to_string()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        let is_begun = last.len() > indent.len();
        if is_begun && last.chars().count() + 1 + word.chars().count() > COLUMNS {
            lines.push(format!("{indent}{word}"));
        } else {
            last.push_str(if is_begun { " " } else { "" });
            last.push_str(word);
        }
    }
    lines.join("\n")
}
