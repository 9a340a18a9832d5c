//! `dissect|%{a} %{b:int}|`: text cut at fixed delimiters. The whole text must be consumed.

use crate::formats::dissect::Dissect;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::Value;

/// `dissect`
pub(crate) const KIND: ExtractorKind = ExtractorKind {
    name: "dissect",
    doc: "Cuts text at fixed delimiters: '%{name}', '%{name:int}', '%{name:float}', '%{}' and \
          '%{?name}' (skipped), '%{&name}' (named by what '%{?name}' was), '%{+name}' (appended), \
          '%{_}' and '%{_(x)}' (padding).",
    examples: &[
        (
            r#"match "warn: 12" of case got = ~ dissect|%{level}: %{code:int}| => got case _ => null end"#,
            r#"{"level": "warn", "code": 12}"#,
        ),
        (
            r#"match "unit=db" of case got = ~ dissect|%{?k}=%{&k}| => got case _ => null end"#,
            r#"{"unit": "db"}"#,
        ),
    ],
    compile: |pattern| Ok(Box::new(Cut(Dissect::compile(pattern)?))),
};

#[derive(Debug)]
struct Cut(Dissect);

impl Extractor for Cut {
    fn matches(&self, text: &str) -> bool {
        self.0.matches(text)
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        self.0.parse(text, call.arena).ok()
    }
}
