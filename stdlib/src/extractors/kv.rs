//! `kv|%{key}=%{val};|`: pairs of keys and values between fixed separators. Parts that do not split
//! into exactly two are passed over; a text without any pair does not match.

use crate::formats::kv::KeyValue;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::Value;

/// `kv`
pub(crate) const KIND: ExtractorKind = ExtractorKind {
    name: "kv",
    doc: "Reads pairs of keys and values. The pattern lists the separators, such as \
          '%{key}=%{val};'; without one, pairs look like 'key:value' with blanks between them.",
    examples: &[
        (
            r#"match "a:b c d:e" of case pairs = ~ kv|| => pairs case _ => null end"#,
            r#"{"a": "b", "d": "e"}"#,
        ),
        (
            r#"match "a=1;b=2" of case pairs = ~ kv|%{key}=%{val};| => pairs case _ => null end"#,
            r#"{"a": "1", "b": "2"}"#,
        ),
    ],
    compile: |pattern| Ok(Box::new(Kv(KeyValue::compile(pattern)?))),
};

#[derive(Debug)]
struct Kv(KeyValue);

impl Extractor for Kv {
    fn matches(&self, text: &str) -> bool {
        self.0.matches(text)
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        self.0.parse(text, call.arena).ok()
    }
}
