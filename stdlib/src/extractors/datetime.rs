//! `datetime|%Y-%m-%dT%H:%M:%S|`: a time as nanoseconds since 1970-01-01 UTC. The format must give a
//! whole date and time; without an offset the time is UTC.

use crate::formats::datetime::DateFormat;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::Value;

/// `datetime`
pub(crate) const KIND: ExtractorKind = ExtractorKind {
    name: "datetime",
    doc: "Reads a date and time in a strptime format to nanoseconds since 1970-01-01 UTC. An \
          offset in the format is honoured, else the time is UTC.",
    examples: &[(
        r#"match "2020-01-01 00:00:00" of case t = ~ datetime|%Y-%m-%d %H:%M:%S| => t case _ => null end"#,
        "1577836800000000000",
    )],
    compile: |pattern| Ok(Box::new(Datetime(DateFormat::compile(pattern)))),
};

#[derive(Debug)]
struct Datetime(DateFormat);

impl Extractor for Datetime {
    fn matches(&self, text: &str) -> bool {
        self.0.nanoseconds(text).is_some()
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        self.0.parse(text, call.arena).ok()
    }
}
