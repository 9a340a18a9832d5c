//! Preprocessors and postprocessors as rows: their names, their settings, and what they become.

pub mod before;
pub mod after;

use temblor_codec::interceptor::{PACKINGS, Packing};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::Span;

use crate::connector::Wrong;
use crate::read;
use crate::setting::{Setting, Takes};
use crate::settings::{Named, Settings};

/// A preprocessor or a postprocessor.
#[derive(Debug)]
pub struct Interceptor<T> {
    /// What it is called.
    pub name: &'static str,
    /// For the manual.
    pub doc: &'static str,
    /// What its `config` takes.
    pub settings: &'static [Setting],
    /// Makes it.
    pub build: fn(&Settings) -> Result<T, Wrong>,
}

impl<T> Interceptor<T> {
    /// The same without a configuration, when it needs none.
    #[must_use]
    pub fn plain(&self) -> Option<T> {
        let settings = read::constants(self.settings, None, Span::default(), &mut Vec::new())?;
        (self.build)(&settings).ok()
    }
}

/// Makes what a name stands for; what is wrong is reported.
fn make<T>(
    what: &str,
    rows: &'static [Interceptor<T>],
    named: &Named,
    span: Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<T> {
    let Some(row) = rows.iter().find(|row| row.name == named.name) else {
        let known: Vec<_> = rows.iter().map(|row| row.name).collect();
        diagnostics.push(unknown(what, &named.name, &known, span));
        return None;
    };
    let settings = read::constants(row.settings, named.config.as_deref(), span, diagnostics)?;
    match (row.build)(&settings) {
        Ok(made) => Some(made),
        Err(wrong) => {
            diagnostics.push(wrong.diagnostic(&settings));
            None
        }
    }
}

/// Names of tremor 0.12, and what is written instead.
const EARLIER: [(&str, &str); 8] = [
    ("lines", "separate"),
    ("lines-no-buffer", r#"{"name": "separate", "config": {"buffered": false}}"#),
    (
        "lines-cr-no-buffer",
        r#"{"name": "separate", "config": {"separator": "\r", "buffered": false}}"#,
    ),
    ("lines-null", r#"{"name": "separate", "config": {"separator": "\u0000"}}"#),
    ("lines-pipe", r#"{"name": "separate", "config": {"separator": "|"}}"#),
    ("delimited", "separate"),
    ("length-prefix", "length-prefixed"),
    ("textual-length-prefix", "textual-length-prefixed"),
];

fn unknown(what: &str, name: &str, known: &[&str], span: Span) -> Diagnostic {
    let complaint = Diagnostic::error("E0519", span, format!("unknown {what} `{name}`"));
    match EARLIER.iter().find(|(earlier, _)| *earlier == name) {
        Some((_, now)) => complaint.with_help(format!("since tremor 0.13 this is `{now}`")),
        None => complaint.with_known(name, known),
    }
}

/// The byte between messages, as a text.
const SEPARATOR: Setting =
    Setting::new("separator", Takes::Text, "The byte that ends a message.").or("\n");

fn separator(settings: &Settings) -> Result<u8, Wrong> {
    match settings.text("separator").as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(Wrong::at("separator", "`separator` must be one byte", "")),
    }
}

/// The compression of a name; rows list the names.
fn packing(name: &str) -> Packing {
    let found = PACKINGS.iter().find(|(known, _)| *known == name).map(|(_, packing)| *packing);
    found.expect("the rows list these names")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interceptor::after::COMPRESSION;

    #[test]
    fn every_compression_is_listed() {
        let Takes::Word(words) = COMPRESSION[0].takes else { panic!("words") };
        assert_eq!(words, PACKINGS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
